"""What the tests of expected scores share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from judge_service.api.answers import AssessAnswer, CompareAnswer
from tests.harness import CRITERION, RunningService
from tests.provider import Behaviour, Seen
from tests.provider.odds import Odds, Split, by_words, graded

ANYBODY = ("main", "second", "third", "fussy", "strict", "dropping")
TEN = CRITERION.replace(
    '{point = 5, means = "right"},',
    "\n  ".join(f'{{point = {n}, means = "better still, {n}"}},' for n in range(5, 11)),
)
TWO = CRITERION.replace("weight = 1.0", "weight = 0.75") + CRITERION.replace(
    'name = "quality"\nweight = 1.0', 'name = "clarity"\nweight = 0.25'
)


def scores(odds: Odds, split: Split = by_words) -> Behaviour:
    """Always these odds of a score."""
    return graded(lambda _: {"score": odds}, split)


def choices(odds: Callable[[Seen], float], tie: float = 0.0, split: Split = by_words) -> Behaviour:
    """A pair's judge: ``odds`` gives the probability of the one shown first; a tie has its own."""

    def told(seen: Seen) -> dict[str, Odds]:
        first = odds(seen)
        chances = {"candidate_1": first, "candidate_2": 1.0 - first - tie, "tie": tie}
        return {"choice": {value: chance for value, chance in chances.items() if chance > 0}}

    return graded(told, split)


def assess(service: RunningService, text: str = "An answer.", **more: Any) -> Any:
    """An assessment by main, checked against the schema."""
    answer = service.assess(text, **{"judges": ["main"], **more})
    AssessAnswer.model_validate(answer)
    assert (answer["reward"] is None) == (answer["status"] == "failed")
    return answer


def compare(service: RunningService, first: str, second: str, **more: Any) -> Any:
    """A comparison by main, checked against the schema."""
    answer = service.compare(first, second, **{"judges": ["main"], **more})
    CompareAnswer.model_validate(answer)
    return answer


def unexpected(answer: Any) -> list[str]:
    """What the flags say of missing expectations."""
    return [flag["detail"] for flag in answer["flags"] if flag["flag"] == "no_expectation"]
