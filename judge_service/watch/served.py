"""The names that providers give their models: a new one is another model or snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from judge_service.watch.alarm import Alarm, Series

FIRST = 20
"""Replies in which every name is taken to be right: some providers serve two snapshots at once."""
MAX_NAMES = 16
MAX_CHARS = 256


@dataclass(slots=True)
class _Judge:
    replies: int = 0
    names: list[str] = field(default_factory=list)
    last: str = ""
    new: list[str] = field(default_factory=list)
    raised_at: float = 0.0
    since_new: int = 0


@dataclass(slots=True)
class ServedNames:
    """The names by judge. An alarm is over after as many replies in a row with old names as made
    the baseline. ``changed`` hears of alarms raised and over.
    """

    changed: Callable[[Series, bool], None]
    _judges: dict[str, _Judge] = field(default_factory=dict)

    def add(self, judge: str, name: str, at: float) -> None:
        """A reply came under this name."""
        known = self._judges.get(judge)
        if known is None:
            known = self._judges[judge] = _Judge()
        known.replies += 1
        if name == known.last and not known.new:
            return  # as nearly always
        name = name[:MAX_CHARS]
        known.last = name
        if name in known.names:
            known.since_new += 1
            if known.new and known.since_new >= FIRST:
                known.new.clear()
                self.changed(self._series(judge), False)
        elif known.replies <= FIRST and not known.new:
            known.names.append(name)
        else:
            known.since_new = 0
            self._new(judge, known, name, at)

    def _new(self, judge: str, known: _Judge, name: str, at: float) -> None:
        first = not known.new
        if name not in known.new and len(known.new) < MAX_NAMES:
            known.new.append(name)
        if first:
            known.raised_at = at
            self.changed(self._series(judge), True)

    @staticmethod
    def _series(judge: str) -> Series:
        return Series(statistic="served_model", judge=judge)

    def names(self, judge: str) -> list[str]:
        """The names that are taken to be right."""
        known = self._judges.get(judge)
        return [] if known is None else list(known.names)

    def alarms(self) -> list[Alarm]:
        """Those that are raised."""
        return [
            Alarm(
                series=self._series(judge),
                chart="first new name",
                since=known.raised_at,
                raised_at=known.raised_at,
                baseline=", ".join(known.names),
                baseline_sd=None,
                baseline_n=min(FIRST, known.replies),
                current=", ".join(known.new),
                effect=None,
                effect_name=None,
                value=None,
                threshold=None,
                run_length=None,
                observations=known.replies,
            )
            for judge, known in self._judges.items()
            if known.new
        ]

    def state(self) -> dict[str, Any]:
        """What ``restore`` takes, as JSON."""
        return {
            judge: [known.replies, known.names, known.new, known.raised_at]
            for judge, known in self._judges.items()
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another process has stopped. Raises ValueError or TypeError."""
        for judge, (replies, names, new, raised_at) in state.items():
            self._judges[str(judge)] = _Judge(
                replies=int(replies),
                names=[str(name) for name in names][:MAX_NAMES],
                new=[str(name) for name in new][:MAX_NAMES],
                raised_at=float(raised_at),
            )

    def forget(self, judge: str | None) -> None:
        """Take whatever name comes next to be right; of all judges with None."""
        for one in [judge] if judge is not None else list(self._judges):
            self._judges.pop(one, None)
