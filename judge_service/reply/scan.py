"""Finds the JSON objects of a reply that carry a judge's tokens.

A reply is free text: prose, code fences, thoughts, drafts, quotations of the candidate, and
somewhere the verdict. Only an object whose first key is ``v`` with the right token and whose last
key is ``end`` with the right token is *bound*; nothing a candidate wrote can be, since the tokens
are fresh for every request. Nothing is searched for by value, repaired or completed.

Time is linear in the length of the reply: objects are read only where the right ``v`` stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from judge_service.reply.objects import Number, Object, Value, read_object
from judge_service.text.confusables import is_invisible


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What a reply holds.

    ``bound`` are the bound objects in order. ``crossed``: a bound object stands inside of another
    one that is no valid JSON, so that two values claim the same tokens. ``unclosed``: thinking was
    opened after the last bound object and never closed. ``blank``: nothing is bound, and
    there is nothing but thinking.
    """

    bound: tuple[Object, ...]
    crossed: bool
    unclosed: bool
    blank: bool


_MARKS = re.compile(
    r'(?P<start>\{\s*+"v"\s*+:\s*+"(?P<v>[^"\\]{1,64}+)")'
    r'|"end"\s*+:\s*+"(?P<end>[^"\\]{1,64}+)"'
    r"|<\s*+(?P<name>think|thinking|thoughts?|reasoning|seed:think)(?:\s[^<>]{0,100}+)?>"
    r"|\[(?P<square>think)\]|◁think▷",
    re.IGNORECASE,
)


def scan(text: str, *, v: str, end: str) -> Scan:
    """Find the bound objects in ``text``, leaving out closed thinking.

    What stands in an object's own strings is text, a ``<think>`` there as much as an object.
    """
    scanner = _Scanner(text, v, end)
    position = 0
    while mark := _MARKS.search(text, position):
        if mark["start"]:
            position = scanner.opened(mark)
        elif mark["end"]:
            position = scanner.ended(mark)
        else:
            position = scanner.thought(mark)
    return Scan(
        bound=tuple(scanner.bound),
        crossed=scanner.crossed,
        unclosed=scanner.unclosed,
        blank=not scanner.bound and scanner.blank,
    )


class _Scanner:
    """What the marks of a reply have told so far.

    ``opened``, ``ended`` and ``thought`` each take one kind of mark and return where to go on.
    """

    def __init__(self, text: str, v: str, end: str) -> None:
        self.bound: list[Object] = []
        self.crossed = False
        self.unclosed = False
        self._text = text
        self._v = v
        self._end = end
        # An object with our ``v`` that is no valid JSON has begun, and no ``end`` of ours came yet.
        self._in_broken = False
        # An object was bound meanwhile: it stands inside of the broken one as soon as that ends.
        self._bound_in_broken = False
        # The text up to here is sorted: these parts of it are no thinking.
        self._sorted_to = 0
        self._outside: list[str] = []

    @property
    def blank(self) -> bool:
        """Whether there is nothing but thinking."""
        parts = (*self._outside, self._text[self._sorted_to :])
        return all(char.isspace() or is_invisible(char) for part in parts for char in part)

    def opened(self, mark: re.Match[str]) -> int:
        """An object whose first key is ``v``."""
        if mark["v"] != self._v:
            return mark.end()
        read = read_object(self._text, mark.start())
        if read is None:
            self._in_broken = True
            return mark.end()
        found, after = read
        if not _is_bound(found, self._v, self._end):
            return mark.end()
        self.bound.append(found)
        if self._in_broken:
            self._bound_in_broken = True
        for _, value in found.members:
            if not isinstance(value, (str, Number)) and _holds_bound(value, self._v, self._end):
                self.crossed = True
        return after

    def ended(self, mark: re.Match[str]) -> int:
        """The key ``end``, outside of what is bound."""
        if mark["end"] == self._end:
            self._in_broken = False
            if self._bound_in_broken:
                self.crossed = True
        return mark.end()

    def thought(self, mark: re.Match[str]) -> int:
        """Thinking begins: what it holds is passed over, all the rest where it never ends."""
        self._outside.append(self._text[self._sorted_to : mark.start()])
        closed = _closer(mark).search(self._text, mark.end())
        if closed is None:
            self.unclosed = True
            self._sorted_to = mark.start()
            return len(self._text)
        self._sorted_to = closed.end()
        return closed.end()


def _closer(opener: re.Match[str]) -> re.Pattern[str]:
    if opener["name"]:
        return re.compile(rf"<\s*+/\s*+{opener['name']}\s*+>", re.IGNORECASE)
    return re.compile(r"\[/think\]" if opener["square"] else "◁/think▷", re.IGNORECASE)


def _is_bound(found: Object, v: str, end: str) -> bool:
    members = found.members
    return len(members) > 1 and members[0] == ("v", v) and members[-1] == ("end", end)


def _holds_bound(value: Value, v: str, end: str) -> bool:
    if isinstance(value, list):
        return any(_holds_bound(item, v, end) for item in value)
    if not isinstance(value, Object):
        return False
    return _is_bound(value, v, end) or any(_holds_bound(x, v, end) for _, x in value.members)
