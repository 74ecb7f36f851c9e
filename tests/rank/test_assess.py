"""Groups on the scales of a rubric."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider, behaviours, faults
from tests.rank.support import flags, rank


def test_every_member_has_its_own_reward(service: RunningService, provider: FakeProvider) -> None:
    """Rewards are those of an assessment, not normalised, in the order of the list."""
    answer = rank(service, ["4 a", "2 b", "5 c"], strategy="assess")

    assert answer["rewards"] == [0.75, 0.25, 1.0]
    assert answer["ranks"] == [2, 3, 1]
    assert [m["criteria"]["quality"]["point"] for m in answer["candidates"]] == [4, 2, 5]
    assert answer["strategy"] == "assess"
    assert answer["zero_advantage"] is False
    assert len(provider.requests) == answer["usage"]["upstream_requests"] == 3
    assert answer["judges"] == [
        {"judge": "main", "family": "alpha", "model": "openai/main", "model_served": "main",
         "verdicts": 3, "cached": 0}
    ]  # fmt: skip


def test_the_same_as_one_by_one(service: RunningService, provider: FakeProvider) -> None:
    """A member's reward is that of an assessment, and shares its verdict."""
    prompt = new_prompt()
    alone = [
        service.assess({"text": t, "family": "x"}, prompt=prompt, judges=["main"])
        for t in ("4 a", "2 b")
    ]
    answer = rank(service, ["4 a", "2 b"], prompt=prompt, strategy="assess")

    assert answer["rewards"] == [one["reward"] for one in alone]
    assert answer["metrics"]["cached"] == 1.0
    assert len(provider.requests) == 2


def test_a_broken_rule_is_a_zero_without_a_call(
    service: RunningService, provider: FakeProvider
) -> None:
    """Members that break a hard rule have 0.0; the others are judged."""
    answer = rank(service, ["4 a", "5 forbidden", "", "2 b"], strategy="assess")

    assert answer["status"] == "success"
    assert answer["rewards"] == [0.75, 0.0, 0.0, 0.25]
    assert len(provider.requests) == 2


def test_a_group_in_which_nobody_passes(service: RunningService, provider: FakeProvider) -> None:
    """All zeros, honestly, and a flag."""
    answer = rank(service, ["forbidden", ""])

    assert answer["rewards"] == [0.0, 0.0]
    assert answer["ranks"] == [1, 1]
    assert answer["zero_advantage"] is True
    assert "zero_advantage" in flags(answer)
    assert provider.requests == []


@pytest.mark.parametrize(
    ("rubric", "family"), [("quality", "alpha"), ("pair", "alpha"), ("panel", "x")],
    ids=["no judge of another family", "the same in pairs", "no quorum of judges"],
)  # fmt: skip
def test_a_group_in_which_nobody_passes_needs_no_judge(
    service: RunningService, provider: FakeProvider, rubric: str, family: str
) -> None:
    """Zeros by rule do not depend on who could have judged."""
    answer = rank(service, [{"text": text, "family": family} for text in ("", " ")], rubric=rubric)

    assert answer["rewards"] == [0.0, 0.0]
    assert provider.requests == []


def test_equal_texts_are_judged_once(service: RunningService, provider: FakeProvider) -> None:
    """Sixteen copies cost one call and have one reward."""
    answer = rank(service, ["4 the same"] * 16)

    assert answer["rewards"] == [0.75] * 16
    assert len(provider.requests) == 1
    assert {"zero_advantage", "near_duplicate"} <= flags(answer)


@pytest.mark.parametrize(
    ("fault", "code", "retryable"),
    [
        (behaviours.says("Hm."), "unparsable", True),
        (faults.status_error(500), "upstream_error", True),
        (faults.status_error(401), "upstream_auth", False),
    ],
    ids=["no verdict", "500", "401"],
)
@pytest.mark.parametrize("strategy", ["assess", "auto"])
def test_one_member_without_a_verdict_fails_the_group(
    service: RunningService,
    provider: FakeProvider,
    fault: behaviours.Behaviour,
    code: str,
    retryable: bool,
    strategy: str,
) -> None:
    """Nobody has a reward, the member is named, and the good verdicts are kept for the retry."""
    texts = ["1 a", "2 b", "3 c", "4 d", "5 e"]
    prompt = new_prompt()
    script = behaviours.when(lambda s: s.candidate == "3 c", fault, behaviours.honest())
    provider.behave("main", script)
    failed = rank(service, texts, prompt=prompt, strategy=strategy)

    assert (failed["status"], failed["error"]["code"]) == ("failed", code)
    assert failed["error"]["retryable"] is retryable
    assert [m["status"] for m in failed["candidates"]] == [
        "success", "success", "failed", "success", "success",
    ]  # fmt: skip
    assert failed["candidates"][2]["error"]["code"] == code
    assert (
        failed["error"]["message"]
        == "candidates[2]: " + failed["candidates"][2]["error"]["message"]
    )
    assert failed["metrics"]["judge_failed"] == 1.0

    provider.reset()
    again = rank(service, texts, prompt=prompt, strategy=strategy)
    assert again["rewards"] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert len(provider.requests) == 1


def test_two_members_that_fail_of_different_things(
    service: RunningService, provider: FakeProvider
) -> None:
    """Each has its own error; the group's is the one that no retry can help."""
    refused = behaviours.when(
        lambda s: s.candidate == "2 b", faults.content_filtered(), behaviours.says("Hm.")
    )
    script = behaviours.when(lambda s: s.candidate in "2 b 3 c", refused, behaviours.honest())
    provider.behave("main", script)
    for texts in (["1 a", "2 b", "3 c"], ["3 c", "1 a", "2 b"]):
        failed = rank(service, texts, strategy="assess")
        place = texts.index("2 b")
        codes = {text: (one["error"] or {}).get("code")
                 for text, one in zip(texts, failed["candidates"], strict=True)}  # fmt: skip

        assert codes == {"1 a": None, "2 b": "content_filtered", "3 c": "unparsable"}
        assert failed["error"]["code"] == "content_filtered"
        assert failed["error"]["message"].startswith(f"candidates[{place}]: ")


def test_the_metrics_have_the_same_keys_whatever_happened(
    service: RunningService, provider: FakeProvider
) -> None:
    """Trainers break when keys come and go."""
    good = rank(service, ["4 a", "2 b"])
    provider.behave("main", behaviours.says("Hm."))
    bad = rank(service, ["4 a", "2 b"])

    assert good["metrics"].keys() == bad["metrics"].keys()


def test_a_judge_is_replaced_for_the_whole_group(
    service: RunningService, provider: FakeProvider
) -> None:
    """Where the rubric allows another family, all members move to it, not only the one in need."""
    provider.behave("main", behaviours.chokes_on("c"))
    provider.behave("second", behaviours.decides(lambda seen: 2))
    answer = rank(
        service,
        ["4 a", "5 b", "3 c"],
        rubric="moving",
        judges=["main", "second"],
        strategy="assess",
    )

    assert answer["status"] == "success"
    assert answer["rewards"] == [0.25] * 3
    assert {j["judge"] for j in answer["judges"]} == {"second"}
    assert "fallback_judge" in flags(answer)


def test_a_group_that_is_lost_costs_no_second_judge_for_all(
    service: RunningService, provider: FakeProvider
) -> None:
    """The member in need is tried first; if nobody can judge it, the others are not paid twice."""
    for judge in ("main", "second"):
        provider.behave(judge, behaviours.chokes_on("c"))
    answer = rank(
        service,
        ["4 a", "5 b", "3 c"],
        rubric="moving",
        judges=["main", "second"],
        strategy="assess",
    )

    assert answer["status"] == "failed"
    assert [m["status"] for m in answer["candidates"]] == ["success", "success", "failed"]
    assert len(provider.requests_of("second")) == 1


@pytest.mark.parametrize(("max_calls", "moves"), [(3, False), (5, False), (6, True)])
def test_a_second_judge_is_within_the_budget(
    service: RunningService, provider: FakeProvider, max_calls: int, moves: bool
) -> None:
    """Verdicts of both judges count; where that is too many, the first one's failure stands."""
    provider.behave("main", behaviours.chokes_on("c"))
    answer = rank(
        service,
        ["4 a", "5 b", "3 c"],
        rubric="moving",
        judges=["main", "second"],
        strategy="assess",
        max_calls=max_calls,
    )

    assert (answer["status"] == "success") is moves
    assert len(provider.requests_of("second")) == (3 if moves else 0)
    if not moves:
        assert answer["error"]["code"] == "unparsable"


def test_an_unjudgeable_member_can_be_a_zero(
    service: RunningService, provider: FakeProvider
) -> None:
    """Two families fail on it and judge a control item: by the rubric's wish it has 0.0."""
    for judge in ("main", "second"):
        provider.behave(judge, behaviours.chokes_on("choke"))
    answer = rank(
        service, ["4 a", "5 choke"], rubric="zero", judges=["main", "second"], strategy="assess"
    )

    assert answer["rewards"] == [0.75, 0.0]
    assert "unjudgeable" in flags(answer)


def test_a_judges_own_trouble_is_no_zero(service: RunningService, provider: FakeProvider) -> None:
    """A judge that judges nothing at all says nothing about a member."""
    for judge in ("main", "second"):
        provider.behave(judge, behaviours.says("Hm."))
    answer = rank(
        service, ["4 a", "5 b"], rubric="zero", judges=["main", "second"], strategy="assess"
    )

    assert answer["status"] == "failed"


def test_families_of_all_members_are_excluded(
    service: RunningService, provider: FakeProvider
) -> None:
    """A judge of one member's family judges none of them."""
    candidates = [{"text": "4 a", "family": "beta"}, {"text": "2 b", "family": "gamma"}]
    answer = rank(service, candidates, judges=["second", "third", "main"], strategy="assess")
    assert {j["judge"] for j in answer["judges"]} == {"main"}

    none = rank(service, candidates, judges=["second", "third"], strategy="assess")
    assert none["error"]["code"] == "no_eligible_judge"
    assert [m["status"] for m in none["candidates"]] == ["failed", "failed"]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"candidates": [{"text": "a"}]}, "candidates"),
        ({"candidates": [{"text": "a"}] * 65}, "candidates"),
        ({"candidates": [{"text": "a", "id": "x"}, {"text": "b", "id": "x"}]}, "candidates"),
        ({"strategy": "best"}, "strategy"),
        ({"max_calls": 0}, "max_calls"),
        ({"max_calls": 1}, "max_calls"),
        ({"max_calls": True}, "max_calls"),
        ({"strategy": "listwise", "rubric": "pair"}, "strategy"),
        ({"strategy": "assess", "rubric": "pair"}, "strategy"),
        ({"rubric": "two", "max_calls": 3}, "max_calls"),
        ({"scale": 5}, "scale"),
    ],
    ids=["one", "65", "same id", "unknown strategy", "no calls", "too few", "a boolean",
         "list without scale", "assess without scale", "too few for two criteria", "unknown field"],
)  # fmt: skip
def test_a_request_that_cannot_be_right(
    service: RunningService, provider: FakeProvider, more: dict[str, Any], field: str
) -> None:
    """One readable 422 that names the field, before any judge is asked."""
    body = {"rubric": "quality", "prompt": "p", "judges": ["main"],
            "candidates": [{"text": "a"}, {"text": "b"}], **more}  # fmt: skip
    answer = service.http.post("/v1/rank", json=body)

    assert answer.status_code == 422, answer.text
    assert answer.json()["error"]["field"].startswith(field)
    assert provider.requests == []
