"""verl's reward manager for groups, over the service: rollouts arrive one by one."""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import sys
import threading
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from judge_client import ConfigError, InvalidRequest
from judge_client.verl import JudgeUnavailable

from tests.clients import stub_verl
from tests.clients.digits import Digits, digits
from tests.clients.overrides import pasted
from tests.clients.stand_in import SUCCESS, Got, StandIn, Told
from tests.clients.test_verl import KEYS, Array
from tests.clients.verl_worker import work
from tests.provider import behaviours

SHARES = [2 / 3, 1 / 3, 1.0, 0.0]
TEXTS = ["4 a", "2 b", "5 c", "1 d"]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Digits]:
    """A real service."""
    with digits(tmp_path_factory.mktemp("verl")) as found:
        yield found


@pytest.fixture
def judged(running: Digits) -> Digits:
    """The same, with an honest judge."""
    running.reset()
    return running


@pytest.fixture(autouse=True)
def _verl(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The base class of verl can be imported."""
    stub_verl.install(lambda name, module: monkeypatch.setitem(sys.modules, name, module))
    yield
    sys.modules.pop("judge_client._verl.manager", None)


def manager(where: Digits | StandIn, **judge: Any) -> Any:
    """The manager as verl makes it, for groups of four."""
    from judge_client.verl import JudgeGroupRewardManager

    settings = {"url": where.url, "rubric": "pair", "family": "xi", "timeout_s": 20, **judge}
    return JudgeGroupRewardManager(
        config=stub_verl.config(4, **settings), tokenizer=stub_verl.Characters(),
        compute_score=None, reward_router_address=None, reward_model_tokenizer=None,
    )  # fmt: skip


def rollout(text: str, uid: str | None, **row: Any) -> stub_verl.Data:
    """One rollout of a prompt."""
    prompt = [{"role": "user", "content": f"What of {uid}?"}]
    return stub_verl.sample(text, **{"raw_prompt": prompt, "uid": uid, **row})


def run_all(made: Any, samples: Sequence[stub_verl.Data]) -> list[Any]:
    """The answers to samples that arrive together; exceptions among them."""

    async def run() -> list[Any]:
        calls = (made.run_single(one) for one in samples)
        return list(await asyncio.gather(*calls, return_exceptions=True))

    return asyncio.run(run())


def rewards(found: Sequence[Any]) -> list[float]:
    """The rewards, each with the same names beside it."""
    assert [list(one["reward_extra_info"]) for one in found] == [KEYS] * len(found)
    assert all(one["reward_extra_info"]["score"] == one["reward_score"] for one in found)
    return [one["reward_score"] for one in found]


def new_uid() -> str:
    """A prompt's name, as the trainer makes one."""
    return str(uuid.uuid4())


def test_rollouts_of_a_prompt_are_ranked(judged: Digits) -> None:
    """Two prompts at once, mixed: each group by itself, by pairs in both orders."""
    one, two = new_uid(), new_uid()
    samples = [rollout(text, uid) for text in TEXTS for uid in (one, two)]

    found = run_all(manager(judged), samples)

    assert rewards(found[::2]) == pytest.approx(SHARES)
    assert rewards(found[1::2]) == pytest.approx(SHARES)
    assert {one["reward_extra_info"]["judge_swap_consistent"] for one in found} == {1.0}
    (seen,) = {request.seen.slots["prompt"] for request in judged.provider.requests
               if request.seen and one in request.seen.slots["prompt"]}  # fmt: skip
    assert seen == f"[user]\nWhat of {one}?"


def test_flips_are_told(judged: Digits) -> None:
    """A judge that prefers a position: nobody's win, and the share says so."""
    judged.provider.behave("main", behaviours.first_position())

    found = run_all(manager(judged), [rollout(text, "flips") for text in TEXTS])

    assert all(isinstance(one, JudgeUnavailable) for one in found)


def test_equal_texts_are_members_of_their_own(judged: Digits) -> None:
    """A group is complete although two of its rollouts say the same."""
    uid = new_uid()

    found = run_all(manager(judged), [rollout(text, uid) for text in ("4 a", "4 a", "4 a", "1 b")])

    assert rewards(found)[:3] == [rewards(found)[0]] * 3
    assert rewards(found)[3] == 0.0


def test_the_same_rollout_again_has_the_same_reward(judged: Digits) -> None:
    """With the session that verl numbers, a retry is the same member."""
    uid = new_uid()
    samples = [rollout(text, uid, session_id=n) for n, text in enumerate(TEXTS)]
    made = manager(judged)
    first = rewards(run_all(made, samples))
    asked = len(judged.provider.requests)

    assert rewards(run_all(made, samples[1:2])) == first[1:2]
    assert len(judged.provider.requests) == asked


def test_two_workers_complete_one_group(judged: Digits) -> None:
    """Two processes of four rollouts each: one group of eight."""
    members = [(n, f"{1 + n % 5} of {n}") for n in range(8)]
    settings = {"timeout_s": 30, "deadline_s": 60}
    context = multiprocessing.get_context("spawn")

    with context.Pool(2) as pool:
        parts = [(judged.url, "shared", members[at::2], settings) for at in (0, 1)]
        even, odd = pool.starmap(work, parts, chunksize=1)
        pool.close()
        pool.join()

    found = dict(zip([n for n, _ in members[::2] + members[1::2]], even + odd, strict=True))
    assert all(isinstance(reward, float) for reward in found.values())
    ordered = sorted(found, key=lambda n: found[n])
    assert [n % 5 for n in ordered] == sorted(n % 5 for n in range(8))
    assert found[4] == 1.0


def test_a_missing_rollout_fails_all(judged: Digits) -> None:
    """Seven of eight in two processes: at the deadline nobody has a number."""
    members = [(n, f"{1 + n % 5} of {n}") for n in range(7)]
    settings = {"timeout_s": 10, "deadline_s": 4}
    context = multiprocessing.get_context("spawn")

    with context.Pool(2) as pool:
        parts = [(judged.url, "missing", members[at::2], settings) for at in (0, 1)]
        found = [code for part in pool.starmap(work, parts, chunksize=1) for code in part]
        pool.close()
        pool.join()

    assert found == ["cohort_incomplete"] * 7


def test_a_likely_mistake_is_told(judged: Digits, caplog: pytest.LogCaptureFixture) -> None:
    """A validation that does not say so is a group that is never complete."""
    made = manager(judged, deadline_s=0.3)

    for uid in (new_uid(), new_uid()):
        (found,) = run_all(made, [rollout("4 a", uid)])
        assert isinstance(found, JudgeUnavailable)

    (told,) = [r.getMessage() for r in caplog.records if r.name == "judge_client.verl"]
    assert "extra_info['split']" in told


def test_an_incomplete_group_may_be_judged(judged: Digits) -> None:
    """Where the settings say so: three of four."""
    uid = new_uid()
    samples = [rollout(text, uid, session_id=n) for n, text in enumerate(TEXTS[:3])]
    made = manager(judged, deadline_s=4, partial={"at_least": 3})

    assert rewards(run_all(made, samples)) == pytest.approx([0.5, 0.0, 1.0])


def test_a_judge_without_a_verdict_fails_the_group(judged: Digits) -> None:
    """One member cannot be judged: none has a number."""
    judged.provider.behave("main", behaviours.chokes_on("unspeakable"))
    uid = new_uid()

    found = run_all(
        manager(judged, rubric="quality"),
        [rollout(text, uid) for text in ("4 a", "2 b", "5 unspeakable", "1 d")],
    )

    assert [type(one) for one in found] == [JudgeUnavailable] * 4


def test_a_member_that_is_too_long_is_worth_nothing(judged: Digits) -> None:
    """Over 1 MiB: 0.0 among the others, who do not wait for it in vain."""
    uid = new_uid()
    texts = ["5" * (1024 * 1024 + 1), "4 a", "2 b", "3 c"]

    found = rewards(run_all(manager(judged), [rollout(text, uid) for text in texts]))

    assert found[0] == 0.0
    assert found[1] > found[3] > found[2]


@pytest.mark.parametrize(
    "row",
    [{}, {"extra_info": {"split": "test"}}, {"extra_info": {"split": "val"}}],
    ids=["no uid", "test", "val"],
)
def test_a_validation_has_no_groups(judged: Digits, row: dict[str, Any]) -> None:
    """Its samples are assessed, each at once, on a rubric that can do it."""
    made = manager(judged, val_rubric="quality", deadline_s=60)

    sample = rollout("2 a", "validated" if row else None, **row)

    assert rewards(run_all(made, [sample])) == [0.25]


def test_the_training_split_is_a_group(judged: Digits) -> None:
    """The rows of a training set may say that they are."""
    uid = new_uid()
    samples = [rollout(text, uid, extra_info={"split": "train"}) for text in TEXTS]

    assert rewards(run_all(manager(judged), samples)) == pytest.approx(SHARES)


def test_more_rollouts_wait_than_a_pool_has_connections(stand_in: StandIn) -> None:
    """Those who come last are let in, however many are held until then."""
    count = 300
    all_there = threading.Barrier(count)

    def script(got: Got) -> Told:
        all_there.wait(50)
        return Told(body={**SUCCESS, "rank": 1, "group": {}})

    stand_in.script = script
    made = manager(stand_in, timeout_s=60, deadline_s=50)

    assert rewards(run_all(made, [rollout("a", f"u{n}") for n in range(count)])) == [0.75] * count


def test_what_is_asked(stand_in: StandIn) -> None:
    """The group is the prompt's uid, the last sequence is the candidate, special tokens are not."""
    stand_in.says(Told(body={**SUCCESS, "rank": 1, "group": {}}))
    many = stub_verl.Data(
        [*rollout("first", "u"),
         *rollout("last", "u", session_id=3, reward_model={"ground_truth": "42"},
                  raw_prompt=Array([{"role": "user", "content": "Why?"}]))]
    )  # fmt: skip

    run_all(manager(stand_in, deadline_s=7, timeout_s=9, run="r"), [many])

    (asked,) = stand_in.requests
    assert asked.path == "/v1/groups/join"
    assert asked.body["candidate"] == {"text": "last", "family": ["xi"]}
    assert asked.body["prompt"] == [{"role": "user", "content": "Why?"}]
    told = {name: asked.body[name] for name in ("group", "size", "member", "run", "reference")}
    assert told == {"group": "u", "size": 4, "member": "session 3", "run": "r", "reference": "42"}
    assert (asked.body["deadline_s"], asked.body["partial"]) == (7, "fail")


@pytest.mark.parametrize(
    ("judge", "match"),
    [
        ({"group_size": 8}, "rollout.n is 4"),
        ({"rubrik": "pair"}, "no setting 'rubrik'"),
        ({"deadline_s": 0}, "deadline_s"),
        ({"deadline_s": 601}, "deadline_s"),
        ({"partial": "drop"}, "at_least"),
        ({"partial": {"at_least": 5}}, "from 2 to 4"),
        ({"timeout_s": "x"}, "timeout_s"),
        ({"use_ground_truth": "no"}, "use_ground_truth"),
        ({"val_rubric": "Not one"}, "val_rubric|rubric"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_settings_that_cannot_be_right(
    stand_in: StandIn, judge: dict[str, Any], match: str
) -> None:
    """They are errors when verl makes the manager; a service that is away is none."""
    with pytest.raises(ConfigError, match=match):
        manager(stand_in, **judge)


@pytest.mark.parametrize("rollouts", [1, 65, None, "4"])
def test_a_group_has_a_size(rollouts: Any) -> None:
    """It is the trainer's rollout.n, unless told."""
    from judge_client.verl import JudgeGroupRewardManager

    with pytest.raises(ConfigError, match="group_size"):
        JudgeGroupRewardManager(stub_verl.config(rollouts, rubric="pair"), stub_verl.Characters())


def test_settings_of_a_class_and_of_the_environment(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configuration wins over the class, and the class over the environment."""
    from judge_client.verl import JudgeGroupRewardManager

    class Mine(JudgeGroupRewardManager):
        rubric = "mine"
        deadline_s = 5.0

    monkeypatch.setenv("JUDGE_SERVICE_URL", stand_in.url)
    monkeypatch.setenv("JUDGE_SERVICE_RUBRIC", "theirs")
    stand_in.says(Told(body={**SUCCESS, "rank": 1, "group": {}}))
    for settings in ({}, {"rubric": "configured"}):
        made = Mine(stub_verl.config(4, **settings), stub_verl.Characters())
        run_all(made, [rollout("4 a", "u")])

    assert [one.body["rubric"] for one in stand_in.requests] == ["mine", "configured"]
    assert [one.body["deadline_s"] for one in stand_in.requests] == [5.0, 5.0]


def test_a_sample_without_prompt_is_a_mistake(stand_in: StandIn) -> None:
    """Nobody is asked."""
    (found,) = run_all(manager(stand_in), [stub_verl.sample("a", uid="u")])

    assert isinstance(found, InvalidRequest)
    assert stand_in.requests == []


def test_the_readme_as_pasted(judged: Digits, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its command's settings, as verl would read them, rank the rollouts of a prompt."""
    told = pasted("group")["reward"]
    assert told["reward_manager"]["source"] == "importlib"
    assert told["judge"] == {"rubric": "pairwise-writing"}
    monkeypatch.setenv("JUDGE_SERVICE_URL", judged.url)
    module = importlib.import_module(
        told["reward_manager"]["module"]["path"].removeprefix("pkg://")
    )
    made = getattr(module, told["reward_manager"]["name"])(
        stub_verl.config(4, **{**told["judge"], "rubric": "pair"}), stub_verl.Characters()
    )

    found = run_all(made, [rollout(text, "pasted") for text in TEXTS])

    assert rewards(found) == pytest.approx(SHARES)
