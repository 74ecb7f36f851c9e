"""From a templated prompt back to messages, and from a trainer's query to what the policy wrote.

Some trainers know texts only: the prompt with its chat template applied, and the same text with the
response behind it. The template's control tokens say who speaks; they are no part of what is said.
A text without a template stays one text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from judge_service.candidate.chat_template_table import (
    BEGINNINGS,
    IGNORED,
    ROLES,
    TEMPLATES,
    TRAILING,
    Template,
)
from judge_service.types import Message, Prompt

OVERLAP_CHARS = 32
"""How much of a prompt's end a query must begin with to be taken for a prompt that was cut."""
OVERLAPS = 64
MAX_TURNS = 4_096
"""A prompt that seems to have more is one text."""
_BEGINNINGS = re.compile(BEGINNINGS)
_SYSTEM = re.compile(r"\A\s*<<SYS>>\n?(?P<system>.*?)\n?<</SYS>>\s*", re.DOTALL)
_IMAGES = re.compile(r"(?:<\|vision_start\|>)?(?:<\|(?:image|video)_pad\|>)+(?:<\|vision_end\|>)?")
_NO_THOUGHT = re.compile(r"\s*(?:<think>)?\s*</think>\s*")
_TAIL = re.compile(rf"(?:{IGNORED.pattern})*\Z")
_TAIL_CHARS = 256
_CLOSING, _OPENING = "</s>", "<s>"


class NoResponse(ValueError):
    """A query in which nothing says where the prompt ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A prompt, as messages where a template was recognised, and the response to it."""

    prompt: Prompt
    response: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    role: str
    text: str
    closed: bool


def exchange(query: str, prompt: str) -> Exchange:
    """The exchange in ``query``, which is the templated ``prompt`` and then the response.

    Trainers cut prompts at the front, and tokenizers change spaces and special tokens; where the
    prompt is not found for that, the turn of the assistant that it opens counts. Raises NoResponse.
    """
    end = _prompt_end(query, prompt)
    if end is not None:
        return responded(prompt, query[end:])
    template = _template_of(prompt)
    begin = _answer_begin(query, prompt, template)
    if begin is None:
        raise NoResponse("the query does not begin with the prompt, and no chat template tells "
                         "where the response begins")  # fmt: skip
    asked = prompt if template is not None else query[:begin]
    return Exchange(prompt=responded(asked, "").prompt, response=clean_response(query[begin:]))


def responded(prompt: str, response: str) -> Exchange:
    """The exchange of a templated prompt and the response alone.

    What the prompt has begun to say for the assistant (an open thought, a prefix) is given to the
    response, unless that is empty.
    """
    template = _template_of(prompt)
    response = clean_response(response)
    if template is None:
        return Exchange(prompt=_BEGINNINGS.sub("", prompt, count=1), response=response)
    turns, before = _turns(prompt, template)
    prefix = ""
    if turns and turns[-1].role == "assistant" and not turns[-1].closed:
        prefix = turns.pop().text
    if _NO_THOUGHT.fullmatch(prefix) or not response.strip():
        prefix = ""
    return Exchange(prompt=tuple(_messages(before, turns)) or "", response=prefix + response)


def clean_response(text: str) -> str:
    """``text`` without the special tokens at its end; the same text where there are none."""
    end = kept = len(text)
    struck = _OPENING in text
    token = ""
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        # Padding is one token, many times.
        if not token or not text.endswith(token, 0, end):
            if not text.endswith(TRAILING, 0, end):
                return text[:kept]
            token = next(token for token in TRAILING if text.endswith(token, 0, end))
        # In a text that strikes something out it may be the end of that.
        if token == _CLOSING and struck:
            return text[:kept]
        end -= len(token)
        kept = end


def _template_of(text: str) -> Template | None:
    """The template that ``text`` is written in: it begins with one, or ends where one lets the
    assistant speak.
    """
    begins = _BEGINNINGS.match(text)
    start = begins.end() if begins else 0
    for template in TEMPLATES:
        if template.header.match(text, start):
            return template if len(_heads(text, template)) <= MAX_TURNS else None
    for template in TEMPLATES:
        heads = _heads(text, template)
        if len(heads) > MAX_TURNS:
            return None
        if heads and _role(heads[-1]) == "assistant" and _opens(text[heads[-1].end() :]):
            return template
    return None


def _heads(text: str, template: Template) -> list[re.Match[str]]:
    """The headers in a text, one more than ``MAX_TURNS`` of them at most."""
    return list(islice(template.header.finditer(text), MAX_TURNS + 1))


def _opens(rest: str) -> bool:
    return not rest.strip() or rest.strip().startswith(("<think>", "</think>"))


def _turns(text: str, template: Template) -> tuple[list[_Turn], str]:
    """The turns of a text, and what stands before the first."""
    heads = list(template.header.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    turns = []
    for head, end in zip(heads, ends, strict=True):
        said, *rest = template.end.split(text[head.end() : end])
        # Nothing that somebody wrote behind the end of a turn is lost.
        more = [part.strip() for part in rest if part.strip()]
        turns.append(
            _Turn(
                role=_role(head),
                text="\n".join([said.strip(template.padding), *more]),
                closed=bool(rest),
            )
        )
    before = text[: heads[0].start()] if heads else text
    return turns, _BEGINNINGS.sub("", before, count=1).strip()


def _messages(before: str, turns: list[_Turn]) -> Iterator[Message]:
    if before:
        yield Message(role="system", text=before)
    for turn in turns:
        text = _IMAGES.sub("(image, not shown)", turn.text)
        system = _SYSTEM.match(text) if turn.role == "user" else None
        if system:
            yield Message(role="system", text=system["system"])
            text = text[system.end() :]
        yield Message(role=turn.role, text=text)


def _role(head: re.Match[str]) -> str:
    role = head["role"].strip().lower()
    known = ROLES.get(role, role)
    return known if known.isascii() and known.isidentifier() and len(known) <= 32 else "user"


def _prompt_end(query: str, prompt: str) -> int | None:
    """Where the prompt ends that the query begins with, None where it does not."""
    if query.startswith(prompt):
        return len(prompt)
    aligned = _aligned(query, prompt)
    return aligned if aligned is not None else _cut(query, prompt)


def _aligned(query: str, prompt: str) -> int | None:
    """The same, whatever spaces and special tokens stand in between."""
    wanted = IGNORED.sub("", prompt)
    if not wanted:
        return None
    done = last = 0
    gaps = (gap.span() for gap in IGNORED.finditer(query))
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
    left = sum(not gap[0].isspace() for gap in IGNORED.finditer(tail[0]))
    while gap := IGNORED.match(query, end):
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
    heads = [[h.end() for h in t.header.finditer(query) if _role(h) == "assistant"] for t in found]
    begins = min((h for h in heads if h), key=lambda h: h[0], default=[])
    if not begins:
        return None
    if template is None:
        at = query.find(prompt.strip()) if prompt.strip() else -1
        behind = [b for b in begins if at >= 0 and b > at]
        return behind[0] if behind else begins[-1]
    number = sum(turn.role == "assistant" for turn in _turns(prompt, template)[0])
    return begins[number - 1] if 0 < number <= len(begins) else begins[-1]
