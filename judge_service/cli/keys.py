"""``judge-service keys``: API keys of callers, made, listed and revoked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge_service.cli import options as o
from judge_service.cli.configuration import setting, settings_of
from judge_service.cli.exits import UserError
from judge_service.cli.terminal import clean, note, out, plain, print_json
from judge_service.cli.usage import plainly
from judge_service.settings import PREFIX

if TYPE_CHECKING:
    from judge_service.access.keys_file import KeyEntry

DEFAULT_FILE = Path("keys.toml")
SHOWN = 8
"""How many digits of a hash are enough to tell keys of one name apart."""

keys = typer.Typer(
    name="keys",
    help="Make, list and revoke the API keys of callers.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Name = Annotated[str, typer.Argument(help="Who the key is for.", metavar="NAME")]
File = Annotated[
    Path | None,
    typer.Option(
        "--file", "-f", metavar="FILE", show_default=False,
        help=f"The keys file (env {PREFIX}API_KEYS_FILE, default {DEFAULT_FILE}).",
    ),
]  # fmt: skip


@keys.command()
def new(
    name: Name,
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", metavar="WORD", show_default=False,
                     help="Keys of one tenant share cached verdicts (default: default)."),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="judge|admin", show_default=False,
                     help="What the key may do; repeat it for both (default: judge)."),
    ] = None,
    rpm: Annotated[
        int | None,
        typer.Option("--rpm", metavar="N", min=1, show_default=False,
                     help="Requests a minute (default: no limit)."),
    ] = None,
    daily_cost_usd: Annotated[
        float | None,
        typer.Option("--daily-cost-usd", metavar="X", show_default=False,
                     help="Dollars a day of UTC (default: no limit)."),
    ] = None,
    file: File = None,
    append: Annotated[
        bool, typer.Option("--append", help="Write the entry into the file.")
    ] = False,
    store: Annotated[
        Path | None,
        setting("--store", var="STORE",
                text="File of the service's store: the secret is kept beside it, where none is "
                "given."),
    ] = None,
    as_json: o.Json = False,
) -> None:  # fmt: skip
    """Make a key: it is printed once, and kept nowhere. The file holds its hash only.

    The hash is made with the service's secret: run this with the JUDGE_SERVICE_SECRET of the
    service, or, where it has none, as its user, with its store. A name has at most two keys, so
    that one can take the other's place; the second takes tenant, scopes and quotas from the first.

    [bold]Examples[/bold]

    judge-service keys new trainer --append

    judge-service keys new ci --tenant research --rpm 600 --daily-cost-usd 20 --file keys.toml
    """
    from judge_service.access.keys_file import key_hash, new_key
    from judge_service.cli.keys_edit import entry_text, locked

    path = _path(file)
    pepper, origin = _pepper(store)
    key = new_key()
    given = {"tenant": tenant, "scopes": scope, "rpm": rpm, "daily_cost_usd": daily_cost_usd}
    if append:
        with locked(path):
            entry = _entry(name, key_hash(pepper, key), given, path)
            _append(path, entry)
    else:
        entry = _entry(name, key_hash(pepper, key), given, path)
    if as_json:
        fields = entry.model_dump(mode="json")
        print_json({"key": key, "entry": fields, "file": str(path) if append else None})
    else:
        typer.echo(key)
        if not append:
            typer.echo("\n" + clean(entry_text(entry)), nl=False)
    note(f"the hash was made with {origin}; the service must have the same secret")
    if append:
        note(f"{path}: the entry is in; a running service knows it within a second")
    else:
        note(f"the key is shown this once; put the entry into {path}")


@keys.command("list")
def list_keys(file: File = None, as_json: o.Json = False) -> None:
    """List the keys of the file: names, tenants, scopes, quotas, the first digits of the hashes.

    [bold]Examples[/bold]

    judge-service keys list

    judge-service keys list --file /etc/judge-service/keys.toml --json
    """
    from judge_service.access.keys_file import load_keys

    rows = [_row(entry) for entry in load_keys(_path(file))]
    if as_json:
        print_json({"keys": rows})
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("name", "tenant", "scopes", "rpm", "dollars a day", "hash"):
        table.add_column(column, overflow="fold")
    for row in rows:
        rpm, cost = row["rpm"], row["daily_cost_usd"]
        cells = [
            row["name"], row["tenant"], ", ".join(row["scopes"]) or "none",
            "no limit" if rpm is None else rpm, "no limit" if cost is None else f"{cost:g}",
            row["hash"],
        ]  # fmt: skip
        table.add_row(*map(plain, cells))
    out().print(table)


@keys.command()
def revoke(
    name: Name,
    hash_prefix: Annotated[
        str | None,
        typer.Option("--hash", metavar="DIGITS", show_default=False,
                     help="Only the key whose hash begins so (see list)."),
    ] = None,
    file: File = None,
    as_json: o.Json = False,
) -> None:  # fmt: skip
    """Take the keys of a name out of the file. A running service refuses them within a second.

    [bold]Examples[/bold]

    judge-service keys revoke trainer

    judge-service keys revoke trainer --hash 3fa9c1e0
    """
    from judge_service.access.keys_file import load_keys
    from judge_service.cli.keys_edit import locked, read_text, replace_text, without_entries

    path = _path(file)
    with locked(path):
        named = [entry for entry in load_keys(path) if entry.name == name]
        doomed = [entry for entry in named if entry.sha256.startswith(hash_prefix or "")]
        if not named:
            raise UserError(f"{path}: there is no key of {name!r}")
        if hash_prefix is not None and len(doomed) != 1:
            found = "no key" if not doomed else "more than one key"
            raise UserError(f"{path}: the hash of {found} of {name!r} begins with {hash_prefix!r}")
        hashes = {entry.sha256 for entry in doomed}
        replace_text(path, without_entries(read_text(path), hashes))
    if as_json:
        print_json({"revoked": [_row(entry) for entry in doomed], "file": str(path)})
        return
    for entry in doomed:
        typer.echo(f"revoked: {clean(entry.name)} {entry.sha256[:SHOWN]}")


def _path(given: Path | None) -> Path:
    """The file of the option, of the service's setting, or the usual one."""
    if given is not None:
        return given
    named = os.environ.get(f"{PREFIX}API_KEYS_FILE", "").strip()
    return Path(named).expanduser() if named else DEFAULT_FILE


def _pepper(store: Path | None) -> tuple[bytes, str]:
    """The pepper for new hashes, and where its secret comes from."""
    from judge_service.access.keys_file import peppers_of
    from judge_service.storage.secret import FILE_NAME, load_secret

    settings, _ = settings_of({"store": store})
    pepper = peppers_of(load_secret(settings))[0]
    if settings.secret is not None:
        return pepper, f"{PREFIX}SECRET"
    kept_by = settings.store or settings.default_store
    kept = None if kept_by is None else kept_by.parent / FILE_NAME
    if kept is None or not kept.is_file():
        raise UserError(
            "there is no secret to make the hash with, and no place to keep one; "
            f"set {PREFIX}SECRET as for the service, or name its store with --store"
        )
    return pepper, f"the secret in {kept}"


def _by_option(path: str, said: str) -> str:
    """A fault of an entry, by the option that brought its field."""
    field = path.partition("[")[0]
    option = {"name": "NAME", "scopes": "--scope"}.get(field, f"--{field.replace('_', '-')}")
    return f"{option}: {plainly(said)}" if field else said


def _entry(name: str, sha256: str, given: dict[str, Any], path: Path) -> KeyEntry:
    """The new entry. What was not given is as in the name's other key."""
    from pydantic import ValidationError

    from judge_service.access.keys_file import KeyEntry, check_together
    from judge_service.cli.keys_edit import entries_of
    from judge_service.rubric.library import faults_of

    others = entries_of(path)
    other = next((entry for entry in others if entry.name == name), None)
    fields = {field: value for field, value in given.items() if value is not None}
    if other is not None:
        fields = {field: getattr(other, field) for field in given} | fields
    try:
        entry = KeyEntry.model_validate({"name": name, "sha256": sha256, **fields})
    except ValidationError as error:
        raise UserError("\n".join(_by_option(*fault) for fault in faults_of(error))) from None
    check_together([*others, entry], str(path))
    return entry


def _append(path: Path, entry: KeyEntry) -> None:
    from judge_service.cli.keys_edit import read_text, replace_text, with_entry

    replace_text(path, with_entry(read_text(path) if path.exists() else "", entry))


def _row(entry: KeyEntry) -> dict[str, Any]:
    return {
        "name": entry.name, "tenant": entry.tenant, "scopes": list(entry.scopes),
        "rpm": entry.rpm, "daily_cost_usd": entry.daily_cost_usd, "hash": entry.sha256[:SHOWN],
    }  # fmt: skip
