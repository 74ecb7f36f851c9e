"""Says where a rubric wants expected scores and a verdict has none: never silently."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from judge_service.case import Case
from judge_service.flags import Flag
from judge_service.judges.judge import Bench, JudgeSpec
from judge_service.reply.expectation import MIN_MASS, Expectation
from judge_service.rubric.rubric import Rubric


@dataclass(slots=True)
class _Count:
    """Of one judge's verdicts: all, those without probabilities, the masses that are too small."""

    judge: JudgeSpec
    verdicts: int = 0
    unknown: int = 0
    small: list[float] = field(default_factory=list)

    def detail(self) -> str | None:
        """What there is to say, None where every verdict has an expected score."""
        if self.judge.top_logprobs is None:
            why = "it is not asked for token probabilities (top_logprobs)"
        elif self.unknown and not self.small:
            why = "no usable token probabilities"
        elif self.small:
            why = f"the values offered cover {min(self.small):.0%} of the probability, "
            why += f"{MIN_MASS:.0%} are needed"
        else:
            return None
        missing = self.unknown + len(self.small)
        return f"{self.judge.id}: {missing} of {self.verdicts} verdicts count as given: {why}"


def expectation_warnings(bench: Bench, rubrics: Iterable[Rubric]) -> list[str]:
    """What is likely a mistake: expected scores that no judge can give, one sentence each."""
    if any(judge.top_logprobs is not None for judge in bench.rotation()):
        return []
    return [
        f"rubric {rubric.id!r}: judging.score is expected, but no judge has top_logprobs, so that "
        "points count"
        for rubric in rubrics
        if rubric.judging.score == "expected"
    ]


def flag_unexpected(case: Case, told: Iterable[tuple[JudgeSpec, Expectation]]) -> None:
    """Flag the judges some of whose verdicts have no expected score, where the rubric wants them.

    ``told`` has every verdict's judge and what is expected of it.
    """
    if case.rubric.judging.score == "point":
        return
    counts: dict[str, _Count] = {}
    for judge, expected in told:
        count = counts.setdefault(judge.id, _Count(judge))
        count.verdicts += 1
        if expected.value is None and expected.mass > 0.0:
            count.small.append(expected.mass)
        elif expected.value is None:
            count.unknown += 1
    for count in counts.values():
        detail = count.detail()
        if detail is not None:
            case.flag(Flag("no_expectation", detail))
