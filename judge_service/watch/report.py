"""What is told of watching: one process's own, with the alarms of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Report = dict[str, Any]
_SERIES = ("statistic", "judge", "rubric", "kind", "cause")


def merged(own: Report, others: tuple[int, Sequence[Report]] | None, *, shared: bool) -> Report:
    """One report of several processes: ``others`` are the number of those that live, and what all
    have left. Alarms of one series are one, with the earliest start; ``processes`` says how many
    raised it. Charts and failures are this process's own.
    """
    living, reports = others or (0, ())
    alarms: dict[tuple[Any, ...], dict[str, Any]] = {}
    for report in (own, *reports):
        for alarm in report.get("alarms", ()):
            series = tuple(alarm.get(name) for name in _SERIES)
            known = alarms.get(series)
            if known is None:
                alarms[series] = {**alarm, "processes": 1}
                continue
            known["processes"] += 1
            for name in ("since", "raised_at"):
                known[name] = min(known[name], alarm[name])
    note = None
    if not shared:
        note = "other processes, if there are any, share no store with this one"
    elif others is None:
        note = "the store cannot say what other processes have seen"
    return {
        **own,
        "alarms": sorted(alarms.values(), key=lambda alarm: str(alarm["raised_at"])),
        "processes": 1 + living,
        "note": note,
    }
