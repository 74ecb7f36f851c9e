"""``judge-service cache``: the kept verdicts, to look at, remove, take along and bring back."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from judge_service.cli.configuration import setting, settings_of
from judge_service.cli.exits import OK, WRONG, UserError
from judge_service.cli.terminal import clean, complain, err, json_text, out, plain, print_json
from judge_service.errors import ConfigError
from judge_service.text.counted import count_of

if TYPE_CHECKING:
    from judge_service.settings import Settings
    from judge_service.storage.store import Store
    from judge_service.verdicts.archive import Kept
    from judge_service.verdicts.record import Seal

MAX_FAULTS_SHOWN = 10
MAX_LINE_BYTES = 1024 * 1024

cache = typer.Typer(
    name="cache",
    help="The kept verdicts: how many, remove, export, import.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

RedisUrl = Annotated[
    str | None,
    setting("--redis-url", var="REDIS_URL", panel="Storage", text="The Redis of the service."),
]
StoreFile = Annotated[
    Path | None,
    setting("--store", var="STORE", panel="Storage", text="File of the embedded store.",
            default="in the user's state folder"),
]  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="One line of JSON.")]


@cache.command()
def stats(redis_url: RedisUrl = None, store: StoreFile = None, as_json: Json = False) -> None:
    """Count the kept verdicts: how many, how large, by which model, how long they last."""
    found = asyncio.run(_stats(_settings(redis_url, store)))
    if as_json:
        print_json(found)
        return
    console = out()
    console.print(plain(f"{count_of(found['verdicts'], 'verdict')}, {found['bytes']:,} bytes, in "
                        f"{found['where']}"), soft_wrap=True)  # fmt: skip
    for model, count in found["models"].items():
        console.print(plain(f"  {count:>9,}  {model}"), soft_wrap=True)
    if found["foreign"]:
        foreign = count_of(found["foreign"], "entry", "entries")
        told = f"{foreign} not signed with this service's secret, hence never used"
        console.print(plain(told), soft_wrap=True)


@cache.command()
def clear(
    redis_url: RedisUrl = None,
    store: StoreFile = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="MODEL", help="Only the verdicts of this served model."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove the kept verdicts; the judges are then asked anew, and paid."""
    settings = _settings(redis_url, store)
    if not yes:
        if not sys.stdin.isatty():
            raise UserError("this removes verdicts that were paid for; say --yes")
        what = f"of {clean(model)} " if model else ""
        typer.confirm(f"Remove the verdicts {what}in {_where(settings)}?", abort=True, err=True)
    removed = asyncio.run(_clear(settings, model))
    if as_json:
        print_json({"removed": removed})
    else:
        out().print(plain(f"{count_of(removed, 'verdict')} removed"))


@cache.command("export")
def export_(
    file: Annotated[str, typer.Argument(help="JSONL file to write, - for stdout.", metavar="FILE")],
    redis_url: RedisUrl = None,
    store: StoreFile = None,
) -> None:
    """Write the kept verdicts as lines of JSON.

    Imported elsewhere they answer the same requests again without any judge. The lines hold points
    and reasons, no prompts and no candidates.
    """
    settings = _settings(redis_url, store)
    with _writing(file) as to:
        count, foreign = asyncio.run(_export(settings, to))
    more = f"; {foreign:,} foreign entries left out" if foreign else ""
    err().print(plain(f"{count:,} verdicts written{more}"))


@cache.command("import")
def import_(
    file: Annotated[str, typer.Argument(help="JSONL file to read, - for stdin.", metavar="FILE")],
    redis_url: RedisUrl = None,
    store: StoreFile = None,
    as_json: Json = False,
) -> None:
    """Keep the verdicts of an export; this service signs them as its own.

    All lines are checked before the first is kept. Exit code 1 when a line cannot be right.
    """
    settings = _settings(redis_url, store)
    kept, faults = _read(file)
    for number, why in faults[:MAX_FAULTS_SHOWN]:
        complain(f"{file}: line {number}: {why}")
    if len(faults) > MAX_FAULTS_SHOWN:
        complain(f"and {len(faults) - MAX_FAULTS_SHOWN:,} more lines")
    if faults:
        raise typer.Exit(WRONG)
    stored = asyncio.run(_import(settings, kept))
    if as_json:
        print_json({"imported": stored, "lines": len(kept)})
    else:
        out().print(plain(f"{stored:,} of {len(kept):,} verdicts imported"))
    raise typer.Exit(OK if stored == len(kept) else WRONG)


def _settings(redis_url: str | None, store: Path | None) -> Settings:
    settings, _ = settings_of({"redis_url": redis_url, "store": store})
    if settings.redis_url is None and settings.store is None and settings.default_store is None:
        raise ConfigError("there is no store: name one with --store or --redis-url")
    return settings


def _where(settings: Settings) -> str:
    if settings.redis_url is not None:
        return "Redis"
    return str(settings.store or settings.default_store)


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[tuple[Store, Seal]]:
    from judge_service.adapters.opening import open_store
    from judge_service.events import nobody
    from judge_service.storage.secret import load_secret
    from judge_service.storage.store import StoreError
    from judge_service.verdicts.record import Seal

    seal = Seal(load_secret(settings))
    store = open_store(settings, nobody)
    try:
        yield store, seal
    except StoreError as error:
        raise UserError(str(error)) from None
    finally:
        await store.aclose()


async def _stats(settings: Settings) -> dict[str, Any]:
    from judge_service.verdicts.archive import kept_in

    models: Counter[str] = Counter()
    size = foreign = 0
    left: list[float] = []
    async with _opened(settings) as (store, seal):
        async for kept in kept_in(store, seal):
            if kept is None:
                foreign += 1
                continue
            models[kept.record.model_served or "(no name)"] += 1
            size += kept.size
            left = [min([*left, kept.ttl_s]), max([*left, kept.ttl_s])]
    return {
        "where": _where(settings),
        "verdicts": models.total(),
        "bytes": size,
        "foreign": foreign,
        "models": dict(models.most_common()),
        "shortest_ttl_s": round(left[0], 1) if left else None,
        "longest_ttl_s": round(left[1], 1) if left else None,
    }


async def _clear(settings: Settings, model: str | None) -> int:
    from judge_service.verdicts.archive import kept_in
    from judge_service.verdicts.key import PREFIX

    removed = 0
    async with _opened(settings) as (store, seal):
        keys: list[str] = []
        if model is None:
            keys = [key async for key, _, _ in store.scan(PREFIX)]
        else:
            async for kept in kept_in(store, seal):
                if kept is not None and kept.record.model_served == model:
                    keys.append(kept.key)
        for start in range(0, len(keys), 500):
            removed += await store.delete(*keys[start : start + 500])
    return removed


async def _export(settings: Settings, to: IO[str]) -> tuple[int, int]:
    from judge_service.verdicts.archive import kept_in

    count = foreign = 0
    async with _opened(settings) as (store, seal):
        with err().status("exporting …") as status:
            async for kept in kept_in(store, seal):
                if kept is None:
                    foreign += 1
                    continue
                to.write(json_text(kept.line()) + "\n")
                count += 1
                if count % 1000 == 0:
                    status.update(f"exporting … {count:,}")
    return count, foreign


async def _import(settings: Settings, kept: list[Kept]) -> int:
    from judge_service.verdicts.archive import keep

    stored = 0
    async with _opened(settings) as (store, seal):
        with err().status("importing …") as status:
            for start in range(0, len(kept), 100):
                some = kept[start : start + 100]
                stored += sum(await asyncio.gather(*(keep(store, seal, one) for one in some)))
                status.update(f"importing … {start + len(some):,} of {len(kept):,}")
    return stored


@contextmanager
def _writing(file: str) -> Iterator[IO[str]]:
    """Standard output, or the file: whole or not at all."""
    if file == "-":
        yield sys.stdout
        return
    draft = Path(f"{file}.part")
    try:
        with draft.open("w", encoding="utf-8") as to:
            yield to
        draft.replace(file)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    finally:
        draft.unlink(missing_ok=True)


def _read(file: str) -> tuple[list[Kept], list[tuple[int, str]]]:
    from judge_service.verdicts.archive import LineError, kept_of

    kept: list[Kept] = []
    faults: list[tuple[int, str]] = []
    try:
        with _reading(file) as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    if len(line) > MAX_LINE_BYTES:
                        raise LineError("too long")
                    kept.append(kept_of(line))
                except LineError as error:
                    faults.append((number, str(error)))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UserError(f"{file}: not UTF-8") from None
    return kept, faults


@contextmanager
def _reading(file: str) -> Iterator[IO[str]]:
    if file == "-":
        yield sys.stdin
        return
    with Path(file).open(encoding="utf-8") as lines:
        yield lines
