"""The client against a real service."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from judge_client import (
    Assess,
    Assessed,
    AssessFailed,
    AsyncJudgeClient,
    Candidate,
    Compare,
    Compared,
    InvalidRequest,
    Joined,
    JoinFailed,
    JudgeClient,
    JudgingFailed,
    NotFound,
    Rank,
    Ranked,
    RankFailed,
)

from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours, faults, text_hash

PROMPT = "A question?"


@pytest.fixture
def client(service: RunningService) -> JudgeClient:
    """A client of the service."""
    return JudgeClient(service.url, rubric="quality", family="gamma")


def test_an_assessment_has_its_reward(client: JudgeClient, judge: FakeProvider) -> None:
    """A point of 4 on 1 to 5 is 0.75, with the whole answer kept beside it."""
    result = client.assess(PROMPT, "An answer.", metadata={"row": 7})

    assert isinstance(result, Assessed)
    assert (result.status, result.reward, result.short_circuited) == ("success", 0.75, False)
    assert result.metrics["criterion/quality"] == 0.75
    assert result.raw["verdicts"][0]["judge"] == "main"
    assert result.metadata == {"row": 7}
    assert result.flags == ()
    assert result.fingerprint
    assert result.or_raise() is result


def test_a_hard_rule_is_an_honest_zero(client: JudgeClient, judge: FakeProvider) -> None:
    """A rule that failed is a success with reward 0; no judge is asked."""
    result = client.assess(PROMPT, "word " * 40, rubric="short")

    assert isinstance(result, Assessed)
    assert (result.reward, result.short_circuited) == (0.0, True)
    assert judge.requests == []


@pytest.mark.parametrize("messages", [True, False], ids=["messages", "text"])
def test_candidates_come_in_every_form(
    client: JudgeClient, judge: FakeProvider, messages: bool
) -> None:
    """A text, messages and a Candidate mean the same."""
    turns = [{"role": "assistant", "content": "An answer."}]
    given = turns if messages else "An answer."
    named = Candidate(messages=turns) if messages else Candidate(text="An answer.", family="xi")

    for candidate in (given, named):
        result = client.assess([{"role": "user", "content": PROMPT}], candidate)
        assert isinstance(result, Assessed), result


def test_a_failure_has_no_reward(client: JudgeClient, judge: FakeProvider) -> None:
    """A judge that is down makes a failed outcome: a code, and no attribute reward."""
    judge.behave("main", faults.status_error(500))

    result = client.assess(PROMPT, "Nobody knows what this is worth.", timeout_s=20)

    assert isinstance(result, AssessFailed)
    assert not hasattr(result, "reward")
    assert result.error.code == "upstream_error"
    assert result.error.retryable
    assert result.error.at == "service"
    assert result.metrics["judge_failed"] == 1.0
    with pytest.raises(JudgingFailed, match="upstream_error"):
        result.or_raise()


def test_a_pair_is_compared_in_both_orders(client: JudgeClient, judge: FakeProvider) -> None:
    """The better one wins; a judge that prefers a position makes nobody win."""
    judge.oracle({text_hash("good"): 5, text_hash("bad"): 1})
    won = client.compare(PROMPT, "good", "bad", rubric="pair")
    judge.behave("main", behaviours.first_position())
    torn = client.compare(PROMPT, "this one", "that one", rubric="pair")

    assert isinstance(won, Compared)
    assert (won.outcome, won.preference) == ("first", 1.0)
    assert isinstance(torn, Compared)
    assert (torn.outcome, torn.preference) == ("inconsistent", None)


def test_an_unknown_rubric_raises(client: JudgeClient) -> None:
    """A rubric that is not there is the caller's mistake, and no outcome."""
    with pytest.raises(NotFound) as caught:
        client.assess(PROMPT, "An answer.", rubric="no-such")

    assert caught.value.code == "unknown_rubric"
    assert caught.value.status == 404


def test_a_wrong_request_raises(client: JudgeClient) -> None:
    """What the service refuses is raised with the field at fault."""
    with pytest.raises(InvalidRequest, match="candidate") as caught:
        client.assess(PROMPT, {"words": "An answer."})

    assert caught.value.status == 422


def test_many_are_assessed_in_order(client: JudgeClient, judge: FakeProvider) -> None:
    """A batch keeps its order, and one failure spoils no other item."""
    texts = [f"answer {n}" for n in range(6)]
    judge.oracle({text_hash(text): 1 + n % 5 for n, text in enumerate(texts)}, default=1)
    judge.behave("main", behaviours.chokes_on("answer 3"))

    results = client.assess_many([Assess(prompt=PROMPT, candidate=text) for text in texts])

    assert [r.reward if isinstance(r, Assessed) else None for r in results] == [
        0.0, 0.25, 0.5, None, 1.0, 0.0,
    ]  # fmt: skip


def test_kinds_mix_in_one_batch(client: JudgeClient, judge: FakeProvider) -> None:
    """Assessments and comparisons go in one POST."""
    asked = [
        Assess(prompt=PROMPT, candidate="mixed"),
        Compare(prompt=PROMPT, first="one", second="one", rubric="pair"),
    ]

    assessed, compared = client.bulk(asked)

    assert isinstance(assessed, Assessed)
    assert isinstance(compared, Compared)
    assert compared.outcome == "tie"


def test_a_mistake_in_a_batch_names_its_item(client: JudgeClient) -> None:
    """One item that cannot be right refuses the batch, by its number."""
    asked = [Assess(prompt=PROMPT, candidate="a"), Assess(prompt=PROMPT, candidate={"no": 1})]

    with pytest.raises(InvalidRequest, match=r"items\[1\]"):
        client.assess_many(asked)


def test_no_items_are_no_results(client: JudgeClient) -> None:
    """An empty batch is an empty list."""
    assert client.assess_many([]) == []


def test_a_group_is_ranked(client: JudgeClient, judge: FakeProvider) -> None:
    """Rewards in the order of the group, whatever the order of the answers; an empty one has 0."""
    texts = {"fair": 3, "best": 5, "worst": 1}
    judge.oracle({text_hash(text): score for text, score in texts.items()})

    paired = client.rank(PROMPT, ["fair", "best", "worst", ""], rubric="pair", strategy="pairwise")
    assessed = client.rank(PROMPT, ["fair", "best", "worst"], strategy="assess")

    assert isinstance(paired, Ranked)
    fair, best, worst, empty = paired.rewards
    assert best > fair > worst >= empty == 0.0
    assert paired.ranks[:3] == (2, 1, 3)
    assert isinstance(assessed, Ranked)
    assert assessed.rewards == (0.5, 1.0, 0.0)


def test_a_group_with_an_unjudged_member_has_no_rewards(
    client: JudgeClient, judge: FakeProvider
) -> None:
    """The group fails, and says who was the cause."""
    judge.behave("main", behaviours.chokes_on("unspeakable"))

    result = client.rank(PROMPT, ["fine", "unspeakable"], strategy="assess")

    assert isinstance(result, RankFailed)
    assert result.candidates[1]["status"] == "failed"


def test_groups_go_in_one_batch(client: JudgeClient, judge: FakeProvider) -> None:
    """Several groups are one POST."""
    groups = [Rank(prompt=PROMPT, candidates=[f"a{n}", f"b{n}"], strategy="assess") for n in (1, 2)]

    assert [result.status for result in client.rank_many(groups)] == ["success", "success"]


def test_a_group_forms_from_single_calls(client: JudgeClient, judge: FakeProvider) -> None:
    """Members come one by one, and each gets its own reward."""
    texts = {"fair": 3, "best": 5, "worst": 1}
    judge.oracle({text_hash(text): score for text, score in texts.items()})

    with ThreadPoolExecutor(3) as threads:
        results = list(
            threads.map(lambda t: client.join("step-1", 3, t, PROMPT, t, deadline_s=20), texts)
        )

    assert [r.reward if isinstance(r, Joined) else None for r in results] == [0.5, 1.0, 0.0]
    assert [r.rank for r in results if isinstance(r, Joined)] == [2, 1, 3]
    assert all(result.metrics["judge_failed"] == 0.0 for result in results)


def test_a_group_that_stays_incomplete_fails(client: JudgeClient, judge: FakeProvider) -> None:
    """At the deadline there is no default reward."""
    result = client.join("step-2", 2, "alone", PROMPT, "alone", deadline_s=0.3)

    assert isinstance(result, JoinFailed)
    assert result.error.code == "cohort_incomplete"


async def _assess(client: AsyncJudgeClient, text: str) -> float | None:
    result = await client.assess(PROMPT, text)
    return result.reward if isinstance(result, Assessed) else None


def test_the_async_client_lives_through_loops(service: RunningService, judge: FakeProvider) -> None:
    """One client works under one asyncio.run after the other, many at once."""
    client = AsyncJudgeClient(service.url, rubric="quality")

    async def several() -> list[float | None]:
        return await asyncio.gather(*(_assess(client, f"loop {n}") for n in range(8)))

    assert [asyncio.run(several()) for _ in range(3)] == [[0.75] * 8] * 3


def test_the_async_client_can_be_closed(service: RunningService, judge: FakeProvider) -> None:
    """After ``async with`` a client still works, on new connections."""

    async def run() -> list[float | None]:
        async with AsyncJudgeClient(service.url, rubric="quality") as client:
            first = await _assess(client, "before")
        return [first, await _assess(client, "after")]

    assert asyncio.run(run()) == [0.75, 0.75]


def test_a_rubric_can_be_looked_at(client: JudgeClient) -> None:
    """The client shows what the service says of its rubric."""
    assert client.rubric()["id"] == "quality"
    with pytest.raises(NotFound):
        client.rubric("no-such")
