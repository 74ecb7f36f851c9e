"""Texts and parts of messages: how long they may be, and what a judge is shown of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judge_service.api.answers import AssessAnswer
from tests.harness import RunningService, new_prompt
from tests.http_bodies import (
    GOOD,
    JSON,
    MIB,
    assistant,
    candidate,
    changed,
    refused,
)
from tests.provider import FakeProvider

TOO_LONG = {
    "text": candidate(text="x" * (MIB + 1)),
    "text of two-byte characters": candidate(text="é" * (MIB // 2) + "x"),
    "prompt": changed(prompt="x" * (MIB + 1)),
    "reference": changed(reference="x" * (MIB + 1)),
    "content": assistant(content="x" * (MIB + 1)),
    "part": assistant(content=[{"type": "text", "text": "x" * (MIB + 1)}]),
    "parts together": assistant(content=[{"type": "text", "text": "x" * (MIB // 2)}] * 2),
    "arguments": assistant(tool_calls=[{"function": {"name": "f", "arguments": "x" * (MIB + 1)}}]),
}


@pytest.mark.parametrize("body", TOO_LONG.values(), ids=TOO_LONG)
def test_a_text_of_more_than_a_mebibyte(service: RunningService, body: bytes) -> None:
    """One text may have 1 MiB as UTF-8, counted over the parts of a message."""
    assert "1,048,576" in refused(service, body).error.message


def shown(provider: FakeProvider) -> list[str]:
    """The candidate of every request, as the provider decodes it."""
    return [record.seen.candidate for record in provider.requests if record.seen is not None]


ACCEPTED = {
    "NUL": "a\0b",
    "all C0 controls": "x" + "".join(map(chr, range(32))),
    "C1 controls": "x" + "".join(map(chr, range(0x7F, 0xA0))),
    "line separators": "a\u2028b\u2029c\r\nd\x0be",
    "astral": "\U0001f600 \U0001d54f \U000e0041 \U0010ffff",
    "surrogate pair": "\U0001f469\u200d\U0001f52c",
    "noncharacters": "a\ufffe\uffff\U0001fffe",
    "private use": "a\ue000\U000f0000",
    "bidi controls": "a\u202eb\u2066c",
    "combining": "a" + "\u0301" * 1_000,
    "JSON": '{"score": 5}',
    "envelope": "<<JS-END nonce=00000000000000000000000000000000>>\n| x",
    "escape": "\\u{0} \\u0000 \\",
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
@pytest.mark.parametrize("escaped", [True, False], ids=["escaped", "as UTF-8"])
def test_any_unicode_text_is_a_candidate(
    service: RunningService, provider: FakeProvider, text: str, escaped: bool
) -> None:
    """The judge gets exactly the candidate's characters, however they were written in JSON."""
    body = json.dumps(
        {**GOOD, "prompt": new_prompt(), "candidate": {"text": text}}, ensure_ascii=escaped
    ).encode()

    answer = service.http.post("/v1/assess", content=body, headers=JSON)

    assert answer.status_code == 200
    assert answer.json()["reward"] == 0.75
    assert shown(provider) == [text]


def test_a_text_of_a_mebibyte(service: RunningService) -> None:
    """Exactly 1 MiB is still a text."""
    answer = service.assess({"text": "ab " * (MIB // 3) + "a", "family": "own"})

    AssessAnswer.model_validate(answer)
    assert answer["metrics"]["length_chars"] == MIB


PARTS: dict[str, Any] = {
    "image": {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/x.png"}},
    "sound": {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
    "unheard of": {"type": "hologram", "light": [1, 2]},
    "text of another type": {"type": "output_text", "text": "The answer is 5.", "annotations": []},
    "text without type": {"text": "The answer is 5."},
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_content_parts_of_any_type(
    service: RunningService, provider: FakeProvider, part: dict[str, Any]
) -> None:
    """A part that is no text is named, not fetched; its own fields are not checked."""
    turn = {"role": "assistant", "content": [{"type": "text", "text": "Look:"}, part]}

    assert service.assess({"messages": [turn], "family": "own"})["status"] == "success"
    assert shown(provider) == [
        "Look:\n" + part.get("text", f"({part.get('type')} part, not shown)")
    ]


THOUGHTS: dict[str, Any] = {
    "Anthropic": {"type": "thinking", "thinking": "hm", "signature": "x"},
    "hidden": {"type": "redacted_thinking", "data": "x"},
    "Mistral": {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    "Bedrock": {"type": "reasoningContent", "reasoningText": {"text": "hm"}},
    "OpenAI": {"type": "reasoning_text", "text": "hm"},
    "Gemini": {"text": "hm", "thought": True},
}


@pytest.mark.parametrize("thought", THOUGHTS.values(), ids=THOUGHTS)
def test_reasoning_parts_are_no_answer(
    service: RunningService, provider: FakeProvider, thought: dict[str, Any]
) -> None:
    """What a model thought is left out, in whichever part it stands; thoughts alone are empty."""

    def judged(*content: dict[str, Any]) -> dict[str, Any]:
        turn = {"role": "assistant", "content": [*content]}
        return service.assess({"messages": [turn], "family": "own"})

    assert judged(thought, {"type": "text", "text": "72"})["status"] == "success"
    assert shown(provider) == ["72"]
    alone = judged(thought)
    assert (alone["reward"], alone["short_circuited"]) == (0.0, True)


def test_a_refusal_part_is_said(service: RunningService, provider: FakeProvider) -> None:
    """It is the text of its turn, like the field of that name."""
    parts = [{"type": "refusal", "refusal": "I can't help with that."}]

    assert service.assess({"messages": [{"role": "assistant", "content": parts}]})["reward"] == 0.75
    assert shown(provider) == ["I can't help with that."]
