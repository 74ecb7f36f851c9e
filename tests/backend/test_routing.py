"""Which judges are asked directly, and that LiteLLM stays away where none needs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from judge_service.adapters.litellm_backend import load_litellm
from judge_service.adapters.prices import PriceList
from judge_service.adapters.routing import Direct, speaks_openai
from judge_service.judges.judge import JudgeSpec
from tests.provider import FakeProvider

LOCAL = "http://127.0.0.1:8000/v1"
OPENAI = "https://api.openai.com/v1"
FREE = {"price": {"input": 0.0, "output": 0.0}}


def _judge(model: str, api_base: str | None = LOCAL, **more: Any) -> JudgeSpec:
    return JudgeSpec.model_validate(
        {"id": "judge", "model": model, "family": "a", "api_base": api_base, **more}
    )


@pytest.fixture(scope="module")
def prices() -> PriceList:
    """The installed list."""
    return PriceList()


@pytest.mark.parametrize(
    ("model", "api_base", "more"),
    [
        ("openai/judge-a", LOCAL, {}),
        ("openai/Qwen/Qwen3-8B", "https://judges.test/v1/", {}),
        ("openai/gpt-4o", OPENAI, {}),
        ("openai/gpt-4o", None, {"api_key_env": "KEY"}),
        ("openai/gpt-oss-120b", LOCAL, {"reasoning_effort": "low"}),
        ("hosted_vllm/Qwen/Qwen3-8B", LOCAL, {"reasoning_effort": "low"}),
        ("hosted_vllm/gpt-5-like", LOCAL, {}),
        ("openai_like/judge-a", LOCAL, {}),
        ("custom_openai/judge-a", LOCAL, {}),
        ("lm_studio/judge-a", LOCAL, {}),
        ("llamafile/judge-a", LOCAL, {}),
        ("deepseek/deepseek-v4-pro", "https://api.deepseek.com/v1", FREE),
        ("dashscope/qwen-max", LOCAL, {}),
        ("dashscope/qwen-max", "https://dashscope.aliyuncs.com/compatible-mode/v1", {}),
        ("openai/qwen-max", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", {}),
        ("openai/adaptive-judge", LOCAL, {}),
        ("openai/judge-a", LOCAL, {"extra": {"top_k": 3, "extra_body": {"min_p": 0.1}}}),
    ],
)
def test_a_judge_of_the_plain_protocol_is_asked_directly(
    model: str, api_base: str | None, more: Mapping[str, Any], prices: PriceList
) -> None:
    """Whoever serves it."""
    assert Direct(prices, {"PATH": "/bin"})(_judge(model, api_base, **more))


@pytest.mark.parametrize(
    ("model", "api_base", "more"),
    [
        ("anthropic/claude-3-5-haiku-latest", LOCAL, {}),
        ("gemini/gemini-2.5-flash", LOCAL, {}),
        ("azure/gpt-4o", LOCAL, {}),
        ("ollama/llama3", LOCAL, {}),
        ("gpt-4o", None, {"api_key_env": "KEY"}),
        ("openai/gpt-4o", None, {}),
        ("hosted_vllm/judge-a", None, {"api_key_env": "KEY"}),
        ("openai/gpt-5-mini", LOCAL, {}),
        ("openai/proxy/gpt-5-mini", LOCAL, {}),
        ("openai/o3", LOCAL, {}),
        ("openai/gpt-4", LOCAL, {}),
        ("openai/gpt-4o-audio-preview", LOCAL, {}),
        ("openai/responses/gpt-4o", LOCAL, {}),
        ("openai/ft:gpt-4o-2024-08-06:a::b", LOCAL, {}),
        ("openai/gpt-4o", LOCAL, {"reasoning_effort": "low"}),
        ("custom_openai/judge-a", LOCAL, {"reasoning_effort": "low"}),
        ("deepseek/deepseek-v4-pro", LOCAL, {"reasoning_effort": "low", **FREE}),
        ("deepseek/deepseek-v4-pro", LOCAL, {}),
        ("dashscope/qwen-flash", LOCAL, {}),
        ("openai/judge-a", "https://eu.api.openai.com/v1", {}),
        ("openai/judge-a", "https://x.openai.azure.com/openai/v1", {}),
        ("dashscope/qwen-max", "https://dashscope.aliyuncs.com/api/v1", {}),
        ("openai/judge-a", "http://127.0.0.1/v1?version=1", {}),
        ("openai/judge-a", "http://user:word@127.0.0.1/v1", {}),
        ("openai/judge-a", "http://127.0.0.1/v1/chat/completions", {}),
        ("openai/judge-a", "http://127.0.0.1/v1//", {}),
        ("openai/judge-a", LOCAL, {"extra": {"service_tier": "flex"}}),
        ("openai/judge-a", LOCAL, {"extra": {"tools": []}}),
        ("openai/judge-a", LOCAL, {"extra": {"extra_body": {"model": "other"}}}),
        ("openai/judge-a", LOCAL, {"extra": {"extra_body": [1]}}),
    ],
)
def test_whatever_litellm_translates_stays_with_it(
    model: str, api_base: str | None, more: Mapping[str, Any], prices: PriceList
) -> None:
    """Other protocols, models whose parameters it rewrites, prices that are not plain."""
    assert not Direct(prices, {})(_judge(model, api_base, **more))


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_ORG_ID"])
def test_an_environment_that_redirects_openai_is_litellms(variable: str) -> None:
    """Only where the judge has no address of its own."""
    environ = {variable: "somewhere"}
    assert not speaks_openai(_judge("openai/gpt-4o", None, api_key_env="KEY"), environ)
    assert speaks_openai(_judge("openai/gpt-4o"), environ)


def test_no_model_of_openai_is_sent_what_litellm_would_change() -> None:
    """Every model of LiteLLM's list: those asked directly keep each parameter as it is."""
    litellm = load_litellm()
    usual = {
        "temperature": 0.0,
        "max_tokens": 7,
        "response_format": {"type": "json_object"},
        "top_p": 0.5,
        "seed": 1,
        "logprobs": True,
        "top_logprobs": 5,
        "stop": ["x"],
    }
    direct = 0
    for name, entry in litellm.model_cost.items():
        own = name.removeprefix("openai/")
        if entry.get("litellm_provider") != "openai" or not speaks_openai(
            _judge(f"openai/{own}"), {}
        ):
            continue
        mapped = litellm.get_optional_params(model=own, custom_llm_provider="openai", **usual)
        assert {**mapped, **usual} == mapped, name
        assert mapped.keys() - usual.keys() <= {"stream", "extra_body"}, name
        assert entry["mode"] in ("chat", "embedding", "moderation", "rerank"), name
        direct += entry["mode"] == "chat"
    assert direct >= 14


SCRIPT = """
import asyncio, sys
from judge_service.adapters.backend_router import BackendRouter
from judge_service.asking.backend import ChatCall
from judge_service.judges.judge import JudgeSpec

async def main():
    backend = BackendRouter()
    judge = JudgeSpec(id="a", model="openai/a", family="a", api_base=sys.argv[1])
    await backend.check([judge])
    assert await backend.context_window(judge) is None
    reply = await backend.complete(ChatCall(judge=judge, system="S", user="U", timeout_s=5.0))
    assert reply.content == "plain", reply
    await backend.aclose()

asyncio.run(main())
assert not {"litellm", "openai", "httpx"} & sys.modules.keys()
"""


def test_litellm_is_not_loaded_where_no_judge_needs_it(plain: FakeProvider) -> None:
    """Nor the seconds and the memory it takes."""
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, plain.base_url],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        check=False,
    )
    assert run.returncode == 0, run.stderr
