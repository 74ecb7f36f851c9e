"""Exit codes, and the errors that end a command with a readable line."""

from __future__ import annotations

OK = 0
WRONG = 1
"""The caller's or the operator's mistake, or a service that cannot be reached."""
USAGE = 2
"""Unknown options, missing or contradictory arguments."""
NO_VERDICT = 3
"""Asked properly, but at least one outcome is ``failed``."""
INTERRUPTED = 130

CODES = (
    "Exit codes: 0 an outcome (or all of them) with status success, 1 a mistake in input or "
    "configuration or an unreachable service, 2 wrong usage, 3 no verdict (at least one outcome is "
    "failed), 130 interrupted. drift, probe and watch say with 2 and 3 what they found, and with 1 "
    "that they were used wrongly; see their help."
)


class UserError(Exception):
    """Something the user can put right. The message is shown as it is, one line per fault."""


class UsageError(UserError):
    """The command line itself cannot be right: ends with ``USAGE``, whatever the texts are."""
