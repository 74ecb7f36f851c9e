"""What charts are called in the store: statistic, kind, judge, rubric, version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SEPARATOR, PARTS = "|", 5
"""No id has the separator in it."""


def name_of(
    statistic: str, kind: str | None, judge: str | None, rubric: str | None, version: str
) -> str:
    """The name of a chart; ``version`` is that of judge and rubric."""
    return SEPARATOR.join((statistic, kind or "", judge or "", rubric or "", version))


def parts_of(name: str) -> list[str]:
    """What ``name_of`` was given."""
    return name.split(SEPARATOR)


def subject_of(name: str) -> tuple[str | None, str | None]:
    """Judge and rubric of a chart by its name; None where it is not about one alone."""
    parts = parts_of(name)
    return (parts[2] or None, parts[3] or None) if len(parts) == PARTS else (None, None)


def is_about(name: str, judge: str | None, rubric: str | None) -> bool:
    """Whether a chart, by its name, is about a judge, a rubric, both or, with neither,
    any.
    """
    of_judge, of_rubric = subject_of(name)
    return judge in (None, of_judge) and rubric in (None, of_rubric)


def without(
    state: dict[str, Any], void: Callable[[str | None, str | None], bool]
) -> dict[str, Any]:
    """A state of ``Desk`` without what is void by judge and rubric."""
    charts, served = state.get("charts"), state.get("served")
    return {
        "charts": {n: c for n, c in charts.items() if not void(*subject_of(n))}
        if isinstance(charts, dict)
        else {},
        "served": {judge: one for judge, one in served.items() if not void(judge, None)}
        if isinstance(served, dict)
        else {},
    }
