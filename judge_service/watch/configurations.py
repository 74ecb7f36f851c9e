"""The configurations that a provider says it answered with: told, counted, and no alarm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from judge_service.watch.baseline import number_of

MAX_KEPT = 8
"""Configurations that are remembered of a judge, those that were seen last."""
MAX_CHARS = 256


def plain_name(said: str) -> str:
    """A name that a provider has sent, as it may be kept and shown: bounded, without characters
    that cannot be printed. Two that differ in nothing else are one.
    """
    name = said[:MAX_CHARS]
    return name if name.isprintable() else "".join(c if c.isprintable() else "?" for c in name)


@dataclass(slots=True)
class _Seen:
    replies: int
    first_at: float
    last_at: float


@dataclass(slots=True)
class Configurations:
    """Of one judge: the latest ones, and how often another one came."""

    changes: int = 0
    _said: str = ""
    _last: _Seen | None = None
    _seen: dict[str, _Seen] = field(default_factory=dict)

    def add(self, said: str, at: float) -> bool:
        """A reply came from this one; whether it is one that was not seen before, the first one of
        all apart.
        """
        if said == self._said and self._last is not None:
            self._last.replies += 1
            self._last.last_at = at
            return False
        self._said, name = said, plain_name(said)
        found = self._seen.pop(name, None)
        new = found is None
        changed = new and bool(self._seen)
        if found is None:
            found = _Seen(0, at, at)
        found.replies += 1
        found.last_at = at
        self._seen[name] = self._last = found  # the latest one stands last
        if len(self._seen) > MAX_KEPT:
            del self._seen[next(iter(self._seen))]
        self.changes += changed
        return changed

    def wire(self, told: Callable[[float], str]) -> dict[str, Any]:
        """JSON, the latest first; ``told`` writes a time."""
        return {
            "fingerprints": [
                {
                    "fingerprint": name, "replies": seen.replies,
                    "first_at": told(seen.first_at), "last_at": told(seen.last_at),
                }
                for name, seen in reversed(self._seen.items())
            ],
            "fingerprint_changes": self.changes,
        }  # fmt: skip

    def state(self) -> list[Any]:
        """What ``restore`` takes, as JSON."""
        seen = [[n, one.replies, one.first_at, one.last_at] for n, one in self._seen.items()]
        return [self.changes, seen]

    def restore(self, state: Any) -> None:
        """Go on where another process has stopped. Raises ValueError or TypeError."""
        changes, seen = state
        self.changes = int(changes)
        self._seen = {
            str(name): _Seen(int(replies), number_of(first_at), number_of(last_at))
            for name, replies, first_at, last_at in seen[:MAX_KEPT]
        }
