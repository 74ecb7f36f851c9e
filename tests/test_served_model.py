"""Whether a reply's model is the judge that was asked: right, silent, or another one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_service.judges.family import families_of, same_name
from judge_service.judges.served_model import Served, check_served


def check(requested: str, served: str | None, *patterns: str, family: str | None = None) -> Served:
    """Ask with the judge's family as the table (or ``family``) gives it."""
    families = frozenset({family}) if family else families_of(requested)
    return check_served(
        requested=requested, served=served, families=families, served_models=patterns
    )


@pytest.mark.parametrize(
    ("requested", "served"),
    [
        ("openai/gpt-4o", "gpt-4o"),
        ("openai/GPT-4o", "openai/gpt-4o"),
        ("openrouter/qwen/qwen3-8b:free", "qwen/qwen3-8b"),
        (
            "bedrock/us.anthropic.claude-sonnet-4-5-v1:0",
            "anthropic.claude-sonnet-4-5-v1:0",
        ),
        ("bedrock/us.anthropic.claude-sonnet-4-5-v1:0", "claude-sonnet-4-5"),
        (
            "fireworks_ai/accounts/fireworks/models/judge",
            "accounts/fireworks/models/judge",
        ),
        ("hosted_vllm//models/judge", "/models/judge"),
        ("hosted_vllm/judge", "/models/judge"),
        ("gemini/judge", "models/judge"),
        ("ollama/judge", "judge:latest"),
        ("azure/gpt-4o", "azure_ai/gpt-4o"),
    ],
)
def test_same_name_as_providers_spell_it(requested: str, served: str) -> None:
    """Case, prefixes, region and a missing tag make no other name."""
    assert same_name(requested, served)


@pytest.mark.parametrize(
    ("requested", "served"),
    [
        ("openai/gpt-4o", "gpt-4o-mini"),
        ("openai/gpt-4o", "gpt-4o-2024-08-06"),
        ("ollama/judge:8b", "judge:70b"),
        ("vertex_ai/judge@001", "judge@002"),
        ("hosted_vllm//models/a/judge", "/models/b/judge"),
        ("/models/a/judge", "/models/b/judge"),
        ("bedrock/cohere.judge", "mistral.judge"),
        ("ft:gpt-4o:org::a", "ft:gpt-4o:org::b"),
        ("openai/gpt-4o", ""),
        ("", ""),
        ("openai/", "/"),
    ],
)
def test_another_name_is_not_the_same(requested: str, served: str) -> None:
    """Snapshots, sizes, tags and folders that differ are different names."""
    assert not same_name(requested, served)


@pytest.mark.parametrize(
    ("requested", "served"),
    [
        ("openai/gpt-5-mini", "gpt-5-mini"),
        ("openai/gpt-5-mini", "gpt-5-mini-2025-08-07"),
        ("azure/gpt-4o-prod", "gpt-4o-2024-08-06"),
        (
            "openrouter/anthropic/claude-sonnet-4.5",
            "anthropic/claude-4.5-sonnet-20250929",
        ),
        (
            "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "claude-sonnet-4-5-20250929",
        ),
        ("vertex_ai/claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"),
        ("hosted_vllm/qwen3-8b", "/models/Qwen3-8B"),
        ("hosted_vllm/Qwen/Qwen3-8B", "Qwen3-8B-AWQ"),
        ("groq/deepseek-r1-distill-llama-70b", "deepseek-r1-distill-llama-70b"),
        ("openai/SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct.Q4_1.gguf"),
        ("azure/my-deployment", "my-deployment"),
        (
            "openai/ft:gpt-4o-mini-2024-07-18:acme::id",
            "ft:gpt-4o-mini-2024-07-18:acme::id",
        ),
    ],
)
def test_the_model_asked_is_accepted(requested: str, served: str) -> None:
    """The requested name in the provider's spelling, or a snapshot of its family, is right."""
    assert check(requested, served) is Served.OK


@pytest.mark.parametrize(
    ("requested", "served"),
    [
        ("openai/gpt-4o", "gemini-2.5-flash"),
        ("azure/gpt-4o-prod", "models/gemini-2.5-flash"),
        ("openrouter/anthropic/claude-sonnet-4.5", "google/gemini-2.5-flash"),
        ("bedrock/us.anthropic.claude-sonnet-4-5-v1:0", "amazon.nova-lite-v1:0"),
        ("hosted_vllm/qwen3-8b", "/models/Llama-3.1-8B-Instruct"),
        ("together_ai/deepseek-ai/DeepSeek-R1", "Qwen/Qwen3-235B-A22B"),
        ("openai/gpt-oss-120b", "GEMMA-3-27B-IT"),
        ("mistral/mistral-small-latest", "openrouter/qwen/qwen3-8b:free"),
        ("openai/qwen3-32b", "DeepSeek-R1-Distill-Qwen-32B"),
        ("openai/llama-3.3-70b", "nvidia/Llama-3.1-Nemotron-70B-Instruct"),
    ],
)
def test_another_family_is_wrong(requested: str, served: str) -> None:
    """A gateway that answers with another house's model is found out; a distillation by another
    house is its model, too.
    """
    assert check(requested, served) is Served.WRONG


@pytest.mark.parametrize(
    "served",
    [None, "", "  ", "prod-judge-7", "/srv/weights", "b3f1", "\ud800", "x" * 4096],
    ids=["none", "empty", "blank", "deployment", "path", "id", "surrogate", "endless"],
)
def test_a_name_that_says_nothing_is_unverified(served: str | None) -> None:
    """Missing and opaque names are neither proof nor contradiction."""
    assert check("openai/gpt-4o", served) is Served.UNVERIFIED


def test_a_declared_family_counts_where_the_requested_name_says_nothing() -> None:
    """Behind a deployment's name, the family the operator declared is what must be served."""
    deployment = "azure/my-deployment"
    assert check(deployment, "gpt-5-mini-2025-08-07", family="openai") is Served.OK
    assert check(deployment, "claude-sonnet-5", family="openai") is Served.WRONG
    assert check(deployment, "claude-sonnet-5", family="acme") is Served.WRONG
    assert check(deployment, "acme-7b", family="acme") is Served.UNVERIFIED


def test_the_requested_names_family_counts_beside_a_declared_one() -> None:
    """A judge declared under a word of the operator's own may still serve what its name says."""
    assert check("hosted_vllm/qwen3-8b", "Qwen3-8B-FP8", family="acme") is Served.OK


@pytest.mark.parametrize(
    ("served", "patterns", "expected"),
    [
        ("gpt-5-mini-2025-08-07", ("gpt-5-mini-*",), Served.OK),
        ("GPT-5-Mini-2025-08-07", ("gpt-5-MINI-*",), Served.OK),
        ("openai/gpt-5-mini-2025-08-07", ("gpt-5-mini-*",), Served.OK),
        ("openai/gpt-5-mini-2025-08-07", ("openai/gpt-5-mini-*",), Served.OK),
        ("gpt-5-mini", ("gpt-5-mini-*",), Served.OK),
        ("gpt-5-nano-2025-08-07", ("gpt-5-mini-*",), Served.WRONG),
        ("gpt-5-nano", ("gpt-4*", "gpt-5-nano"), Served.OK),
        ("prod-7", ("gpt-5-mini-*",), Served.WRONG),
        ("prod-7", ("prod-?",), Served.OK),
        ("gemini-2.5-pro", ("*",), Served.WRONG),
        ("prod-" + "7" * 4096, ("*",), Served.WRONG),
        (None, ("gpt-5-mini-*",), Served.UNVERIFIED),
    ],
)
def test_served_models_narrow_what_is_right(
    served: str | None, patterns: tuple[str, ...], expected: Served
) -> None:
    """Named patterns decide among one family and verify opaque names; they excuse no other."""
    assert check("openai/gpt-5-mini", served, *patterns) is expected


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_pair_of_names_is_answered(requested: str, served: str) -> None:
    """No string raises, and the requested name itself is never wrong."""
    assert isinstance(check(requested, served), Served)
    assert check(requested, requested, "nothing-like-it") is not Served.WRONG
