"""Strict JSON: what Python's decoder takes and JSON does not have is refused, and so are a key that
stands twice, for one of its values would be lost, and numbers that are no finite float.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

MAX_SHOWN = 80
"""How much of a key is repeated, in characters."""


class Refused(ValueError):
    """What is JSON by its grammar at most."""


def decode(text: str) -> Any:
    """The value that a text is. Raises ValueError, Refused among others."""
    try:
        return json.loads(
            text, object_pairs_hook=unique, parse_constant=no_constant, parse_float=finite
        )
    except RecursionError:
        raise Refused("nested too deeply") from None


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these pairs. Raises Refused where two have one key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(k for k, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise Refused(f"the key {twice[:MAX_SHOWN]!r} stands twice in one object")
    return found


def no_constant(word: str) -> Any:
    """Raises Refused: for NaN, Infinity and -Infinity."""
    raise Refused(f"{word} is not a JSON number")


def finite(digits: str) -> float:
    """The number. Raises Refused for one beyond all floats."""
    number = float(digits)
    if not math.isfinite(number):
        raise Refused(f"{digits[:40]} is too large a number")
    return number
