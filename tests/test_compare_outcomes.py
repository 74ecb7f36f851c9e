"""What a comparison ends in: both orders of one judge, and nobody wins where they disagree."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from judge_service.api.answers import CompareAnswer
from judge_service.history import PairHistory
from judge_service.outcome import Choice
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import Behaviour, FakeProvider, Seen, behaviours, faults
from tests.provider.replies import error

FOREIGN = "candidate-family"
JUDGES = {"ann": "alpha", "abe": "alpha", "bea": "beta", "cleo": "gamma", "dora": "delta"}
"""With their families, in the order they are chosen in: each weighs far more than the next."""
GARBAGE = behaviours.says("Hm.")
TIES = behaviours.decides(lambda seen: "tie")
MIRROR = {"first": "second", "second": "first", "tie": "tie", "inconsistent": "inconsistent"}
HARD_RULE = '[[rules]]\nrule = "max_chars"\nlimit = 40\nhard = true\n'
GOOD_TEXT, BAD_TEXT, SAME_TEXT = "The good answer.", "The bad answer.", "The equal answer."
LONG_TEXT = "An answer that goes on for much longer than forty characters."


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """Judges of four families; without ``judges`` the first one is asked."""
    folder = tmp_path_factory.mktemp("compare")
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    write_rubric(folder, "ruled", kind="compare", rules=HARD_RULE)
    write_rubric(folder, "three", kind="compare", panel_size=3, quorum=2)
    write_rubric(folder, "fallback", kind="compare", fallback="family")
    write_rubric(folder, "escalate", kind="compare", on_inconsistent="escalate")
    write_rubric(folder, "trajectory", kind="compare", judged="trajectory")
    judges = Judges(provider)
    for place, (judge, family) in enumerate(JUDGES.items()):
        judges.add(judge, family, weight=10.0 ** (40 - 8 * place))
    judges.add("fussy", "epsilon", weight=0.001)
    judges.add("small", "zeta", weight=0.001, context_tokens=1000)
    judges.add("narrow", "eta", weight=0.001)
    for number in range(2):
        judges.add(f"wordy-{number}", f"wordy-{number}", weight=0.001)
    with judged_by(judges, folder) as service:
        yield service


def score(text: str) -> int:
    """Good texts are better than equal ones, and those than bad ones."""
    return 5 if "good" in text else 1 if "bad" in text else 3


@pytest.fixture(autouse=True)
def _fresh(provider: FakeProvider) -> Iterator[None]:
    """Honest judges, no requests yet; and no envelope that a reader of its own cannot read."""
    provider.reset()
    provider.oracle(score)
    yield
    assert provider.problems == []


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


OUTCOMES = [
    (GOOD_TEXT, BAD_TEXT, behaviours.honest(), "first", 1.0, ("first", "first")),
    (BAD_TEXT, GOOD_TEXT, behaviours.honest(), "second", 0.0, ("second", "second")),
    (SAME_TEXT, "Another one.", behaviours.honest(), "tie", 0.5, ("tie", "tie")),
    (GOOD_TEXT, BAD_TEXT, TIES, "tie", 0.5, ("tie", "tie")),
    (GOOD_TEXT, BAD_TEXT, behaviours.first_position(), "inconsistent", None, ("first", "second")),
    (GOOD_TEXT, BAD_TEXT, behaviours.second_position(), "inconsistent", None, ("second", "first")),
]


@pytest.mark.parametrize(("first", "second", "script", "outcome", "preference", "orders"), OUTCOMES)
def test_both_orders_decide(
    first: str,
    second: str,
    script: Behaviour,
    outcome: str,
    preference: float | None,
    orders: Sequence[str],
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """Two requests to one judge, mapped back; a position that wins both times wins nothing."""
    provider.behave("ann", script)
    answer = compare(service, first, second)
    assert answer["outcome"] == outcome
    assert answer["preference"] == preference
    assert answer["consistent"] is (outcome != "inconsistent")
    assert [(o["order"], o["choice"]) for o in answer["orders"]] == list(
        zip(("AB", "BA"), orders, strict=True)
    )
    assert [(v["judge"], v["order"], v["choice"]) for v in answer["verdicts"]] == [
        ("ann", "AB", orders[0]), ("ann", "BA", orders[1]),
    ]  # fmt: skip
    assert answer["metrics"][f"outcome/{outcome}"] == 1.0
    assert answer["usage"]["upstream_requests"] == len(provider.requests) == 2
    shown = [list(one.candidates.values()) for one in seen(provider)]
    assert sorted(shown) == sorted([[first, second], [second, first]])


def _tie_in_one_order(seen: Seen) -> str:
    good_first = score(next(iter(seen.candidates.values()))) == 5
    return seen.choice(True) if good_first else "tie"


def test_a_win_and_a_tie_are_inconsistent(service: RunningService, provider: FakeProvider) -> None:
    """Half a win is nobody's win."""
    provider.behave("ann", behaviours.decides(_tie_in_one_order))
    answer = compare(service, GOOD_TEXT, BAD_TEXT)
    assert answer["outcome"] == "inconsistent"
    assert [o["choice"] for o in answer["orders"]] == ["first", "tie"]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (GARBAGE, "unparsable"),
        (faults.status_error(500), "upstream_error"),
        (faults.status_error(401), "upstream_auth"),
        (behaviours.raw_value("null"), "unparsable"),
        (behaviours.raw_value('"candidate_3"'), "off_scale"),
        (behaviours.wrong_model(), "wrong_model"),
    ],
)
@pytest.mark.parametrize("good_order", ["AB", "BA"])
def test_one_order_without_a_verdict_is_a_failure(
    good_order: str, script: Behaviour, code: str, service: RunningService, provider: FakeProvider
) -> None:
    """Both orders were asked, the good verdict is kept, and there is no winner."""
    shown_first = GOOD_TEXT if good_order == "AB" else BAD_TEXT
    provider.behave(
        "ann",
        behaviours.when(
            lambda one: one.slots["candidate_1"] == shown_first, behaviours.honest(), script
        ),
    )
    answer = compare(service, GOOD_TEXT, BAD_TEXT)
    assert answer["status"] == "failed"
    assert answer["error"]["code"] == code
    assert {o["order"]: o["choice"] for o in answer["orders"]} == {
        "AB": "first" if good_order == "AB" else None,
        "BA": "first" if good_order == "BA" else None,
    }
    assert [(v["order"], v["choice"]) for v in answer["verdicts"]] == [(good_order, "first")]
    assert answer["usage"]["upstream_requests"] == len(provider.requests)
    assert answer["metrics"]["judge_failed"] == 1.0


def test_metrics_have_the_same_keys_whatever_happens(
    service: RunningService, provider: FakeProvider
) -> None:
    """Decided, settled without a judge, or failed."""
    decided = compare(service, GOOD_TEXT, BAD_TEXT)["metrics"]
    same = compare(service, GOOD_TEXT, GOOD_TEXT)["metrics"]
    provider.behave("ann", GARBAGE)
    failed = compare(service, GOOD_TEXT, BAD_TEXT)["metrics"]
    assert decided.keys() == same.keys() == failed.keys()


# Settled without a judge.


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (GOOD_TEXT, GOOD_TEXT),
        ("The good  answer.\n", " The good answer."),
        ("The good\u200b answer.", "The good answer."),
        ("<think>a</think>The good answer.", "<think>b</think>The good answer."),
        ({"messages": [{"role": "assistant", "content": "Yes."}], "family": FOREIGN}, "Yes."),
        ("", "   "),
    ],
    ids=["same", "spaces", "invisible", "reasoning", "message and text", "both empty"],
)
def test_equal_candidates_are_a_tie_without_a_judge(
    first: object, second: object, service: RunningService, provider: FakeProvider
) -> None:
    """There is nothing to compare."""
    answer = compare(service, first, second)
    assert (answer["outcome"], answer["preference"]) == ("tie", 0.5)
    assert answer["short_circuited"] is True
    assert provider.requests == []


def _trajectory(query: str, result: str = "95 degrees") -> dict[str, Any]:
    call = {"id": "c1", "function": {"name": "search", "arguments": query}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": result},
        {"role": "assistant", "content": "It is 95."},
    ]
    return {"messages": messages, "family": FOREIGN}


@pytest.mark.parametrize(
    ("first", "second", "rubric", "requests"),
    [
        (_trajectory("boil"), _trajectory("boil"), "trajectory", 0),
        (_trajectory("boil"), _trajectory("melt"), "trajectory", 2),
        (_trajectory("boil"), _trajectory("boil", "nothing"), "trajectory", 2),
        (_trajectory("boil"), _trajectory("boil"), "pair", 0),
        (_trajectory("boil"), _trajectory("melt"), "pair", 2),
    ],
    ids=["same way", "other call", "other result", "same context", "other context"],
)
def test_agents_are_equal_only_when_they_went_the_same_way(
    first: object,
    second: object,
    rubric: str,
    requests: int,
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """The same last words after other calls are another candidate."""
    answer = compare(service, first, second, rubric=rubric)
    assert answer["outcome"] == "tie"
    assert len(provider.requests) == requests


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (LONG_TEXT, BAD_TEXT, "second"),
        (BAD_TEXT, LONG_TEXT, "first"),
        (LONG_TEXT, LONG_TEXT + " And on.", "tie"),
        ("", BAD_TEXT, "second"),
    ],
)
def test_a_broken_hard_rule_loses_without_a_judge(
    first: str, second: str, outcome: str, service: RunningService, provider: FakeProvider
) -> None:
    """Whatever the other one is worth; two that break one are a tie."""
    answer = compare(service, first, second, rubric="ruled")
    assert answer["outcome"] == outcome
    assert answer["short_circuited"] is True
    assert [report["passed"] for report in answer["rules"]] == [
        outcome == "first", outcome == "second",
    ]  # fmt: skip
    assert provider.requests == []
    assert answer["usage"]["upstream_requests"] == 0


def test_a_candidate_that_does_not_fit_the_judge_loses(
    service: RunningService, provider: FakeProvider
) -> None:
    """It surely exceeds the window alone, so nobody is asked."""
    answer = compare(service, BAD_TEXT, "many words " * 2000, judges=["small"])
    assert answer["outcome"] == "first"
    assert answer["rules"][1]["results"][-1]["rule"] == "fits_judge"
    assert provider.requests == []


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (BAD_TEXT, "many words " * 2000, "first"),
        ("many words " * 2000, BAD_TEXT, "second"),
        ("many words " * 2000, "other words " * 2000, None),
    ],
    ids=["the second", "the first", "both"],
)
def test_a_candidate_that_the_provider_finds_too_long_loses(
    first: str, second: str, outcome: str | None, service: RunningService, provider: FakeProvider
) -> None:
    """All but that candidate surely fits; where neither is to blame alone, there is no verdict."""
    provider.behave("narrow", faults.context_too_long())
    answer = compare(service, first, second, judges=["narrow"])
    assert answer["outcome"] == outcome
    assert (answer["error"] or {}).get("code") == (None if outcome else "context_too_long")
    assert len(provider.requests) == answer["usage"]["upstream_requests"] == 2


def test_a_judge_of_either_ones_family_is_not_asked(
    service: RunningService, provider: FakeProvider
) -> None:
    """The families of both candidates are excluded."""
    first = {"text": GOOD_TEXT, "family": "alpha"}
    second = {"text": BAD_TEXT, "family": ["beta", "delta"]}
    assert compare(service, first, second)["verdicts"][0]["judge"] == "cleo"
    answer = compare(service, first, second, judges=["ann", "bea", "dora"])
    assert answer["error"]["code"] == "no_eligible_judge"
    assert asked(provider) == ["cleo"]


# Panels.


@pytest.mark.parametrize(
    ("scripts", "outcome"),
    [
        ({}, "first"),
        ({"cleo": behaviours.first_position()}, "first"),
        ({"cleo": TIES}, "first"),
        ({"cleo": GARBAGE}, "first"),
        ({"bea": TIES, "cleo": TIES}, "tie"),
        (
            {"bea": behaviours.first_position(), "cleo": behaviours.second_position()},
            "inconsistent",
        ),
        ({"bea": behaviours.first_position(), "cleo": TIES}, "inconsistent"),
        ({"bea": behaviours.first_position(), "cleo": GARBAGE}, "inconsistent"),
        ({"bea": GARBAGE, "cleo": GARBAGE}, None),
    ],
)
def test_the_majority_of_the_judges_asked_decides(
    scripts: dict[str, Behaviour],
    outcome: str | None,
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """A judge that contradicts itself or gives no verdict has no vote but still counts as asked."""
    for judge, script in scripts.items():
        provider.behave(judge, script)
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="three")
    assert answer["outcome"] == outcome
    assert asked(provider) == ["ann", "bea", "cleo"]
    if outcome is None:
        assert answer["error"]["code"] == "quorum_not_met"
        assert {v["judge"] for v in answer["verdicts"]} == {"ann"}
    assert [o["judge"] for o in answer["orders"]] == ["ann", "ann", "bea", "bea", "cleo", "cleo"]


# Another judge.


def test_another_family_takes_over_the_whole_pair(
    service: RunningService, provider: FakeProvider
) -> None:
    """Both orders are asked of it, never one of each judge; three requests an order at most."""
    provider.behave(
        "ann",
        behaviours.when(
            lambda one: one.slots["candidate_1"] == GOOD_TEXT, behaviours.honest(), GARBAGE
        ),
    )
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="fallback")
    assert answer["outcome"] == "first"
    assert {v["judge"] for v in answer["verdicts"]} == {"bea"}
    assert "unparsable" in flags(answer)["fallback_judge"]
    assert len(provider.requests) == answer["usage"]["upstream_requests"] == 5


def test_a_second_family_that_fails_too_is_a_failure(
    service: RunningService, provider: FakeProvider
) -> None:
    """The first judge's error and orders stand; nothing is flagged."""
    provider.behave("ann", faults.status_error(500))
    provider.behave("bea", GARBAGE)
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="fallback")
    assert answer["error"]["code"] == "upstream_error"
    assert flags(answer) == {}
    assert asked(provider) == ["ann", "bea"]
    assert len(provider.requests) == 6


@pytest.mark.parametrize(
    ("bea", "outcome", "requests"),
    [
        (behaviours.honest(), "first", 4),
        (TIES, "tie", 4),
        (behaviours.first_position(), "inconsistent", 4),
        (GARBAGE, "inconsistent", 6),
    ],
)
def test_one_more_family_can_decide(
    bea: Behaviour, outcome: str, requests: int, service: RunningService, provider: FakeProvider
) -> None:
    """Where the rubric escalates, in both orders; what it leaves open stays open."""
    provider.behave("ann", behaviours.first_position())
    provider.behave("bea", bea)
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="escalate")
    assert answer["outcome"] == outcome
    assert "bea" in flags(answer)["escalated"]
    assert len(provider.requests) == requests


def test_a_consistent_pair_is_not_escalated(
    service: RunningService, provider: FakeProvider
) -> None:
    """There is nothing to decide."""
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="escalate")
    assert answer["outcome"] == "first"
    assert flags(answer) == {}
    assert asked(provider) == ["ann"]


# Length.


@pytest.mark.parametrize(
    ("first", "second", "ratio"),
    [("abcd efgh", "xyz", 3.0), ("xyz", "abcd efgh", 1 / 3), ("xyz", "", None), ("", "xyz", 0.0)],
)
def test_the_length_ratio_is_reported(
    first: str, second: str, ratio: float | None, service: RunningService
) -> None:
    """Characters of the first by those of the second, as judged."""
    answer = compare(service, first, second)
    assert answer["length_ratio"] == (None if ratio is None else pytest.approx(ratio))


def _pairs(count: int) -> Iterator[tuple[str, str]]:
    for number in range(count):
        short, long = f"Short {number}.", f"Not so short {number}, rather the long one of the two."
        yield (short, long) if number % 2 else (long, short)


def test_a_run_of_wins_by_length_is_flagged(
    service: RunningService, provider: FakeProvider
) -> None:
    """Once a judge's recent wins all went to the longer answer, such a win carries a flag."""
    provider.behave("wordy-0", behaviours.longer_wins())
    answers = [compare(service, *pair, judges=["wordy-0"]) for pair in _pairs(22)]
    assert ["length_bias" in flags(answer) for answer in answers] == [False] * 19 + [True] * 3
    assert all(answer["status"] == "success" for answer in answers)
    (judge,) = (j for j in service.http.get("/v1/judges").json()["judges"] if j["id"] == "wordy-0")
    assert judge["bias"]["longer_won_share"] == 1.0


def test_an_audit_leaves_no_trace_in_a_judges_figures(
    service: RunningService, provider: FakeProvider
) -> None:
    """Probes are made to look at a judge, not to change what is known of it."""
    provider.behave("wordy-1", behaviours.longer_wins())
    for pair in _pairs(21):
        assert flags(compare(service, *pair, judges=["wordy-1"], audit=True)) == {}


Judged = tuple[Choice, Choice, tuple[int, int]]
"""A pair's choices in both orders, and the lengths of its texts."""


def _history(*pairs: Judged) -> PairHistory:
    history = PairHistory()
    for ab, ba, lengths in pairs:
        history.add("ann", ab, ba, lengths)
    return history


FIRST_LONGER: Judged = ("first", "first", (90, 10))
SECOND_LONGER: Judged = ("second", "second", (10, 90))
FIRST_SHORTER: Judged = ("first", "first", (10, 90))
EQUAL: Judged = ("first", "first", (10, 10))
TIE: Judged = ("tie", "tie", (90, 10))
FLIP: Judged = ("first", "second", (90, 10))


@pytest.mark.parametrize(
    ("pairs", "follows"),
    [
        ([FIRST_LONGER, SECOND_LONGER] * 10, True),
        ([FIRST_LONGER, SECOND_LONGER] * 10 + [FIRST_SHORTER] * 2, True),
        ([FIRST_LONGER, SECOND_LONGER] * 10 + [FIRST_SHORTER] * 3, False),
        ([FIRST_LONGER] * 19, False),
        ([FIRST_LONGER] * 19 + [TIE, FLIP, EQUAL] * 9, False),
        ([], False),
    ],
    ids=["always", "nearly always", "mostly", "too few", "too few that tell", "none"],
)
def test_only_a_long_run_of_consistent_wins_speaks_of_length(
    pairs: list[Judged], follows: bool
) -> None:
    """Ties, contradictions and equal lengths tell nothing, wins of the shorter one the contrary."""
    assert _history(*pairs).follows_length("ann") is follows
    assert not _history(*pairs).follows_length("bea")


def test_a_judges_figures_tell_primacy_from_recency() -> None:
    """Which position gained is counted over pairs whose orders disagree."""
    lengths = (10, 20)
    figures = _history(
        ("first", "second", lengths), ("first", "tie", lengths), ("second", "first", lengths),
        ("first", "first", lengths), ("tie", "tie", lengths),
    ).figures("ann")  # fmt: skip
    assert (figures.pairs, figures.consistent, figures.ties) == (5, 2, 1)
    assert (figures.primacy, figures.recency) == (2, 1)
    assert figures.first_position_share == pytest.approx(4 / 7)
    assert figures.longer_won_share == 0.0


# Symmetry, secrets, rubrics.


@pytest.mark.parametrize(
    "script",
    [
        behaviours.honest(),
        TIES,
        behaviours.first_position(),
        behaviours.second_position(),
        behaviours.longer_wins(),
        behaviours.decides(_tie_in_one_order),
    ],
)
def test_swapping_the_candidates_mirrors_the_outcome(
    script: Behaviour, service: RunningService, provider: FakeProvider
) -> None:
    """compare(a, b) and compare(b, a) are the same two requests."""
    provider.behave("ann", script)
    one = compare(service, GOOD_TEXT, BAD_TEXT)
    other = compare(service, BAD_TEXT, GOOD_TEXT)
    assert other["outcome"] == MIRROR[one["outcome"]]
    assert one["length_ratio"] * other["length_ratio"] == pytest.approx(1.0)
    shown = [tuple(one.candidates.values()) for one in seen(provider)]
    assert sorted(shown[:2]) == sorted(shown[2:])


def test_orders_and_attempts_share_no_secret(
    service: RunningService, provider: FakeProvider
) -> None:
    """Every request has its own nonce and tokens; none of them is in the answer."""
    provider.behave("ann", [GARBAGE, behaviours.leaks_secrets()])
    answer = json.dumps(compare(service, GOOD_TEXT, BAD_TEXT))
    found = seen(provider)
    assert len(found) == 3
    secrets = {secret for one in found for secret in (one.nonce, one.v, one.end)}
    assert len(secrets) == 9
    assert not any(secret in answer for secret in secrets)


def test_a_rubric_of_points_can_compare(service: RunningService, provider: FakeProvider) -> None:
    """Its questions become the criteria of the choice."""
    answer = compare(service, GOOD_TEXT, BAD_TEXT, rubric="quality")
    assert answer["outcome"] == "first"
    assert all(one.form == "choice" for one in seen(provider))
    assert "How good is the answer?" in seen(provider)[0].system
    assert answer["metrics"].keys() == compare(service, BAD_TEXT, GOOD_TEXT)["metrics"].keys()


def test_a_refused_parameter_is_dropped_in_both_orders(
    service: RunningService, provider: FakeProvider
) -> None:
    """Both orders meet a refusal at the same time, and both go on: with the next lesser form."""
    no_schema = error(400, "json_schema is not supported here", param="response_format")
    strict = faults.refuses(
        "temperature",
        then=behaviours.when(
            lambda one: one.body.get("response_format", {}).get("type") == "json_schema",
            faults.always(no_schema),
            behaviours.honest(),
        ),
    )
    provider.behave("fussy", strict)
    answer = compare(service, GOOD_TEXT, BAD_TEXT, judges=["fussy"])
    assert answer["outcome"] == "first"
    assert len(provider.requests) == 6
    last = provider.requests[-1].body
    assert last["response_format"] == {"type": "json_object"}
    provider.reset()
    provider.behave("fussy", strict)
    assert compare(service, GOOD_TEXT, BAD_TEXT, judges=["fussy"])["outcome"] == "first"
    assert len(provider.requests) == 2


@pytest.mark.parametrize("count", [1, 3])
def test_a_pair_is_two_candidates(count: int, service: RunningService) -> None:
    """Any other number is the caller's mistake."""
    body = {"rubric": "pair", "prompt": "Why?", "candidates": [{"text": "x"}] * count}
    assert service.http.post("/v1/compare", json=body).status_code == 422
