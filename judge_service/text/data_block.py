r"""Data blocks: untrusted text in a form that cannot be mistaken for anything but data.

    <<JS-DATA nonce=0f3c… slot=candidate>>
    | first line
    | second line
    <<JS-END nonce=0f3c…>>

The text is escaped (``escape``), then every line of it gets the prefix ``| ``. The empty text is
one line that holds only the prefix (a newline is two of them), so the text is read back by removing
the prefixes, joining by newlines and undoing the escape.

Messages become one text: each is ``[role]`` on a line of its own and then what it says. What a
message carries besides follows the same pattern, ``[name: bob]`` and ``[tool_call_id: 7]`` before
the text, ``[tool_call: search]`` and ``[id: 7]`` before the arguments of each call after it. In a
block, a line of content that looks like one of these has its first ``[`` escaped too, and so have
brackets and line breaks inside of a role or a name: a real one cannot be imitated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from judge_service.text.escape import encode, escape_character
from judge_service.types import Message

_SLOT = re.compile(r"[a-z]+(?:_[1-9][0-9]*)?")
_NONCE = re.compile(r"[0-9a-f]{32}")

_ROLES = (
    "system|developer|user|assistant|tool|function|model|human|ai|bot|name|id"
    "|tool_call|tool_calls|tool_call_id"
)
# On escaped text. Either all of the line is one bracket, or it begins with one that holds a role.
# Blank letters and variation selectors, which stay as written, may stand in front.
_BLANK = r"[^\S\n]|[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0\ufe00-\ufe0f]"
_HEADER_LIKE = re.compile(
    rf"^(?P<before>(?:{_BLANK})*+)\["
    rf"(?=[^\[\]\n]*+\](?:{_BLANK})*+$|(?:{_BLANK})*+(?:{_ROLES})(?!\w))",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER_MARKS = re.compile(r"[\[\]\n]")

Part: TypeAlias = tuple[bool, str]
"""Whether the part is a line of ours in brackets (its inside is given), and its text."""


def render_block(slot: str, text: str, nonce: str) -> str:
    """The block of one text, without a newline at the end.

    ``slot`` is a lower-case word, perhaps numbered (``candidate_2``); ``nonce`` 32 hex digits.
    Raises ValueError for any other.
    """
    return _frame(slot, encode(text), nonce)


def render_messages_block(slot: str, messages: Sequence[Message], nonce: str) -> str:
    """The block of several messages; it reads back as ``render_messages(messages)``."""
    return _frame(slot, encode_messages(messages), nonce)


def encode_messages(messages: Sequence[Message]) -> str:
    """``render_messages``, escaped so that no content can pass for a message or a call."""
    return "\n".join(
        f"[{_encode_header(text)}]" if header else _encode_content(text)
        for message in messages
        for header, text in parts_of(message)
    )


def render_messages(messages: Sequence[Message]) -> str:
    """The plain text of a conversation, as a judge that undoes the escapes reads it.

    For counting and matching only: content can imitate a role line here, in a block it cannot.
    """
    return _plain(part for message in messages for part in parts_of(message))


def render_message(message: Message) -> str:
    """The plain text of one message without its role line."""
    parts = parts_of(message)
    next(parts)
    return _plain(parts)


def parts_of(message: Message) -> Iterator[Part]:
    """What one message consists of, in the order shown; its role comes first."""
    yield True, message.role
    if message.name is not None:
        yield True, f"name: {message.name}"
    if message.tool_call_id is not None:
        yield True, f"tool_call_id: {message.tool_call_id}"
    if message.text:
        yield False, message.text
    for call in message.tool_calls:
        yield True, f"tool_call: {call.name}"
        if call.id is not None:
            yield True, f"id: {call.id}"
        if call.arguments:
            yield False, call.arguments


def _plain(parts: Iterator[Part]) -> str:
    return "\n".join(f"[{text}]" if header else text for header, text in parts)


def _encode_header(text: str) -> str:
    encoded = encode(text)
    if not encode(f"[{text}]").startswith("["):
        # In brackets this role would be a control token, such as [INST].
        encoded = escape_character(text[0]) + encode(text[1:])
    return _HEADER_MARKS.sub(lambda match: escape_character(match[0]), encoded)


def _encode_content(text: str) -> str:
    return _HEADER_LIKE.sub(lambda match: match["before"] + escape_character("["), encode(text))


def _frame(slot: str, encoded: str, nonce: str) -> str:
    if not _SLOT.fullmatch(slot):
        raise ValueError(f"not a slot name: {slot!r}")
    if not _NONCE.fullmatch(nonce):
        raise ValueError("a nonce has 32 lower-case hex digits")
    lines = encoded.replace("\n", "\n| ")
    return f"<<JS-DATA nonce={nonce} slot={slot}>>\n| {lines}\n<<JS-END nonce={nonce}>>"
