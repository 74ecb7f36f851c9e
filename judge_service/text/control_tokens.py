"""The table of chat-template control tokens that data never shows raw.

A template turns these strings into special tokens of a model: the end of a turn, a role, a thought,
a tool call. In a data block their first character is escaped, whatever their case, with spaces
inside, with a slash, with attributes or cut short. The envelope's own markers are in the table too.
To extend it, add a name here; nothing else needs to change. ``#`` at the end of a name stands for
digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

ANGLE_NAMES = frozenset(
    (
        # the beginning and the end of a text or a turn
        *(
            "bos",
            "eos",
            "pad",
            "unk",
            "sep",
            "cls",
            "eot",
            "eod",
            "eom",
            "sop",
            "eop",
            "eoh",
        ),
        *(
            "eoa",
            "bos_token",
            "eos_token",
            "start_of_turn",
            "end_of_turn",
            "im_start",
            "im_end",
        ),
        *("start_of_text", "end_of_text", "startoftext", "endoftext", "begin_of_text"),
        *("start_header_id", "end_header_id", "start_of_image", "end_of_image"),
        *("image_soft_token", "begin_of_sentence", "end_of_sentence"),
        # roles
        *(
            "system",
            "assistant",
            "user",
            "human",
            "developer",
            "tool",
            "bot",
            "ai",
            "model",
        ),
        *("function", "ipython", "observation"),
        # thoughts
        *(
            "think",
            "thinking",
            "thought",
            "thoughts",
            "reasoning",
            "reflection",
            "scratchpad",
        ),
        # tools
        *(
            "tools",
            "tool_call",
            "tool_calls",
            "tool_response",
            "tool_responses",
            "tool_result",
        ),
        *(
            "tool_results",
            "tool_output",
            "function_call",
            "function_calls",
            "function_response",
        ),
        *("function_results", "invoke", "parameter", "available_tools"),
        # filling in the middle, reserved tokens
        *("fim_prefix", "fim_middle", "fim_suffix", "fim_pad", "extra_id_#", "unused#"),
        *("unused_#", "reserved_#", "special_#", "ctrl#", "tokens_unused_#", "mask:#"),
        # the envelope's own
        *("js-data", "js-end"),
    )
)
"""Written ``<name>``, ``</name>``, ``<name attribute>``, ``<name``. So is ``<s>``, but since
``i<s`` is code, it counts only when it is closed."""

ANGLE_NAMESPACES = ("seed:", "minimax:", "antml:")
"""Vendors whose tokens are ``<vendor:anything>``."""

SQUARE_NAMES = frozenset(
    (
        *("inst", "sys", "bos", "eos", "system_prompt", "model_settings", "available_tools"),
        *("tool_calls", "tool_results", "tool_content", "call_id", "think", "gmask", "smask"),
        *("control_#",),
    )
)
"""Written ``[NAME]`` or ``[/NAME]``."""

UPPER_SQUARE_NAMES = frozenset(
    ("ARGS", "IMG", "IMG_BREAK", "IMG_END", "AUDIO", "BEGIN_AUDIO", "PREFIX", "MIDDLE", "SUFFIX")
)
"""The same, but in capitals only: in small letters they are indices and markdown, ``![img](a)``."""

SHAPES = (
    # any name: <|name|>, also cut short; <name|>; [|name|]
    r"<\|",
    r"<\s++\|[^|<>\n]{1,64}\|\s*+>",
    r"<[^\s<>|]{1,64}\|>",
    r"\[\s*+\|[^|\[\]\n]{1,64}\|\s*+\]",
    # single bytes, and tokens that are like no others
    r"<0x[0-9a-f]{2}>",
    r"<\[(?:begin|end)",
    r"\]~!?b[\[\]]",
    r"\[e~\[",
    r"◁/?think▷",
)
"""Tokens known by their shape, as regular expressions."""

_SHAPE = re.compile("|".join(SHAPES), re.IGNORECASE)
_ANGLE = re.compile(
    r"<[/\\!?]*+(?P<spaced>\s[\s/\\!?]*+)?+(?P<name>[a-z][\w.:\-]*+)", re.IGNORECASE
)
_SQUARE = re.compile(r"\[\s*+/?+\s*+(?P<name>[a-z]\w*+)\s*+\]", re.IGNORECASE)
_CLOSE = re.compile(r"\s*+(?:[/|]?+\s*+>|=[^<>]{0,200}>|[\w\-]++\s*+=[^<>]{0,200}>)")


def find(text: str) -> Iterator[int]:
    """Indices of the first characters of all control tokens in ``text``; in linear time."""
    for match in _SHAPE.finditer(text):
        yield match.start()
    for match in _ANGLE.finditer(text):
        name = _numberless(match["name"])
        if name in ANGLE_NAMES or name.startswith(ANGLE_NAMESPACES):
            # "i < user" is code, "<user" is a tag that may have been cut short.
            if not match["spaced"] or _CLOSE.match(text, match.end()):
                yield match.start()
        elif name == "s" and _CLOSE.match(text, match.end()):
            yield match.start()
    for match in _SQUARE.finditer(text):
        if match["name"] in UPPER_SQUARE_NAMES or _numberless(match["name"]) in SQUARE_NAMES:
            yield match.start()


def _numberless(name: str) -> str:
    name = name.lower().rstrip(".:-")
    return f"{bare}#" if (bare := name.rstrip("0123456789")) != name else name
