"""Finds text that addresses or imitates the judge. A finding is a flag and never moves a score.

A candidate cannot leave its data block, so this is no defence: it tells people that a policy has
begun to try. It is deterministic, linear in the length of the text, and meant to stay silent on
ordinary text, articles about prompt injection and marking schemes included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from judge_service.flags import Flag
from judge_service.injection import patterns as shapes
from judge_service.injection import places
from judge_service.injection.code_spans import Span, code_spans
from judge_service.injection.phrases import commands, orders, speaks_rot13
from judge_service.injection.talk import Surroundings
from judge_service.injection.views import View, rot13, tag_payload, views

# A text that "discusses" more commands than this is not a discussion.
_MAX_DISCUSSED = 200
_REMEMBERED_CHARS = 8_000


def detect(text: str) -> tuple[Flag, ...]:
    """Return a flag ``injection`` for each kind of attempt found in ``text``, once each.

    ``text`` is read as it is, as it is drawn (invisible characters gone, look-alike letters made
    Latin) and as it decodes (base64, base32, hexadecimal, rot13, URL and HTML escapes, character
    codes, tag characters). The detail names the kind and the reading, never the text.
    """
    return _remembered(text) if len(text) <= _REMEMBERED_CHARS else _detected(text)


def _detected(text: str) -> tuple[Flag, ...]:
    found: dict[str, str] = {}
    for kind, where in _findings(text):
        found.setdefault(kind, where)
    return tuple(Flag("injection", f"{kind}; found in {where}") for kind, where in found.items())


# The same candidate comes again: with a request that is repeated, and in each group it is part of.
_remembered = lru_cache(maxsize=512)(_detected)


def _findings(text: str) -> Iterator[tuple[str, str]]:
    if tag_payload(text):
        yield "spells something in invisible characters", "the text"
    for view in views(text):
        code = code_spans(view.text, unclosed=False)
        for kind in _shapes(view.text, code):
            yield kind, view.name
        for kind in _said(view.text, code):
            yield kind, view.name
        for kind in _hidden_orders(view.text, code):
            yield kind, view.name
        if view.decoded and orders(view.text):
            yield "hides an order to the judge in an encoding", view.name
        yield from _turned(view)


def _turned(view: View) -> Iterator[tuple[str, str]]:
    if speaks_rot13(view.text):
        turned = rot13(view.text)
        if orders(turned):
            yield "hides an order to the judge in an encoding", "rot13"


def _shapes(text: str, code: Sequence[Span]) -> Iterator[str]:
    if shapes.envelope(text):
        yield "imitates the judge's data blocks"
    if shapes.forged_verdict(text, code):
        yield "imitates a verdict"
    if shapes.prompt_end(text):
        yield "imitates the end of the text to judge"
    if shapes.control_tokens(text, code):
        yield "holds control tokens of a chat template"
    if shapes.null_model(text):
        yield "closes and reopens the structure around it"


def _said(text: str, code: Sequence[Span]) -> Iterator[str]:
    """Commands that are said, not quoted in a discussion."""
    surroundings = Surroundings(text, code)
    said: set[str] = set()
    budget = _MAX_DISCUSSED
    for command in commands(text):
        if command.kind in said:
            continue
        start, end = command.start, command.end
        if budget > 0 and (
            surroundings.discussed(start, end)
            or (command.about_score and surroundings.marking_scheme(start, end))
        ):
            budget -= 1
        else:
            said.add(command.kind)
            yield command.kind


def _hidden_orders(text: str, code: Sequence[Span]) -> Iterator[str]:
    for kind, part in (
        ("hides an order to the judge in markup", places.hidden_parts(text)),
        ("speaks in another role", places.behind_roles(text)),
        ("addresses the judge", places.behind_addresses(text)),
        ("closes a block and gives an order", places.behind_closers(text, code)),
        ("gives an order behind a control token", places.behind_control_tokens(text)),
    ):
        if part and orders(part):
            yield kind
