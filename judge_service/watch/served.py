"""The names that providers give their models: a new one is another model or snapshot.

Some say beside it which configuration of their machines answered (OpenAI's ``system_fingerprint``).
That changes with every roll-out, often several times a day, and mostly without any effect on
verdicts, so it is told and counted but is no alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_service.watch.alarm import Alarm, Series, utc
from judge_service.watch.baseline import number_of
from judge_service.watch.configurations import Configurations, plain_name

FIRST = 20
"""Replies in which every name is taken to be right: some providers serve two snapshots at once."""
MAX_NAMES = 16


@dataclass(slots=True)
class _Judge:
    replies: int = 0
    names: list[str] = field(default_factory=list)
    said: str = ""
    """The last name as it was said."""
    new: list[str] = field(default_factory=list)
    raised_at: float = 0.0
    since_new: int = 0
    configurations: Configurations = field(default_factory=Configurations)


@dataclass(slots=True)
class ServedNames:
    """The names by judge. An alarm is over after as many replies in a row with old names as made
    the baseline. ``changed`` hears of alarms raised and over, ``reconfigured`` of judges whose
    provider says that another configuration answers. ``version`` says what of a judge its names
    depend on: where that changed, what is kept is of another judge.
    """

    changed: Callable[[Series, bool], None]
    reconfigured: Callable[[str], None]
    version: Callable[[str], str]
    _judges: dict[str, _Judge] = field(default_factory=dict)

    def add(self, judge: str, name: str, at: float, configuration: str | None = None) -> None:
        """A reply came under this name, from this configuration."""
        known = self._judges.get(judge)
        if known is None:
            known = self._judges[judge] = _Judge()
        known.replies += 1
        if configuration is not None and known.configurations.add(configuration, at):
            self.reconfigured(judge)
        if name == known.said and not known.new:
            return  # as nearly always
        known.said = name
        name = plain_name(name)
        if name in known.names:
            known.since_new += 1
            if known.new and known.since_new >= FIRST:
                known.new.clear()
                self.changed(_series(judge), False)
        elif known.replies <= FIRST and not known.new and len(known.names) < MAX_NAMES:
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
            self.changed(_series(judge), True)

    def learnt(self, judge: str) -> list[str] | None:
        """The names that are taken to be right; None while that is being learnt."""
        known = self._judges.get(judge)
        if known is None or known.replies < FIRST:
            return None
        return list(known.names)

    def adopt(self, judge: str, names: Sequence[str], at: float) -> None:
        """Take over the names that another process has learnt; what came here under others was
        new.
        """
        known = self._judges.setdefault(judge, _Judge())
        if known.replies >= FIRST:
            return
        others = [name for name in known.names if name not in names]
        known.names, known.replies = list(names)[:MAX_NAMES], FIRST
        for name in others:
            self._new(judge, known, name, at)

    def alarms(self) -> list[Alarm]:
        """Those that are raised."""
        return [_alarm(judge, known) for judge, known in self._judges.items() if known.new]

    def wire(self) -> list[dict[str, Any]]:
        """JSON: the names by judge, usual and new ones, and the configurations seen."""
        return [
            {
                "judge": judge, "replies": known.replies, "names": list(known.names),
                "new": list(known.new), **known.configurations.wire(utc),
            }
            for judge, known in sorted(self._judges.items())
        ]  # fmt: skip

    def state(self) -> dict[str, Any]:
        """What ``restore`` takes, as JSON."""
        return {
            judge: [
                self.version(judge), known.replies, known.names, known.new, known.raised_at,
                known.configurations.state(),
            ]
            for judge, known in self._judges.items()
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another process has stopped: alarms are told again. What is known here stays,
        but for alarms. Raises ValueError or TypeError.
        """
        for judge, (version, replies, names, new, raised_at, configurations) in state.items():
            known = self._judges.get(judge)
            if version != self.version(judge) or (known and (known.new or not new)):
                continue
            self._judges[judge] = kept = _Judge(
                replies=int(replies),
                names=[str(name) for name in names][:MAX_NAMES],
                new=[str(name) for name in new][:MAX_NAMES],
                raised_at=number_of(raised_at),
            )
            kept.configurations.restore(configurations)

    def forget(self, judge: str | None) -> None:
        """Take whatever name comes next to be right; of all judges with None."""
        for one in [judge] if judge is not None else list(self._judges):
            self._judges.pop(one, None)


def _series(judge: str) -> Series:
    return Series(statistic="served_model", judge=judge)


def _alarm(judge: str, known: _Judge) -> Alarm:
    return Alarm(
        series=_series(judge),
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
