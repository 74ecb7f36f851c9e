"""What counts as a reply, and how it ended."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from typing import Any

import pytest

from judge_service.errors import JudgingError
from tests.backend.support import Call, assess
from tests.harness import RunningService
from tests.provider import Behaviour, FakeProvider, Reply, Seen, behaviours, faults
from tests.provider.replies import completion, verdict


def test_the_refusal_field_survives(provider: FakeProvider, call: Call) -> None:
    """LiteLLM drops it; the raw reply has it."""
    reply = call(provider, faults.refuses_to_judge())
    assert reply.refusal == "I cannot help with judging this text."
    assert reply.content is None


def test_a_refusal_among_the_parts_of_the_content_is_one(
    service: RunningService, provider: FakeProvider
) -> None:
    """Where content is a list, a refusal is a part of it."""
    part = {"type": "refusal", "refusal": "I would rather not."}
    provider.behave(
        "main", _changed(lambda body: body["choices"][0]["message"].update(content=[part]))
    )
    answer = assess(service)
    assert answer["error"]["code"] == "refused"
    assert "rather not" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("finish", "code"),
    [
        ("length", "truncated_reply"),
        ("MAX_TOKENS", "truncated_reply"),
        ("model_length", "truncated_reply"),
        ("max_length", "truncated_reply"),
        ("token_limit", "truncated_reply"),
        ("incomplete", "truncated_reply"),
        (" length ", "truncated_reply"),
        ("maxTokens", "truncated_reply"),
        ("FinishReason.MAX_TOKENS", "truncated_reply"),
        ("content-filter", "content_filtered"),
        ("contentFilter", "content_filtered"),
        ("content_filter", "content_filtered"),
        ("SAFETY", "content_filtered"),
        ("refusal", "refused"),
        ("error", "upstream_error"),
        (7, "upstream_protocol"),
        (["stop"], "upstream_protocol"),
        ("stop", None),
        ("STOP", None),
        ("end_turn", None),
        ("eos", None),
        (None, None),
    ],
)
def test_how_a_reply_ended_is_looked_at_first(
    finish: object, code: str | None, service: RunningService, provider: FakeProvider
) -> None:
    """A verdict in a reply that did not end well is never read."""
    provider.behave("main", _changed(lambda body: body["choices"][0].update(finish_reason=finish)))
    answer = assess(service)
    assert (answer["error"] or {}).get("code") == code
    assert answer["reward"] == (0.75 if code is None else None)


def _changed(change: Callable[[dict[str, Any]], object]) -> Behaviour:
    """An honest completion after ``change``."""

    def reply(seen: Seen) -> Reply:
        body = completion(Reply(content=verdict(seen, seen.honest())), seen.model)
        change(body)
        return Reply(body=json.dumps(body).encode())

    return reply


def _parts(body: dict[str, Any]) -> None:
    message = body["choices"][0]["message"]
    text = message["content"]
    message["content"] = [
        {"type": "thinking", "thinking": [], "text": "hm"},
        {"type": "reasoning", "text": text.replace("4", "2")},
        {"type": "text", "text": text[:20]},
        {"type": "text", "text": text[20:]},
    ]


def _tool_call(body: dict[str, Any]) -> None:
    """The reply as the arguments of a tool call, as some providers are made to give JSON."""
    message = body["choices"][0]["message"]
    function = {"name": "json_tool_call", "arguments": message["content"]}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    message.update(content=None, tool_calls=calls)
    body["choices"][0]["finish_reason"] = "tool_calls"


def _other(index: int | None, text: str | None = "2") -> Callable[[dict[str, Any]], object]:
    """Another choice before the honest one, of another verdict; without a text, the same again.
    None: neither has an index.
    """

    def change(body: dict[str, Any]) -> None:
        own = body["choices"][0]
        other = json.loads(json.dumps(own))
        other["index"] = index
        if text is not None:
            content = other["message"]["content"]
            other["message"]["content"] = content.replace('"score":4', f'"score":{text}')
            assert other["message"]["content"] != content
        if index is None:
            del own["index"], other["index"]
        body["choices"] = [other, own]

    return change


HARMLESS: dict[str, Callable[[dict[str, Any]], object]] = {
    "content in parts": _parts,
    "verdict in a tool call": _tool_call,
    "no usage": lambda body: body.pop("usage"),
    "usage is a word": lambda body: body.update(usage="none"),
    "counts are huge": lambda body: body["usage"].update(prompt_tokens=10**400),
    "counts are fractions": lambda body: body["usage"].update(completion_tokens=1.5),
    "counts are not finite": lambda body: body["usage"].update(prompt_tokens=float("inf")),
    "counts are negative": lambda body: body["usage"].update(prompt_tokens=-5),
    "no details": lambda body: body["usage"].update(completion_tokens_details=[]),
    "no role": lambda body: body["choices"][0]["message"].pop("role"),
    "odd calls": lambda body: body["choices"][0]["message"].update(tool_calls=["x"]),
    "created is a word": lambda body: body.update(created="now"),
    "odd id": lambda body: body.update(id=[1]),
    "more choices": lambda body: body["choices"].append({}),
    "another choice stands first": _other(1),
    "the same choice twice": _other(None, None),
    "the only choice has another index": lambda body: body["choices"][0].update(index=1),
    "the only choice has no index": lambda body: body["choices"][0].pop("index"),
}


@pytest.mark.parametrize("kind", HARMLESS)
def test_oddities_of_a_gateway_cost_no_verdict(
    kind: str, service: RunningService, provider: FakeProvider
) -> None:
    """What nobody needs may look as it likes; token counts that make no sense are unknown."""
    provider.behave("main", _changed(HARMLESS[kind]))
    answer = assess(service)
    assert answer["reward"] == 0.75
    assert len(provider.requests) == 1
    assert 0 <= answer["usage"]["prompt_tokens"] <= 900


NO_PROTOCOL: dict[str, Callable[[dict[str, Any]], object]] = {
    "error in a 200": lambda body: body.update(choices=None, error={"message": "no", "code": 502}),
    "choices is an object": lambda body: body.update(choices={"0": {}}),
    "choice is null": lambda body: body.update(choices=[None]),
    "no message": lambda body: body["choices"][0].pop("message"),
    "two choices without an index": _other(None),
    "two first choices": _other(0),
    "message is text": lambda body: body["choices"][0].update(message="4"),
    "content is a number": lambda body: body["choices"][0]["message"].update(content=4),
    "content is an object": lambda body: body["choices"][0]["message"].update(content={"score": 4}),
}


@pytest.mark.parametrize("kind", NO_PROTOCOL)
def test_a_body_that_is_not_the_protocol_has_no_verdict(
    kind: str, service: RunningService, provider: FakeProvider
) -> None:
    """A failed outcome with its own code, not a crash."""
    provider.behave("main", _changed(NO_PROTOCOL[kind]))
    answer = assess(service)
    assert answer["error"]["code"] == "upstream_protocol"
    assert answer["usage"]["upstream_requests"] == len(provider.requests) == 3


@pytest.mark.parametrize(
    "script",
    [
        faults.network("gzip_bomb", size=96 * 1024 * 1024),
        faults.network("big", size=96 * 1024 * 1024),
        faults.network("endless", size=96 * 1024 * 1024),
    ],
    ids=["gzip bomb", "large body", "endless body"],
)
def test_a_huge_reply_is_not_read(script: Behaviour, provider: FakeProvider, call: Call) -> None:
    """At most 64 KiB of it, compressed or not: the process does not grow."""
    call(provider, behaviours.honest())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(JudgingError) as raised:
        call(provider, script, timeout_s=20.0)
    assert raised.value.code == "upstream_protocol"
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 32 * 1024
