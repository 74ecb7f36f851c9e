"""The resources server for NeMo Gym, by its HTTP contract, over the service."""

from __future__ import annotations

import asyncio
import runpy
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from judge_client import ConfigError, InvalidRequest

from tests.clients import stub_nemo_gym
from tests.clients.digits import REWARDS, Digits, digits
from tests.clients.overrides import mapping, shell
from tests.clients.readme import code
from tests.clients.stand_in import SUCCESS, StandIn, Told, problem
from tests.clients.test_distribution import SOURCE
from tests.harness import new_prompt
from tests.provider import behaviours, faults
from tests.trainers.support import rollout

MARKS = {"_ng_failure_class", "_ng_failure_judge_error"}
NAMES = {"judge_score_raw", "judge_failed", "judge_swap_consistent", "judge_cached"}
ADDED = {"reward", "reward_components", "mask_sample", *NAMES}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Digits]:
    """A real service."""
    with digits(tmp_path_factory.mktemp("gym")) as found:
        yield found


@pytest.fixture
def judged(running: Digits) -> Digits:
    """The same, with an honest judge."""
    running.reset()
    return running


@pytest.fixture(autouse=True)
def _gym(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Gym's base classes can be imported."""
    stub_nemo_gym.install(lambda name, module: monkeypatch.setitem(sys.modules, name, module))
    yield
    sys.modules.pop("judge_client.nemo_gym.server", None)


def server(where: Digits | StandIn, **settings: Any) -> Any:
    """The application of a server."""
    from judge_client.nemo_gym import JudgeResourcesServer, JudgeResourcesServerConfig

    given = {"judge_url": where.url, "rubric": "quality", "family": "xi", "timeout_s": 20}
    config = JudgeResourcesServerConfig(**{**given, **settings})
    return JudgeResourcesServer(config=config).setup_webserver()


def post(app: Any, *bodies: dict[str, Any]) -> list[httpx.Response]:
    """The answers to rollouts that are posted together."""

    async def run() -> Sequence[httpx.Response]:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://gym") as http:
            return await asyncio.gather(*(http.post("/verify", json=body) for body in bodies))

    return list(asyncio.run(run()))


def verified(app: Any, *bodies: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows: what was posted, the reward as the sum of its parts, and marks where it is none."""
    rows: list[dict[str, Any]] = []
    for body, answer in zip(bodies, post(app, *bodies), strict=True):
        assert answer.status_code == 200, answer.text[:500]
        row = answer.json()
        old = ADDED | MARKS
        assert all(row[name] == value for name, value in body.items() if name not in old)
        assert sum(row["reward_components"].values()) == row["reward"]
        failed = row["judge_failed"] == 1.0
        assert set(row) - set(body) - old == set()
        assert (failed, failed) == (set(row) >= MARKS, bool(MARKS & set(row)))
        assert row["mask_sample"] is True or not failed
        rows.append(row)
    return rows


@pytest.mark.parametrize("point", REWARDS)
def test_the_rollout_comes_back_with_its_reward(judged: Digits, point: int) -> None:
    """Whatever else the row has is there again; 0.0 is a reward like others."""
    more: dict[str, Any] = {"_ng_task_index": 7, "_ng_rollout_index": 0,
                            "extra": {"a": [1, None, 2.5]}, "rank": "the trainer's"}  # fmt: skip

    (row,) = verified(server(judged), rollout(f"{point} a", **more))

    assert (row["reward"], row["mask_sample"]) == (REWARDS[point], False)
    assert set(row) >= ADDED


def test_a_failure_is_typed(judged: Digits) -> None:
    """HTTP 200 with a class, a reason and a mask; other rollouts have their rewards, and all rows
    have the same numbers.
    """
    judged.provider.behave("main", behaviours.chokes_on("unspeakable"))
    bodies = [rollout(f"4 {'unspeakable' if n % 4 == 0 else 'a'}") for n in range(16)]

    rows = verified(server(judged, timeout_s=8), *bodies)

    for n, row in enumerate(rows):
        if n % 4 == 0:
            assert row["_ng_failure_class"] == "judge_failed"
            assert row["_ng_failure_judge_error"].startswith("unparsable: ")
        else:
            assert (row["reward"], row["mask_sample"]) == (0.75, False)
    assert {frozenset(set(row) - MARKS) for row in rows} == {frozenset(set(rows[1]))}


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"status": "failed", "error": {"code": "server_error", "message": "no GPU"}}, "no GPU"),
        ({"status": "cancelled"}, "cancelled"),
        ({"status": "failed"}, "failed"),
    ],
    ids=["an error", "cancelled", "failed"],
)
def test_a_response_that_failed_is_no_candidate(
    judged: Digits, told: dict[str, Any], why: str
) -> None:
    """The policy's server broke: a class of its own, and no judge is asked about an empty text."""
    judged.provider.reset()
    body = rollout("")
    body["response"] |= told

    (row,) = verified(server(judged), body)

    assert row["_ng_failure_class"] == "rollout_failed"
    assert why in row["_ng_failure_judge_error"]
    assert judged.provider.requests == []


def test_an_outage_is_waited_for(judged: Digits) -> None:
    """A judge that comes back in time is no failure."""
    judged.provider.behave("main", [faults.status_error(500)] * 6 + [behaviours.honest()])

    (row,) = verified(server(judged), rollout("4 a"))

    assert row["reward"] == 0.75


@pytest.mark.parametrize("away", ["judge", "service"])
def test_an_outage_ends_in_time(judged: Digits, stand_in: StandIn, away: str) -> None:
    """One that stays is a typed row at the end of the time."""
    judged.provider.behave("main", faults.status_error(500))
    stand_in.says(Told(drop=True))

    (row,) = verified(
        server(judged if away == "judge" else stand_in, timeout_s=4.0), rollout("4 a")
    )

    code = "upstream_error" if away == "judge" else "unreachable"
    assert row["_ng_failure_judge_error"].startswith(f"{code}: ")


def test_verified_again(judged: Digits) -> None:
    """A rollout that failed before and is judged now has none of the old marks; a mask of the
    trainer's own stays.
    """
    old: dict[str, Any] = {"_ng_failure_class": "judge_failed", "mask_sample": True,
                           "_ng_failure_judge_error": "timeout: late", "reward": 0.0}  # fmt: skip

    again, own = verified(server(judged), rollout("4 a", **old), rollout("4 a", mask_sample=True))

    assert (again["reward"], again["mask_sample"]) == (0.75, False)
    assert own["mask_sample"] is True


def test_mistakes_are_no_failures(judged: Digits, stand_in: StandIn) -> None:
    """An unknown rubric, a refused key and a rollout without input are errors, never a class."""
    stand_in.says(Told(status=401, body=problem("unauthorized")))
    empty = {**rollout("4 a"), "responses_create_params": {"input": []}}
    answers = [
        *post(server(judged, rubric="unknown"), rollout("4 a")),
        *post(server(stand_in), rollout("4 a")),
        *post(server(judged), empty),
    ]

    assert [answer.status_code for answer in answers] == [500] * 3
    assert not any("_ng_failure_class" in answer.text for answer in answers)
    assert judged.provider.requests == []


def test_a_conversation_with_tools(judged: Digits) -> None:
    """Calls and what came of them are shown as such; reasoning is not shown."""
    body = rollout("", new_prompt())
    body["responses_create_params"]["instructions"] = "Be brief."
    body["response"]["output"] = [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hmm"}]},
        {"type": "function_call", "name": "search", "arguments": '{"q": "x"}', "call_id": "c1",
         "id": "fc_1", "status": "completed"},
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
        {"type": "web_search_call", "id": "w1", "status": "completed", "action": {"query": "y"}},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": "4 done"},
                     {"type": "refusal", "refusal": "no more"}]},
    ]  # fmt: skip

    (row,) = verified(server(judged), body)

    assert row["reward"] == 0.75
    (asked,) = judged.provider.requests
    assert asked.seen is not None
    assert asked.seen.slots["candidate"] == "4 done\nno more"
    assert asked.seen.slots["prompt"].startswith("[system]\nBe brief.\n[user]\nQuestion")
    assert "[tool_call: search]" in asked.seen.slots["context"]
    assert "[tool_call: web_search_call]" in asked.seen.slots["context"]
    assert "found" in asked.seen.slots["context"]
    assert "hmm" not in asked.seen.user


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([{"type": "reasoning_text", "text": "hm"}, {"type": "output_text", "text": "72"}], "72"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "output_text", "text": "72"}], "72"),
        ([{"type": "output_text", "text": None}, {"type": "output_text", "text": "72"}], "72"),
        ([{"type": "refusal", "refusal": "No."}], "No."),
        ([{"type": "output_image"}, {"type": "output_text", "text": "72"}],
         "(output_image part, not shown)\n72"),
        (None, ""),
    ],
    ids=["reasoning", "thinking", "null", "refusal", "image", "nothing"],
)  # fmt: skip
def test_parts_are_what_was_said(stand_in: StandIn, parts: Any, said: str) -> None:
    """Reasoning is left out by its type, a null says nothing, and what is no text is named."""
    stand_in.says(Told(body={"results": [SUCCESS]}))
    body = rollout("")
    body["response"]["output"] = [{"type": "message", "role": "assistant", "content": parts}]

    post(server(stand_in), body)

    (turn,) = stand_in.requests[0].body["items"][0]["candidate"]["messages"]
    assert turn["content"] == said


@pytest.mark.parametrize("content", [42, True, {"a": 1}, [None], [3]], ids=str)
def test_what_is_no_content_is_refused(content: Any) -> None:
    """It is neither judged as a text nor counted as an empty answer; the message says where."""
    from judge_client.nemo_gym.items import turns_of

    items = [{"type": "message", "role": "assistant", "content": content}]
    with pytest.raises(InvalidRequest, match=r"response\.output\[0\]\.content"):
        turns_of(items, "response.output")


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({"verifier_metadata": {"expected_answer": 42}}, "42"),
        ({"verifier_metadata": {"label": "b", "reference": "a"}}, "a"),
        ({"verifier_metadata": {"other": 1}, "ground_truth": ["x"]}, '["x"]'),
        ({"verifier_metadata": None, "answer": "", "label": "z"}, "z"),
        ({}, None),
    ],
    ids=str,
)
def test_references(stand_in: StandIn, more: dict[str, Any], shown: str | None) -> None:
    """The known answer stands in the verifier's metadata or beside it, under one of its names."""
    stand_in.says(Told(body={"results": [SUCCESS]}))

    for use_reference in (True, False):
        post(server(stand_in, use_reference=use_reference), rollout("4 a", **more))

    asked = [request.body["items"][0].get("reference") for request in stand_in.requests]
    assert asked == [shown, None]


@pytest.mark.parametrize(
    ("settings", "shown"),
    [({"family": None}, {"policy_model": "policy"}), ({}, {"family": ["xi"]}),
     ({"family": None, "policy_model": "m"}, {"policy_model": "m"})],
    ids=str,
)  # fmt: skip
def test_who_is_judged(stand_in: StandIn, settings: dict[str, Any], shown: Any) -> None:
    """The response's model, unless the settings know better; a cut response says so."""
    stand_in.says(Told(body={"results": [SUCCESS]}))
    body = rollout("4 a")
    body["response"]["incomplete_details"] = {"reason": "max_output_tokens"}

    post(server(stand_in, **settings), body)

    candidate = stand_in.requests[0].body["items"][0]["candidate"]
    assert {name: candidate[name] for name in shown} == shown
    assert candidate["finish_reason"] == "length"


@pytest.mark.parametrize("text", [None, "5" * (1024 * 1024 + 1)], ids=["empty", "too long"])
def test_an_honest_zero(judged: Digits, text: str | None) -> None:
    """No output, or more than anybody judges: worth nothing, and no failure."""
    body = rollout(text or "")
    if text is None:
        body["response"]["output"] = []

    (row,) = verified(server(judged), body)

    assert (row["reward"], row["mask_sample"]) == (0.0, False)
    assert judged.provider.requests == []


def members(texts: Sequence[str], prompt: str, **more: Any) -> list[dict[str, Any]]:
    """The rollouts of one task."""
    numbers = {"_ng_task_index": 1, **more}
    return [rollout(t, prompt, **numbers, _ng_rollout_index=n) for n, t in enumerate(texts)]


def test_a_cohort_is_ranked(judged: Digits) -> None:
    """Two tasks with one prompt, equal responses among them; the numbers begin anew later."""
    app = server(judged, rubric="pair", num_rollouts_per_prompt=3)
    prompt = new_prompt()
    both = [*members(["4 a", "4 a", "2 b"], prompt),
            *members(["4 a", "4 a", "2 b"], prompt, _ng_task_index=2)]  # fmt: skip

    rows = verified(app, *both)
    later = verified(app, *members(["1 x", "2 y", "3 z"], new_prompt()))

    assert [row["reward"] for row in rows] == [1.0, 1.0, 0.0] * 2
    assert [row["reward"] for row in later] == [0.0, 0.5, 1.0]


def test_posted_again(judged: Digits) -> None:
    """Gym posts again after a lost connection: the same rollout has the same reward."""
    app = server(judged, rubric="pair", num_rollouts_per_prompt=3)
    bodies = members(["4 a", "3 c", "2 b"], new_prompt())
    first = verified(app, *bodies)
    asked = len(judged.provider.requests)

    (again,) = verified(app, bodies[1])

    assert again["reward"] == first[1]["reward"] == 0.5
    assert len(judged.provider.requests) == asked


def test_unnumbered_rollouts_are_a_cohort_by_prompt(judged: Digits) -> None:
    """Where Gym does not number them."""
    app = server(judged, rubric="pair", num_rollouts_per_prompt=2)
    prompt = new_prompt()

    rows = verified(app, rollout("4 a", prompt), rollout("2 b", prompt))

    assert [row["reward"] for row in rows] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("partial", "rewards"), [("fail", None), ("judge>=2", [1.0, 0.0])], ids=["fail", "judge"]
)
def test_a_missing_member(judged: Digits, partial: str, rewards: list[float] | None) -> None:
    """At the deadline all fail, or those who are there are judged; no default."""
    settings: dict[str, Any] = {"num_rollouts_per_prompt": 3, "cohort_deadline_s": 3.0}
    app = server(judged, rubric="pair", partial_cohort=partial, **settings)

    rows = verified(app, *members(["4 a", "2 b"], new_prompt()))

    if rewards is None:
        told = {row["_ng_failure_judge_error"].split(":")[0] for row in rows}
        assert told == {"cohort_incomplete"}
    else:
        assert [row["reward"] for row in rows] == rewards


@pytest.mark.parametrize(
    ("settings", "match"),
    [({"rubric": None}, "rubric"), ({"num_rollouts_per_prompt": 0}, "num_rollouts"),
     ({"num_rollouts_per_prompt": 65}, "num_rollouts"), ({"timeout_s": 0}, "timeout_s"),
     ({"partial_cohort": "drop"}, "partial_cohort"), ({"judge_url": "x"}, "url"),
     ({"partial_cohort": "judge>=3", "num_rollouts_per_prompt": 2}, "partial_cohort"),
     ({"cohort_deadline_s": -1}, "cohort_deadline_s"),
     ({"cohort_deadline_s": 601}, "600 seconds at most")],
    ids=str,
)  # fmt: skip
def test_settings_that_cannot_be_right(
    stand_in: StandIn, settings: dict[str, Any], match: str
) -> None:
    """They are errors when the server is made."""
    with pytest.raises(ConfigError, match=match):
        server(stand_in, **settings)


def test_settings_of_the_environment(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the configuration does not say."""
    from judge_client.nemo_gym import JudgeResourcesServer, JudgeResourcesServerConfig

    settings = {"URL": stand_in.url, "RUBRIC": "theirs", "API_KEY": "k", "TIMEOUT_S": "5"}
    for name, value in settings.items():
        monkeypatch.setenv(f"JUDGE_SERVICE_{name}", value)
    stand_in.says(Told(body={"results": [SUCCESS]}))
    app = JudgeResourcesServer(config=JudgeResourcesServerConfig()).setup_webserver()

    (row,) = verified(app, rollout("4 a"))

    assert row["reward"] == 0.75
    assert stand_in.requests[0].headers["authorization"] == "Bearer k"
    assert stand_in.requests[0].body["items"][0]["rubric"] == "theirs"


def test_a_missing_gym_is_explained() -> None:
    """The package can be imported; a class of it says what to install."""
    code = (
        "import sys; sys.modules['nemo_gym'] = None\n"
        "import judge_client.nemo_gym as adapter\n"
        "try:\n    adapter.JudgeResourcesServer\nexcept ImportError as error:\n    print(error)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(SOURCE)}, capture_output=True,
        text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "pip install nemo-gym" in ran.stdout


def test_the_readme_as_pasted(judged: Digits, tmp_path: Path) -> None:
    """It makes the folder that Gym looks for: what Gym starts is the server, with its settings."""
    shell(code("NeMo Gym", "sh"), tmp_path)
    folder = tmp_path / "resources_servers" / "judge_service"
    *_, server_line = (folder / "judge_service.yaml").read_text().splitlines()
    told = mapping(server_line.split(":", 1)[1])
    assert (told["entrypoint"], told["rubric"]) == ("app.py", "helpfulness")
    assert "judge-service-client" in (folder / "requirements.txt").read_text().split()
    kind = runpy.run_path(str(folder / told["entrypoint"]))["JudgeResourcesServer"]
    given = {**told, "rubric": "quality", "judge_url": judged.url}
    config = kind.model_fields["config"].annotation(**given)

    (row,) = verified(kind(config=config).setup_webserver(), rollout("4 a"))

    assert row["reward"] == 0.75
