"""One more judge family decides a group's inconsistent pairs: the same one for all of them."""

from __future__ import annotations

import pytest

from tests.harness import RunningService
from tests.provider import FakeProvider, Seen, behaviours, faults
from tests.rank.support import flags, rank

TEXTS = ["4 a", "2 b", "3 c", "5 d"]


def of(*texts: str) -> behaviours.Behaviour:
    """A judge that looks at the position where one of these texts is shown."""

    def shown(seen: Seen) -> bool:
        return any(text in seen.candidates.values() for text in texts)

    return behaviours.when(shown, behaviours.first_position(), behaviours.honest())


def escalated(answer: dict[str, list[dict[str, str]]]) -> str:
    """What the outcome says of it."""
    return next(flag["detail"] for flag in answer["flags"] if flag["flag"] == "escalated")


def test_inconsistent_pairs_are_decided(service: RunningService, provider: FakeProvider) -> None:
    """Each in both orders; whom the first judge could place is left alone."""
    provider.behave("main", of("2 b"))
    answer = rank(service, TEXTS, rubric="escalating-pair-none", judges=["main", "second"])

    assert answer["rewards"] == pytest.approx([2 / 3, 0.0, 1 / 3, 1.0])
    assert answer["pairs"]["inconsistent"] == 0
    assert answer["pairs"]["consistent"] == 6
    assert len(provider.requests_of("main")) == 12
    asked = [set(r.seen.candidates.values()) for r in provider.requests_of("second") if r.seen]
    assert len(asked) == 6
    assert all("2 b" in pair for pair in asked)
    assert {j["judge"]: j["verdicts"] for j in answer["judges"]} == {"main": 12, "second": 6}
    assert escalated(answer) == (
        "3 of the group's pairs were inconsistent: second was asked to decide, 0 of them stay so"
    )


def test_without_the_rubrics_wish_nobody_is_asked(
    service: RunningService, provider: FakeProvider
) -> None:
    """The same group fails: one member has no decided pair."""
    provider.behave("main", of("2 b"))
    answer = rank(service, TEXTS, rubric="pair", judges=["main", "second"])

    assert answer["error"]["code"] == "inconclusive"
    assert provider.requests_of("second") == []


def test_a_consistent_group_asks_nobody_else(
    service: RunningService, provider: FakeProvider
) -> None:
    """There is nothing to decide."""
    answer = rank(service, TEXTS, rubric="escalating-pair-none", judges=["main", "second"])

    assert answer["status"] == "success"
    assert provider.requests_of("second") == []
    assert "escalated" not in flags(answer)


@pytest.mark.parametrize(("max_calls", "decided"), [(12, False), (17, False), (18, True)])
def test_within_the_budget_or_not_at_all(
    service: RunningService, provider: FakeProvider, max_calls: int, decided: bool
) -> None:
    """All of the inconsistent pairs or none: half of them would be judged by somebody else."""
    provider.behave("main", of("2 b"))
    answer = rank(service, TEXTS, rubric="escalating-pair-none", judges=["main", "second"],
                  max_calls=max_calls)  # fmt: skip

    assert (answer["status"] == "success") is decided
    assert len(provider.requests) == (18 if decided else 12)
    assert ("max_calls leaves no room" in escalated(answer)) is not decided


def test_nobody_of_another_family(service: RunningService, provider: FakeProvider) -> None:
    """The pairs stay what they are, and that is said."""
    provider.behave("main", of("2 b"))
    answer = rank(service, TEXTS, rubric="escalating-pair-none")

    assert answer["error"]["code"] == "inconclusive"
    assert "no other judge family" in escalated(answer)


def test_one_that_flips_as_well(service: RunningService, provider: FakeProvider) -> None:
    """What it leaves open stays open: here the group is inconclusive for good."""
    provider.behave("main", of("2 b"))
    provider.behave("second", behaviours.first_position())
    answer = rank(service, TEXTS, rubric="escalating-pair-none", judges=["main", "second"])

    assert answer["error"]["code"] == "inconclusive"
    assert answer["candidates"][1]["error"]["code"] == "inconclusive"
    assert "3 of them stay so" in escalated(answer)


def test_one_that_is_out_of_order(service: RunningService, provider: FakeProvider) -> None:
    """Its failure is the group's, for that may change: asking again can help."""
    provider.behave("main", of("2 b"))
    provider.behave("second", faults.status_error(500))
    answer = rank(service, TEXTS, rubric="escalating-pair-none", judges=["main", "second"])

    assert answer["error"]["code"] == "upstream_error"
    assert answer["error"]["retryable"] is True


def test_one_that_fails_where_it_does_not_matter(
    service: RunningService, provider: FakeProvider
) -> None:
    """A pair that stays inconsistent is left out where its members have met others."""
    flips = behaviours.when(
        lambda seen: set(seen.candidates.values()) == {"4 a", "2 b"},
        behaviours.first_position(), behaviours.honest(),
    )  # fmt: skip
    provider.behave("main", flips)
    provider.behave("second", faults.status_error(500))
    answer = rank(service, TEXTS, rubric="escalating-pair-none", judges=["main", "second"])

    assert answer["rewards"] == pytest.approx([0.5, 0.0, 1 / 3, 1.0])
    assert answer["pairs"]["inconsistent"] == 1


def test_a_group_that_is_lost_asks_nobody(service: RunningService, provider: FakeProvider) -> None:
    """Where a member has no verdict at all, deciding others would be calls for nothing."""
    broken = behaviours.when(
        lambda seen: "3 c" in seen.candidates.values(), faults.status_error(401), of("2 b")
    )
    provider.behave("main", broken)
    answer = rank(service, TEXTS, rubric="escalating-pair-none", judges=["main", "second"])

    assert answer["error"]["code"] == "upstream_auth"
    assert provider.requests_of("second") == []


def test_a_second_panel_escalates_to_a_third_family(
    service: RunningService, provider: FakeProvider
) -> None:
    """Never back to the one that failed."""
    provider.behave("main", faults.status_error(401))
    provider.behave("second", of("2 b"))
    answer = rank(service, TEXTS, rubric="escalating-pair-family",
                  judges=["main", "second", "third"])  # fmt: skip

    counts = {j["judge"]: j["verdicts"] for j in answer["judges"]}
    placed = {"second": ("second", "third"), "third": ("third", "second")}
    first = next(name for name, verdicts in counts.items() if verdicts == 12)
    assert first in placed
    assert answer["rewards"] == pytest.approx([2 / 3, 0.0, 1 / 3, 1.0])


def test_ties_of_points_are_decided_as_well(
    service: RunningService, provider: FakeProvider
) -> None:
    """The pairs that settle equal points flip, and the next family tells them apart."""
    position = behaviours.when(
        lambda seen: seen.form == "choice", behaviours.first_position(), behaviours.honest()
    )
    second = behaviours.decides(
        lambda seen: seen.choice(str(seen.slots["candidate_1"]) > str(seen.slots["candidate_2"]))
    )
    provider.behave("main", position)
    provider.behave("second", second)
    answer = rank(service, ["4 a", "4 b"], rubric="escalating", judges=["main", "second"])

    assert answer["rewards"][0] < 0.75 < answer["rewards"][1]
    assert len(provider.requests) == 2 + 2 + 2
    without = rank(service, ["4 a", "4 b"], rubric="escalating", judges=["main", "second"],
                   max_calls=4)  # fmt: skip
    assert without["rewards"] == [0.75, 0.75]
    assert {"escalated", "unsettled_ties"} <= flags(without)
