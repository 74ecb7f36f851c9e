"""Words for families: what callers and files of judges say."""

from __future__ import annotations

import pytest

from judge_service.judges.family import (
    declared_families,
    known_families,
    normalize_family,
)


@pytest.mark.parametrize(
    ("word", "family"),
    {
        "OpenAI": "openai",
        " gpt ": "openai",
        "GPT-4o": "openai",
        "Claude 4": "anthropic",
        "Gemma": "google",
        "Meta": "llama",
        "meta llama": "llama",
        "Llama-3.1": "llama",
        "qwen2.5": "qwen",
        "Alibaba": "qwen",
        "mistralai": "mistral",
        "x.ai": "xai",
        "01-ai": "yi",
        "Phi4": "microsoft",
        "Our Own": "our-own",
        "our_own": "our-own",
        "team7": "team7",
        "STRASSE": "strasse",
        "straße": "strasse",
        "huggingface": "huggingface",
        " ": "",
    }.items(),
)
def test_normalize_family(word: str, family: str) -> None:
    """Any word is a family; synonyms, case and version numbers of known ones fall together."""
    assert normalize_family(word) == family


@pytest.mark.parametrize(
    ("word", "families"),
    {
        "qwen+deepseek": {"qwen", "deepseek"},
        "Qwen, DeepSeek": {"qwen", "deepseek"},
        "qwen|deepseek": {"qwen", "deepseek"},
        "qwen;deepseek": {"qwen", "deepseek"},
        "Qwen/Qwen3-4B": {"qwen", "qwen/qwen3-4b"},
        "qwen3:4b": {"qwen", "qwen3:4b"},
        "qwen/deepseek": {"qwen", "deepseek", "qwen/deepseek"},
        "qwen-family": {"qwen"},
        "'qwen'": {"qwen"},
        '["qwen"]': {"qwen"},
        "qwen\u200b": {"qwen"},
        "\uff51wen": {"qwen"},
        "our own": {"our-own"},
        "unknown": set(),
        "None": set(),
        "n/a": set(),
        " + ": set(),
    }.items(),
)
def test_declared_families(word: str, families: set[str]) -> None:
    """What a caller declares excludes its family however it is written: joined, as a model's name,
    with signs nobody sees. A word that says nothing declares nothing.
    """
    assert declared_families(word) == families


def test_normalized_words_stay() -> None:
    """A family's own id, whatever synonyms there are, is its normal form."""
    assert {normalize_family(family) for family in known_families()} == set(known_families())
    assert len(known_families()) >= 25
