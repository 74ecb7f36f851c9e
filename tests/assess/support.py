"""What the tests of assessments share: rubrics, judges, and an assessment checked whole."""

from __future__ import annotations

import math
from typing import Any

from judge_service.api.answers import AssessAnswer
from tests.harness import CRITERION, RunningService
from tests.provider import FakeProvider, behaviours, faults

GOOD = 4
GARBAGE = behaviours.says("Hm.")
BUSY = faults.status_error(503)
REWARD = 0.75
FOREIGN = "candidate-family"

TWO_CRITERIA = CRITERION.replace("weight = 1.0", "weight = 0.75") + CRITERION.replace(
    'name = "quality"\nweight = 1.0', 'name = "clarity"\nweight = 0.25'
).replace("How good", "How clear")

HARD_RULES = """
[[rules]]
rule = "max_chars"
limit = 60
hard = true
[[rules]]
rule = "forbidden_text"
text = "as an AI"
hard = true
[[rules]]
rule = "finished"
hard = true
[[rules]]
rule = "refusal"
hard = true
"""
WEIGHTED_RULE = """
[[rules]]
rule = "max_words"
limit = 4
weight = 1.0
"""
BY_WEIGHT = "[weights]\nrule = 0.2\nmodel = 0.8\n"
LENGTH = "[length]\nfree_chars = 1200\nzero_chars = 6000\n"


def assess(service: RunningService, candidate: object = "An answer.", **more: Any) -> Any:
    """An assessment by main unless ``judges`` says otherwise, checked against the wire schema."""
    answer = service.assess(candidate, **{"judges": ["main"], **more})
    AssessAnswer.model_validate(answer)
    assert (answer["reward"] is None) == (answer["status"] == "failed")
    assert (answer["error"] is None) == (answer["status"] == "success")
    assert all(math.isfinite(value) for value in answer["metrics"].values())
    return answer


def flags(answer: Any) -> set[str]:
    """The names of an answer's flags."""
    return {flag["flag"] for flag in answer["flags"]}


def slots(provider: FakeProvider) -> dict[str, str]:
    """What the only request showed the judge."""
    (request,) = provider.requests
    assert request.seen is not None
    return dict(request.seen.slots)
