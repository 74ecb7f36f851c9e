"""What fails: by cause, by prompt and by length, for one rubric and kind of request.

Failed samples are retried or dropped. Dropped ones that differ from those that were judged shift
what is trained on, so it is watched whether their lengths, and the scores that other answers to
their prompts had, are those of judged ones, and whether it is the same prompts that fail.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from judge_service.watch.alarm import Alarm
from judge_service.watch.baseline import number_of
from judge_service.watch.chart import Chart
from judge_service.watch.failed_share import FailedShares
from judge_service.watch.homogeneity import BUCKETS, Homogeneity, homogeneity
from judge_service.watch.place import Place
from judge_service.watch.product import FOLLOW
from judge_service.watch.prompts import LastScores, RecentPrompts
from judge_service.watch.ranks import RankFigures, Ranks
from judge_service.watch.tally import Tally

KEPT_SCORES = 1_024
"""Last scores of prompts that are kept for the next process."""
BATCH = 64
"""Failures of different prompts after which their prompts are looked at together."""


class Failures:
    """The failed outcomes of one rubric and kind. ``place`` holds its charts."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.shares = FailedShares(
            series=lambda cause: replace(place.series("failed_share"), cause=cause),
            changed=place.changed,
            learn=place.settings.baseline,
            run_length=place.settings.run_length,
        )
        self.tally = Tally()
        self._lengths, self._scores = Ranks(), Ranks()
        self._mean: float | None = None
        self._last_score = LastScores()
        self._judged_lately, self._failed_lately = RecentPrompts(), RecentPrompts()
        self.pairs_lately = RecentPrompts()
        self._in_batch = ([0] * BUCKETS, [0] * BUCKETS)
        self._last_batch: Homogeneity | None = None
        self._prompts_alarm: Alarm | None = None
        self._alarm_of: Homogeneity | None = None

    def judged(self, prompt: int, chars: float, score: float | None) -> bool:
        """An outcome that did not fail; ``score`` in [0, 1] where it has one. Whether its prompt is
        to be counted: it was not judged lately.
        """
        self.shares.judged()
        self.tally.add(prompt, chars, failed=False)
        if not self._judged_lately.counts(prompt):
            return False
        self._lengths.judged(chars)
        self._in_batch[1][prompt % BUCKETS] += 1
        if score is not None:
            # Against what was usual at that time: while a policy learns, old scores are low ones,
            # and prompts that were last seen long ago would look like hard ones.
            apart = score - (score if self._mean is None else self._mean)
            self._mean = score - (1.0 - FOLLOW) * apart
            self._scores.judged(apart)
            self._last_score.put(prompt, apart)
        return True

    def failed(self, code: str, prompt: int, chars: float, at: float) -> None:
        """An outcome that failed."""
        self.shares.failed(code, prompt, at)
        self.tally.add(prompt, chars, failed=True)
        if not self._failed_lately.counts(prompt):
            return
        rank = self._lengths.failed(chars)
        if rank is not None:
            self.place.feed("failed_length", [(rank, at)])
        other = self._last_score.get(prompt)
        rank = None if other is None else self._scores.failed(other)
        if rank is not None:
            self.place.feed("failed_difficulty", [(rank, at)])
        self._in_batch[0][prompt % BUCKETS] += 1
        if sum(self._in_batch[0]) >= BATCH:
            self._look_at_prompts(at)

    def _look_at_prompts(self, at: float) -> None:
        found = self._last_batch = homogeneity(*self._in_batch)
        self._in_batch = ([0] * BUCKETS, [0] * BUCKETS)
        before = self._prompts_alarm
        if found is not None and found.p_value < self._threshold:
            raised_at = at if before is None else before.raised_at
            self._prompts_alarm = self._alarm(found, raised_at)
            if before is None:
                self.place.changed(self._prompts_alarm.series, True)
        elif before is not None:
            self._prompts_alarm = None
            self.place.changed(before.series, False)

    @property
    def _threshold(self) -> float:
        return BATCH / self.place.settings.run_length

    def _alarm(self, found: Homogeneity, raised_at: float) -> Alarm:
        self._alarm_of = found
        return Alarm(
            series=self.place.series("failed_prompts"),
            chart=f"chi-square of {BATCH} failures",
            since=raised_at,
            raised_at=raised_at,
            baseline=float(found.df),
            baseline_sd=math.sqrt(2.0 * found.df),
            baseline_n=0,
            current=found.statistic,
            effect=math.sqrt(found.statistic / BATCH),
            effect_name="square root of chi-square by failures",
            value=found.p_value,
            threshold=self._threshold,
            run_length=self.place.settings.run_length,
            observations=self.shares.outcomes,
        )

    def alarms(self) -> list[Alarm]:
        """Those that are raised and are not in a chart of the place."""
        found = self.shares.alarms()
        return [*found, self._prompts_alarm] if self._prompts_alarm else found

    def detail(self, chart: Chart) -> str | None:
        """The test statistic beside an alarm of ranks."""
        ranks = {"failed_length": self._lengths, "failed_difficulty": self._scores}
        found = ranks.get(chart.series.statistic)
        figures = None if found is None else found.figures()
        return None if figures is None else _told(figures)

    def wire(self) -> dict[str, Any]:
        """JSON."""
        lengths, scores = self._lengths.figures(), self._scores.figures()
        prompts = self._last_batch
        return {
            **self.shares.wire(),
            **self.tally.wire(),
            "length": None if lengths is None else lengths.wire(),
            "difficulty": None if scores is None else scores.wire(),
            "prompts": None if prompts is None else prompts._asdict(),
        }

    def state(self) -> dict[str, Any]:
        """What ``restore`` takes, as JSON: shares and alarms."""
        alarm, found = self._prompts_alarm, self._alarm_of
        prompts = None if alarm is None or found is None else [*found, alarm.raised_at]
        return {**self.shares.state(), "prompts_alarm": prompts}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another process has stopped. Raises ValueError, KeyError or TypeError."""
        self.shares.restore(state)
        self._restore_prompts(state)

    def inherit(self, state: dict[str, Any]) -> None:
        """Take over from a process that has died what says more than what is known here. Raises as
        ``restore`` does.
        """
        self.shares.inherit(state)
        if self._prompts_alarm is None:
            self._restore_prompts(state)

    def _restore_prompts(self, state: dict[str, Any]) -> None:
        kept = state.get("prompts_alarm")
        if kept is not None:
            statistic, df, p_value, raised_at = map(number_of, kept)
            found = Homogeneity(statistic, int(df), p_value)
            self._prompts_alarm = self._alarm(found, raised_at)

    def window(self) -> dict[str, Any]:
        """What ``restore_window`` takes, as JSON: the latest lengths and scores."""
        return {
            "tally": self.tally.state(),
            "lengths": self._lengths.state(),
            "scores": self._scores.state(),
            "mean": self._mean,
            "last": self._last_score.state(KEPT_SCORES),
        }

    def restore_window(self, state: dict[str, Any]) -> None:
        """Go on where another process has stopped. Raises ValueError, KeyError or TypeError."""
        self.tally.restore(state["tally"])
        self._lengths.restore(state["lengths"])
        self._scores.restore(state["scores"])
        self._mean = None if state["mean"] is None else number_of(state["mean"])
        self._last_score.restore(state["last"])


def _told(figures: RankFigures) -> str:
    return (
        f"rank-biserial correlation {figures.rank_biserial:+.2f} over the last {figures.n} failed, "
        f"z = {figures.z:.1f}, p = {figures.p_value:.2g}"
    )
