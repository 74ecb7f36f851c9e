"""What a verdict becomes, and that the same request is the same."""

from __future__ import annotations

from tests.assess.support import (
    REWARD,
    assess,
)
from tests.harness import RunningService
from tests.provider import FakeProvider


def test_a_verdict_becomes_the_reward(service: RunningService, provider: FakeProvider) -> None:
    """The point's rank on the scale is the reward; judge, reason and usage stand beside it."""
    answer = assess(service)
    assert answer["status"] == "success"
    assert answer["reward"] == REWARD
    assert answer["short_circuited"] is False
    assert answer["criteria"] == {
        "quality": {"point": 4, "normalized": 0.75, "weight": 1.0, "agreement": 1.0, "votes": 1}
    }
    (verdict,) = answer["verdicts"]
    wanted = {
        "judge": "main", "family": "alpha", "model": "openai/main", "model_served": "main",
        "criterion": "quality", "point": 4, "reason": "Checked against the rubric.",
        "cached": False, "attempts": 1,
    }  # fmt: skip
    assert {key: verdict[key] for key in wanted} == wanted
    assert verdict["latency_ms"] > 0
    assert verdict["usage"] == answer["usage"]
    assert answer["metrics"] == {
        "rule_score": 1.0, "model_score": 0.75, "criterion/quality": 0.75, "agreement": 1.0,
        "judge_failed": 0.0, "cached": 0.0, "short_circuited": 0.0, "length_chars": 10.0,
        "length_factor": 1.0,
    }  # fmt: skip
    assert answer["flags"] == []
    assert len(provider.requests) == 1


def test_equal_requests_have_equal_hashes(service: RunningService) -> None:
    """Rubric hash and fingerprint name the rubric and the judges that answered."""
    first, again = assess(service), assess(service, "Another answer.")
    other = assess(service, judges=["unpriced"])
    listed = service.http.get("/v1/rubrics/quality").json()
    assert first["rubric_hash"] == again["rubric_hash"] == listed["rubric_hash"]
    assert first["fingerprint"] == again["fingerprint"] != other["fingerprint"]
