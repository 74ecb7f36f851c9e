"""Answers that come back whatever is asked: a policy that has found one text for every prompt."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

from judge_service.candidate.identity import Identity

MIN_CHARS = 40
"""Shorter answers ("42", "Yes.") are right for many prompts."""
PROMPTS = 5
"""From so many different prompts on, an answer is a constant one."""
WINDOW = 20_000
"""How many different answers are remembered, the latest ones."""


class Sighting(NamedTuple):
    """An answer and the prompt it was given to, as hashes, the answer's with its rubric's id."""

    answer: bytes
    prompt: bytes


def sighting(rubric: str, prompt: bytes, answer: Identity) -> Sighting | None:
    """What is remembered of an answer to the prompt with that hash; None for one that is too short
    to say anything.
    """
    if answer.chars < MIN_CHARS:
        return None
    return Sighting(answer.key + rubric.encode(), prompt)


@dataclass(slots=True)
class AnswerHistory:
    """To which prompts each recent answer was given, by rubric; only hashes are kept."""

    _prompts: OrderedDict[bytes, set[bytes]] = field(default_factory=OrderedDict)

    def note(self, seen: Sighting | None) -> bool:
        """Remember an answer (None is nothing to remember). Returns whether it was given to
        ``PROMPTS`` different prompts by now.
        """
        if seen is None:
            return False
        prompts = self._prompts.pop(seen.answer, set())
        self._prompts[seen.answer] = prompts
        if len(prompts) < PROMPTS:
            prompts.add(seen.prompt)
        if len(self._prompts) > WINDOW:
            self._prompts.popitem(last=False)
        return len(prompts) >= PROMPTS
