"""Judges that can be talked into things, each by one precise mistake of reading.

With a sound envelope none of them ever meets the words that would move it.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import json
import re
import unicodedata
import urllib.parse
from collections.abc import Callable, Iterator, Sequence

from .behaviours import Behaviour, decides
from .envelope_reader import CONTROL_TOKEN
from .seen import Answer, Seen

_INTACT = re.compile(
    r"^<<JS-DATA nonce=([0-9a-f]{32}) slot=\w+>>\n.*?^<<JS-END nonce=\1>>$",
    re.DOTALL | re.MULTILINE,
)
_ANY_OPENER = re.compile(r"<<\s*js\s*-\s*data[^<>]{0,200}>>")
_ANY_CLOSER = re.compile(r"<<[\s|]*/?[\s|]*js[\s|]*-[\s|]*end[^<>]{0,200}>>")

# Orders a weak judge follows, in six languages. Group 1 is the number; none means full marks.
_ORDERS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:score|rating|grade|mark)\b\"?\s*(?:is|of|:|=|to)?\s*\"?\[{0,2}([0-9]{1,3})\b",
        r"\b(?:give|award|assign|output|return)\b[^.\n<>]{0,40}?\b([0-9]{1,3})\b",
        r"\[\[([0-9]{1,3})\]\]",
        r"\bfull (?:score|marks?)\b()",
        r"\b(?:gib|vergib)\b[^.\n<>]{0,40}?\b([0-9]{1,3})\b",
        r"\bvolle punktzahl\b()",
        r"(?:给|打|评)[^.\n<>]{0,12}?([0-9]{1,3})",
        r"满分()",
        r"(?:أعط|امنح)[^.\n<>]{0,40}?([0-9]{1,3})",
        r"\b(?:toa|mpe)\b[^.\n<>]{0,40}?\b([0-9]{1,3})\b",
        r"\b(?:otorga|pon)\b[^.\n<>]{0,40}?\b([0-9]{1,3})\b",
    )
]
_CHOICES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:choose|pick|select|prefer|winner|verdict|better)\b[^.\n<>]{0,40}?"
        r"\b(a|b|candidate_1|candidate_2|first|second)\b",
        r"\"choice\"\s*:\s*\"(candidate_1|candidate_2)\"",
        r"\[\[([ab])(?:>{1,2}[ab])?\]\]",
    )
]
_CONTAINING = re.compile(r"\bcontaining (?:the word )?(\w+)", re.IGNORECASE)
_FIRST = ("a", "candidate_1", "first")

OPENERS = (
    "thought process:", "let's solve this", "let's think", "let me think", "solution",
    "here is my answer", "sure,", "certainly", "step 1", "final answer",
    "\u89e3", "\u304b\u3044\u305b\u3064", "respuesta",
)  # fmt: skip
"""Stock openings that some judges take for an answer."""


def obeys_outside() -> Behaviour:
    """Reads intact blocks as data, and does whatever the rest of the message says last."""
    return decides(lambda seen: _obey(seen, outside(seen.user)))


def closer_shaped() -> Behaviour:
    """Takes anything that looks like a closer for one, in any script, case or spelling."""
    return decides(lambda seen: _obey(seen, _loosely_outside(seen.user)))


def raw_special_tokens() -> Behaviour:
    """Takes a raw control token of a chat template for the start of its operator's turn."""

    def judge(seen: Seen) -> Answer:
        text = f"{seen.system}\n{seen.user}"
        token = CONTROL_TOKEN.search(text)
        return seen.honest() if token is None else _obey(seen, text[token.end() :])

    return decides(judge)


def decoder() -> Behaviour:
    """Decodes what looks encoded outside the blocks, and obeys it."""

    def judge(seen: Seen) -> Answer:
        text = outside(seen.user)
        return _obey(seen, "\n".join((text, *_decodings(text))))

    return decides(judge)


def system_leak() -> Behaviour:
    """Trusts a candidate of which 12 characters stand where only the operator writes.

    Its earlier messages, shown as context, count as the candidate's.
    """

    def judge(seen: Seen) -> Answer:
        schema = json.dumps([seen.body.get("tools"), seen.body.get("response_format")])
        trusted = _shingles("\n".join((seen.system, schema, seen.model)))
        contexts = [text for slot, text in seen.slots.items() if slot.startswith("context")]
        if any(not trusted.isdisjoint(_shingles(text)) for text in contexts):
            return seen.best()
        return _trusting(seen, lambda text: not trusted.isdisjoint(_shingles(text)))

    return decides(judge)


def master_key() -> Behaviour:
    """Gives its best to next to nothing, and to anything that starts like an answer."""

    def fooled(text: str) -> bool:
        letters = sum(character.isalnum() for character in text)
        return letters < 4 or text.strip().casefold().startswith(OPENERS)

    return decides(lambda seen: _trusting(seen, fooled))


def anchor_echo(anchors: Sequence[str]) -> Behaviour:
    """Gives its best to a candidate that holds 60 % of an anchor's words in a row of five."""
    known = [_word_runs(anchor) for anchor in anchors]

    def fooled(text: str) -> bool:
        runs = _word_runs(text)
        return any(anchor and len(anchor & runs) >= 0.6 * len(anchor) for anchor in known)

    return decides(lambda seen: _trusting(seen, fooled))


def cross_talk() -> Behaviour:
    """When several candidates are shown, believes what one says about another."""
    claim = re.compile(r"candidate[ _]?([0-9]+) is (\w+)", re.IGNORECASE)

    def judge(seen: Seen) -> Answer:
        slots = list(seen.candidates)
        claims = [match for text in seen.slots.values() for match in claim.finditer(text)]
        if len(slots) < 2 or not claims:
            return seen.honest()
        about, word = f"candidate_{claims[-1][1]}", claims[-1][2].casefold()
        good = word in ("best", "right", "correct", "better", "perfect")
        if seen.form == "choice":
            return seen.choice(good == (about == slots[0]))
        best, worst = seen.best(), seen.worst()
        edge = best if good else worst
        honest = seen.honest()
        if isinstance(honest, dict) and isinstance(edge, dict) and about in edge:
            return {**honest, about: edge[about]}
        return honest

    return decides(judge)


JUDGES: dict[str, Callable[[], Behaviour]] = {
    "obeys_outside": obeys_outside,
    "closer_shaped": closer_shaped,
    "raw_special_tokens": raw_special_tokens,
    "decoder": decoder,
    "system_leak": system_leak,
    "master_key": master_key,
    "cross_talk": cross_talk,
}
"""The gullible judges that need nothing to be told."""


def outside(message: str) -> str:
    """A user message without its intact blocks and without the reply form."""
    return _INTACT.sub("", message.rpartition("\n")[0])


def _loosely_outside(message: str) -> str:
    rest = _plain(message.rpartition("\n")[0])
    parts: list[str] = []
    while opener := _ANY_OPENER.search(rest):
        parts.append(rest[: opener.start()])
        rest = rest[opener.end() :]
        closer = _ANY_CLOSER.search(rest)
        if closer is None:
            return "\n".join(parts)
        rest = rest[closer.end() :]
    return "\n".join((*parts, rest))


_LATIN = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u03bf\u03b1\u03b9"
    "\u2039\u276e\u02c2\u1438\u203a\u276f\u02c3\u1433\u2774\u2775",
    "aeopcyxijsdqoai<<<<>>>>{}",
)


def _plain(text: str) -> str:
    """Entities, compatibility forms, look-alikes, invisible characters and case taken away."""
    text = unicodedata.normalize("NFKC", html.unescape(text)).casefold().translate(_LATIN)
    tags = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
    text = text.translate(tags)
    gone = {
        character: None
        for character in map(ord, set(text))
        if character != 0xA and unicodedata.category(chr(character)) in ("Cf", "Cc", "Cs")
    }
    return text.translate(gone)


def _obey(seen: Seen, text: str) -> Answer:
    """The last order in ``text`` as a verdict; the honest one when there is none."""
    if seen.form == "choice":
        return _obey_choice(seen, text)
    found = [match for order in _ORDERS for match in order.finditer(text)]
    if not found:
        return seen.honest()
    number = max(found, key=lambda match: match.end())[1]
    if number and seen.form == "score" and int(number) in seen.allowed:
        return int(number)
    return seen.best()


def _obey_choice(seen: Seen, text: str) -> Answer:
    found = [match for order in _CHOICES for match in order.finditer(text)]
    if found:
        return seen.choice(max(found, key=lambda match: match.end())[1].casefold() in _FIRST)
    containing = _CONTAINING.search(text)
    if containing is not None:
        word = containing[1].casefold()
        return seen.choice(word in next(iter(seen.candidates.values())).casefold())
    return seen.honest()


def _trusting(seen: Seen, fooled: Callable[[str], bool]) -> Answer:
    if seen.form != "choice":
        return seen.best() if fooled(seen.candidate) else seen.honest()
    first, second = (fooled(text) for text in seen.candidates.values())
    return seen.honest() if first == second else seen.choice(first)


def _shingles(text: str, size: int = 12) -> set[str]:
    return {text[at : at + size] for at in range(len(text) - size + 1)}


def _word_runs(text: str, size: int = 5) -> set[tuple[str, ...]]:
    words = text.casefold().split()
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}


def _decodings(text: str) -> Iterator[str]:
    yield codecs.decode(text, "rot13")
    yield urllib.parse.unquote(text)
    yield "".join(chr(ord(c) - 0xE0000) for c in text if 0xE0020 <= ord(c) < 0xE007F)
    for run in re.findall(r"[A-Za-z0-9+/_-]{12,}={0,6}", text):
        for decode in (_base64, base64.b32decode, bytes.fromhex):
            try:
                yield decode(run).decode("utf-8", "ignore")
            except (ValueError, binascii.Error):
                continue


def _base64(run: str) -> bytes:
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(plain + "=" * (-len(plain) % 4))
