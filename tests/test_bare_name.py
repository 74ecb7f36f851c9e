"""A model's own name without what stands around it, and whether it moves."""

from __future__ import annotations

import pytest

from judge_service.judges.family import (
    bare_name,
    floating_alias,
)


@pytest.mark.parametrize(
    ("name", "bare"),
    {
        "openrouter/meta-llama/llama-3.1-8b-instruct:free": "llama-3.1-8b-instruct",
        "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude-sonnet-4-5-20250929",
        "bedrock/converse/amazon.nova-pro-v1:0": "nova-pro",
        "vertex_ai/claude-sonnet-4-5@20250929": "claude-sonnet-4-5",
        "Qwen/Qwen3-8B": "qwen3-8b",
        "ft:gpt-4o-mini-2024-07-18:org::id": "gpt-4o-mini-2024-07-18",
        "/models/SmolLM2-135M-Instruct.Q4_1.gguf": "smollm2-135m-instruct.q4_1",
        "azure/My-Deployment": "my-deployment",
        "ollama/llama3.1:8b": "llama3.1",
        "gpt-5.1": "gpt-5.1",
        "/models/qwen3/": "qwen3",
        "": "",
    }.items(),
)
def test_bare_name_is_the_models_own(name: str, bare: str) -> None:
    """Gateways, regions, vendors, folders, tags and file suffixes are not part of the name."""
    assert bare_name(name) == bare


@pytest.mark.parametrize(
    ("name", "floats"),
    {
        "mistral/mistral-large-latest": True,
        "openai/gpt-5-chat-latest": True,
        "ollama/llama3:latest": True,
        "vertex_ai/mistral-large@latest": True,
        "vertex_ai/claude-opus-5@default": True,
        "xai/grok-4.20-beta-latest-reasoning": True,
        "openrouter/auto": True,
        "azure/model-router": True,
        "OPENAI/GPT-LATEST": True,
        "openai/gpt-5-mini": False,
        "openai/gpt-4o-2024-08-06": False,
        "runs/latest/qwen3-8b": False,
        "greatest-model": False,
        "": False,
    }.items(),
)
def test_floating_alias(name: str, floats: bool) -> None:
    """Only names that say themselves that they move are called floating."""
    assert floating_alias(name) is floats
