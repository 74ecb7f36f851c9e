"""Reads what a judge is sent, from its public description alone.

This is a second implementation on purpose: it shares no code with the service, so a mistake made
there cannot be made here in the same way. It refuses whatever the description does not allow.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

FormKind = Literal["score", "choice", "scores"]

_OPENER = re.compile(r"<<JS-DATA nonce=([0-9a-f]{32}) slot=([a-z]+(?:_[1-9][0-9]*)?)>>")
_CLOSER = re.compile(r"<<JS-END nonce=([0-9a-f]{32})>>")
_SLOT = re.compile(r"prompt|reference|(?:context|candidate)(?:_[1-9][0-9]*)?")
_ESCAPE = re.compile(r"\\u\{([0-9A-Fa-f]{1,6})\}")
_FORM = re.compile(
    r"Reply with exactly one JSON object and nothing else: "
    r'\{"v":"([0-9a-f]{16})","reason":"<[^"<>]{1,80}>",(.+),"end":"([0-9a-f]{16})"\}'
)
_FIELD = re.compile(r'("(?:[^"\\]|\\.)*"):<one of ([^<>]+)>')

CONTROL_TOKEN = re.compile(
    r"<\|[^\s<>|]{1,64}\|>|\[/?INST\]|<</?SYS>>"
    r"|</?(?:s|bos|eos|start_of_turn|end_of_turn|think|thinking|system|assistant|user|human"
    r"|developer|tool)>",
    re.IGNORECASE,
)
"""The chat-template control tokens that the description names; none may be shown raw."""

_ASCII_SHAPES = frozenset("<>&[]{}|")
# A few characters of the Unicode confusables table that no normal form maps to < > { }.
_LOOKALIKES = frozenset(
    "\u2039\u203a\u276e\u276f\u02c2\u02c3\u1438\u1433\u2774\u2775\U0001d236\U0001d237"
)


class EnvelopeError(ValueError):
    """The request is not by the public description of the envelope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyForm:
    """What the last line asks for.

    ``allowed`` holds the values of a score (integers) or of a choice (strings), in the order
    offered; with ``scores`` it is empty and ``fields`` holds the integers offered for each key.
    """

    v: str
    end: str
    kind: FormKind
    allowed: tuple[int | str, ...]
    fields: dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One user message, taken apart.

    ``slots`` are the decoded texts in the order shown, ``shown`` the same fields still escaped,
    ``outside`` every line that belongs neither to a block nor to the reply form.
    """

    nonce: str
    slots: dict[str, str]
    shown: dict[str, str]
    form: ReplyForm
    outside: str


def read(message: str) -> Envelope:
    """Take a user message apart.

    Raises:
        EnvelopeError: anything in it is not by the description.
    """
    lines = message.split("\n")
    form = read_form(lines.pop())
    nonces: set[str] = set()
    shown: dict[str, str] = {}
    outside: list[str] = []
    rows = iter(lines)
    for row in rows:
        opener = _OPENER.fullmatch(row)
        if opener is None:
            _check_outside(row)
            outside.append(row)
            continue
        nonce, slot = opener.groups()
        nonces.add(nonce)
        if slot in shown or _SLOT.fullmatch(slot) is None:
            raise EnvelopeError(f"slot {slot!r} is unknown or comes twice")
        data: list[str] = []
        for line in rows:
            if line.startswith("| "):
                data.append(line[2:])
                continue
            closer = _CLOSER.fullmatch(line)
            if closer is None or closer[1] != nonce:
                raise EnvelopeError(
                    f"in block {slot!r}: neither data nor its closer: {line[:80]!r}"
                )
            break
        else:
            raise EnvelopeError(f"block {slot!r} is never closed")
        shown[slot] = "\n".join(data)
    if len(nonces) != 1:
        raise EnvelopeError(f"{len(nonces)} nonces in one message")
    slots = {slot: decode(text) for slot, text in shown.items()}
    _check_slots(slots, form)
    return Envelope(
        nonce=nonces.pop(), slots=slots, shown=shown, form=form, outside="\n".join(outside)
    )


def read_form(line: str) -> ReplyForm:
    """Read the reply form, the last line of a user message."""
    match = _FORM.fullmatch(line)
    if match is None:
        raise EnvelopeError(f"the last line is not a reply form: {line[:200]!r}")
    v, middle, end = match.groups()
    if middle.startswith('"scores":{') and middle.endswith("}"):
        fields = {key: _integers(values) for key, values in _fields(middle[10:-1])}
        return ReplyForm(v=v, end=end, kind="scores", allowed=(), fields=fields)
    (key, values), *rest = _fields(middle)
    if rest or key not in ("score", "choice"):
        raise EnvelopeError(f"the reply form asks for {middle[:120]!r}")
    allowed: tuple[int | str, ...] = _strings(values) if key == "choice" else _integers(values)
    kind: FormKind = "choice" if key == "choice" else "score"
    return ReplyForm(v=v, end=end, kind=kind, allowed=allowed, fields={})


def decode(text: str) -> str:
    r"""Undo the ``\u{HEX}`` escapes of a shown field, refusing what should have been escaped."""
    _check_escaped(text)
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    if code > 0x10FFFF or code in (0x9, 0xA):
        raise EnvelopeError(f"{match[0]} is no escape of this envelope")
    return chr(code)


def _check_outside(row: str) -> None:
    if row.startswith("| ") or "JS-DATA" in row or "JS-END" in row:
        raise EnvelopeError(f"a line of data stands outside its block: {row[:80]!r}")


def _check_slots(slots: dict[str, str], form: ReplyForm) -> None:
    candidates = [slot for slot in slots if slot.startswith("candidate")]
    if form.kind == "choice":
        right = candidates == ["candidate_1", "candidate_2"]
        right = right and set(form.allowed) <= {"candidate_1", "candidate_2", "tie"}
    elif form.kind == "scores" and candidates != ["candidate"]:
        right = list(form.fields) == candidates and len(candidates) > 1
    else:
        right = candidates == ["candidate"]
    if not right:
        raise EnvelopeError(f"a {form.kind} is asked for, but the slots are {list(slots)}")


def _check_escaped(text: str) -> None:
    if re.search(r"\\u\{(?![0-9A-Fa-f]{1,6}\})", text):
        raise EnvelopeError("a literal backslash-u-brace was left as it is")
    for raw in ("<<", ">>"):
        if raw in text:
            raise EnvelopeError(f"{raw} was left as it is")
    token = CONTROL_TOKEN.search(text)
    if token is not None:
        raise EnvelopeError(f"the control token {token[0]!r} was left as it is")
    if html.unescape(text) != text:
        raise EnvelopeError("an HTML entity was left as it is")
    for character in set(text) - {"\n", "\t"}:
        if _must_be_escaped(character):
            raise EnvelopeError(f"U+{ord(character):04X} was left as it is")


def _must_be_escaped(character: str) -> bool:
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return True
    if character.isascii():
        return False
    if character in _LOOKALIKES:
        return True
    return not _ASCII_SHAPES.isdisjoint(unicodedata.normalize("NFKD", character))


def _fields(text: str) -> list[tuple[str, str]]:
    found = list(_FIELD.finditer(text))
    if not found or ",".join(match[0] for match in found) != text:
        raise EnvelopeError(f"the reply form asks for {text[:120]!r}")
    pairs = [(str(json.loads(match[1])), match[2]) for match in found]
    if len({key for key, _ in pairs}) != len(pairs):
        raise EnvelopeError("the reply form names a key twice")
    return pairs


def _integers(values: str) -> tuple[int, ...]:
    parts = values.split(", ")
    if not all(re.fullmatch(r"-?[0-9]{1,9}", part) for part in parts):
        raise EnvelopeError(f"not a list of points: {values[:120]!r}")
    return tuple(int(part) for part in parts)


def _strings(values: str) -> tuple[str, ...]:
    parts = values.split(", ")
    if not all(re.fullmatch(r'"[a-z0-9_]+"', part) for part in parts):
        raise EnvelopeError(f"not a list of choices: {values[:120]!r}")
    return tuple(part[1:-1] for part in parts)
