"""TRL's groups, split over real processes that do not gather: the service puts them together."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from typing import Any

import pytest
from judge_client import InvalidRequest
from judge_client.trl import JudgeReward
from judge_client.trl_ranks import this_run

from tests.clients.digits import Digits, digits
from tests.clients.stand_in import SUCCESS, Got, StandIn, Told
from tests.clients.trl_worker import Part, reward_part
from tests.provider import behaviours

P, Q = "What of p?", "What of q?"
BATCH: list[tuple[str, str]] = [
    (P, "4 a"), (P, "2 b"), (P, "5 c"), (P, "1 d"), (Q, "3 e"), (Q, "5 f"), (Q, "2 g"), (Q, "4 h"),
]  # fmt: skip
WHOLE = [2 / 3, 1 / 3, 1.0, 0.0, 1 / 3, 1.0, 0.0, 2 / 3]
Rewards = list[list[float | None]]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Digits]:
    """A real service."""
    with digits(tmp_path_factory.mktemp("trl")) as found:
        yield found


@pytest.fixture
def judged(running: Digits) -> Digits:
    """The same, with an honest judge."""
    running.reset()
    return running


@pytest.fixture(autouse=True)
def _no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own process is no part of a training."""
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """Spawned processes, as a trainer's ranks are."""
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("spawn")) as made:
        yield made


def on_ranks(
    pool: ProcessPoolExecutor, url: str, parts: Sequence[Sequence[Part]], run: str, **more: Any
) -> list[Rewards]:
    """What each process gets for its steps."""
    settings = {
        "url": url, "group_size": 4, "across_ranks": "server", "timeout_s": 60, "deadline_s": 30,
        "run": run, **more,
    }  # fmt: skip
    asked = [pool.submit(reward_part, steps, settings, {}) for steps in parts]
    return [one.result(110) for one in asked]


@pytest.mark.parametrize(
    "cuts", [(0, 2, 8), (0, 3, 6, 8), (0, 2, 4, 6, 8), (0, 4, 8), (0, 5, 8)], ids=str
)
def test_split_groups_get_the_rewards_of_whole_ones(
    judged: Digits, pool: ProcessPoolExecutor, cuts: tuple[int, ...]
) -> None:
    """However a batch is cut, every completion has the reward that one process would get."""
    parts = [[BATCH[start:end]] for start, end in pairwise(cuts)]

    found = on_ranks(pool, judged.url, parts, run=f"cut {cuts}")

    alone = reward_part(
        [BATCH], {"url": judged.url, "group_size": 4, "timeout_s": 60}, {}
    )  # fmt: skip
    assert [reward for rank in found for reward in rank[0]] == pytest.approx(WHOLE)
    assert [reward for rank in found for reward in rank[0]] == alone[0]


def test_steps_do_not_mix(judged: Digits, pool: ProcessPoolExecutor) -> None:
    """The same prompt in the next step is another group, also where one process is ahead."""
    steps = [[(P, "4 a"), (P, "2 b")], [(P, "1 a"), (P, "2 b")]]
    others = [[(P, "5 c"), (P, "1 d")], [(P, "4 c"), (P, "3 d")]]

    found = on_ranks(pool, judged.url, [steps, others], run="steps")

    assert found[0] == [pytest.approx([2 / 3, 1 / 3]), pytest.approx([0.0, 1 / 3])]
    assert found[1] == [pytest.approx([1.0, 0.0]), pytest.approx([1.0, 2 / 3])]


def test_a_failed_member_fails_its_group_on_every_process(
    judged: Digits, pool: ProcessPoolExecutor
) -> None:
    """None for all four, wherever they are; the other group has its rewards."""
    judged.provider.behave("main", behaviours.chokes_on("unspeakable"))
    rows = [(p, "unspeakable" if c == "5 c" else c) for p, c in BATCH]

    found = on_ranks(pool, judged.url, [[rows[:2]], [rows[2:]]], run="failed")

    assert found == [[[None, None]], [[None, None, *WHOLE[4:]]]]


def test_a_process_that_is_missing_leaves_no_reward(
    judged: Digits, pool: ProcessPoolExecutor
) -> None:
    """By the deadline, long before the budget; whole groups beside it are judged."""
    before = time.monotonic()

    found = on_ranks(pool, judged.url, [[BATCH[2:]]], run="missing", deadline_s=3)

    assert found == [[[None, None, *WHOLE[4:]]]]
    assert time.monotonic() - before < 30


def test_two_trainings_do_not_meet(judged: Digits, pool: ProcessPoolExecutor) -> None:
    """Half a group of each of two runs is no group."""
    settings = {
        "url": judged.url, "group_size": 4, "across_ranks": "server", "timeout_s": 20,
        "deadline_s": 2,
    }  # fmt: skip
    halves = {"one": BATCH[:2], "two": BATCH[2:4]}
    asked = [
        pool.submit(reward_part, [half], {**settings, "run": run}, {})
        for run, half in halves.items()
    ]

    assert [one.result(60) for one in asked] == [[[None, None]], [[None, None]]]


def reward_of(stand_in: StandIn, size: int = 4) -> JudgeReward:
    """A reward function over the stand-in."""
    return JudgeReward(
        stand_in.url, rubric="r", mode="group", group_size=size, across_ranks="server", timeout_s=5
    )


def shares(got: Got) -> Told:
    """A share for every member, and rankings and assessments."""
    if "items" not in got.body:
        return Told(body={**SUCCESS, "reward": 0.25, "rank": 1, "group": {}})
    return Told(body={"results": [{**SUCCESS, "rewards": [0.5] * 4} for _ in got.body["items"]]})


def test_only_what_is_split_is_held(stand_in: StandIn) -> None:
    """A whole group is one ranking; members at the edges are handed in one by one."""
    stand_in.script = shares

    got = reward_of(stand_in)(["o"] + ["p"] * 4 + ["q"] * 2, ["a", "b", "c", "d", "e", "f", "f"])

    assert got == [0.25, *[0.5] * 4, 0.25, 0.25]
    paths = sorted(request.path for request in stand_in.requests)
    assert paths == ["/v1/bulk", *["/v1/groups/join"] * 3]
    joined = [r.body for r in stand_in.requests if r.path != "/v1/bulk"]
    assert len({body["member"] for body in joined}) == 3
    assert len({body["group"] for body in joined}) == 2
    assert {body["run"] for body in joined} == {this_run()}


def test_an_evaluation_stands_alone(stand_in: StandIn) -> None:
    """Three prompts or more, each once, are no parts of groups."""
    stand_in.script = shares

    assert reward_of(stand_in)(["o", "p", "q"], ["a", "b", "c"]) == [0.75] * 3
    assert [request.path for request in stand_in.requests] == ["/v1/bulk"]


@pytest.mark.parametrize(
    ("rank", "world", "prompts", "size", "alone"),
    [
        (0, 2, ["o"], 4, True),
        (1, 4, ["o"], 4, False),
        (0, 4, ["o", "p"], 4, True),
        (3, 4, ["o", "p"], 4, True),
        (0, 4, ["o", "o"], 4, False),
        (1, 3, ["o", "p"], 3, False),
        (0, 1, ["o"], 4, True),
    ],
    ids=str,
)
def test_what_cannot_be_a_part_of_groups_is_an_evaluation(
    stand_in: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    rank: int,
    world: int,
    prompts: list[str],
    size: int,
    alone: bool,
) -> None:
    """One or two prompts are assessed at once, where the process's place says that no group of the
    training's can be made of them; where it can, they wait for the others.
    """
    stand_in.script = shares
    monkeypatch.setenv("RANK", str(rank))
    monkeypatch.setenv("WORLD_SIZE", str(world))

    got = reward_of(stand_in, size)(prompts, ["a", "b"][: len(prompts)])

    assert got == [0.75 if alone else 0.25] * len(prompts)
    paths = {request.path for request in stand_in.requests}
    assert paths == {"/v1/bulk" if alone else "/v1/groups/join"}


def test_who_waited_in_vain_is_told_why(judged: Digits, caplog: pytest.LogCaptureFixture) -> None:
    """A completion whose group nobody completes has no reward, and the log says what to do."""
    reward = JudgeReward(
        judged.url, rubric="pair", mode="group", group_size=4, across_ranks="server",
        timeout_s=20, deadline_s=0.5, run="in vain",
    )  # fmt: skip

    assert reward([P], ["4 a"]) == [None]
    assert "split_column" in caplog.text


def test_an_evaluation_of_ranked_completions_has_a_rubric_of_its_own(judged: Digits) -> None:
    """A rubric that compares says nothing of one; without another one it is a clear mistake."""
    more: dict[str, Any] = {"mode": "group", "group_size": 4, "across_ranks": "server"}
    reward = JudgeReward(judged.url, rubric="pair", eval_rubric="quality", **more)

    assert reward(["o", "p", "q"], ["1 a", "5 b", "3 c"]) == [0.0, 1.0, 0.5]
    with pytest.raises(InvalidRequest, match="compares two"):
        JudgeReward(judged.url, rubric="pair", **more)(["o", "p", "q"], ["a", "b", "c"])


def test_a_part_in_the_middle_is_a_mistake(stand_in: StandIn) -> None:
    """A batch of another group size is found without waiting for anybody."""
    with pytest.raises(InvalidRequest, match="group_size"):
        reward_of(stand_in)(["o", "o", "p", "p", "q", "q"], ["a", "b", "c", "d", "e", "f"])
    assert stand_in.requests == []


@pytest.mark.parametrize(
    "body",
    [
        {**SUCCESS, "reward": None}, {**SUCCESS, "reward": "0.5"}, {**SUCCESS, "reward": 1.5},
        {**SUCCESS, "reward": True}, {"reward": 0.5}, {"status": "failed", "reward": 0.5}, [],
    ],
    ids=str,
)  # fmt: skip
def test_a_share_that_is_none_is_no_reward(stand_in: StandIn, body: Any) -> None:
    """Whatever the service says of a member."""
    stand_in.says(Told(body=body))

    assert reward_of(stand_in)(["p"] * 2, ["a", "b"]) == [None, None]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (("10.0.0.1", "1", ""), ("10.0.0.1", "1", ""), True),
        (("10.0.0.1", "1", ""), ("10.0.0.1", "2", ""), False),
        (("10.0.0.1", "1", ""), ("10.0.0.2", "1", ""), False),
        (("", "", "a"), ("", "", "b"), False),
        (("localhost", "", ""), ("127.0.0.1", "", ""), True),
    ],
    ids=["same launch", "other port", "other machine", "other run", "this machine"],
)
def test_a_run_is_named_by_its_launch(
    monkeypatch: pytest.MonkeyPatch,
    first: tuple[str, str, str],
    second: tuple[str, str, str],
    same: bool,
) -> None:
    """The processes of one training have one name without being told one."""
    names = []
    for values in (first, second):
        launch = ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID")
        for name, value in zip(launch, values, strict=True):
            monkeypatch.setenv(name, value)
        names.append(this_run())

    assert (names[0] == names[1]) is same
