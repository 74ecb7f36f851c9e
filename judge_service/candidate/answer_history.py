"""Answers that come back whatever is asked: a policy that has found one text for every prompt."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

MIN_CHARS = 40
"""Shorter answers ("42", "Yes.") are right for many prompts."""
PROMPTS = 5
"""From so many different prompts on, an answer is a constant one."""
WINDOW = 20_000
"""How many different answers are remembered, the latest ones."""


class Sighting(NamedTuple):
    """An answer and the prompt it was given to, as hashes."""

    answer: bytes
    prompt: bytes


def sighting(rubric: str, prompt: str, answer: str) -> Sighting | None:
    """What is remembered of an answer; None for one that is too short to say anything."""
    if len(answer) < MIN_CHARS:
        return None
    return Sighting(_hash(f"{rubric}\n{answer}"), _hash(prompt))


@dataclass(slots=True)
class AnswerHistory:
    """To which prompts each recent answer was given, by rubric; only hashes are kept."""

    _prompts: OrderedDict[bytes, set[bytes]] = field(default_factory=OrderedDict)

    def is_constant(self, seen: Sighting | None) -> bool:
        """Note an answer; whether it was given to ``PROMPTS`` different prompts by now."""
        if seen is None:
            return False
        prompts = self._prompts.pop(seen.answer, set())
        self._prompts[seen.answer] = prompts
        if len(prompts) < PROMPTS:
            prompts.add(seen.prompt)
        if len(self._prompts) > WINDOW:
            self._prompts.popitem(last=False)
        return len(prompts) >= PROMPTS


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
