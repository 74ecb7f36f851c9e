"""An alarm, as it is told: what moved, since when, from where to where, and how sure that is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from judge_service.events import Kind
from judge_service.watch.statistic import STATISTICS, Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What a chart is about. ``judge`` is None where it is not about one judge alone, ``kind`` and
    ``rubric`` where it is about all; ``cause`` is the error code of a failed share, None for all.
    """

    statistic: Name
    judge: str | None = None
    rubric: str | None = None
    kind: Kind | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """A chart beyond its limit.

    ``since`` is when the shift began by the chart, ``raised_at`` when the limit was passed, both in
    seconds since the epoch. ``baseline`` and ``current`` are in the unit of the statistic, words
    for a served model. ``effect`` is in the unit that ``effect_name`` says. ``value`` is that of
    the ``chart`` and ``threshold`` what it had to pass, both None where one case is proof.
    ``run_length`` is how many observations pass on average until a false alarm of this statistic.
    """

    series: Series
    chart: str
    since: float
    raised_at: float
    baseline: float | str
    baseline_sd: float | None
    baseline_n: int
    current: float | str
    effect: float | None
    effect_name: str | None
    value: float | None
    threshold: float | None
    run_length: float | None
    observations: int
    detail: str | None = None

    @property
    def text(self) -> str:
        """One sentence, without the names."""
        told = STATISTICS[self.series.statistic]
        cause = f" ({self.series.cause})" if self.series.cause else ""
        moved = f"{told.text}{cause}: {plain_value(self.current)}, was {plain_value(self.baseline)}"
        return moved + (f" ({self.detail})" if self.detail else "")

    def wire(self) -> dict[str, Any]:
        """JSON; times in UTC."""
        told = asdict(self)
        series = told.pop("series")
        told |= {"since": utc(self.since), "raised_at": utc(self.raised_at)}
        means = STATISTICS[self.series.statistic].means
        return {**series, "text": self.text, "means": means, **told}


def utc(seconds: float) -> str:
    """A time as text."""
    told = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    return told.replace("+00:00", "Z")


def plain_value(value: float | str) -> str:
    """Either as a reader wants it: a word in quotes, a number with three digits."""
    return repr(value[:128]) if isinstance(value, str) else f"{value:.3g}"
