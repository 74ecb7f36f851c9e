"""Expected scores in an assessment: beside the point, declared, and never made up."""

from __future__ import annotations

import json

import pytest

from judge_service.adapters.exchange import MAX_REPLY_BYTES, room_for
from tests.expected.support import assess, scores, unexpected
from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider, Reply, Seen, behaviours, faults
from tests.provider.odds import Split, by_digits, by_words, entries, entry, graded
from tests.provider.replies import error, verdict


def test_the_reward_is_the_expected_score(service: RunningService, provider: FakeProvider) -> None:
    """The point stays the verdict; what the judge nearly gave enters the reward."""
    provider.behave("main", scores({"4": 0.6, "5": 0.3, "2": 0.1}))
    answer = assess(service)

    result = answer["criteria"]["quality"]
    assert (result["point"], result["normalized"]) == (4, 0.75)
    assert result["expected"]["value"] == pytest.approx(0.6 * 0.75 + 0.3 + 0.1 * 0.25)
    assert result["expected"]["mass"] == pytest.approx(1.0)
    assert answer["reward"] == result["expected"]["value"] == answer["metrics"]["model_score"]
    assert answer["verdicts"][0]["expected"] == result["expected"]
    assert answer["metrics"]["mass/quality"] == pytest.approx(1.0)
    assert answer["metrics"]["criterion/quality"] == 0.75
    assert unexpected(answer) == []
    body = provider.requests[0].body
    assert (body["logprobs"], body["top_logprobs"]) == (True, 20)


def test_points_count_unless_the_rubric_says_otherwise(
    service: RunningService, provider: FakeProvider
) -> None:
    """A judge that tells probabilities changes no reward; the verdict shows what it told."""
    provider.behave("main", scores({"4": 0.6, "5": 0.4}))
    answer = assess(service, rubric="points")

    assert answer["reward"] == 0.75
    assert "expected" not in answer["criteria"]["quality"]
    assert answer["verdicts"][0]["expected"]["value"] == pytest.approx(0.85)
    assert not any(key.startswith("mass") for key in answer["metrics"])
    assert answer["flags"] == []


def test_a_judge_that_is_not_asked(service: RunningService, provider: FakeProvider) -> None:
    """Without top_logprobs nothing is sent, nothing is read, and the outcome says so."""
    provider.behave("mute", scores({"4": 0.6, "5": 0.4}))
    answer = assess(service, judges=["mute"])

    assert answer["reward"] == 0.75
    assert answer["criteria"]["quality"]["expected"] == {"value": None, "mass": 0.0}
    assert "expected" not in answer["verdicts"][0]
    assert answer["metrics"]["mass/quality"] == 0.0
    assert unexpected(answer) == [
        "mute: 1 of 1 verdicts count as given: it is not asked for token probabilities "
        "(top_logprobs)"
    ]
    assert not {"logprobs", "top_logprobs"} & provider.requests[0].body.keys()


@pytest.mark.parametrize(("covered", "counts"), [(0.95, True), (0.91, True), (0.89, False)])
def test_too_little_is_covered(
    service: RunningService, provider: FakeProvider, covered: float, counts: bool
) -> None:
    """Under nine tenths of the probability the point counts, and the outcome says how much."""
    provider.behave("main", scores({"4": covered - 0.2, "2": 0.2}))
    answer = assess(service)

    found = answer["criteria"]["quality"]["expected"]
    assert found["mass"] == pytest.approx(covered)
    assert (found["value"] is not None) is counts
    assert answer["reward"] == (pytest.approx((0.75 * (covered - 0.2) + 0.05) / covered)
                                if counts else 0.75)  # fmt: skip
    assert any("cover 89% of the probability" in told for told in unexpected(answer)) is not counts


def test_a_provider_that_refuses_is_asked_without(
    service: RunningService, provider: FakeProvider
) -> None:
    """A verdict without probabilities is a verdict, flagged each time."""
    provider.behave("fussy", faults.refuses("logprobs"))
    first = assess(service, judges=["fussy"], prompt=new_prompt())
    second = assess(service, judges=["fussy"], prompt=new_prompt())

    assert first["status"] == second["status"] == "success"
    assert len(provider.requests) == 3
    assert not {"logprobs", "top_logprobs"} & provider.requests[-1].body.keys()
    assert [unexpected(a) for a in (first, second)] == [
        ["fussy: 1 of 1 verdicts count as given: no usable token probabilities"]
    ] * 2


def test_a_limit_of_the_provider_drops_both(
    service: RunningService, provider: FakeProvider
) -> None:
    """Log probabilities without others at each place would tell nothing, and most refuse them."""
    refusal = error(400, "top_logprobs must be between 0 and 5", param="top_logprobs")
    provider.behave("strict", behaviours.when(
        lambda seen: "top_logprobs" in seen.body, faults.always(refusal), behaviours.honest()
    ))  # fmt: skip
    answer = assess(service, judges=["strict"])

    assert answer["status"] == "success"
    assert not {"logprobs", "top_logprobs"} & provider.requests[-1].body.keys()


@pytest.mark.parametrize(
    ("odds", "split", "value", "mass"),
    [
        ({"10": 0.7, "9": 0.3}, by_words, 0.7 + 0.3 * 8 / 9, 1.0),
        ({"10": 0.7, "9": 0.3}, by_digits, 0.7 + 0.3 * 8 / 9, 1.0),
        ({"7": 0.95, "6": 0.05}, by_digits, (0.95 * 6 + 0.05 * 5) / 9, 1.0),
        # The token 1 that was not chosen may have gone on to 10 or not: it counts for neither.
        ({"10": 0.6, "1": 0.3, "9": 0.1}, by_words, None, 0.7),
        ({"10": 0.95, "1": 0.05}, by_words, 1.0, 0.95),
        # Digit by digit the reply itself went through 1, and what could have followed is told.
        ({"10": 0.6, "1": 0.3, "9": 0.1}, by_digits, 0.6 + 0.1 * 8 / 9, 1.0),
        ({"1": 0.97, "10": 0.03}, by_words, 0.03, 1.0),
        ({"1": 0.97, "10": 0.03}, by_digits, 0.03, 1.0),
        ({"7": 0.5, "1": 0.3, "10": 0.2}, by_digits, None, 0.5),
    ],
    ids=["10, 9", "10, 9 by digits", "7, 6", "10 or 1", "10, hardly 1", "10 or 1 by digits",
         "1 or 10", "1 or 10 by digits", "7, 1 or 10 by digits"],
)  # fmt: skip
def test_points_of_two_digits(
    service: RunningService,
    provider: FakeProvider,
    odds: dict[str, float],
    split: Split,
    value: float | None,
    mass: float,
) -> None:
    """A point that begins another one counts only where the tokens tell which of the two it is."""
    provider.behave("main", scores(odds, split))
    found = assess(service, rubric="ten")["criteria"]["quality"]["expected"]

    assert found["mass"] == pytest.approx(mass, abs=0.002)
    assert found["value"] == (None if value is None else pytest.approx(value, abs=0.001))


def test_several_criteria_in_one_call(service: RunningService, provider: FakeProvider) -> None:
    """Each has its own probabilities in the one reply."""
    provider.behave("main", graded(
        lambda _: {"quality": {"5": 0.5, "4": 0.5}, "clarity": {"1": 0.8, "3": 0.2}}
    ))  # fmt: skip
    answer = assess(service, rubric="two")

    assert answer["criteria"]["quality"]["expected"]["value"] == pytest.approx(0.875)
    assert answer["criteria"]["clarity"]["expected"]["value"] == pytest.approx(0.1)
    assert answer["reward"] == pytest.approx(0.75 * 0.875 + 0.25 * 0.1)
    assert len(provider.requests) == 1


def test_the_weakest_criterion_by_expected_scores(
    service: RunningService, provider: FakeProvider
) -> None:
    """The smallest expected score decides where the rubric takes the minimum."""
    provider.behave("main", behaviours.when(
        lambda seen: "Criterion: clarity" in seen.system,
        scores({"3": 0.5, "5": 0.5}), scores({"4": 0.7, "2": 0.3}),
    ))  # fmt: skip
    answer = assess(service, rubric="weakest")

    assert answer["reward"] == pytest.approx(0.75 * 0.7 + 0.25 * 0.3)


def test_a_panel_by_expected_scores(service: RunningService, provider: FakeProvider) -> None:
    """The lower median of what is expected of each; of the masses the least."""
    for judge, odds in (("main", {"4": 0.9, "5": 0.1}), ("second", {"4": 0.5, "3": 0.45}),
                        ("third", {"5": 1.0})):  # fmt: skip
        provider.behave(judge, scores(odds))
    answer = assess(service, rubric="panel", judges=["main", "second", "third"])

    found = answer["criteria"]["quality"]["expected"]
    assert found["value"] == pytest.approx(0.9 * 0.75 + 0.1)
    assert found["mass"] == pytest.approx(0.95)
    assert answer["criteria"]["quality"]["point"] == 4


def test_a_panel_with_one_that_tells_nothing(
    service: RunningService, provider: FakeProvider
) -> None:
    """The median of points and expected scores would be neither: points count, and it is said."""
    provider.behave("main", scores({"5": 0.6, "4": 0.4}))
    provider.behave("second", behaviours.fixed(4))
    provider.behave("third", scores({"5": 0.6, "4": 0.4}))
    answer = assess(service, rubric="panel", judges=["main", "second", "third"])

    assert answer["criteria"]["quality"]["expected"]["value"] is None
    assert answer["reward"] == 1.0
    assert [told.split(":")[0] for told in unexpected(answer)] == ["second"]


def test_a_long_reply_with_twenty_others_at_each_place(
    service: RunningService, provider: FakeProvider
) -> None:
    """What is read of a reply grows with what was asked for beside it."""

    def reply(seen: Seen) -> Reply:
        content = verdict(seen, 4, reason="so " * 400)
        tokens = entries(content, {"score": {"4": 0.6, "5": 0.4}})
        for token in tokens:
            rest = [entry(f"<word {n}>", {f"<word {n}>": 1e-9}) for n in range(19)]
            token["top_logprobs"] += [{**one, "top_logprobs": None} for one in rest]
        return Reply(content=content, logprobs=tokens)

    provider.behave("main", reply)
    answer = assess(service)

    assert answer["reward"] == pytest.approx(0.85)


@pytest.mark.parametrize(("judge", "beside"), [("main", 20), ("five", 5)])
def test_a_reply_beyond_all_bounds(
    service: RunningService, provider: FakeProvider, judge: str, beside: int
) -> None:
    """There is an end to that, and the words of a reply have their old one."""
    one = entry("la ", {"la ": 1.0})
    filler = [one] * (room_for({"top_logprobs": beside}) // len(json.dumps(one)) + 1)
    provider.behave(judge, lambda seen: Reply(content=verdict(seen, 4), logprobs=filler))
    assert assess(service, judges=[judge])["error"]["code"] == "upstream_protocol"

    words = " la" * (MAX_REPLY_BYTES // 3 + 1)
    provider.behave(judge, lambda seen: Reply(content=verdict(seen, 4) + words))
    assert assess(service, judges=[judge])["error"]["code"] == "upstream_protocol"


def test_what_is_kept_keeps_it(service: RunningService, provider: FakeProvider) -> None:
    """A verdict from the cache expects what it did when it was given."""
    provider.behave("main", scores({"4": 0.6, "5": 0.4}))
    prompt = new_prompt()
    first, second = (assess(service, prompt=prompt) for _ in range(2))

    assert len(provider.requests) == 1
    assert second["verdicts"][0]["cached"] is True
    assert first["criteria"] == second["criteria"]
    assert first["reward"] == second["reward"] == pytest.approx(0.85)


def test_metrics_have_the_same_keys_whatever_happens(
    service: RunningService, provider: FakeProvider
) -> None:
    """Trainers break over keys that come and go."""
    provider.behave("main", scores({"4": 0.6, "5": 0.4}))
    keys = [assess(service)["metrics"].keys()]
    provider.behave("main", behaviours.says("Hm."))
    keys.append(assess(service)["metrics"].keys())
    keys.append(assess(service, text="")["metrics"].keys())

    assert keys[0] == keys[1] == keys[2]
    assert "mass/quality" in keys[0]
