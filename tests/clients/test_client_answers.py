"""Whatever stands in the service's place: no answer becomes a number that is not the service's."""

from __future__ import annotations

from typing import Any

import pytest
from judge_client import (
    AccessDenied,
    Assess,
    Assessed,
    AssessFailed,
    Compared,
    CompareFailed,
    InvalidRequest,
    Joined,
    JoinFailed,
    JudgeClient,
    NotFound,
    Ranked,
    RankFailed,
    RequestRefused,
)

from tests.clients.stand_in import HTML, SUCCESS, StandIn, Told, failed, problem


@pytest.fixture
def client(stand_in: StandIn) -> JudgeClient:
    """A client of the stand-in, with two seconds for everything."""
    return JudgeClient(stand_in.url, rubric="quality", timeout_s=30)


NO_REWARD: dict[str, Any] = {
    "html": HTML,
    "empty": b"",
    "not an object": [SUCCESS],
    "a number": 0.75,
    "null": None,
    "cut off": b'{"status": "success", "reward": 0.7',
    "NaN": b'{"status": "success", "reward": NaN, "error": null}',
    "infinity": b'{"status": "success", "reward": Infinity, "error": null}',
    "overflow": b'{"status": "success", "reward": 1e999, "error": null}',
    "long integer": b'{"status": "success", "reward": 1' + b"0" * 500 + b', "error": null}',
    "not UTF-8": b'{"status": "success", "reward": 0.5, "note": "\xff"}',
    "nested": b"[" * 100_000,
    "no status": {"reward": 0.5},
    "another status": {**SUCCESS, "status": "ok"},
    "status upper case": {**SUCCESS, "status": "SUCCESS"},
    "no reward": {name: value for name, value in SUCCESS.items() if name != "reward"},
    "null reward": {**SUCCESS, "reward": None},
    "text reward": {**SUCCESS, "reward": "0.75"},
    "true": {**SUCCESS, "reward": True},
    "list reward": {**SUCCESS, "reward": [0.75]},
    "above 1": {**SUCCESS, "reward": 1.0000001},
    "below 0": {**SUCCESS, "reward": -0.01},
    "percent": {**SUCCESS, "reward": 75},
    "error beside a reward": {**SUCCESS, "error": {"code": "timeout"}},
    "metric NaN": b'{"status": "success", "reward": 0.5, "metrics": {"a": NaN}}',
    "metric text": {**SUCCESS, "metrics": {"a": "1"}},
    "metrics a list": {**SUCCESS, "metrics": [1]},
}


@pytest.mark.parametrize("body", NO_REWARD.values(), ids=NO_REWARD)
def test_what_is_no_assessment_has_no_reward(
    client: JudgeClient, stand_in: StandIn, body: object
) -> None:
    """A body that is not the service's success is a failure, and not asked for again."""
    stand_in.says(Told(body=body))

    result = client.assess("p", "c")

    assert isinstance(result, AssessFailed)
    assert not hasattr(result, "reward")
    assert result.error.code == "protocol"
    assert len(stand_in.requests) == 1


@pytest.mark.parametrize("body", NO_REWARD.values(), ids=NO_REWARD)
def test_what_is_no_share_of_a_group_has_no_reward(
    client: JudgeClient, stand_in: StandIn, body: object
) -> None:
    """The same for a member of a group."""
    stand_in.says(Told(body=body))

    assert isinstance(client.join("g", 2, "m", "p", "c"), JoinFailed)


@pytest.mark.parametrize(
    "changed",
    [
        {"outcome": None, "preference": None},
        {"outcome": "left", "preference": 1.0},
        {"outcome": "first"},
        {"outcome": "first", "preference": 0.0},
        {"outcome": "inconsistent", "preference": 0.5},
        {"outcome": "tie", "preference": None},
        {"outcome": ["first"], "preference": 1.0},
    ],
    ids=lambda changed: "-".join(str(value) for value in changed.values()),
)
def test_what_is_no_comparison_has_no_preference(
    client: JudgeClient, stand_in: StandIn, changed: dict[str, Any]
) -> None:
    """Outcome and preference must be there and say the same."""
    stand_in.says(Told(body={**SUCCESS, **changed}))

    result = client.compare("p", "a", "b")

    assert isinstance(result, CompareFailed)
    assert not hasattr(result, "preference")


RANKED = {**SUCCESS, "rewards": [0.0, 1.0], "ranks": [2, 1], "candidates": [{}, {}]}


@pytest.mark.parametrize(
    "changed",
    [
        {"rewards": None},
        {"rewards": []},
        {"rewards": [1.0]},
        {"rewards": [1.0, 0.0, 0.5]},
        {"rewards": [1.0, None]},
        {"rewards": [1.0, "0.0"]},
        {"rewards": [1.0, 1.5]},
        {"rewards": {"a": 1.0, "b": 0.0}},
        {"ranks": [1]},
        {"ranks": ["1", "2"]},
    ],
    ids=str,
)
def test_what_is_no_ranking_has_no_rewards(
    client: JudgeClient, stand_in: StandIn, changed: dict[str, Any]
) -> None:
    """A reward for each candidate, or none for any."""
    stand_in.says(Told(body={**RANKED, **changed}))

    result = client.rank("p", ["a", "b"])

    assert isinstance(result, RankFailed)
    assert not hasattr(result, "rewards")


def test_a_ranking_is_read(client: JudgeClient, stand_in: StandIn) -> None:
    """Rewards and ranks in the order of the candidates; equal rewards are no advantage."""
    stand_in.says(Told(body=RANKED), Told(body={**RANKED, "rewards": [1, 1], "ranks": [1, 1]}))

    first, second = (client.rank("p", ["a", "b"], strategy="pairwise") for _ in range(2))

    assert isinstance(first, Ranked)
    assert (first.rewards, first.ranks, first.zero_advantage) == ((0.0, 1.0), (2, 1), False)
    assert isinstance(second, Ranked)
    assert second.zero_advantage
    assert stand_in.requests[0].path == "/v1/rank"
    assert stand_in.requests[0].body["strategy"] == "pairwise"


def test_a_failed_ranking_says_who(client: JudgeClient, stand_in: StandIn) -> None:
    """The entries of the members come with the failure."""
    members = [{"status": "success", "reward": None}, {"status": "failed", "reward": None}]
    stand_in.says(Told(body={**failed(), "rewards": None, "candidates": members}))

    result = client.rank("p", ["a", "b"])

    assert isinstance(result, RankFailed)
    assert [member["status"] for member in result.candidates] == ["success", "failed"]


def test_a_share_of_a_group_is_read(stand_in: StandIn) -> None:
    """A member gets its own reward, the group's summary, and sends what makes it a member."""
    stand_in.says(Told(body={**SUCCESS, "group": {"size": 4, "judged": 4}}))

    client = JudgeClient(stand_in.url, rubric="quality", timeout_s=60)
    result = client.join("step-7", 4, "m1", "p", "c", run="r", deadline_s=1.5)

    assert isinstance(result, Joined)
    assert (result.reward, result.group["judged"]) == (0.75, 4)
    (got,) = stand_in.requests
    assert got.path == "/v1/groups/join"
    sent = {name: got.body[name] for name in ("group", "size", "member", "run", "deadline_s")}
    assert sent == {"group": "step-7", "size": 4, "member": "m1", "run": "r", "deadline_s": 1.5}
    # The call has the client's minute besides the wait.
    assert 30.0 < got.body["timeout_s"] < 60.0


def test_a_group_is_waited_for_half_of_the_time(client: JudgeClient, stand_in: StandIn) -> None:
    """Unless told otherwise; and a wait that leaves no time to judge is a mistake."""
    client.join("g", 2, "m", "p", "c")

    body = stand_in.requests[0].body
    assert body["deadline_s"] == body["timeout_s"]
    assert body["deadline_s"] + body["timeout_s"] < 30.0
    with pytest.raises(InvalidRequest, match="deadline_s"):
        client.join("g", 2, "m", "p", "c", deadline_s=5, timeout_s=5)


def test_new_fields_are_tolerated(client: JudgeClient, stand_in: StandIn) -> None:
    """A newer service may say more; the raw answer has it."""
    stand_in.says(Told(body={**SUCCESS, "novelty": {"x": 1}, "reward": 1}))

    result = client.assess("p", "c")

    assert isinstance(result, Assessed)
    assert (result.reward, result.raw["novelty"]) == (1.0, {"x": 1})
    assert result.flags == ("family_unknown",)


def test_a_bare_comparison_is_read(client: JudgeClient, stand_in: StandIn) -> None:
    """An inconsistent pair has the preference None, which is not a tie."""
    stand_in.says(Told(body={**SUCCESS, "outcome": "inconsistent", "preference": None}))

    result = client.compare("p", "a", "b")

    assert isinstance(result, Compared)
    assert result.preference is None


@pytest.mark.parametrize(
    "error",
    [None, {}, "down", {"code": 7}, {"code": "", "message": None, "retry_after_s": -1}],
    ids=str,
)
def test_a_failure_stays_one(client: JudgeClient, stand_in: StandIn, error: object) -> None:
    """A failed outcome fails however badly it explains itself, and whatever reward stands in it."""
    stand_in.says(Told(body={**failed(), "error": error, "reward": 0.9}))

    result = client.assess("p", "c")

    assert isinstance(result, AssessFailed)
    assert result.error.code
    assert result.error.retry_after_s is None


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "unauthorized", AccessDenied),
        (403, "forbidden", AccessDenied),
        (404, "unknown_rubric", NotFound),
        (409, "idempotency_mismatch", InvalidRequest),
        (413, "body_too_large", InvalidRequest),
        (422, "invalid_request", InvalidRequest),
    ],
)
def test_the_callers_mistakes_raise(
    client: JudgeClient, stand_in: StandIn, status: int, code: str, kind: type[RequestRefused]
) -> None:
    """A 4xx of the service is an exception that says what and where, at once."""
    stand_in.says(Told(status=status, body=problem(code, "not like this")))

    with pytest.raises(kind, match="not like this") as caught:
        client.assess("p", "c")

    assert (caught.value.code, caught.value.status) == (code, status)
    assert caught.value.field == "candidate"
    assert len(stand_in.requests) == 1


@pytest.mark.parametrize("status", [204, 301, 307, 400, 401, 403, 404, 418, 500, 501, 520])
def test_a_strangers_status_is_a_failure(
    client: JudgeClient, stand_in: StandIn, status: int
) -> None:
    """A proxy's page is no answer of the service, whatever its status; no redirect is followed."""
    stand_in.says(Told(status=status, body=HTML, headers={"Location": stand_in.url + "/x"}))

    result = client.assess("p", "c")

    assert isinstance(result, AssessFailed)
    assert result.error.code == "protocol"
    assert len(stand_in.requests) == 1


def test_a_bug_of_the_service_is_a_failure(client: JudgeClient, stand_in: StandIn) -> None:
    """HTTP 500 is a failed outcome, and not asked for again here."""
    stand_in.says(Told(status=500, body=problem("internal")))

    result = client.assess("p", "c")

    assert isinstance(result, AssessFailed)
    assert result.error.code == "internal"
    assert len(stand_in.requests) == 1


@pytest.mark.parametrize(
    "results", [None, [], [SUCCESS], [SUCCESS] * 3, {"0": SUCCESS}], ids=lambda r: str(r)[:30]
)
def test_a_batch_of_another_length_has_no_reward(
    client: JudgeClient, stand_in: StandIn, results: object
) -> None:
    """Two items need two results; which is whose is never guessed."""
    stand_in.says(Told(body={"results": results}))

    got = client.assess_many([Assess(prompt="p", candidate=text) for text in "ab"])

    assert [result.status for result in got] == ["failed", "failed"]


def test_each_result_of_a_batch_stands_alone(client: JudgeClient, stand_in: StandIn) -> None:
    """One unreadable result is one failure."""
    stand_in.says(Told(body={"results": [SUCCESS, {**SUCCESS, "reward": 2}, failed()]}))

    got = client.assess_many([Assess(prompt="p", candidate=text) for text in "abc"])

    assert [result.status for result in got] == ["success", "failed", "failed"]
    assert [getattr(result, "reward", None) for result in got] == [0.75, None, None]
