"""From a templated prompt back to messages, and from a trainer's query to what the policy wrote.

Some trainers know texts only: the prompt with its chat template applied, and the same text with the
response behind it. The template's control tokens say who speaks; they are no part of what is said.
A text without a template stays one text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain

from judge_service.candidate.chat_template_table import TEMPLATES, Template
from judge_service.candidate.chat_turns import (
    clean_response,
    role_of,
    spoken,
    template_of,
    turns_of,
)
from judge_service.types import Message, Prompt

OVERLAP_CHARS = 32
"""How much of a prompt's end a query must begin with to be taken for a prompt that was cut."""
OVERLAPS = 64
_IGNORED = re.compile(
    r"\s+|<\|[^<>|\s]{1,64}\|>|</?s>|<(?:bos|eos|pad|unk|sop|BOS_TOKEN)>|<｜[^<>｜\s]{1,64}｜>"
    r"|\[(?:gMASK|BOS|PAD|/?INST)\]|<(?:start|end)_of_turn>|<\|turn>|<turn\|>"
)
"""What tokenizers add, drop and change between a prompt and a query: spaces, special tokens."""
_TAIL = re.compile(rf"(?:{_IGNORED.pattern})*\Z")
_TAIL_CHARS = 256


class NoResponse(ValueError):
    """A query in which nothing says where the prompt ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A prompt, as messages where a template was recognised, and the response to it."""

    prompt: Prompt
    response: str


def exchange(query: str, prompt: str) -> Exchange:
    """The exchange in ``query``, which is the templated ``prompt`` and then the response.

    Trainers cut prompts at the front, and tokenizers change spaces and special tokens; where the
    prompt is not found for that, the turn of the assistant that it opens counts. Raises NoResponse.
    """
    end = _prompt_end(query, prompt)
    if end is not None:
        return responded(prompt, query[end:])
    template = template_of(prompt)
    begin = _answer_begin(query, prompt, template)
    if begin is None:
        raise NoResponse("the query does not begin with the prompt, and no chat template tells "
                         "where the response begins")  # fmt: skip
    asked = prompt if template is not None else query[:begin]
    return Exchange(prompt=responded(asked, "").prompt, response=clean_response(query[begin:]))


def responded(prompt: str, response: str) -> Exchange:
    """The exchange of a templated prompt and the response alone (``chat_turns.spoken``)."""
    told, said = spoken(prompt, response)
    if isinstance(told, str):
        return Exchange(prompt=told, response=said)
    return Exchange(
        prompt=tuple(Message(role=role, text=text) for role, text in told), response=said
    )


def _prompt_end(query: str, prompt: str) -> int | None:
    """Where the prompt ends that the query begins with, None where it does not."""
    if query.startswith(prompt):
        return len(prompt)
    aligned = _aligned(query, prompt)
    return aligned if aligned is not None else _cut(query, prompt)


def _aligned(query: str, prompt: str) -> int | None:
    """The same, whatever spaces and special tokens stand in between."""
    wanted = _IGNORED.sub("", prompt)
    if not wanted:
        return None
    done = last = 0
    gaps = (gap.span() for gap in _IGNORED.finditer(query))
    for start, end in chain(gaps, [(len(query), len(query))]):
        take = min(start - last, len(wanted) - done)
        if not query.startswith(wanted[done : done + take], last):
            return None
        done += take
        if done == len(wanted):
            return _behind(query, prompt, last + take)
        last = end
    return None


def _behind(query: str, prompt: str, end: int) -> int:
    """Past as many tokens as the prompt ends with, and the spaces between, if it does."""
    tail = _TAIL.search(prompt, max(0, len(prompt) - _TAIL_CHARS))
    if not tail or not tail[0]:
        return end
    left = sum(not gap[0].isspace() for gap in _IGNORED.finditer(tail[0]))
    while gap := _IGNORED.match(query, end):
        if not gap[0].isspace():
            if not left:
                break
            left -= 1
        end = gap.end()
    return end


def _cut(query: str, prompt: str) -> int | None:
    """The same for a prompt that has lost its beginning."""
    begin = query[:OVERLAP_CHARS]
    if len(begin) < OVERLAP_CHARS:
        return None
    at = prompt.find(begin)
    for _ in range(OVERLAPS):
        if at < 0:
            return None
        if query.startswith(prompt[at:]):
            return len(prompt) - at
        at = prompt.find(begin, at + 1)
    return None


def _answer_begin(query: str, prompt: str, template: Template | None) -> int | None:
    """Where the assistant's turn begins that the prompt opens.

    Not simply the last one: a policy can write such a header, too, and hide what it wrote before.
    """
    found = [template] if template is not None else TEMPLATES
    heads = [
        [h.end() for h in t.header.finditer(query) if role_of(h) == "assistant"] for t in found
    ]
    begins = min((h for h in heads if h), key=lambda h: h[0], default=[])
    if not begins:
        return None
    if template is None:
        at = query.find(prompt.strip()) if prompt.strip() else -1
        behind = [b for b in begins if at >= 0 and b > at]
        return behind[0] if behind else begins[-1]
    number = sum(turn.role == "assistant" for turn in turns_of(prompt, template)[0])
    return begins[number - 1] if 0 < number <= len(begins) else begins[-1]
