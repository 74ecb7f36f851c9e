"""The turns of a templated prompt, and a response without the tokens that end it.

Trainers that apply a chat template keep texts only. The template's control tokens say who speaks
and are no part of what is said; a text in no known template stays one text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from .chat_template_table import BEGINNINGS, ROLES, TEMPLATES, TRAILING, Template
from .role import role_or_user

MAX_TURNS = 4_096
"""A prompt that seems to have more is one text."""
_BEGINNINGS = re.compile(BEGINNINGS)
_SYSTEM = re.compile(r"\A\s*<<SYS>>\n?(?P<system>.*?)\n?<</SYS>>\s*", re.DOTALL)
_IMAGES = re.compile(r"(?:<\|vision_start\|>)?(?:<\|(?:image|video)_pad\|>)+(?:<\|vision_end\|>)?")
_NO_THOUGHT = re.compile(r"\s*(?:<think>)?\s*</think>\s*")
_CLOSING, _OPENING = "</s>", "<s>"


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody says; ``closed`` where the template's end of a turn follows."""

    role: str
    text: str
    closed: bool


def spoken(prompt: str, response: str) -> tuple[str | list[tuple[str, str]], str]:
    """A templated prompt as pairs of role and text, a text where no template is known, and the
    response to it.

    What the prompt has begun to say for the assistant (an open thought, a prefix) is the response's
    beginning, unless nothing follows or it is a thought of nothing.
    """
    template = template_of(prompt)
    response = clean_response(response)
    if template is None:
        return _BEGINNINGS.sub("", prompt, count=1), response
    turns, before = turns_of(prompt, template)
    opened = ""
    if turns[-1].role == "assistant" and not turns[-1].closed:
        opened = turns.pop().text
    if _NO_THOUGHT.fullmatch(opened) or not response.strip():
        opened = ""
    return list(_said(before, turns)) or "", opened + response


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


def template_of(text: str) -> Template | None:
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
        if heads and role_of(heads[-1]) == "assistant" and _opens(text[heads[-1].end() :]):
            return template
    return None


def _heads(text: str, template: Template) -> list[re.Match[str]]:
    """The headers in a text, one more than ``MAX_TURNS`` of them at most."""
    return list(islice(template.header.finditer(text), MAX_TURNS + 1))


def _opens(rest: str) -> bool:
    return not rest.strip() or rest.strip().startswith(("<think>", "</think>"))


def turns_of(text: str, template: Template) -> tuple[list[Turn], str]:
    """The turns of a text, one at least, and what stands before the first."""
    heads = _heads(text, template)
    ends = [head.start() for head in heads[1:]] + [len(text)]
    turns = []
    for head, end in zip(heads, ends, strict=True):
        said, *rest = template.end.split(text[head.end() : end])
        # Nothing that somebody wrote behind the end of a turn is lost.
        more = [part.strip() for part in rest if part.strip()]
        whole = "\n".join([said.strip(template.padding), *more])
        turns.append(Turn(role=role_of(head), text=whole, closed=bool(rest)))
    return turns, _BEGINNINGS.sub("", text[: heads[0].start()], count=1).strip()


def _said(before: str, turns: list[Turn]) -> Iterator[tuple[str, str]]:
    if before:
        yield "system", before
    for turn in turns:
        text = _IMAGES.sub("(image, not shown)", turn.text)
        system = _SYSTEM.match(text) if turn.role == "user" else None
        if system:
            yield "system", system["system"]
            text = text[system.end() :]
        yield turn.role, text


def role_of(head: re.Match[str]) -> str:
    """Who speaks under a template's header, in a chat's words."""
    role = head["role"].strip().lower()
    return role_or_user(ROLES.get(role, role))
