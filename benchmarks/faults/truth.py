"""What is right and what goes wrong, decided by a seed alone.

Both sides draw from the same plan: the upstream process to answer, the checker to know the right
verdict of every request. Nothing here knows the service.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

POINTS = (1, 2, 3, 4, 5)
MIX = {
    "hang": 4,
    "error": 4,
    "rate_limited": 4,
    "reset": 2,
    "truncated": 2,
    "malformed": 2,
    "wrong_model": 2,
}
"""The share of each fault, relative to each other."""


def draw(*parts: object) -> float:
    """A number in [0, 1) that depends on the parts alone."""
    digest = hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(digest, "big") / 2**56


def point(seed: int, model: str, prompt: str, candidate: str) -> int:
    """The right verdict of one model on one candidate."""
    return POINTS[int(draw(seed, "point", model, prompt, candidate) * len(POINTS))]


def wrong_point(right: int) -> int:
    """Another point of the scale: what a faulty reply carries, so that believing it shows."""
    return POINTS[POINTS.index(right) - 2]


def reward(right: int) -> float:
    """The reward of a point where nothing but this criterion counts."""
    return POINTS.index(right) / (len(POINTS) - 1)


def choice(seed: int, model: str, prompt: str, first: str, second: str) -> str:
    """The right verdict on a pair, whichever is shown first: first, second or tie."""
    ours, theirs = point(seed, model, prompt, first), point(seed, model, prompt, second)
    return "tie" if ours == theirs else "first" if ours > theirs else "second"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which attempts fail. ``faults`` is their share, ``only`` the one fault there is."""

    seed: int = 0
    faults: float = 0.0
    only: str | None = None

    def fault(self, question: str, attempt: int) -> str | None:
        """The fault that attempt (from 1 on) of a question meets, if any."""
        at = draw(self.seed, "fault", question, attempt)
        if at >= self.faults:
            return None
        if self.only is not None:
            return self.only
        left = at / self.faults * sum(MIX.values())
        for name, share in MIX.items():
            left -= share
            if left < 0:
                return name
        return None
