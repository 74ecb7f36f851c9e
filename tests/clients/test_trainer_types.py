"""What trainers hand over as prompt, completion and reference: texts and messages, and what is
neither.
"""

from __future__ import annotations

import asyncio
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from judge_client import InvalidRequest
from judge_client.ms_swift import make_orm
from judge_client.slime import JudgeRM
from judge_client.tinker import JudgePreferenceModel
from judge_client.trl import JudgeReward
from judge_client.verl import compute_score
from pydantic import BaseModel

from tests.clients import slime_loop, test_skyrl, test_tinker, test_verifiers_v0
from tests.clients.stand_in import StandIn
from tests.clients.test_garbage import well

ASKED = [{"role": "user", "content": "q"}]
SAID = {"role": "assistant", "content": "an answer"}
Judged = Callable[[StandIn, Any, Any, Any], object]
"""One sample judged: prompt, completion and reference as its trainer has them."""


class Turn(BaseModel):
    """A message as an object."""

    role: str
    content: Any


def trl(to: StandIn, prompt: Any, said: Any, reference: Any) -> object:
    """TRL's reward function."""
    reward = JudgeReward(to.url, rubric="r", timeout_s=5, reference_column="sol")
    return reward([prompt], [said], sol=[reference])


def ms_swift(to: StandIn, prompt: Any, said: Any, reference: Any) -> object:
    """ms-swift's."""
    orm = make_orm(to.url, rubric="r", timeout_s=5, reference_column="sol")
    args = types.SimpleNamespace(num_generations=2, scale_rewards="group")
    return orm(args=args)([said], [prompt], sol=[reference])


def verl(to: StandIn, prompt: Any, said: Any, reference: Any) -> object:
    """Verl's function for a sample."""
    extra = {"question": prompt}
    asked = compute_score("d", said, reference, extra, judge_url=to.url, rubric="r", timeout_s=5)
    return asyncio.run(asked)


def slime(to: StandIn, prompt: Any, said: Any, reference: Any) -> object:
    """Slime's."""
    made = JudgeRM(to.url, rubric="r", mode="each", timeout_s=5)
    sample = slime_loop.Sample(prompt=prompt, response=said, label=reference)
    return asyncio.run(made(slime_loop.Args(), sample))


def tinker(to: StandIn, prompt: Any, said: Any, reference: Any) -> object:
    """The cookbook's preferences, which have no reference."""
    model = JudgePreferenceModel(to.url, rubric="r", timeout_s=5)
    return asyncio.run(model(test_tinker.Comparison(prompt, [SAID], said)))


def verifiers_v0(to: StandIn, prompt: Any, said: Any, reference: Any) -> object:
    """The rubric of the classic API."""
    state = test_verifiers_v0.state_of("", prompt=prompt, completion=said, answer=reference)
    asyncio.run(test_verifiers_v0.rubric_of(to).score_rollout(state))
    return state


def skyrl(to: StandIn, prompt: Any, said: Any, reference: Any) -> object:
    """SkyRL's environment."""
    env = test_skyrl.env_of(to, {"reward_spec": {"ground_truth": reference}})
    env.init(prompt)
    return env.step(said)


MODULES: dict[str, Judged] = {
    "trl": trl,
    "ms-swift": ms_swift,
    "verl": verl,
    "slime": slime,
    "tinker": tinker,
    "verifiers before 0.4": verifiers_v0,
    "skyrl": skyrl,
}
NO_ANSWER: dict[str, Any] = {
    "a message": SAID,
    "a number": 42,
    "true": True,
    "NaN": math.nan,
    "NumPy's number": np.float64(0.5),
    "bytes": b"an answer",
    "a set": {"an answer"},
    "a list of texts": ["an answer"],
    "a list of numbers": [3],
    "a list of nothing": [None],
    "an array of numbers": np.arange(3),
    "objects": [types.SimpleNamespace(**SAID)],
    "a generator": (one for one in [SAID]),
    "a message without a role": [{"content": "an answer"}],
    "another form of messages": [{"from": "gpt", "value": "an answer"}],
    "a number said": [{**SAID, "content": 42}],
    "NaN said": [{**SAID, "content": math.nan}],
    "an object said": [{**SAID, "content": {"a": 1}}],
    "a part of nothing": [{**SAID, "content": [None]}],
    "a part that is a number": [{**SAID, "content": [3]}],
    "a part whose text is a number": [{**SAID, "content": [{"type": "text", "text": 3}]}],
}
AN_ANSWER: dict[str, Any] = {
    "a text": "an answer",
    "NumPy's text": np.array(["an answer"])[0],
    "a list": [SAID],
    "a tuple": (SAID,),
    "an array": np.array([SAID], dtype=object),
    "models": [Turn(role="assistant", content="an answer")],
    "parts": [{**SAID, "content": [{"type": "text", "text": "an answer"}]}],
    "an array of parts": [{**SAID, "content": np.array([{"text": "an answer"}], dtype=object)}],
    "another word for the role": [{"role": "Model", "content": "an answer"}],
}
NO_PROMPT: dict[str, Any] = {
    "nothing": None,
    "a message": ASKED[0],
    "a number": 42,
    "NaN": math.nan,
    "bytes": b"q",
    "a list of texts": ["q"],
    "a list of nothing": [None],
    "a number asked": [{"role": "user", "content": 42}],
}


@pytest.fixture
def judged(stand_in: StandIn) -> StandIn:
    """A stand-in that judges whatever it is asked."""
    stand_in.script = well
    return stand_in


def asked_of(stand_in: StandIn) -> dict[str, Any]:
    """The one request for a verdict."""
    (got,) = stand_in.requests
    body: dict[str, Any] = got.body["items"][0] if "items" in got.body else got.body
    return body


def text_of(sent: Any) -> str:
    """What a candidate or a prompt says in the end, in whatever form it was sent."""
    if isinstance(sent, str):
        return sent
    if isinstance(sent, dict) and "text" in sent:
        return str(sent["text"])
    turns = sent["messages"] if isinstance(sent, dict) else sent
    content = turns[-1]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@pytest.mark.parametrize("said", NO_ANSWER.values(), ids=NO_ANSWER)
@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_what_is_no_answer_is_refused(judged: StandIn, module: Judged, said: Any) -> None:
    """It is neither judged as a text nor counted as an empty answer; the message says where."""
    with pytest.raises(InvalidRequest, match=r"completion|response|solution_str"):
        module(judged, ASKED, said, None)

    assert judged.requests == []


@pytest.mark.parametrize("said", AN_ANSWER.values(), ids=AN_ANSWER)
@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_an_answer_is_read_whatever_holds_it(judged: StandIn, module: Judged, said: Any) -> None:
    """Texts and messages, in lists, tuples, arrays and models."""
    module(judged, ASKED, said, None)

    body = asked_of(judged)
    sent = body["candidate"] if "candidate" in body else body["candidates"][1]
    assert text_of(sent) == "an answer"


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_no_completion_is_an_empty_answer(judged: StandIn, module: Judged) -> None:
    """None is what a policy that said nothing leaves; a rule gives it its 0."""
    module(judged, ASKED, None, None)

    body = asked_of(judged)
    sent = body["candidate"] if "candidate" in body else body["candidates"][1]
    assert text_of(sent) == ""


@pytest.mark.parametrize("prompt", NO_PROMPT.values(), ids=NO_PROMPT)
@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_what_is_no_prompt_is_refused(judged: StandIn, module: Judged, prompt: Any) -> None:
    """No answer is judged as one to an empty question."""
    with pytest.raises(InvalidRequest, match=r"prompt|messages|question"):
        module(judged, prompt, "an answer", None)

    assert judged.requests == []


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_a_prompt_is_read_whatever_holds_it(judged: StandIn, module: Judged) -> None:
    """An array of messages, as tables have them."""
    module(judged, np.array(ASKED, dtype=object), "an answer", None)

    assert text_of(asked_of(judged)["prompt"]) == "q"


REFERENCES: dict[str, tuple[Any, str | None]] = {
    "nothing": (None, None),
    "an empty text": ("", None),
    "a blank text": ("  ", None),
    "NaN": (math.nan, None),
    "NumPy's NaN": (np.float64("nan"), None),
    "a text": ("72", "72"),
    "a number": (72, "72"),
    "NumPy's number": (np.int64(72), "72"),
    "an array": (np.array([7, 2]), "[7, 2]"),
    "an object": ({"a": np.float64(1.5)}, '{"a": 1.5}'),
}


@pytest.mark.parametrize(("given", "told"), REFERENCES.values(), ids=REFERENCES)
@pytest.mark.parametrize("name", [name for name in MODULES if name != "tinker"])
def test_a_reference_is_read_the_same_everywhere(
    judged: StandIn, name: str, given: Any, told: str | None
) -> None:
    """A table's missing value is none, numbers and arrays are JSON."""
    MODULES[name](judged, ASKED, "an answer", given)

    assert asked_of(judged).get("reference") == told


@pytest.mark.parametrize("given", [b"72", {"72"}, {"a": math.nan}], ids=["bytes", "a set", "NaN"])
@pytest.mark.parametrize("name", [name for name in MODULES if name != "tinker"])
def test_what_is_no_reference_is_refused(judged: StandIn, name: str, given: Any) -> None:
    """The message says that it is the reference, by its column where there is one."""
    with pytest.raises(InvalidRequest, match=r"^(reference|sol)"):
        MODULES[name](judged, ASKED, "an answer", given)


@pytest.mark.parametrize("given", ["an answer", {"a": 1}, None, 7], ids=str)
def test_a_batch_that_is_no_list_is_refused(judged: StandIn, given: Any) -> None:
    """A text is not read as so many characters."""
    with pytest.raises(InvalidRequest, match="completions: not a list"):
        JudgeReward(judged.url, rubric="r")(["q"], given)
    with pytest.raises(InvalidRequest, match="completions: not a list"):
        make_orm(judged.url, rubric="r")()(given, [ASKED])


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "72"}], "72"),
        ([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "72"}], "72"),
        ([{"type": "redacted_thinking", "data": "x"}, {"type": "output_text", "text": "72"}], "72"),
        ([{"type": "reasoning_text", "text": "hm"}, {"type": "text", "text": "72"}], "72"),
        ([{"text": "hm", "thought": True}, {"text": "72"}], "72"),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, "72"], "72"),
        ([{"type": "refusal", "refusal": "I will not."}], "I will not."),
        ([{"type": "text", "text": None}, {"type": "text", "text": "72"}], "72"),
        ([{"type": "text"}, {"type": "text", "text": "72"}], "72"),
    ],
    ids=["thinking", "reasoning", "redacted", "reasoning text", "a mark", "in parts", "refusal",
         "null", "no text"],
)  # fmt: skip
@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_parts_are_what_was_said(judged: StandIn, module: Judged, parts: Any, told: str) -> None:
    """What the model thought is left out by its type, a refusal is said, a null says nothing."""
    module(judged, ASKED, [{"role": "assistant", "content": parts}], None)

    body = asked_of(judged)
    sent = body["candidate"] if "candidate" in body else body["candidates"][1]
    assert text_of(sent) == told


@pytest.mark.parametrize(
    "parts",
    [[{"type": "text", "text": None}], [{"type": "thinking", "thinking": "hm"}], []],
    ids=["null", "thinking only", "none"],
)
def test_parts_that_say_nothing_leave_the_refusal(judged: StandIn, parts: Any) -> None:
    """Beside an empty content the message's own refusal is what was said."""
    said = [{"role": "assistant", "content": parts, "refusal": "I will not."}]
    trl(judged, ASKED, said, None)

    (turn,) = asked_of(judged)["candidate"]["messages"]
    assert (turn["content"], turn["refusal"]) == (None, "I will not.")


def test_what_is_no_text_is_named(judged: StandIn) -> None:
    """An image is told of, whatever form it has, and not sent."""
    image = object()
    parts = [{"type": "image", "image": image}, {"image": image}, {"type": "text", "text": "q"}]
    trl(judged, [{"role": "user", "content": parts}], "an answer", None)

    (turn,) = asked_of(judged)["prompt"]
    assert turn["content"] == [{"type": "image"}, {"type": "image"}, {"type": "text", "text": "q"}]


CALL = {"id": "c", "function": {"name": "look", "arguments": {"x": np.arange(2)}}}


class Call(BaseModel):
    """A tool call as an object."""

    id: str
    function: dict[str, Any]


@pytest.mark.parametrize(
    "call",
    [CALL, Call(id="c", function={"name": "look", "arguments": '{"x": [0, 1]}'}),
     '{"id": "c", "function": {"name": "look", "arguments": {"x": [0, 1]}}}'],
    ids=["an object", "a model", "a text of JSON"],
)  # fmt: skip
def test_tool_calls_are_read_whatever_holds_them(judged: StandIn, call: Any) -> None:
    """A table has arrays and JSON where a trainer has objects."""
    calls = np.array([None, call], dtype=object)[1:]
    said = [{"role": "assistant", "content": None, "tool_calls": calls}, SAID]
    trl(judged, ASKED, said, None)

    turn = asked_of(judged)["candidate"]["messages"][0]
    (sent,) = turn["tool_calls"]
    assert (sent["id"], sent["function"]["name"]) == ("c", "look")
    assert sent["function"]["arguments"] == '{"x": [0, 1]}'


@pytest.mark.parametrize("call", [7, "look", None, ["look"]], ids=str)
def test_what_is_no_tool_call_is_refused(judged: StandIn, call: Any) -> None:
    """The message says which."""
    said = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    with pytest.raises(InvalidRequest, match=r"completions\[0\]\[0\]\.tool_calls\[0\]"):
        trl(judged, ASKED, said, None)


@pytest.mark.parametrize(
    ("result", "told"),
    [({"found": 3}, '{"found": 3}'), (42, "42"), ("text", "text"), (None, None)],
    ids=str,
)  # fmt: skip
def test_a_tools_result_may_be_data(judged: StandIn, result: Any, told: Any) -> None:
    """It is no answer of the policy, and shown as JSON."""
    trl(judged, ASKED, [{"role": "tool", "content": result}, SAID], None)

    assert asked_of(judged)["candidate"]["messages"][0]["content"] == told
