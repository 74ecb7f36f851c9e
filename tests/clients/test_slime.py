"""Rewards for slime, in a loop like slime's, over the service."""

from __future__ import annotations

import asyncio
import pickle
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from judge_client import ConfigError, InvalidRequest, JudgingFailed, NotFound
from judge_client.slime import JudgeRM, drop_failed_groups, group_rm, rm

from tests.clients import slime_loop
from tests.clients.digits import REWARDS, Digits, digits
from tests.clients.overrides import printed
from tests.clients.readme import code
from tests.clients.slime_loop import Args, Sample, Status, rollout
from tests.clients.stand_in import SUCCESS, Got, StandIn, Told, failed
from tests.harness import new_prompt
from tests.provider import behaviours, faults

SHARES = [2 / 3, 1 / 3, 1.0, 0.0]
TEXTS = ["4 a", "2 b", "5 c", "1 d"]
NAMES = ["score", "judge_score_raw", "judge_failed", "judge_swap_consistent", "judge_cached"]
DROPPED = "rollout/dynamic_filter/drop_judge_failed"
OWN_FILTER = "my_filters.judged"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Digits]:
    """A real service."""
    with digits(tmp_path_factory.mktemp("slime")) as found:
        yield found


@pytest.fixture
def judged(running: Digits, monkeypatch: pytest.MonkeyPatch) -> Digits:
    """The same, with an honest judge, and settings in the environment."""
    running.reset()
    settings = {"URL": running.url, "RUBRIC": "pair", "FAMILY": "xi", "TIMEOUT_S": "20"}
    for name, value in settings.items():
        monkeypatch.setenv(f"JUDGE_SERVICE_{name}", value)
    return running


@pytest.fixture
def slime(monkeypatch: pytest.MonkeyPatch) -> None:
    """The class of slime for a filter's answer can be imported."""
    name = ""
    for part in ("slime", "rollout", "filter_hub", "base_types"):
        name = f"{name}.{part}".strip(".")
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    vars(sys.modules[name])["DynamicFilterOutput"] = slime_loop.DynamicFilterOutput


def group(texts: Sequence[str], prompt: Any = None, **more: Any) -> list[Sample]:
    """Samples of one prompt."""
    prompt = new_prompt() if prompt is None else prompt
    return [Sample(prompt=prompt, response=text, **more) for text in texts]


def one(text: str, **more: Any) -> Sample:
    """A sample of a prompt of its own."""
    return group([text], **more)[0]


def call(function: Any, samples: Any, args: Any = None) -> Any:
    """A reward function's answer, by a loop of its own."""
    return asyncio.run(function(Args() if args is None else args, samples))


@pytest.mark.usefixtures("slime")
def test_groups_are_ranked(judged: Digits) -> None:
    """Each group by one request, as numbers."""
    kept, drops = rollout(Args(), [group(TEXTS), group(TEXTS[::-1])])

    assert kept[0] == pytest.approx(SHARES)
    assert kept[1] == pytest.approx(SHARES[::-1])
    assert drops == {}


@pytest.mark.usefixtures("slime")
@pytest.mark.parametrize("key", [None, "score"])
@pytest.mark.parametrize("grouped", [True, False], ids=["group", "each"])
def test_a_failed_group_is_dropped(judged: Digits, key: str | None, grouped: bool) -> None:
    """The other groups train on what they have, 0.0 included; the metric counts the loss."""
    judged.provider.behave("main", behaviours.chokes_on("unspeakable"))
    path = f"judge_client.slime.{'group_rm' if grouped else 'rm'}"
    args = Args(group_rm=grouped, custom_rm_path=path, reward_key=key)
    groups = [group(["1 a", "5 b"]), group(["1 unspeakable", "5 b"]), group(["5 a", "1 b"])]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_SERVICE_RUBRIC", "quality")
        kept, drops = rollout(args, groups)

    assert kept == [[0.0, 1.0], [1.0, 0.0]]
    assert drops == {DROPPED: 1}
    told = [sample.metadata for sample in groups[1]]
    assert [bool(metadata["judge_failed"]) for metadata in told] == [True, grouped]
    assert told[0]["judge_error"]


@pytest.mark.usefixtures("slime")
def test_an_outage_drops_everything(judged: Digits) -> None:
    """No sample has a number that anything could be trained on."""
    judged.provider.behave("main", faults.status_error(503))
    groups = [group(TEXTS), group(TEXTS)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_SERVICE_TIMEOUT_S", "2")
        kept, drops = rollout(Args(), groups)

    assert (kept, drops) == ([], {DROPPED: 2})
    assert {sample.reward for samples in groups for sample in samples} == {None}


@pytest.mark.parametrize("code", ["timeout", "refused"])
def test_the_same_names_whatever_happens(stand_in: StandIn, code: str) -> None:
    """With a reward key: an object, whose score is None where there is none."""
    args = Args(reward_key="score")
    made = JudgeRM(stand_in.url, rubric="r", mode="each")
    stand_in.says(Told(body=SUCCESS), Told(body=failed(code)))
    good, bad = (call(made, one("a"), args) for _ in range(2))

    assert list(good) == list(bad) == NAMES
    assert (good["score"], good["judge_failed"]) == (0.75, 0.0)
    assert (bad["score"], bad["judge_failed"]) == (None, 1.0)


@pytest.mark.parametrize("point", REWARDS)
def test_single_samples(judged: Digits, point: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both functions take one sample, as an evaluation gives it; a number of its own for each."""
    monkeypatch.setenv("JUDGE_SERVICE_RUBRIC", "quality")
    sample = one(f"{point} a", metadata={"judge_failed": True, "judge_error": "timeout", "x": 1})

    assert call(rm, sample) == call(group_rm, sample) == REWARDS[point]
    assert sample.metadata == {"judge_failed": False, "x": 1}


BROKEN = [slime_loop.Status.ABORTED, slime_loop.Status.FAILED]


@pytest.mark.parametrize("status", BROKEN, ids=lambda status: status.value)
def test_a_generation_that_broke_is_no_answer(
    stand_in: StandIn, slime: None, status: slime_loop.Status
) -> None:
    """Its group is dropped and not judged; alone, only the others of a list are judged."""
    samples = [*group(TEXTS[:3]), one("half an an", status=status)]
    made = JudgeRM(stand_in.url, rubric="r")

    assert call(made, samples) == [None] * 4
    assert samples[3].metadata["judge_error"] == "rollout_failed"
    assert drop_failed_groups(Args(), samples).reason == "judge_failed"
    assert stand_in.requests == []

    stand_in.says(Told(body={"results": [SUCCESS] * 3}))
    each = JudgeRM(stand_in.url, rubric="r", mode="each")
    assert call(each, samples, Args(group_rm=False)) == [0.75] * 3 + [None]
    assert call(each, [[one("a", status=status), one("b")]], Args(group_rm=False)) == [None]
    assert call(each, samples[3], Args(group_rm=False)) is None
    with pytest.raises(JudgingFailed, match="rollout_failed"):
        call(made, samples, Args(dynamic_sampling_filter_path=None))


@pytest.mark.parametrize("path", [None, OWN_FILTER])
def test_without_the_filter_a_failure_raises(stand_in: StandIn, path: str | None) -> None:
    """Nobody would read the mark, so the run stops rather than train on it."""
    stand_in.says(Told(body=failed()))
    args = Args(dynamic_sampling_filter_path=path)
    made = JudgeRM(stand_in.url, rubric="r")

    with pytest.raises(JudgingFailed):
        call(made, group(TEXTS), args)


def test_a_filter_of_ones_own(stand_in: StandIn) -> None:
    """It says so, and calls the one here; whoever wants may stop at a failure instead."""
    stand_in.says(Told(body=failed()))
    args = Args(dynamic_sampling_filter_path=OWN_FILTER)
    samples = group(TEXTS)

    rewards = call(JudgeRM(stand_in.url, rubric="r", on_failed="mark"), samples, args)

    assert rewards == [None] * 4
    assert not drop_failed_groups(args, samples).keep
    with pytest.raises(JudgingFailed):
        call(JudgeRM(stand_in.url, rubric="r", on_failed="raise"), group(TEXTS))


@pytest.mark.parametrize(
    ("samples", "keep"),
    [
        ([Sample(reward=0.0), Sample(reward=1.0)], True),
        ([Sample(reward=0.0), Sample(reward=0.0, metadata={"judge_failed": True})], False),
        ([Sample(reward=0.0), Sample(reward=None)], False),
        ([Sample(reward={"score": 0.0, "judge_failed": 0.0})], True),
        ([Sample(reward={"score": 0.0, "judge_failed": 1.0})], False),
        ([[Sample(reward=1.0), Sample(reward=1.0)], [Sample(reward=0.5)]], True),
        ([[Sample(reward=1.0), Sample(reward=None)], [Sample(reward=0.5)]], False),
    ],
    ids=["good", "marked", "none", "object", "the address's object", "fragments", "bad fragment"],
)
@pytest.mark.parametrize("known", [True, False], ids=["slime's class", "no class"])
def test_what_the_filter_reads(
    request: pytest.FixtureRequest, samples: list[Any], keep: bool, known: bool
) -> None:
    """A mark, a missing reward, and the objects of the service's own address for slime."""
    if known:
        request.getfixturevalue("slime")

    output = drop_failed_groups(Args(), samples)

    assert isinstance(output, slime_loop.DynamicFilterOutput) == known
    assert output.keep is keep
    # Of what is not its own class, slime takes the truth.
    assert known or bool(output) is keep
    assert output.reason == (None if keep else "judge_failed")


CHATML = "<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("sample", "settings", "prompt", "candidate"),
    [
        (Sample(prompt="Why?", response="So."), {}, "Why?", {"text": "So."}),
        (Sample(prompt=CHATML, response="So.<|im_end|>"), {},
         [{"role": "user", "content": "Why?"}], {"text": "So."}),
        (Sample(prompt=[{"role": "user", "content": "Why?"}], response="So.</s>"), {},
         [{"role": "user", "content": "Why?"}], {"text": "So."}),
        (Sample(prompt="x", response="So.", metadata={"question": "Why?"}),
         {"prompt_key": "question"}, "Why?", {"text": "So."}),
        (Sample(prompt="Why?", response="So", status=Status.TRUNCATED), {}, "Why?",
         {"text": "So", "finish_reason": "length"}),
        (Sample(prompt="Why?", response=""), {}, "Why?", {"text": ""}),
        (Sample(prompt="half \udfff", response="\ud800"), {}, "half ?", {"text": "?"}),
    ],
    ids=["text", "template", "messages", "metadata", "truncated", "empty", "half a character"],
)  # fmt: skip
def test_what_is_asked(
    stand_in: StandIn, sample: Sample, settings: dict[str, Any], prompt: Any, candidate: Any
) -> None:
    """The template's tokens are no part of what was said."""
    call(JudgeRM(stand_in.url, rubric="r", **settings), sample)

    (asked,) = stand_in.requests
    assert asked.path == "/v1/assess"
    assert asked.body["prompt"] == prompt
    assert asked.body["candidate"] == candidate


@pytest.mark.parametrize(
    ("label", "shown"), [("42", "42"), ({"a": 1}, '{"a": 1}'), ("", None), (None, None)], ids=str
)
def test_the_label_is_the_reference(stand_in: StandIn, label: Any, shown: str | None) -> None:
    """Unless the rubric takes none."""
    for use_label in (True, False):
        call(JudgeRM(stand_in.url, rubric="r", use_label=use_label), one("a", label=label))

    assert [asked.body.get("reference") for asked in stand_in.requests] == [shown, None]


def test_too_long_is_worth_nothing(judged: Digits, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over 1 MiB: an honest 0.0, alone and in a group."""
    long = "5" * (1024 * 1024 + 1)
    monkeypatch.setenv("JUDGE_SERVICE_RUBRIC", "quality")

    assert call(rm, one(long)) == 0.0
    assert call(group_rm, group([long, "4 a", "2 b"]))[0] == 0.0


def test_fragments_of_a_trajectory(stand_in: StandIn) -> None:
    """A trajectory in fragments is judged by its last, and has one reward; without --group-rm
    fragments are no group.
    """
    stand_in.says(Told(body={**SUCCESS, "rewards": [0.25, 0.5]}))
    first, second = group(["a", "b"], "p"), group(["c", "d"], "p")

    assert call(JudgeRM(stand_in.url, rubric="r"), [first, second]) == [0.25, 0.5]
    assert [c["text"] for c in stand_in.requests[0].body["candidates"]] == ["b", "d"]
    with pytest.raises(ConfigError, match="group_rm"):
        call(JudgeRM(stand_in.url, rubric="r"), first, Args(group_rm=False))


def test_many_of_each_are_one_request(stand_in: StandIn) -> None:
    """In order, each with its own."""

    def script(got: Got) -> Told:
        texts = [item["candidate"]["text"] for item in got.body["items"]]
        made = [failed() if text == "x" else {**SUCCESS, "reward": float(text)} for text in texts]
        return Told(body={"results": made})

    stand_in.script = script
    made = JudgeRM(stand_in.url, rubric="r", mode="each")

    assert call(made, group(["0", "x", "1"]), Args(group_rm=False)) == [0.0, None, 1.0]
    assert call(made, []) == []
    assert len(stand_in.requests) == 1


@pytest.mark.parametrize(
    ("args", "match"),
    [
        (Args(reward_key="acc"), "--reward-key score"),
        (Args(reward_key="score", eval_reward_key="acc"), "--reward-key score"),
        (Args(eval_reward_key="score"), "--reward-key score"),
    ],
    ids=["another", "another in an evaluation", "only there"],
)
def test_a_key_that_slime_would_not_find(stand_in: StandIn, args: Args, match: str) -> None:
    """Told before anybody is asked."""
    with pytest.raises(ConfigError, match=match):
        call(JudgeRM(stand_in.url, rubric="r"), one("a"), args)
    assert stand_in.requests == []


@pytest.mark.parametrize(
    ("settings", "match"),
    [({"rubric": None}, "rubric"), ({"mode": "all"}, "mode"), ({"on_failed": "zero"}, "on_failed"),
     ({"use_label": "no"}, "use_label"),
     ({"timeout_s": -1}, "timeout_s"), ({"url": "ftp://x"}, "url")],
    ids=str,
)  # fmt: skip
def test_settings_that_cannot_be_right(settings: dict[str, Any], match: str) -> None:
    """They are errors when the function is made."""
    with pytest.raises(ConfigError, match=match):
        JudgeRM(**{"url": "http://127.0.0.1:1", "rubric": "r", **settings})


def test_mistakes_are_not_outages(judged: Digits, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown rubric, samples of different prompts or labels in a group: no failures to drop."""
    with pytest.raises(InvalidRequest, match="different prompts"):
        call(group_rm, [one("4 a"), one("2 b")])
    prompt = new_prompt()
    with pytest.raises(InvalidRequest, match="different labels"):
        call(group_rm, [one("4 a", prompt=prompt, label=label) for label in "ab"])
    monkeypatch.setenv("JUDGE_SERVICE_RUBRIC", "unknown")
    with pytest.raises(NotFound):
        call(rm, one("4 a"))


def test_it_survives_pickling(judged: Digits) -> None:
    """Ray carries it to other processes."""
    made = JudgeRM(rubric="quality", mode="each", api_key="k")
    assert call(made, one("4 a")) == 0.75

    again = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own

    assert call(again, one("2 a")) == 0.25
    assert "api_key" not in repr(again)
    assert "'k'" not in repr(again)


@pytest.mark.usefixtures("slime")
def test_the_readme_as_pasted(judged: Digits) -> None:
    """Its command's options, as slime would load them, rank groups and drop one."""
    block = code("slime", "sh")
    assert "JUDGE_SERVICE_RUBRIC=pairwise-writing" in block
    options = printed(block)
    assert options[:2] == ["train.py", "--group-rm"]
    told = dict(zip(options[2::2], options[3::2], strict=True))
    judged.provider.behave("main", behaviours.chokes_on("unspeakable"))
    args = Args(
        custom_rm_path=told["--custom-rm-path"],
        dynamic_sampling_filter_path=told["--dynamic-sampling-filter-path"],
    )

    kept, drops = rollout(args, [group(TEXTS), group(["4 unspeakable", "1 a"])])

    assert kept == [pytest.approx(SHARES)]
    assert drops == {DROPPED: 1}
