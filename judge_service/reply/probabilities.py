"""From the log probabilities of a reply's tokens to the chances of each value that was offered.

A provider that is asked for them tells, for every token of a reply, how likely it was and what the
likeliest others were. Where the verdict's value stands, these others are the verdicts that the
judge nearly gave. The value is followed token by token as it was written: another token counts for
the one offered value that it spells together with what stands before it, and for none where it
leaves the value open (``1`` where ``10`` is offered, too) or spells something else. What it does
not count for is not covered.

Nothing is believed unseen. Tokens that do not spell the reply, log probabilities that are missing,
no number, not finite or above 0, and chances that add up to more than 1 give nothing at all.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from judge_service.reply.reply import ChoiceForm, Reading, ReplyForm, ScoreForm

LEAST_LOGPROB = -1e6
"""Some providers write such a number for what cannot be; less than that is no logarithm."""
ROUNDING = 1e-3
"""Printed probabilities may add up to so much more than 1."""
_LEAD_CHARS = 16
"""How much of the reply before the value has to be spelled by the tokens, too."""


def option_probabilities(
    tokens: Sequence[object], content: str, reading: Reading, form: ReplyForm
) -> dict[str, tuple[float, ...]]:
    """The probability of every value offered, in the order of ``form``, by name of the value.

    ``tokens`` are as the provider gave them (OpenAI's ``logprobs.content``), ``content`` is the
    reply that ``reading`` was read from. Names without anything to go by are left out. The sum may
    be below 1: the rest is what was not covered. Linear in the length of the reply.
    """
    offered = offered_by_name(form)
    if set(reading.spans) != set(offered):
        return {}
    spelled = _Spelled.of(tokens, content, min(start for start, _ in reading.spans.values()))
    if spelled is None:
        return {}
    found = {}
    for name, options in offered.items():
        given = reading.value[name] if isinstance(reading.value, Mapping) else reading.value
        chances = _chances(spelled, reading.spans[name][0], options, str(given))
        if chances is not None:
            found[name] = chances
    return found


def offered_by_name(form: ReplyForm) -> dict[str, tuple[str, ...]]:
    """What is offered for each value of a reply, as it is spelled."""
    if isinstance(form, ScoreForm):
        return {"score": tuple(map(str, form.allowed))}
    if isinstance(form, ChoiceForm):
        return {"choice": form.allowed}
    return {name: tuple(map(str, points)) for name, points in form.allowed}


class _Likely(NamedTuple):
    """One token that could have stood at a place, and its probability."""

    data: bytes
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spelled:
    """The tokens of a reply, and the place in their bytes where the reply's ``origin`` stands."""

    tokens: Sequence[object]
    data: Sequence[bytes]
    ends: Sequence[int]
    content: str
    origin: int
    at: int

    @classmethod
    def of(cls, tokens: Sequence[object], content: str, origin: int) -> _Spelled | None:
        """None where the tokens do not spell the reply from a little before ``origin`` to its end.

        What stands further ahead may differ: thinking that is no part of the content, characters
        cut in two by the tokens.
        """
        data = [_bytes_of(token) for token in tokens]
        known = [one for one in data if one is not None]
        if not data or len(known) < len(data):
            return None
        whole = b"".join(known)
        at = whole.rfind(_encoded(content[origin:]).rstrip())
        lead = _encoded(content[max(0, origin - _LEAD_CHARS) : origin])
        if at < 0 or not whole[:at].endswith(lead):
            return None
        ends = list(accumulate(map(len, known)))
        return cls(tokens=tokens, data=known, ends=ends, content=content, origin=origin, at=at)

    def place(self, char: int) -> tuple[int, bytes]:
        """The token that writes a character of the reply, and what it writes before that."""
        byte = self.at + len(_encoded(self.content[self.origin : char]))
        number = bisect_right(self.ends, byte)
        begin = self.ends[number] - len(self.data[number])
        return number, self.data[number][: byte - begin]


def _chances(
    spelled: _Spelled, start: int, options: Sequence[str], given: str
) -> tuple[float, ...] | None:
    """The probability of each option for the value that begins at ``start``; None where the tokens
    tell none, or not that ``given`` was chosen.
    """
    text, ends = spelled.content, ",}"
    if text[start] == '"':
        start += 1
        ends = '"'
        while text[start].isspace():
            start += 1
    speller = _Speller([_encoded(option) for option in options], _encoded(ends + " \t\r\n"))
    number, before = spelled.place(start)
    chances = [0.0] * len(options)
    written, way = b"", 1.0
    while number < len(spelled.tokens):
        likely = _likely(spelled.tokens[number], spelled.data[number])
        if likely is None:
            return None
        for one in likely[1:]:
            if not one.data.startswith(before):
                continue
            other = speller.option(written + one.data.removeprefix(before))
            if other is not None:
                chances[other] += way * one.chance
        written += likely[0].data.removeprefix(before)
        way *= likely[0].chance
        chosen = speller.option(written)
        if chosen is not None:
            chances[chosen] += way
            return tuple(chances) if options[chosen] == given else None
        if not speller.is_open(written):
            return None
        number, before = number + 1, b""
    return None


@dataclass(frozen=True, slots=True)
class _Speller:
    """The options as they are written, and the bytes that may follow one."""

    options: Sequence[bytes]
    ends: bytes

    def option(self, written: bytes) -> int | None:
        """The option that ``written`` is, and that no more tokens can change; else None."""
        for number, option in enumerate(self.options):
            longer = any(o.startswith(option) and o != option for o in self.options)
            if written == option and not longer:
                return number
            if written.startswith(option) and written[len(option) :][:1] in self._each_end():
                return number
        return None

    def is_open(self, written: bytes) -> bool:
        """Whether ``written`` begins an option, or is one that could still become another."""
        return any(option.startswith(written) for option in self.options)

    def _each_end(self) -> set[bytes]:
        return {bytes((end,)) for end in self.ends}


def _likely(token: object, data: bytes) -> list[_Likely] | None:
    """The token itself and what could have stood there, None where that makes no distribution."""
    if not isinstance(token, Mapping):
        return None
    own, others = _chance(token.get("logprob")), token.get("top_logprobs")
    if own is None or not isinstance(others, list) or not others:
        return None
    found = [_Likely(data, own)]
    for other in others:
        written = _bytes_of(other)
        chance = _chance(other.get("logprob")) if isinstance(other, Mapping) else None
        if written is None or chance is None:
            return None
        if written != data:
            found.append(_Likely(written, chance))
    return found if sum(one.chance for one in found) <= 1.0 + ROUNDING else None


def _chance(logprob: object) -> float | None:
    """The probability, where this is the logarithm of one. NaN compares as false to everything."""
    if isinstance(logprob, bool) or not isinstance(logprob, (int, float)):
        return None
    return math.exp(logprob) if LEAST_LOGPROB <= logprob <= 0 else None


def _bytes_of(token: object) -> bytes | None:
    """What a token writes: its bytes where they are given, else its text."""
    if not isinstance(token, Mapping):
        return None
    data, text = token.get("bytes"), token.get("token")
    if isinstance(data, list) and data:
        try:
            return bytes(data)
        except (TypeError, ValueError):
            return None
    return _encoded(text) if isinstance(text, str) else None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
