"""Groups of responses to one prompt, for trainers that post them one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness import Judges, RunningService, judged_by, new_prompt, write_rubric
from tests.provider import FakeProvider, behaviours
from tests.trainers.support import (
    DROP,
    Clock,
    checked,
    openrlhf,
    openrlhf_url,
    queries,
    rollout,
)

# LiteLLM prepares a call in a thread; one that is given up meanwhile is never begun.
pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited", "ignore::pytest.PytestUnraisableExceptionWarning"
)

TEXTS = ["4 a", "2 b", "5 c", "1 d"]
SHARES = [2 / 3, 1 / 3, 1.0, 0.0]


async def _post_all(service: RunningService, url: str, bodies: Sequence[Any]) -> list[Any]:
    async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=60.0) as http:
        answers = await asyncio.gather(*(http.post(url, json=body) for body in bodies))
    return list(answers)


def post_all(service: RunningService, url: str, bodies: Sequence[Any]) -> list[httpx.Response]:
    """All at once, each on its own connection."""
    return asyncio.run(_post_all(service, url, bodies))


def singles(texts: Sequence[str], prompt: str | None = None) -> list[dict[str, Any]]:
    """One body for each response to one prompt."""
    prompt = prompt or new_prompt()
    return [queries([text], prompt=prompt) for text in texts]


def rewards(answers: Sequence[httpx.Response]) -> list[float]:
    """The rewards of single responses."""
    return [checked(answer)["rewards"][0] for answer in answers]


def test_singles_form_a_group(service: RunningService, provider: FakeProvider) -> None:
    """Responses that arrive one by one are ranked against each other, each pair once."""
    answers = post_all(service, openrlhf_url("pair", "group=4"), singles(TEXTS))

    assert rewards(answers) == pytest.approx(SHARES)
    assert [checked(a)["extra_logs"]["rank"] for a in answers] == [[2.0], [3.0], [1.0], [4.0]]
    assert len(provider.requests) == 12


def test_a_whole_group_in_one_request(service: RunningService, provider: FakeProvider) -> None:
    """Two prompts' groups in one list, mixed."""
    one, two = singles(TEXTS), singles(TEXTS[::-1])
    mixed = {
        name: [value for a, b in zip(one, two, strict=True) for value in (*a[name], *b[name])]
        for name in ("query", "prompts", "labels")
    }
    answer = openrlhf(service, mixed, "pair", "group=4")

    assert answer["rewards"][::2] == pytest.approx(SHARES)
    assert answer["rewards"][1::2] == pytest.approx(SHARES[::-1])


def test_equal_texts_are_members_of_their_own(
    service: RunningService, provider: FakeProvider
) -> None:
    """The same response twice in a group counts twice, is judged once and has one reward."""
    answers = post_all(
        service, openrlhf_url(query="group=4"), singles(["4 a", "4 a", "4 a", "1 d"])
    )

    assert rewards(answers) == [0.75, 0.75, 0.75, 0.0]
    assert {checked(a)["extra_logs"]["group/members"][0] for a in answers} == {4.0}
    assert len(provider.requests) == 2


def test_the_same_prompt_twice_in_flight(service: RunningService, provider: FakeProvider) -> None:
    """Eight responses in groups of four are two groups, equal texts included."""
    answers = post_all(service, openrlhf_url("pair", "group=4"), singles(["4 a"] * 8))

    assert rewards(answers) == [0.5] * 8
    assert provider.requests == []


def test_a_step_right_after_another_is_a_group_of_its_own(
    service: RunningService, provider: FakeProvider
) -> None:
    """Whoever was answered is done: texts that come up again belong to the new group, at once."""
    prompt, url = new_prompt(), openrlhf_url("pair", "group=4")
    first = post_all(service, url, singles(TEXTS, prompt))
    second = post_all(service, url, singles(["4 a", "5 x", "5 y", "5 z"], prompt))
    third = post_all(service, url, singles(TEXTS, prompt))

    assert rewards(first) == rewards(third) == pytest.approx(SHARES)
    assert rewards(second) == pytest.approx([0.0, 2 / 3, 2 / 3, 2 / 3])


def test_a_member_that_is_missing(service: RunningService, provider: FakeProvider) -> None:
    """Nobody has a reward, all within the budget; the failure is the trainer's own."""
    with Clock() as clock:
        answers = post_all(service, openrlhf_url("pair", "group=4&budget_s=1"), singles(TEXTS[:3]))
    dropped = post_all(
        service, openrlhf_url("pair", f"group=4&budget_s=1&{DROP}"), singles(TEXTS[:3])
    )

    assert [answer.status_code for answer in answers] == [503] * 3
    assert {answer.json()["error"]["code"] for answer in answers} == {"cohort_incomplete"}
    assert [checked(answer)["scores"] for answer in dropped] == [[-1e6]] * 3
    assert clock.seconds < 15.0
    assert provider.requests == []


def test_a_group_whose_judge_comes_back(service: RunningService, provider: FakeProvider) -> None:
    """A group is held like a single response."""
    provider.behave("main", [behaviours.says("?")] * 6 + [behaviours.honest()])
    answers = post_all(service, openrlhf_url(query="group=2&budget_s=30"), singles(["4 a", "2 b"]))

    assert rewards(answers) == [0.75, 0.25]


def test_a_group_without_a_judge(service: RunningService, provider: FakeProvider) -> None:
    """All members of a group fail together; the names of their numbers stay the same."""
    long, short = (openrlhf_url("pair", f"group=4&budget_s={s}&{DROP}") for s in (30, 2))
    good = [checked(answer) for answer in post_all(service, long, singles(TEXTS))]
    provider.behave("main", behaviours.says("no idea"))
    bad = [checked(answer) for answer in post_all(service, short, singles(TEXTS))]

    assert [answer["scores"] for answer in bad] == [[-1e6]] * 4
    assert [answer["extra_logs"]["judge_failed"] for answer in bad] == [[1.0]] * 4
    assert {tuple(answer["extra_logs"]) for answer in good + bad} == {tuple(good[0]["extra_logs"])}


def test_one_that_is_too_long_is_a_member(service: RunningService, provider: FakeProvider) -> None:
    """The others do not wait for it in vain; it has nothing."""
    answers = post_all(
        service, openrlhf_url("pair", "group=3"), singles(["5" * (1024 * 1024 + 1), "4 a", "2 b"])
    )

    assert rewards(answers)[0] == 0.0
    assert rewards(answers)[1] > rewards(answers)[2]
    assert [checked(a)["extra_logs"]["too_long"] for a in answers] == [[1.0], [0.0], [0.0]]


def test_labels_keep_groups_apart(service: RunningService, provider: FakeProvider) -> None:
    """The same prompt with another known answer is another task."""
    prompt = new_prompt()
    bodies = [queries([text], prompt=prompt, labels=[label])
              for label in ("1", "2") for text in ("4 a", "2 b")]  # fmt: skip
    answers = post_all(service, openrlhf_url("pair", "group=2"), bodies)

    assert rewards(answers) == [1.0, 0.0, 1.0, 0.0]


def test_runs_of_different_models_do_not_meet(
    service: RunningService, provider: FakeProvider
) -> None:
    """The same prompt at addresses that name different policies is two groups."""
    prompt = new_prompt()

    async def run() -> list[float]:
        async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=60.0) as http:
            posts = [
                http.post(
                    openrlhf_url("pair", f"group=2&{policy}"), json=queries([text], prompt=prompt)
                )
                for text in ("4 a", "2 b")
                for policy in ("family=qwen", "family=llama", "policy_model=mistral-7b")
            ]
            return rewards(await asyncio.gather(*posts))

    assert asyncio.run(run()) == [1.0] * 3 + [0.0] * 3


def test_numbered_rollouts(service: RunningService, provider: FakeProvider) -> None:
    """NeMo Gym's own numbers say who belongs together: the same prompt as two tasks."""
    prompt = new_prompt()
    bodies = [
        rollout(text, prompt, _ng_task_index=task, _ng_rollout_index=number)
        for task in (1, 2)
        for number, text in enumerate(["4 a", "4 a", "2 b"])
    ]
    url = "/adapters/nemo-gym/pair/verify?group=3"
    answers = [checked(answer) for answer in post_all(service, url, bodies)]

    assert [answer["reward"] for answer in answers] == [1.0, 1.0, 0.0] * 2
    assert [answer["_ng_task_index"] for answer in answers] == [1, 1, 1, 2, 2, 2]
    assert all(sum(answer["reward_components"].values()) == answer["reward"] for answer in answers)


def test_slime_in_groups(service: RunningService, provider: FakeProvider) -> None:
    """Slime's samples, too."""
    prompt = new_prompt()
    bodies = [{"prompt": prompt, "response": text, "label": None} for text in TEXTS]
    answers = post_all(service, "/adapters/slime/pair?group=4", bodies)

    assert [checked(answer)["score"] for answer in answers] == pytest.approx(SHARES)


def test_a_member_that_is_late(service: RunningService, provider: FakeProvider) -> None:
    """The others are held as long as they may be, so it finds them."""
    url, bodies = openrlhf_url("pair", "group=4&budget_s=20"), singles(TEXTS)

    async def run() -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=service.url, trust_env=False, timeout=60.0) as http:
            early = [asyncio.create_task(http.post(url, json=body)) for body in bodies[:3]]
            done, _ = await asyncio.wait(early, timeout=2.5)
            assert not done
            late = await http.post(url, json=bodies[3])
            return [*await asyncio.gather(*early), late]

    assert rewards(asyncio.run(run())) == pytest.approx(SHARES)


def test_a_late_member_has_its_own_time(service: RunningService, provider: FakeProvider) -> None:
    """Those whose time is up leave, and nobody is ranked against who left."""
    prompt = new_prompt()
    short, long = (openrlhf_url("pair", f"group=2&budget_s={s}") for s in (0.5, 20))
    left = post_all(service, short, singles(["5 left"], prompt))
    both = post_all(service, long, singles(["4 a", "2 b"], prompt))

    assert [answer.status_code for answer in left] == [503]
    assert rewards(both) == [1.0, 0.0]


def test_replies_without_a_verdict_end_it(
    service: RunningService, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group whose judge never gives a verdict does not cost as much as its budget has room for,
    however many members ask again.
    """
    monkeypatch.setattr("judge_service.cohort.leader.FAILED_KEPT_S", 0.05)
    monkeypatch.setattr("judge_service.api.trainers.hold.FIRST_PAUSE_S", 0.1)
    monkeypatch.setattr("judge_service.api.trainers.hold.LAST_PAUSE_S", 0.1)
    provider.behave("main", behaviours.says("Rather good."))
    answers = post_all(service, openrlhf_url(query="group=2&budget_s=60"), singles(["4 a", "2 b"]))

    assert [answer.status_code for answer in answers] == [503] * 2
    assert {answer.json()["error"]["code"] for answer in answers} == {"unparsable"}
    assert 2 * 8 <= len(provider.requests) <= 2 * 3 * 9


def test_members_reach_different_replicas(provider: FakeProvider, tmp_path: Path) -> None:
    """One group over two services that share a store, equal texts included."""
    write_rubric(tmp_path)
    judges = Judges(provider).add("main", "alpha")
    shared: dict[str, Any] = {"store": tmp_path / "store.sqlite3", "secret": "a secret for tests"}
    bodies = singles(["4 a", "4 a", "4 a", "1 d"])
    with judged_by(judges, tmp_path, **shared) as one, judged_by(judges, tmp_path, **shared) as two:

        async def run() -> list[httpx.Response]:
            async with httpx.AsyncClient(trust_env=False, timeout=60.0) as http:
                return list(
                    await asyncio.gather(
                        *(
                            http.post(place.url + openrlhf_url(query="group=4"), json=body)
                            for place, body in zip([one, two, one, two], bodies, strict=True)
                        )
                    )
                )

        assert rewards(asyncio.run(run())) == [0.75, 0.75, 0.75, 0.0]
    assert len(provider.requests) == 2
