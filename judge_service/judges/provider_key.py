"""Which judges cannot be asked without a key: those of a provider that wants one from everybody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from judge_service.judges.judge import JudgeSpec

_VARIABLES: dict[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "dashscope": ("DASHSCOPE_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"),
    "xai": ("XAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY", "FIREWORKSAI_API_KEY"),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "cerebras": ("CEREBRAS_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "nvidia_nim": ("NVIDIA_NIM_API_KEY",),
}
"""By the prefix of a model's name: where LiteLLM finds the key when a judge names no variable. Only
providers that take nothing but a key; clouds know other ways to say who asks.
"""
_BARE = ((re.compile(r"gpt-(?!oss)|o\d|chatgpt"), "openai"), (re.compile(r"claude-"), "anthropic"))
"""Names without a prefix whose provider LiteLLM knows all the same."""


def usual_variables(judge: JudgeSpec) -> tuple[str, ...]:
    """The variables one of which must hold the judge's key, where the judge itself names none.

    Empty where none may be needed: an address of its own, another kind of provider.
    """
    if judge.api_key_env is not None or judge.api_base is not None:
        return ()
    prefix, slash, _ = judge.model.partition("/")
    if not slash:
        prefix = next((name for bare, name in _BARE if bare.match(judge.model)), "")
    return _VARIABLES.get(prefix, ())


def key_warnings(judges: Iterable[JudgeSpec], environ: Mapping[str, str]) -> list[str]:
    """A sentence for each judge that has no key although its provider wants one."""
    found = []
    for judge in judges:
        usual = usual_variables(judge)
        if usual and not any(environ.get(name) for name in usual):
            found.append(
                f"judge {judge.id!r}: {judge.model!r} needs a key and has none: name the variable "
                f'that holds it, as in api_key_env = "{usual[0]}", and set it'
            )
    return found
