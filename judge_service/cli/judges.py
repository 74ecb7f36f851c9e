"""``judge-service judges``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge_service.cli import options as o
from judge_service.cli.configuration import settings_of
from judge_service.cli.exits import NO_VERDICT, OK
from judge_service.cli.terminal import note, out, plain, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from judge_service.judges.judge import JudgeSpec
    from judge_service.settings import Settings

_LIMITS = ("max_concurrency", "rpm", "tpm", "attempt_timeout_s")
_LIMIT_NAMES = {"max_concurrency": "at once", "rpm": "rpm", "tpm": "tpm", "attempt_timeout_s": "s"}


def judges(
    judges: o.JudgesFileShort = None,
    ping: Annotated[
        bool, typer.Option("--ping", help="Ask every judge one small control question.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option("--timeout", help="Seconds each judge has.", min=0.1, max=600, metavar="S"),
    ] = 60.0,
    url: o.Url = None,
    embedded_judge: o.EmbeddedJudge = None,
    local_model: o.LocalModel = None,
    local_model_family: o.LocalModelFamily = None,
    as_json: o.Json = False,
) -> None:
    """List the judges: model, family, purpose, limits, and whether their keys are set.

    With --ping each is asked one small question the way real ones are asked: how long it took,
    which model answered, in which form of reply, for how much. Exit code 3 if any had no verdict.

    [bold]Examples[/bold]

    judge-service judges --judges-file judges.toml --ping

    judge-service judges --url http://127.0.0.1:8080
    """
    flags = {
        "judges": judges,
        "embedded_judge": embedded_judge,
        "local_model": local_model,
        "local_model_family": local_model_family,
    }
    if url:
        rows, warnings = asyncio.run(_remote(url, ping, timeout))
    else:
        rows, warnings = _local(flags)
        if ping:
            from judge_service.cli.ping import ping_in_process

            pings = asyncio.run(ping_in_process(flags, timeout))
            for row in rows:
                row["ping"] = pings.get(row["id"])
    if as_json:
        print_json({"judges": rows, "warnings": warnings})
    else:
        console = out()
        console.print(_table(rows, ping=ping))
        for row in rows:
            if (error := (row.get("ping") or {}).get("error")) is not None:
                told = error["message"].removeprefix(f"judge {row['id']!r}").lstrip(": ")
                console.print(plain(f"{row['id']}: {told}", "red"), soft_wrap=True)
        for warning in warnings:
            note(warning)
    failed = any((row.get("ping") or {}).get("status") == "failed" for row in rows)
    raise typer.Exit(NO_VERDICT if failed else OK)


async def _remote(url: str, ping: bool, seconds: float) -> tuple[list[dict[str, Any]], list[str]]:
    from judge_service.cli.ping import ping_remote
    from judge_service.cli.remote import remote
    from judge_service.cli.remote_answers import JudgesShape

    async with remote(url) as service:
        pings = {}
        if ping:
            ids = [
                judge["id"] for judge in (await service.get("/v1/judges", JudgesShape))["judges"]
            ]
            pings = await ping_remote(service, ids, seconds)
        rows = (await service.get("/v1/judges", JudgesShape))["judges"]
    for row in rows:
        if row["id"] in pings:
            row["ping"] = {**pings[row["id"]], "reply": row.get("reply")}
    trial = [row["id"] for row in rows if row.get("trial")]
    warnings = [f"judge {judge!r} is the embedded trial model" for judge in trial]
    return rows, warnings


def _local(flags: Mapping[str, object]) -> tuple[list[dict[str, Any]], list[str]]:
    """The judges of the configuration, without starting anything."""
    from judge_service.judges.judge import load_bench
    from judge_service.judges.provider_key import key_warnings

    settings, environ = settings_of(flags)
    file = settings.judges_file()
    if file is None:
        return [_embedded(settings)], [
            "no judges are configured: the embedded trial model would judge; it is for trying "
            "things out. Name your own in judges.toml"
        ]
    bench = load_bench(file)
    warnings = bench.warnings()
    rows = []
    for judge in bench.values():
        rows.append(_row(judge, environ))
        if rows[-1]["key"] == "missing":
            warnings.append(f"judge {judge.id!r}: the variable {judge.api_key_env} is not set")
    return rows, warnings + key_warnings(bench.values(), environ)


def _embedded(settings: Settings) -> dict[str, Any]:
    from judge_service.adapters.local_model import JUDGE_ID, bundled_weights
    from judge_service.judges.family import families_of

    file = settings.local_model or bundled_weights()
    name = None if file is None else file.stem
    family = settings.local_model_family or "+".join(sorted(families_of(name or "")))
    return {
        "id": JUDGE_ID, "model": name, "family": family or None, "purpose": "train",
        "weight": 1.0, "trial": True, "key": "none", "key_variable": None,
        "key_needed": False, "limits": dict.fromkeys(_LIMITS),
    }  # fmt: skip


def _row(judge: JudgeSpec, environ: Mapping[str, str]) -> dict[str, Any]:
    from judge_service.judges.provider_key import usual_variables

    variable, usual = judge.api_key_env, usual_variables(judge)
    if variable is None:
        variable = next((name for name in usual if environ.get(name)), None)
    key = "none" if variable is None else "set" if environ.get(variable) else "missing"
    return {
        "id": judge.id, "model": judge.model, "family": judge.family_label,
        "purpose": judge.purpose, "weight": judge.weight, "trial": False, "key": key,
        "key_variable": variable, "key_needed": bool(usual) or judge.api_key_env is not None,
        "limits": {name: getattr(judge, name) for name in _LIMITS},
    }  # fmt: skip


def _table(rows: list[dict[str, Any]], *, ping: bool) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("id", "model", "family", "purpose", "limits", "key"):
        table.add_column(column, overflow="fold")
    if ping:
        table.add_column("ping", overflow="fold")
    for row in rows:
        trial = " (trial)" if row.get("trial") else ""
        cells = [
            plain(row["id"], "bold"), plain(row["model"] or "no weights installed"),
            plain(row["family"] or ""), plain(row["purpose"] + trial), plain(_limits(row)),
            _key(row),
        ]  # fmt: skip
        if ping:
            cells.append(_pinged(row.get("ping")))
        table.add_row(*cells)
    return table


def _limits(row: Mapping[str, Any]) -> str:
    limits = row.get("limits") or {}
    given = [f"{limits[n]:g} {_LIMIT_NAMES[n]}" for n in _LIMITS if limits.get(n) is not None]
    return ", ".join(given) or "none"


def _key(row: Mapping[str, Any]) -> Any:
    key, variable = row.get("key"), row.get("key_variable")
    if key == "missing":
        return plain(f"{variable} is not set", "red")
    if key == "none" and row.get("key_needed"):
        return plain("none, and needs one", "red")
    return plain({"set": f"{variable} is set", "none": "none"}.get(str(key), "not shown"))


def _pinged(ping: Mapping[str, Any] | None) -> Any:
    from judge_service.cli.outcome import money

    if ping is None:
        return plain("not asked", "dim")
    if ping["status"] == "failed":
        return plain(ping["error"]["code"], "red")
    took = (
        f"{ping['latency_ms'] / 1000:.2f} s, served by {ping['model_served'] or 'an unnamed model'}"
    )
    return plain(f"{took}, reply {ping.get('reply') or '?'}, {money(ping['usage'])}", "green")
