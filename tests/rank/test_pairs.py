"""Groups member against member."""

from __future__ import annotations

import pytest

from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider, behaviours, faults
from tests.provider.seen import Answer, Seen
from tests.rank.support import flags, rank


def test_win_shares_of_a_small_group(service: RunningService, provider: FakeProvider) -> None:
    """Every pair in both orders; a reward is the share of wins, a tie half a win."""
    answer = rank(service, ["4 a", "2 b", "5 c", "2 d"], rubric="pair")

    assert answer["strategy"] == "pairwise"
    assert answer["rewards"] == pytest.approx([2 / 3, 0.5 / 3, 1.0, 0.5 / 3])
    assert answer["ranks"] == [2, 3, 1, 3]
    assert len(provider.requests) == 12
    pairs = answer["pairs"]
    assert pairs == {"asked": 6, "consistent": 5, "tie": 1, "inconsistent": 0, "failed": 0,
                     "single": 0, "first_position_share": 0.5}  # fmt: skip


@pytest.mark.parametrize("bias", [behaviours.first_position(), behaviours.second_position()])
@pytest.mark.parametrize("texts", [["4 a", "2 b"], ["1 a", "2 b", "3 c", "4 d"],
                                   [f"{n % 5 + 1} text {n}" for n in range(12)]],
                         ids=["2", "4", "12"])  # fmt: skip
def test_a_judge_that_looks_at_positions_only(
    service: RunningService,
    provider: FakeProvider,
    bias: behaviours.Behaviour,
    texts: list[str],
) -> None:
    """It decides nothing: the group fails as inconclusive, never a list of equal numbers."""
    provider.behave("main", bias)
    answer = rank(service, texts, rubric="pair")

    assert answer["status"] == "failed"
    assert answer["error"]["code"] == "inconclusive"
    assert answer["error"]["retryable"] is False


def test_inconsistent_pairs_have_no_vote(service: RunningService, provider: FakeProvider) -> None:
    """A pair that flips is left out; the shares are of decided pairs."""
    flips = behaviours.when(
        lambda s: set(s.candidates.values()) == {"4 a", "2 b"},
        behaviours.first_position(),
        behaviours.honest(),
    )
    provider.behave("main", flips)
    answer = rank(service, ["4 a", "2 b", "3 c"], rubric="pair")

    assert answer["rewards"] == [1.0, 0.0, 0.5]
    assert answer["pairs"]["inconsistent"] == 1


@pytest.mark.parametrize("script", [behaviours.first_position(), faults.status_error(401)],
                         ids=["flips", "fails"])  # fmt: skip
@pytest.mark.parametrize(
    ("texts", "rewards"),
    [
        (["4 a", "2 b", "3 c", "5 d"], [0.5, None, 0.0, 1.0]),
        (["4 a", "2 b", "3 c"], [1.0, None, 0.0]),
        (["4 a", "2 b", "3 c", "forbidden"], [1.0, None, 0.0, 0.0]),
    ],
    ids=["4", "3", "with a rule broken"],
)
def test_a_member_without_a_decided_pair(
    service: RunningService,
    provider: FakeProvider,
    script: behaviours.Behaviour,
    texts: list[str],
    rewards: list[float | None],
) -> None:
    """The group fails and names it; the others, whose pairs are decided, are told what they won."""
    undecided = behaviours.when(
        lambda s: "2 b" in s.candidates.values(), script, behaviours.honest()
    )
    provider.behave("main", undecided)
    answer = rank(service, texts, rubric="pair")

    assert answer["status"] == "failed"
    assert answer["rewards"] is answer["ranks"] is None
    assert answer["candidates"][1]["error"]["code"] == answer["error"]["code"]
    assert [member["reward"] for member in answer["candidates"]] == rewards
    assert answer["error"]["message"].startswith("candidates[1]: ")


def test_where_too_little_is_decided_nobody_has_won_anything(
    service: RunningService, provider: FakeProvider
) -> None:
    """Two decided pairs of the other four members' six do not rank them."""
    decided = [{"4 a", "3 c"}, {"5 d", "1 e"}]
    flips = behaviours.when(
        lambda s: set(s.candidates.values()) in decided,
        behaviours.honest(),
        behaviours.first_position(),
    )
    provider.behave("main", flips)
    answer = rank(service, ["4 a", "2 b", "3 c", "5 d", "1 e"], rubric="pair")

    assert answer["error"]["code"] == "inconclusive"
    assert all(member["reward"] is None for member in answer["candidates"])
    told = [m["error"]["message"].startswith("candidates[1]: ") for m in answer["candidates"]]
    assert told == [True, False, True, True, True]


def test_a_member_is_undecided_for_its_own_reason(
    service: RunningService, provider: FakeProvider
) -> None:
    """An outage in a pair of others is not why a member's pairs flip."""
    others = behaviours.when(
        lambda s: set(s.candidates.values()) == {"4 a", "5 d"},
        faults.status_error(401),
        behaviours.honest(),
    )
    flips = behaviours.when(
        lambda s: "2 b" in s.candidates.values(), behaviours.first_position(), others
    )
    provider.behave("main", flips)
    answer = rank(service, ["4 a", "2 b", "3 c", "5 d"], rubric="pair")

    assert answer["candidates"][1]["error"]["code"] == answer["error"]["code"] == "inconclusive"


def test_a_panel_below_the_quorum(service: RunningService, provider: FakeProvider) -> None:
    """One of three judges decides no pair where two are needed."""
    for judge in ("second", "third"):
        provider.behave(judge, behaviours.says("Hm."))
    answer = rank(service, ["4 a", "2 b"], rubric="panel-pair", judges=["main", "second", "third"])

    assert answer["error"]["code"] == "quorum_not_met"


def test_a_failed_pair_is_told_and_the_rest_counts(
    service: RunningService, provider: FakeProvider
) -> None:
    """One pair of six without a verdict leaves every member with decided pairs."""
    fails = behaviours.when(
        lambda s: set(s.candidates.values()) == {"4 a", "2 b"},
        faults.status_error(401),
        behaviours.honest(),
    )
    provider.behave("main", fails)
    answer = rank(service, ["4 a", "2 b", "3 c", "5 d"], rubric="pair")

    assert answer["status"] == "success"
    assert answer["pairs"]["failed"] == 1
    assert answer["rewards"] == pytest.approx([0.5, 0.0, 1 / 3, 1.0])


def test_an_outage_fails_the_group_with_its_own_code(
    service: RunningService, provider: FakeProvider
) -> None:
    """What was no verdict is no inconsistency: the error is the judge's and can be retried."""
    provider.behave("failing", faults.status_error(500))
    answer = rank(service, ["4 a", "2 b", "3 c"], rubric="pair", judges=["failing"])

    assert answer["error"]["code"] == "upstream_error"
    assert answer["error"]["retryable"] is True
    assert answer["rewards"] is None


def test_rules_and_pairs(service: RunningService, provider: FakeProvider) -> None:
    """Who breaks a hard rule has 0.0 and meets nobody."""
    answer = rank(service, ["4 a", "5 forbidden", "2 b"], rubric="pair")

    assert answer["rewards"] == [1.0, 0.0, 0.0]
    assert answer["pairs"]["asked"] == 1
    assert all("forbidden" not in text for r in provider.requests if r.seen
               for text in r.seen.candidates.values())  # fmt: skip


def test_the_only_one_that_passes(service: RunningService, provider: FakeProvider) -> None:
    """It beats those that broke a rule, without a call."""
    answer = rank(service, ["forbidden", "4 a", ""], rubric="pair")

    assert answer["rewards"] == [0.0, 1.0, 0.0]
    assert provider.requests == []


def test_copies_meet_once_and_share_a_reward(
    service: RunningService, provider: FakeProvider
) -> None:
    """White space aside, equal texts are one member of the tournament."""
    answer = rank(service, ["4 a", "2 b", "4  a", "2 b "], rubric="pair")

    assert answer["rewards"] == [1.0, 0.0, 1.0, 0.0]
    assert len(provider.requests) == 2
    assert rank(service, ["4 a", "4 a"], rubric="pair")["rewards"] == [0.5, 0.5]


def test_length_control_counts_in_pairs(service: RunningService, provider: FakeProvider) -> None:
    """A win share is multiplied by what length control leaves."""
    answer = rank(service, ["5 " + "x" * 298, "2 b"], rubric="short-pair")

    assert answer["rewards"] == [0.0, 0.0]
    assert answer["candidates"][0]["wins"] == 1.0


@pytest.mark.parametrize(
    ("calls", "asked", "single"), [(5, 5, 5), (10, 10, 10), (14, 10, 6), (19, 10, 1)]
)
def test_a_budget_is_kept(
    service: RunningService, provider: FakeProvider, calls: int, asked: int, single: int
) -> None:
    """With fewer calls than orders, strengths are estimated with position out of the picture."""
    answer = rank(service, [f"{n} text" for n in range(1, 6)], rubric="pair", max_calls=calls)

    assert len(provider.requests) == calls
    assert (answer["pairs"]["asked"], answer["pairs"]["single"]) == (asked, single)
    assert answer["rewards"][-1] > answer["rewards"][0]
    if calls >= 10:  # a single ring cannot tell all of them apart
        assert answer["ranks"] == [5, 4, 3, 2, 1]


def test_single_orders_see_past_a_biased_judge(
    service: RunningService, provider: FakeProvider
) -> None:
    """A judge that prefers the second only where it is clearly better still ranks rightly."""

    def biased(seen: Seen) -> Answer:
        first, second = (int(text[0]) for text in seen.candidates.values())
        return seen.choice(first + 1.5 > second)

    provider.behave("main", behaviours.decides(biased))
    texts = [f"{n} text" for n in range(1, 10)]
    answer = rank(service, texts, rubric="pair")

    assert len(provider.requests) == 36
    assert answer["pairs"]["first_position_share"] > 0.5
    expected = [9, 8, 7, 6, 5, 4, 3, 2, 1]
    # Which orders are asked depends on the prompt; by far most have nobody off by two.
    assert all(abs(r - e) <= 2 for r, e in zip(answer["ranks"], expected, strict=True))


def test_a_panel_decides_by_majority(service: RunningService, provider: FakeProvider) -> None:
    """Two of three judges carry a pair; one that looks at positions has no vote."""
    provider.behave("third", behaviours.first_position())
    answer = rank(
        service, ["4 a", "2 b", "3 c"], rubric="panel-pair", judges=["main", "second", "third"]
    )

    assert answer["rewards"] == [1.0, 0.0, 0.5]
    assert len(provider.requests) == 18
    assert {j["judge"]: j["verdicts"] for j in answer["judges"]} == {
        "main": 6, "second": 6, "third": 6,
    }  # fmt: skip


def test_pairs_move_to_another_family_together(
    service: RunningService, provider: FakeProvider
) -> None:
    """A judge that cannot answer is replaced for all pairs."""
    provider.behave("main", faults.status_error(401))
    answer = rank(service, ["4 a", "2 b", "3 c"], rubric="moving-pair", judges=["main", "second"])

    assert answer["rewards"] == [1.0, 0.0, 0.5]
    assert {j["judge"] for j in answer["judges"]} == {"second"}
    assert "fallback_judge" in flags(answer)


@pytest.mark.parametrize(("max_calls", "moves"), [(6, False), (11, False), (12, True)])
def test_pairs_move_within_the_budget(
    service: RunningService, provider: FakeProvider, max_calls: int, moves: bool
) -> None:
    """Both judges' calls count; where that is too many, the first one's failure stands."""
    provider.behave("main", faults.status_error(401))
    answer = rank(
        service,
        ["4 a", "2 b", "3 c"],
        rubric="moving-pair",
        judges=["main", "second"],
        max_calls=max_calls,
    )

    assert (answer["status"] == "success") is moves
    assert len(provider.requests_of("second")) == (6 if moves else 0)
    if not moves:
        assert answer["error"]["code"] == "upstream_auth"


def test_what_a_judge_sees_as_equal_is_one(service: RunningService, provider: FakeProvider) -> None:
    """Formatting that is not shown makes no other answer, wherever in the list it stands."""
    texts = ["**4 a**", "2 b", "4 a", "**4  a**", "3 c"]
    prompt = new_prompt()
    asked = set()
    for turn in range(len(texts)):
        order = texts[turn:] + texts[:turn]
        answer = rank(service, order, rubric="plain-pair", prompt=prompt)
        rewards = dict(zip(order, answer["rewards"], strict=True))
        assert [rewards[text] for text in texts] == [1.0, 0.0, 1.0, 1.0, 0.5]
        asked.add(answer["pairs"]["asked"])

    assert asked == {3}
    assert len(provider.requests) == 6


def test_pairs_are_shared_with_comparisons(service: RunningService, provider: FakeProvider) -> None:
    """What was compared before is not asked again in a group, and the other way round."""
    prompt = new_prompt()
    rank(service, ["4 a", "2 b", "3 c"], rubric="pair", prompt=prompt)
    compared = service.compare(
        {"text": "2 b", "family": "x"}, {"text": "4 a", "family": "x"}, prompt=prompt,
        judges=["main"],
    )  # fmt: skip

    assert compared["outcome"] == "second"
    assert all(verdict["cached"] for verdict in compared["verdicts"])
    assert len(provider.requests) == 6
