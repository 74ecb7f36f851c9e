"""Asked directly, a judge gets the request that LiteLLM would have sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from judge_service.adapters.routing import SAMPLING, speaks_openai
from judge_service.asking.backend import ChatCall
from judge_service.judges.judge import JudgeSpec
from tests.backend.support import ask
from tests.provider import FakeProvider, Recorded

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"score": {"type": "integer", "enum": [1, 2]}, "Gr\u00fcnde": {"type": "string"}},
    "required": ["score"],
    "additionalProperties": False,
}
JSON_SCHEMA = {
    "type": "json_schema",
    "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
}
USER = 'One \u2028 two \U0001f600 <three> "four" \\five \x7f \u00e9e\u0301\nsix'
KEY = "a-key-of-the-judge-0123456789"
MODELS = (
    "openai/judge-a", "openai/Qwen/Qwen3-8B", "openai/gpt-4o", "openai/gpt-4.1-mini",
    "openai/gpt-4o-2024-08-06", "openai/gpt-oss-20b", "hosted_vllm/Qwen/Qwen3-8B",
    "custom_openai/judge-a", "lm_studio/judge-a", "llamafile/judge-a", "deepseek/deepseek-chat",
    "dashscope/qwen-max",
)  # fmt: skip
WORTH: dict[str, object] = {
    "logprobs": True, "stop": ["x"], "chat_template_kwargs": {"a": [1, None]}, "ignore_eos": True,
    "guided_json": SCHEMA, "guided_choice": ["a", "b"], "provider": {"order": ["one"]},
}  # fmt: skip
SPECS: dict[str, dict[str, Any]] = {
    "schema": {},
    "object": {"reply": "json_object"},
    "text": {"reply": "text"},
    "warm": {"temperature": 0.7},
    "no temperature": {"temperature": None},
    "extra": {"extra": {"top_p": 0.5, "seed": 7, "top_k": 3, "stop": ["\u00e9"],
                        "logprobs": True, "top_logprobs": 5, "presence_penalty": 0.1,
                        "frequency_penalty": 0.2, "min_p": 0.1, "repetition_penalty": 1.1,
                        "chat_template_kwargs": {"enable_thinking": False}}},
    "everything": {"extra": {name: WORTH.get(name, 1) for name in sorted(SAMPLING)}},
    "beside": {"extra": {"extra_body": {"top_k": 3, "guided_regex": "a|b"}}},
    "effort": {"reasoning_effort": "low"},
}  # fmt: skip
FORMATS = {"json_object": {"type": "json_object"}, "text": None}


def _call(provider: FakeProvider, model: str, more: Mapping[str, Any], tail: str) -> ChatCall:
    base = provider.base_url.removesuffix("/v1") + tail
    judge = JudgeSpec(id="judge", model=model, family="a", api_base=base, **more)
    wanted: dict[str, Any] = {
        "temperature": judge.temperature,
        "max_tokens": judge.max_output_tokens,
        "reasoning_effort": judge.reasoning_effort,
        "response_format": FORMATS.get(judge.reply, JSON_SCHEMA),
        **judge.extra,
    }
    sent = {name: value for name, value in wanted.items() if value is not None}
    return ChatCall(
        judge=judge, system="S\u00e9 \u4f60\u597d", user=USER, parameters=sent, timeout_s=5.0
    )


def _sent(provider: FakeProvider, call: ChatCall, *, direct: bool) -> Recorded:
    provider.reset()
    reply = ask(call, direct=direct, keys={"judge": KEY})
    assert reply.content == "plain"
    (record,) = provider.requests
    return record


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("model", MODELS)
def test_both_ways_send_the_same_request(model: str, spec: str, plain: FakeProvider) -> None:
    """Path, key and every field of the body, for each judge that is asked directly."""
    call = _call(plain, model, SPECS[spec], "/v1")
    if not speaks_openai(call.judge, {}):
        assert spec == "effort"
        return
    directly, translated = (_sent(plain, call, direct=way) for way in (True, False))
    assert directly.body == translated.body
    assert list(directly.body)[:2] == ["model", "messages"]
    for name in ("authorization", "accept-encoding", "content-type"):
        assert directly.headers[name] == translated.headers[name]


@pytest.mark.parametrize("tail", ["", "/", "/v1/", "/a%20b/v1", "/compatible-mode/v1"])
@pytest.mark.parametrize("model", ["openai/judge-a", "hosted_vllm/judge-a", "lm_studio/judge-a"])
def test_both_ways_send_to_the_same_path(model: str, tail: str, plain: FakeProvider) -> None:
    """Whatever the address ends with."""
    call = _call(plain, model, {}, tail)
    assert speaks_openai(call.judge, {})
    directly, translated = (_sent(plain, call, direct=way) for way in (True, False))
    assert directly.path == translated.path


def test_a_body_is_written_like_openais_client_writes_it(plain: FakeProvider) -> None:
    """The same bytes, so that no cache of a gateway sees two requests."""
    call = _call(plain, "openai/judge-a", {"temperature": 0.5}, "/v1")
    directly, translated = (_sent(plain, call, direct=way) for way in (True, False))
    assert directly.headers["content-length"] == translated.headers["content-length"]
    assert json.dumps(directly.body) == json.dumps(translated.body)
