"""Wrong usage in one line: what the parser of options found, said as the rest is said."""

from __future__ import annotations

import re

import typer

ParserError: type[Exception] = typer.BadParameter.__mro__[2]
"""Every mistake that the parser finds. Typer keeps the class to itself; these are its heirs."""

_MISSING = re.compile(r"Missing (?:argument|option|parameter) ?'(?P<what>[^']*)'.*", re.DOTALL)
_INVALID = re.compile(r"Invalid value for (?P<what>'.*?'(?: / '.*?')*): (?P<why>.*)", re.DOTALL)
_PLAIN = (
    (re.compile(r"^(Input|String) should be "), "must be "),
    (re.compile(r"^String should have "), "must have "),
    (re.compile(r"^List should have (at \w+ \d+) items? after validation, not (\d+)$"),
     r"needs \1, not \2"),
    (re.compile(r"(a valid \w+), unable to parse .*"), r"\1"),
    (re.compile(r"greater than or equal to"), "at least"),
    (re.compile(r"less than or equal to"), "at most"),
)  # fmt: skip
_OPENINGS = ("Value error, ", "Invalid value: ")


def in_one_line(error: Exception) -> str:
    """The mistake in one line: the flag as it is written, then what is wrong with it."""
    said = error.format_message() if hasattr(error, "format_message") else str(error)
    if missing := _MISSING.fullmatch(said):
        return f"missing: {missing['what']}"
    what = ""
    if invalid := _INVALID.fullmatch(said):
        what, said = invalid["what"].replace("'", "") + ": ", invalid["why"]
    for opening in _OPENINGS:
        said = said.removeprefix(opening)
    return what + plainly(" ".join(said.split()).rstrip("."))


def plainly(message: str) -> str:
    """What a check of a value says, in words that are not the checker's."""
    for pattern, words in _PLAIN:
        message = pattern.sub(words, message)
    return message


def shows_help(error: Exception) -> bool:
    """Whether the help was printed in place of a message: a group without a command."""
    return type(error).__name__ == "NoArgsIsHelpError"
