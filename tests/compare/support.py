"""What the tests of comparisons share: judges, rubrics, and a comparison checked whole."""

from __future__ import annotations

import math
from typing import Any

from judge_service.api.answers import CompareAnswer
from tests.harness import RunningService
from tests.provider import FakeProvider, Seen, behaviours

FOREIGN = "candidate-family"
JUDGES = {"ann": "alpha", "abe": "alpha", "bea": "beta", "cleo": "gamma", "dora": "delta"}
"""With their families, in the order they are chosen in: each weighs far more than the next."""
GARBAGE = behaviours.says("Hm.")
TIES = behaviours.decides(lambda seen: "tie")
MIRROR = {"first": "second", "second": "first", "tie": "tie", "inconsistent": "inconsistent"}
HARD_RULE = '[[rules]]\nrule = "max_chars"\nlimit = 40\nhard = true\n'
GOOD_TEXT, BAD_TEXT, SAME_TEXT = "The good answer.", "The bad answer.", "The equal answer."
LONG_TEXT = "An answer that goes on for much longer than forty characters."


def score(text: str) -> int:
    """Good texts are better than equal ones, and those than bad ones."""
    return 5 if "good" in text else 1 if "bad" in text else 3


def compare(service: RunningService, first: object, second: object, **more: Any) -> Any:
    """A comparison, checked against the wire schema."""
    answer = service.compare(first, second, **more)
    CompareAnswer.model_validate(answer)
    failed = answer["status"] == "failed"
    assert (answer["outcome"] is None) == (answer["consistent"] is None) == failed
    assert (answer["preference"] is None) == (failed or answer["outcome"] == "inconsistent")
    assert (answer["error"] is not None) == failed
    assert all(math.isfinite(value) for value in answer["metrics"].values())
    assert "reward" not in answer
    return answer


def flags(answer: Any) -> dict[str, str]:
    """An answer's flags with their details."""
    return {flag["flag"]: flag["detail"] for flag in answer["flags"]}


def seen(provider: FakeProvider) -> list[Seen]:
    """What each request showed its judge."""
    found = [request.seen for request in provider.requests]
    return [one for one in found if one is not None]


def asked(provider: FakeProvider) -> list[str]:
    """Who was asked, in both orders or more."""
    return sorted({request.model for request in provider.requests})


def tie_in_one_order(seen: Seen) -> str:
    """A judge that sees a difference only where the better one comes first."""
    good_first = score(next(iter(seen.candidates.values()))) == 5
    return seen.choice(True) if good_first else "tie"
