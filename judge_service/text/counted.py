"""Numbers of things in words: ``1 pair``, ``2 pairs``."""

from __future__ import annotations


def count_of(n: int, one: str, many: str | None = None) -> str:
    """``n`` and what there are so many of; ``many`` where that is not ``one`` with an s."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
