"""Judges whose provider speaks a protocol of its own: how a reply ended is read from that."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from judge_service.adapters.litellm_backend import LiteLLMBackend
from judge_service.asking.backend import ChatCall, ChatReply
from judge_service.asking.check import check_reply
from judge_service.errors import JudgingError
from judge_service.judges.judge import JudgeSpec

VERDICT = {"v": "a" * 16, "reason": "Because.", "score": 4, "end": "b" * 16}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"score": {"type": "integer"}}}
FORMAT = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": SCHEMA}}


@contextmanager
def provider(body: object) -> Iterator[tuple[str, list[Any]]]:
    """Answers every request with ``body``; its address, and the bodies it was sent."""
    seen: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def call(model: str, url: str, **parameters: object) -> tuple[JudgeSpec, ChatReply]:
    """One request to ``model``, and what became of it."""
    judge = JudgeSpec(id="native", model=model, api_base=url)
    one = ChatCall(judge=judge, system="S", user="U", parameters=parameters, timeout_s=5.0)

    async def complete() -> ChatReply:
        backend = LiteLLMBackend({"native": "a-key"})
        try:
            return await backend.complete(one)
        finally:
            await backend.aclose()

    return judge, asyncio.run(complete())


def anthropic(stop: str) -> dict[str, Any]:
    """A message whose verdict is a tool call."""
    block = {"type": "tool_use", "id": "t", "name": "json_tool_call", "input": VERDICT}
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "claude-3-5-haiku-20241022",
        "content": [block], "stop_reason": stop, "usage": {"input_tokens": 9, "output_tokens": 3},
    }  # fmt: skip


def gemini(stop: str) -> dict[str, Any]:
    """A candidate with a verdict."""
    content = {"role": "model", "parts": [{"text": json.dumps(VERDICT)}]}
    return {
        "candidates": [{"content": content, "finishReason": stop}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12},
        "modelVersion": "gemini-2.5-flash",
    }


@pytest.mark.parametrize(
    ("model", "body", "code"),
    [
        ("anthropic/claude-3-5-haiku-latest", anthropic("tool_use"), None),
        ("anthropic/claude-3-5-haiku-latest", anthropic("max_tokens"), "truncated_reply"),
        ("anthropic/claude-3-5-haiku-latest", anthropic("refusal"), "refused"),
        ("gemini/gemini-2.5-flash", gemini("STOP"), None),
        ("gemini/gemini-2.5-flash", gemini("MAX_TOKENS"), "truncated_reply"),
        ("gemini/gemini-2.5-flash", gemini("SAFETY"), "content_filtered"),
    ],
    ids=["tool call", "cut off", "refused", "gemini", "gemini cut off", "gemini filtered"],
)
def test_the_providers_own_word_says_how_a_reply_ended(
    model: str, body: dict[str, Any], code: str | None
) -> None:
    """Also where the verdict is a tool call, which LiteLLM always calls complete."""
    with provider(body) as (url, _):
        judge, reply = call(model, url, response_format=FORMAT)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (9, 3)
    if code is None:
        check_reply(judge, reply)
        assert json.loads(reply.content or "") == VERDICT
        return
    with pytest.raises(JudgingError) as raised:
        check_reply(judge, reply)
    assert raised.value.code == code


def test_tokens_from_an_anthropic_prompt_cache_are_told() -> None:
    """They are part of the prompt's, as those are that were put there."""
    body = anthropic("tool_use")
    body["usage"] |= {"cache_read_input_tokens": 700, "cache_creation_input_tokens": 20}
    with provider(body) as (url, _):
        _, reply = call("anthropic/claude-3-5-haiku-latest", url, response_format=FORMAT)
    assert (reply.usage.prompt_tokens, reply.usage.cached_tokens) == (729, 700)


def test_tokens_from_a_gemini_prompt_cache_are_told() -> None:
    """Gemini counts them in its own word."""
    body = gemini("STOP")
    body["usageMetadata"] |= {"promptTokenCount": 900, "cachedContentTokenCount": 700}
    with provider(body) as (url, _):
        _, reply = call("gemini/gemini-2.5-flash", url, response_format=FORMAT)
    assert (reply.usage.prompt_tokens, reply.usage.cached_tokens) == (900, 700)


def test_anthropic_can_be_told_to_cache_the_system_message() -> None:
    """Its prompt cache holds only what is marked; LiteLLM marks it where ``extra`` says so."""
    marked = {"cache_control_injection_points": [{"location": "message", "role": "system"}]}
    with provider(anthropic("tool_use")) as (url, seen):
        call("anthropic/claude-3-5-haiku-latest", url, response_format=FORMAT, **marked)
    assert seen[0]["system"] == [
        {"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}
    ]


@pytest.mark.parametrize("model", ["o1", "o3", "o3-mini", "o4-mini", "gpt-4o"])
def test_the_system_message_stays_one(model: str) -> None:
    """LiteLLM would make a user's message of it for models it knows too little about."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
    with provider({"id": "c", "model": model, "choices": [choice]}) as (url, seen):
        call(f"openai/{model}", url)
    assert [message["role"] for message in seen[0]["messages"]] == ["system", "user"]
