"""From a templated prompt back to messages, and a response without the tokens that end it.

Trainers that apply a chat template keep the text only. Its control tokens say who speaks and are no
part of what is said; a text in no known template stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

MAX_TURNS = 1024
_WORD = r"(?P<role>[A-Za-z_]{1,32})"


@dataclass(frozen=True, slots=True)
class _Template:
    """``head`` opens a turn and says whose it is, ``end`` closes one."""

    head: re.Pattern[str]
    end: tuple[str, ...]


_TEMPLATES = (
    # ChatML: Qwen and many others.
    _Template(re.compile(rf"<\|im_start\|>{_WORD}(?:\n|\Z)"), ("<|im_end|>",)),
    # Llama 3.
    _Template(
        re.compile(rf"<\|start_header_id\|>{_WORD}<\|end_header_id\|>\n{{0,2}}"),
        ("<|eot_id|>", "<|eom_id|>"),
    ),
    # Gemma.
    _Template(re.compile(rf"<start_of_turn>{_WORD}(?:\n|\Z)"), ("<end_of_turn>",)),
    # DeepSeek.
    _Template(
        re.compile(r"<｜(?P<role>System|User|Assistant)｜>"),
        ("<｜end▁of▁sentence｜>",),
    ),
    # GLM, Phi, Zephyr.
    _Template(
        re.compile(r"<\|(?P<role>system|user|assistant|observation|tool)\|>\n?"),
        ("<|end|>", "<|endoftext|>"),
    ),
)
_BEFORE = re.compile(
    r"\A(?:<\|begin_of_text\|>|<｜begin▁of▁sentence｜>|<s>|<bos>|\[gMASK\]|<sop>|<\|endoftext\|>)+"
)
_NO_THOUGHT = re.compile(r"\s*(?:<think>)?\s*</think>\s*")
_ROLES = {"model": "assistant", "observation": "tool", "ipython": "tool"}
_TRAILING = (
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>",
    "<|user|>", "<|observation|>", "<|return|>", "<end_of_turn>", "<eos>", "</s>",
    "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>", "<pad>", "<|pad|>",
)  # fmt: skip


def exchange(prompt: str, response: str) -> tuple[str | list[dict[str, Any]], str]:
    """Prompt and response as they were meant: messages where the prompt is in a known template.

    What the template has begun to say for the assistant (an open thought) is the response's
    beginning, unless nothing follows or it is a thought of nothing.
    """
    said = without_end(response)
    begins = _BEFORE.match(prompt)
    text = prompt[begins.end() :] if begins else prompt
    turns, opened = _turns(text)
    if turns is None:
        return text, said
    if _NO_THOUGHT.fullmatch(opened) or not said.strip():
        opened = ""
    return turns or "", opened + said


def without_end(response: str) -> str:
    """A response without the special tokens at its end; the same text where there are none."""
    end = kept = len(response)
    while True:
        while end and response[end - 1].isspace():
            end -= 1
        token = next((token for token in _TRAILING if response.endswith(token, 0, end)), None)
        if token is None:
            return response[:kept]
        end -= len(token)
        kept = end


def _turns(text: str) -> tuple[list[dict[str, Any]] | None, str]:
    """The turns before the one that the prompt opens, and what that one begins with."""
    for template in _TEMPLATES:
        heads = list(template.head.finditer(text))
        if not heads or len(heads) > MAX_TURNS:
            continue
        # A template begins the text, but for what some put before the first turn.
        if heads[0].start() and heads[-1]["role"].lower() not in ("assistant", "model"):
            continue
        return _read(text, template, heads)
    return None, ""


def _read(
    text: str, template: _Template, heads: list[re.Match[str]]
) -> tuple[list[dict[str, Any]], str]:
    turns: list[dict[str, Any]] = []
    before = text[: heads[0].start()].strip()
    if before:
        turns.append({"role": "system", "content": before})
    ends = [head.start() for head in heads[1:]] + [len(text)]
    closed = True
    for head, end in zip(heads, ends, strict=True):
        said = text[head.end() : end]
        role = head["role"].lower()
        closed = False
        for token in template.end:
            said, mark, rest = said.partition(token)
            if mark:
                # Nothing that somebody wrote behind the end of a turn is lost.
                said += f"\n{rest.strip()}" if rest.strip() else ""
                closed = True
        turns.append({"role": _ROLES.get(role, role), "content": said})
    opened = ""
    if not closed and turns[-1]["role"] == "assistant":
        opened = turns.pop()["content"]
    return turns, opened
