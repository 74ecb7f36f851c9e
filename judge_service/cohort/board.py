"""Where the members of a cohort leave their candidates, and where its outcome is posted.

A board belongs to one group name and what all members have in common, so that many contents may be
open under one name; its generations are numbered from 1. All of it lies in the store, signed, so
that any replica can finish what another one began. Every step can be repeated without harm, and
is, for a while, when the store does not answer; then StoreLost is raised.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from judge_service.cohort.entries import (
    Arrival,
    Began,
    Closed,
    Entry,
    Generation,
    Left,
    Mark,
    closed_json,
    closed_of,
)
from judge_service.cohort.insist import insist
from judge_service.storage.signed import Signer
from judge_service.storage.store import Store

WINDOW = 8
"""How many generations, counted back from the newest, a member may belong to."""
SERIALS_S = 86_400.0
"""How long the serial numbers of a group name go on counting."""


class Board:
    """A board in ``store``, of the group that ``scope`` names and the content whose hash is
    ``common``. What is written there lives ``ttl_s``.

    What cannot change is read once: when a generation began and how it was closed.
    """

    def __init__(
        self, store: Store, signer: Signer, scope: Sequence[str], common: str, *, ttl_s: float
    ) -> None:
        self.store = store
        self._signer = signer
        self._ttl_s = ttl_s
        self._serials = f"jg:2:{_digest(scope)}:serial"
        self.name = f"jg:2:{_digest((*scope, common))}"
        self.newest = 0
        self._began: dict[int, Began] = {}
        self._closed: dict[int, Closed] = {}

    async def look(self) -> list[Generation]:
        """The last generations, oldest first, in one round trip, or in two where there are more
        than were known. Raises StoreLost.
        """
        last = self.newest + 1
        (newest,) = await self._refresh(range(last - WINDOW, last + 1), "newest")
        told = 0 if newest is None else newest["number"]
        if told > last:
            await self._refresh(range(max(last + 1, told - WINDOW + 1), told + 2))
        self.newest = max((self.newest, told, *self._began))
        numbers = range(max(1, self.newest - WINDOW + 1), self.newest + 1)
        self._began = {n: one for n, one in self._began.items() if n in numbers}
        self._closed = {n: one for n, one in self._closed.items() if n in numbers}
        return [
            Generation(number=n, began=self._began.get(n), closed=self._closed.get(n))
            for n in numbers
        ]

    async def begin(self, number: int, closes_at: float | None, now: float) -> Began | None:
        """Begin a generation; None where somebody else did. Raises StoreLost."""
        add = partial(self.store.add, self._serials, 1, SERIALS_S)
        began = Began(serial=await insist(add), closes_at=closes_at, at=now)
        if not await self._put_new(f"{number}:began", asdict(began)):
            return None
        self._began[number] = began
        await self._put("newest", {"number": number})
        return began

    async def renew(self, number: int, began: Began) -> None:
        """Let a generation live on that has waited for long. Raises StoreLost."""
        self._began[number] = began
        await self._put(f"{number}:began", asdict(began))
        await self._put("newest", {"number": self.newest})

    async def arrive(
        self, number: int, entry: Entry, size: int, candidate: Mapping[str, Any]
    ) -> Arrival:
        """Leave a candidate in a generation. Raises StoreLost."""
        short = short_of(entry.name)
        name = f"{number}:member:{short}"
        value = {"entry": entry, "candidate": candidate}
        if not await self._put_new(name, value):
            (there,) = await self._read(name)
            other = there is None or there["entry"][1] != entry.own
            # A held member that left frees its name as well.
            if other and (not entry.caller or short in await self.places(number)):
                return "taken"
            if there is None or there["entry"] != list(entry):
                await self._put(name, value)
        hold = partial(self.store.hold, self._key(f"{number}:places"), short, size, self._ttl_s)
        return "there" if await insist(hold) else "full"

    async def places(self, number: int) -> list[str]:
        """The short names of the members in a generation. Raises StoreLost."""
        return await insist(lambda: self.store.holders(self._key(f"{number}:places")))

    async def free(self, number: int, short: str) -> None:
        """Give a member's place back. What it left stays: it may just have been counted."""
        await self.store.drop(self._key(f"{number}:places"), short)

    async def present(self, number: int, shorts: Sequence[str]) -> dict[str, Left]:
        """What the members at these places left, but for those whose callers have gone since.
        Raises StoreLost.
        """
        names = [f"{number}:{kind}:{short}" for kind in ("member", "mark") for short in shorts]
        found = await self._read(*names)
        members: dict[str, Left] = {}
        for short, member, mark in zip(
            shorts, found[: len(shorts)], found[len(shorts) :], strict=True
        ):
            if member is not None:
                entry = Entry(*member["entry"])
                if mark is None or mark != _mark("gone", entry):
                    members[short] = Left(entry, member["candidate"])
        return members

    async def candidates(
        self, number: int, entries: Iterable[Entry]
    ) -> list[Mapping[str, Any] | None]:
        """What members left, None where it is lost. Raises StoreLost."""
        members = list(entries)
        found = await self._read(*(f"{number}:member:{short_of(one.name)}" for one in members))
        return [
            there["candidate"] if there is not None and there["entry"][1] == one.own else None
            for one, there in zip(members, found, strict=True)
        ]

    async def close(self, number: int, closed: Closed) -> Closed:
        """Say who belongs to a generation; what was said first holds. Raises StoreLost."""
        if not await self._put_new(f"{number}:closed", closed_json(closed)):
            await self._refresh([number])
            return self._closed.get(number, closed)
        self._closed[number] = closed
        return closed

    @property
    def serial(self) -> int:
        """What callers are told of the newest generation."""
        began = self._began.get(self.newest)
        return 1 if began is None else began.serial

    def known(self, number: int) -> Closed | None:
        """How a generation was closed, as far as it is known here."""
        return self._closed.get(number)

    async def closed(self, number: int) -> Closed | None:
        """How a generation was closed, None while it is not. Raises StoreLost."""
        await self._refresh([number])
        return self._closed.get(number)

    async def posted(
        self, waiting: Iterable[int]
    ) -> dict[int, tuple[Closed | None, Mapping[str, Any] | None]]:
        """How generations were closed and their outcomes, in one round trip. Raises StoreLost."""
        numbers = list(waiting)
        outcomes = await self._refresh(numbers, *(f"{number}:posted" for number in numbers))
        return {
            number: (self._closed.get(number), self._of(number, outcome))
            for number, outcome in zip(numbers, outcomes, strict=True)
        }

    async def post(
        self,
        number: int,
        closed: Closed,
        outcome: Mapping[str, Any],
        ttl_s: float | None = None,
    ) -> None:
        """Post the outcome of a generation that was ``closed``. Raises StoreLost.

        A store that was emptied meanwhile numbers generations anew. So the outcome says who was
        judged, and that they belong together is said again if they are waiting once more.
        """
        await self._put(f"{number}:posted", {**outcome, "of": _members(closed)}, ttl_s)
        if await self._read(f"{number}:closed") == [None]:
            there = await self.present(number, await self.places(number))
            if all(closed.find(one.entry.name) == one.entry for one in there.values()):
                await self.close(number, closed)

    async def tried(self, number: int) -> int:
        """Count one more try to judge a generation; how many there were. Raises StoreLost."""
        key = self._key(f"{number}:tries")
        return await insist(lambda: self.store.add(key, 1, self._ttl_s))

    async def mark(self, number: int, entry: Entry, mark: Mark, ttl_s: float | None = None) -> None:
        """Say what became of a member that left. Raises StoreLost."""
        name = f"{number}:mark:{short_of(entry.name)}"
        await self._put(name, _mark(mark, entry), ttl_s)

    async def mark_gone(self, number: int, entry: Entry, ttl_s: float) -> None:
        """Say that a member's caller was lost, unless another one has come back for its answer and
        has it: a slow store may take the two in either order. Raises StoreLost.
        """
        name = f"{number}:mark:{short_of(entry.name)}"
        if await self._put_new(name, _mark("gone", entry), ttl_s):
            return
        (there,) = await self._read(name)
        if there is None or there["mark"] == "gone" or there["by"] == entry.caller:
            await self._put(name, _mark("gone", entry), ttl_s)

    async def marks(self, number: int, entries: Sequence[Entry]) -> list[Mark | None]:
        """What became of members that left. Raises StoreLost."""
        found = await self._read(*(f"{number}:mark:{short_of(one.name)}" for one in entries))
        return [None if one is None else one["mark"] for one in found]

    async def claim(self, number: int, entry: Entry, caller: str, ttl_s: float) -> bool:
        """Take the part of a member whose caller was lost, or keep it. Raises StoreLost."""
        key = self._key(f"{number}:claim:{short_of(entry.name)}")
        return await insist(lambda: self.store.hold(key, caller, 1, ttl_s))

    async def unclaim(self, number: int, entry: Entry) -> None:
        """Give it back."""
        key = self._key(f"{number}:claim:{short_of(entry.name)}")
        await self.store.drop(key, entry.caller)

    async def lease(self, name: str, owner: str, ttl_s: float) -> bool:
        """Take or keep a task of which there is one. A store that cannot say stops nobody."""
        return await self.store.hold(self._key(name), owner, 1, ttl_s) is not False

    async def release(self, name: str, owner: str) -> None:
        """Give it back."""
        await self.store.drop(self._key(name), owner)

    async def _refresh(self, numbers: Iterable[int], *more: str) -> list[dict[str, Any] | None]:
        """Read what is not known of generations; gives what stands under ``more``."""
        unknown = [n for n in numbers if n > 0 and n not in self._closed]
        fresh = [n for n in unknown if n not in self._began]
        names = [f"{n}:closed" for n in unknown] + [f"{n}:began" for n in fresh]
        found = dict(zip([*names, *more], await self._read(*names, *more), strict=True))
        for number in unknown:
            if (closed := found[f"{number}:closed"]) is not None:
                self._closed[number] = closed_of(closed)
        for number in fresh:
            if (began := found[f"{number}:began"]) is not None:
                self._began[number] = Began(**began)
        return [found[name] for name in more]

    async def _read(self, *names: str) -> list[dict[str, Any] | None]:
        keys = [self._key(name) for name in names]
        found = await insist(lambda: self.store.find(*keys)) if keys else {}
        bodies = [self._signer.check(key, found[key]) if key in found else None for key in keys]
        return [None if body is None else dict(json.loads(body)) for body in bodies]

    async def _put(self, name: str, value: Mapping[str, Any], ttl_s: float | None = None) -> None:
        key = self._key(name)
        body = self._signed(key, value)

        async def put() -> bool | None:
            return await self.store.put(key, body, ttl_s or self._ttl_s) or None

        await insist(put)

    async def _put_new(
        self, name: str, value: Mapping[str, Any], ttl_s: float | None = None
    ) -> bool:
        key = self._key(name)
        body = self._signed(key, value)
        return await insist(lambda: self.store.put_new(key, body, ttl_s or self._ttl_s))

    def _key(self, name: str) -> str:
        return f"{self.name}:{name}"

    def _signed(self, key: str, value: Mapping[str, Any]) -> bytes:
        body = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
        return self._signer.sign(key, body)

    def _of(self, number: int, posted: dict[str, Any] | None) -> Mapping[str, Any] | None:
        """An outcome, if it is that of those who are in the generation now."""
        closed = self._closed.get(number)
        of = None if posted is None else posted.pop("of", None)
        return posted if closed is not None and of == _members(closed) else None


def _members(closed: Closed) -> str:
    """Who was judged, and what they brought."""
    return _digest(part for one in closed.entries for part in (one.name, one.own))


def _mark(mark: Mark, entry: Entry) -> dict[str, Any]:
    return {"mark": mark, "by": entry.caller}


def short_of(name: str) -> str:
    """A member's name as part of a key."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()
