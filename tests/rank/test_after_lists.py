"""Groups ranked by pairs that a few lists have chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judge_service.rubric.library import load_library
from tests.harness import RunningService, new_prompt, write_rubric
from tests.provider import FakeProvider, behaviours, faults
from tests.provider.seen import Answer, Seen
from tests.rank.support import flags, rank

TEXTS = [f"{n % 5 + 1}{n} text" for n in range(8)]
PANEL = ["main", "second", "third"]


def by_number(seen: Seen) -> Answer:
    """Points by the first digit; in pairs the whole number decides."""
    if seen.form != "choice":
        return seen.honest()
    first, second = (int(text.split()[0]) for text in seen.candidates.values())
    return seen.choice(first > second)


FINE = behaviours.decides(by_number)


def ranked(service: RunningService, texts: list[str] | None = None, **more: Any) -> Any:
    """A group by pairs, after lists."""
    body = {"rubric": "listed-none", "strategy": "pairwise", **more}
    return rank(service, texts or TEXTS, **body)


def asked(provider: FakeProvider, judge: str = "main") -> list[str]:
    """The forms of what a judge was asked, one letter each: s for a list, c for a pair."""
    return [r.seen.form[0] for r in provider.requests_of(judge) if r.seen]


def test_lists_come_first_and_pairs_decide(service: RunningService, provider: FakeProvider) -> None:
    """Five calls a member, one in five a list; pairs tell apart what lists cannot."""
    provider.behave("main", FINE)
    answer = ranked(service)

    assert asked(provider) == [*"s" * 8, *"c" * 32]
    numbers = [int(text.split()[0]) for text in TEXTS]
    best_first = sorted(numbers, reverse=True)
    assert answer["ranks"] == [best_first.index(number) + 1 for number in numbers]
    assert answer["strategy"] == "pairwise"
    assert answer["pairs"]["asked"] == 28
    assert answer["judges"][0]["verdicts"] == 40


@pytest.mark.parametrize(
    ("rubric", "max_calls", "lists", "pairs"),
    [
        ("listed-none", 8, 0, 8), ("listed-none", 9, 0, 9), ("listed-none", 16, 2, 14),
        ("listed-none", 24, 4, 20), ("listed-none", 55, 10, 45), ("listed-none", 56, 0, 56),
        ("listed-none", 200, 0, 56), ("listed-two", 40, 8, 32), ("listed-two", 19, 0, 19),
        ("quality", 24, 0, 24),
    ],
)  # fmt: skip
def test_a_budget_is_shared_out(
    service: RunningService,
    provider: FakeProvider,
    rubric: str,
    max_calls: int,
    lists: int,
    pairs: int,
) -> None:
    """Lists of every criterion count; no lists without room for two orders, nor where all pairs
    are asked in both orders, nor in a rubric that does not want them.
    """
    answer = ranked(service, rubric=rubric, max_calls=max_calls)

    assert answer["status"] == "success"
    assert asked(provider) == [*"s" * lists, *"c" * pairs]


def test_a_rubric_that_says_nothing_is_the_rubric_it_was(tmp_path: Path) -> None:
    """Its hash decides who judges it: the setting moves nobody until it is used."""
    rubrics = [load_library(write_rubric(tmp_path, **said), tmp_path)["quality"]
               for said in ({}, {"pairs": "alone"}, {"pairs": "after_lists"})]  # fmt: skip
    hashes = [rubric.rubric_hash for rubric in rubrics]

    assert "pairs" not in rubrics[0].content()["judging"]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize("strategy", ["auto", "assess", "listwise"])
def test_other_strategies_are_as_they_were(
    service: RunningService, provider: FakeProvider, strategy: str
) -> None:
    """The setting is about rankings by pairs alone."""
    plain = ranked(service, rubric="two", strategy=strategy)
    forms = asked(provider)
    listed = ranked(service, rubric="listed-two", strategy=strategy)

    assert listed["rewards"] == plain["rewards"]
    assert sorted(asked(provider)[len(forms) :]) == sorted(forms)


def test_pairs_are_of_those_that_came_out_close(
    service: RunningService, provider: FakeProvider
) -> None:
    """Neighbours meet first, then everybody one of the other half, then those two places apart."""
    ranked(service, [f"{n} text" for n in range(1, 6)], max_calls=10)
    apart = []
    for request in provider.requests_of("main"):
        if request.seen and request.seen.form == "choice":
            first, second = (int(text[0]) for text in request.seen.candidates.values())
            apart.append(abs(first - second))

    assert sorted(apart) == [1, 1, 1, 1, 2, 2, 3, 3]


def test_the_order_of_the_list_changes_nothing(
    service: RunningService, provider: FakeProvider
) -> None:
    """The same group shuffled is answered from what is kept, with the same rewards."""
    provider.behave("main", FINE)
    prompt = new_prompt()
    first = ranked(service, prompt=prompt)
    second = ranked(service, TEXTS[::-1], prompt=prompt)

    assert second["rewards"] == first["rewards"][::-1]
    assert len(provider.requests) == 40
    assert second["usage"]["upstream_requests"] == 0


def test_length_counts_once(service: RunningService, provider: FakeProvider) -> None:
    """Lists say where a long answer stands; its length has its part in the reward only."""
    provider.behave("main", FINE)
    texts = [*TEXTS[:-1], "59 " + "x" * 297]
    answer = ranked(service, texts)

    assert answer["candidates"][7]["wins"] == max(m["wins"] for m in answer["candidates"])
    assert answer["rewards"][7] == 0.0
    assert [m["wins"] for m in answer["candidates"][:7]] == answer["rewards"][:7]


def test_a_list_without_a_verdict_fails_the_group(
    service: RunningService, provider: FakeProvider
) -> None:
    """No pair is asked; a retry asks for what is missing only, and then the pairs."""
    prompt = new_prompt()
    fails = behaviours.when(
        lambda s: s.form == "scores" and next(iter(s.candidates.values())) == TEXTS[0],
        behaviours.says("Hm."), FINE,
    )  # fmt: skip
    provider.behave("main", fails)
    answer = ranked(service, prompt=prompt)

    assert (answer["status"], answer["error"]["code"]) == ("failed", "unparsable")
    assert all(member["reward"] is None for member in answer["candidates"])
    assert set(asked(provider)) == {"s"}
    assert answer["pairs"]["asked"] == 0

    kept, before = answer["judges"][0]["verdicts"], len(provider.requests)
    provider.behave("main", FINE)
    assert ranked(service, prompt=prompt)["status"] == "success"
    assert asked(provider)[before:] == [*"s" * (8 - kept), *"c" * 32]
    assert kept == 7


@pytest.mark.parametrize("failing", ["scores", "choice"])
def test_the_group_moves_to_another_family_as_a_whole(
    service: RunningService, provider: FakeProvider, failing: str
) -> None:
    """Whether lists or pairs have no verdict, another judge is asked for both."""
    broken = behaviours.when(lambda s: s.form == failing, faults.status_error(401), FINE)
    provider.behave("main", broken)
    provider.behave("second", FINE)
    answer = ranked(service, rubric="listed-family", judges=["main", "second"])

    assert answer["status"] == "success"
    assert "fallback_judge" in flags(answer)
    assert {one["judge"] for one in answer["judges"]} == {"second"}
    assert asked(provider, "second") == [*"s" * 8, *"c" * 32]


def test_a_move_is_within_the_budget(service: RunningService, provider: FakeProvider) -> None:
    """Another judge would have to be asked everything again; without room the failure stands."""
    provider.behave("main", faults.status_error(401))
    judges = ["main", "second"]
    answer = ranked(service, rubric="listed-family", judges=judges, max_calls=24)

    assert answer["error"]["code"] == "upstream_auth"
    assert provider.requests_of("second") == []


def test_a_panel_needs_a_quorum(service: RunningService, provider: FakeProvider) -> None:
    """A judge without lists has no part in where members stand; two of three are enough."""
    provider.behave("third", behaviours.says("Hm."))
    answer = ranked(service, rubric="listed-panel", judges=PANEL, max_calls=3 * 24)
    assert answer["status"] == "success"
    assert asked(provider) == [*"s" * 4, *"c" * 20]

    provider.behave("second", behaviours.says("Hm."))
    answer = ranked(service, rubric="listed-panel", judges=PANEL, max_calls=3 * 24)
    assert answer["error"]["code"] == "quorum_not_met"


@pytest.mark.parametrize("bias", [behaviours.first_position(), behaviours.second_position()])
def test_pairs_by_position_decide_nothing(
    service: RunningService, provider: FakeProvider, bias: behaviours.Behaviour
) -> None:
    """Good lists do not make a ranking by pairs of what position decides."""
    provider.behave("main", bias)
    answer = ranked(service, max_calls=30)

    assert answer["error"]["code"] == "inconclusive"
    assert answer["rewards"] is None


def test_position_may_decide_close_pairs(service: RunningService, provider: FakeProvider) -> None:
    """A judge that takes the first where two are close, and sees who is better where they are not,
    ranks all the same.
    """

    def biased(seen: Seen) -> Answer:
        if seen.form != "choice":
            return seen.honest()
        first, second = (int(text[0]) for text in seen.candidates.values())
        return seen.choice(first + 1.5 > second)

    provider.behave("main", behaviours.decides(biased))
    answer = ranked(service, max_calls=16)

    assert answer["status"] == "success"
    assert answer["pairs"]["first_position_share"] > 0.7
    by_digit = sorted(range(8), key=lambda n: (-int(TEXTS[n][0]), answer["ranks"][n]))
    assert [answer["ranks"][n] for n in by_digit] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_lists_that_are_wrong_are_overruled(
    service: RunningService, provider: FakeProvider
) -> None:
    """Lists upside down cost accuracy, yet sure pairs put the ranking right."""
    upside_down = behaviours.decides(
        lambda seen: {slot: 6 - int(text[0]) for slot, text in seen.candidates.items()}
    )
    provider.behave("main", behaviours.when(lambda s: s.form == "scores", upside_down, FINE))
    answer = ranked(service)

    best = max(range(8), key=lambda n: answer["rewards"][n])
    worst = min(range(8), key=lambda n: answer["rewards"][n])
    assert (TEXTS[best][0], TEXTS[worst][0]) == ("5", "1")


def test_a_judge_that_tells_its_odds_needs_no_lists(
    service: RunningService, provider: FakeProvider
) -> None:
    """The odds say more of a pair than lists could."""
    ranked(service, rubric="listed-expected", judges=["odds"])
    assert set(asked(provider, "odds")) == {"c"}

    ranked(service, rubric="listed-expected")
    assert asked(provider) == [*"s" * 8, *"c" * 32]
