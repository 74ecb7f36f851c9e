"""The bar of a drift run: how far it is, what it costs and how long it will take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from judge_service.cli.terminal import err, note
from judge_service.drift.first_look import FIRST_LOOK
from judge_service.drift.runner import Progress, Watch


@contextmanager
def progress() -> Iterator[Watch]:
    """A bar on stderr where somebody looks at it; elsewhere two lines: the plan and an estimate."""
    console = err()
    bar = Bar(
        TextColumn("judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[said]}"),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
    told = False
    with bar:
        task = bar.add_task("", total=None, said="")

        def watch(now: Progress) -> None:
            nonlocal told
            bar.update(task, total=now.total, completed=now.known + now.asked, said=_said(now))
            if now.asked == 0 and now.left:
                known = f", {now.known} are there already" if now.known else ""
                note(f"{now.total} judgements{known}")
            if now.asked >= FIRST_LOOK and now.left and not told and not console.is_terminal:
                told = True
                note(_said(now))

        yield watch


def _said(now: Progress) -> str:
    parts = [f"{now.rate():.1f}/s"]
    seconds = now.seconds_left()
    if seconds is not None:
        parts.append(f"about {_time(seconds)} to go")
    expected = now.cost_expected()
    cost = f"${now.cost_usd:.4f}"
    if now.unknown_cost_calls:
        cost += f" + {now.unknown_cost_calls} of unknown price"
    elif expected is not None:
        cost += f" of about ${expected:.4f}"
    parts.append(cost)
    if now.failed:
        parts.append(f"{now.failed} failed")
    return ", ".join(parts)


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
