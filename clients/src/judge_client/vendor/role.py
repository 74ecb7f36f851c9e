"""Who speaks in a message: which word a request may have for it."""

from __future__ import annotations

import re

ROLE_PATTERN = r"[a-z_]{1,32}"
_ROLE = re.compile(ROLE_PATTERN)


def role_or_user(word: str) -> str:
    """The word where a request may have it as a role; what anybody else says is the user's."""
    return word if _ROLE.fullmatch(word) else "user"
