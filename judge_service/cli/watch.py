"""``judge-service watch``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge_service.cli import options as o
from judge_service.cli.exits import NO_VERDICT, OK, WRONG, UsageError, UserError
from judge_service.cli.terminal import note, out, plain, print_json
from judge_service.text.counted import count_of

if TYPE_CHECKING:
    from rich.table import Table

USAGE_CODE = WRONG
"""2 means an alarm."""
ALARM = 2
"""At least one alarm is raised."""


def watch(
    url: o.RunningUrl = None,
    reset: Annotated[
        bool,
        typer.Option(
            "--reset",
            help="Learn anew what is usual, after a change that was meant. Needs an admin key.",
        ),
    ] = False,
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="ID", help="Only what is about this judge.")
    ] = None,
    rubric: Annotated[
        str | None, typer.Option("--rubric", metavar="ID", help="Only what is about this rubric.")
    ] = None,
    as_json: o.Json = False,
) -> None:
    """Show the alarms of a running service.

    What it watches, and what an alarm says: docs/watching.md. Exit code 0 without an alarm, 1 for a
    mistake or a service that cannot be reached, 2 with an alarm, 3 where nothing is watched yet:
    every baseline is still being learnt, or watching is off.

    [bold]Examples[/bold]

    judge-service watch --url http://127.0.0.1:8080

    judge-service watch --url http://127.0.0.1:8080 --reset --judge gpt
    """
    if not url:
        raise UsageError("missing: --url of a running service")
    if reset:
        done = asyncio.run(_reset(url, judge, rubric))
        if as_json:
            print_json(done)
        else:
            note(f"learning begins anew; {count_of(done['alarms'], 'alarm')} went with it")
            if done["note"]:
                note(done["note"])
        raise typer.Exit(OK)
    found = asyncio.run(_watched(url))
    if found is None:
        note("watching is off ([watch] enabled = false)")
        raise typer.Exit(NO_VERDICT)
    alarms = [one for one in found["alarms"] if _is_about(one, judge, rubric)]
    charts = [one for one in found["charts"] if _is_about(one, judge, rubric)]
    if as_json:
        print_json({**found, "alarms": alarms, "charts": charts})
    else:
        out().print(_table(alarms) if alarms else "no alarm")
        _remarks(found, charts)
    watched = any(chart["baseline"] is not None for chart in charts)
    raise typer.Exit(ALARM if alarms else OK if watched else NO_VERDICT)


def _is_about(one: dict[str, Any], judge: str | None, rubric: str | None) -> bool:
    return judge in (None, one["judge"]) and rubric in (None, one["rubric"])


async def _watched(url: str) -> dict[str, Any] | None:
    from judge_service.cli.remote import remote
    from judge_service.cli.remote_answers import JudgesShape, WatchShape, fits

    async with remote(url) as service:
        data = await service.get("/v1/judges", JudgesShape)
    if "watch" not in data:
        raise UserError(f"{url}: it is of a version that does not watch")
    found: dict[str, Any] | None = data["watch"]
    if not fits(found, WatchShape | None):
        raise UserError(f"{url}: its /v1/judges is that of another version")
    return found


async def _reset(url: str, judge: str | None, rubric: str | None) -> dict[str, Any]:
    from judge_service.cli.remote import remote
    from judge_service.cli.remote_answers import ResetShape

    given = {"judge": judge, "rubric": rubric}
    async with remote(url) as service:
        answer: dict[str, Any] = await service.post(
            "/v1/watch/reset",
            {name: value for name, value in given.items() if value is not None},
            ResetShape,
        )
    return answer


def _remarks(found: dict[str, Any], charts: list[dict[str, Any]]) -> None:
    learning = [chart for chart in charts if chart["baseline"] is None]
    if learning:
        nearest = max(learning, key=lambda chart: float(chart["learnt"]) / chart["to_learn"])
        note(
            f"{len(learning)} of {len(charts)} baselines are being learnt; the nearest has "
            f"{nearest['learnt']} of {nearest['to_learn']} observations"
        )
    if not charts:
        note("nothing was judged yet")
    if found["note"]:
        note(found["note"])


def _table(alarms: list[dict[str, Any]]) -> Table:
    from rich.table import Table

    from judge_service.watch.alarm import plain_value

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("since", "judge", "rubric", "what", "was", "is", "effect", "how sure"):
        table.add_column(column, overflow="fold")
    for alarm in alarms:
        cause = f" ({alarm['cause']})" if alarm["cause"] else ""
        effect = "" if alarm["effect"] is None else f"{alarm['effect']:+.2f} {alarm['effect_name']}"
        sure = alarm["chart"]
        if alarm["threshold"] is not None and alarm["value"] is not None:
            sure += f" {alarm['value']:.3g}, limit {alarm['threshold']:.3g}"
        if alarm["run_length"] is not None:
            sure += f"; one false alarm in {alarm['run_length']:,.0f}"
        table.add_row(
            plain(alarm["since"]), plain(alarm["judge"] or "any"), plain(alarm["rubric"] or "any"),
            plain(alarm["statistic"] + cause), plain(plain_value(alarm["baseline"])),
            plain(plain_value(alarm["current"])), plain(effect), plain(sure),
        )  # fmt: skip
    return table
