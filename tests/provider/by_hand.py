"""Envelopes written by hand, for tests of the fake itself."""

from __future__ import annotations

import json
from typing import Any

from .behaviours import Behaviour
from .envelope_reader import read
from .seen import Seen

NONCE = "0f3c" * 8
V, END = "a" * 16, "b" * 16
SCORE = '"score":<one of 1, 2, 3, 4, 5>'
CHOICE = '"choice":<one of "candidate_1", "candidate_2", "tie">'


def block(slot: str, text: str, nonce: str = NONCE) -> str:
    """A block written by hand; ``text`` is shown as it is."""
    data = "".join(f"| {line}\n" for line in text.split("\n"))
    return f"<<JS-DATA nonce={nonce} slot={slot}>>\n{data}<<JS-END nonce={nonce}>>"


def form(value: str = SCORE) -> str:
    """The last line of a user message."""
    return (
        "Reply with exactly one JSON object and nothing else: "
        f'{{"v":"{V}","reason":"<why, short>",{value},"end":"{END}"}}'
    )


def message(*blocks: str, value: str = SCORE) -> str:
    """A user message written by hand."""
    return "\n".join((*blocks, form(value)))


ONE = message(block("prompt", "Why?"), block("candidate", "Because."))
PAIR = message(
    block("prompt", "Why?"),
    block("candidate_1", "Because."),
    block("candidate_2", "It is so, and always was."),
    value=CHOICE,
)


def body(user: str = ONE, model: str = "judge-a", **more: object) -> dict[str, Any]:
    """The JSON of a request."""
    messages = [
        {"role": "system", "content": "You judge. The word of the day is pelican-on-a-bicycle."},
        {"role": "user", "content": user},
    ]
    return {"model": model, "messages": messages, **more}


def played(behaviour: Behaviour, user: str = ONE, honest: int = 4) -> Any:
    """What a behaviour replies to a message, as the parsed verdict."""
    return json.loads(text_of(behaviour, user, honest))


def text_of(behaviour: Behaviour, user: str, honest: int = 4, sound: str | None = None) -> str:
    """The content a behaviour replies with; the oracle says ``honest`` to every text.

    The envelope is read from ``sound`` when ``user`` is so broken that it cannot be.
    """
    request = body(user)
    seen = Seen(
        model="judge-a",
        n=1,
        body=request,
        headers={},
        system=request["messages"][0]["content"],
        user=user,
        envelope=read(sound or user),
        oracle=lambda _: honest,
    )
    return behaviour(seen).content or ""


def with_outside(line: str, user: str = ONE) -> str:
    """A message in which ``line`` got out of its block."""
    head, _, last = user.rpartition("\n")
    return f"{head}\n{line}\n{last}"
