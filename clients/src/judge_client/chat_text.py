"""A templated prompt as the messages of a request, and the response to it."""

from __future__ import annotations

from judge_client.vendor.chat_turns import spoken


def exchange(prompt: str, response: str) -> tuple[str | list[dict[str, str]], str]:
    """Prompt and response as they were meant: messages where the prompt is in a known template."""
    told, said = spoken(prompt, response)
    if isinstance(told, str):
        return told, said
    return [{"role": role, "content": text} for role, text in told], said
