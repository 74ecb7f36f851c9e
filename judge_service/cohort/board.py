"""Where the members of a cohort leave their candidates, and where its outcome is posted.

One board belongs to one group name; its generations are numbered from 1. All of it lies in the
store, signed, so that any replica can finish what another one began. What the store cannot do just
now raises BoardLost; the caller then has a board of its own process.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from judge_service.signed import Signer
from judge_service.store import Store

REMEMBERED = 8
"""How many generations of a group a member may belong to."""
SLOT_TRIES = 10
SLOT_PAUSE_S = 0.01


Arrival = Literal["there", "taken", "full"]


class BoardLost(Exception):
    """The store cannot be reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One generation as a member finds it. ``mine`` is the hash of the candidate the member has
    there, ``common`` of what its members have in common, ``closes_at`` (wall clock, seconds) when
    it stops waiting; None where it was not begun. ``posted`` is its outcome.
    """

    number: int
    common: str | None
    closes_at: float
    arrived: int
    mine: str | None
    posted: Mapping[str, Any] | None


class Board:
    """The board of one group. ``ttl_s`` is how long what is written there lives."""

    def __init__(self, store: Store, signer: Signer, *scope: str, ttl_s: float) -> None:
        self._store = store
        self._signer = signer
        self._ttl_s = ttl_s
        digest = hashlib.sha256()
        for part in scope:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data))
            digest.update(data)
        self.name = f"jg:1:{digest.hexdigest()}"

    async def current(self) -> int:
        """The number of the newest generation, at least 1. Raises BoardLost."""
        # Counting nothing tells a store that is gone from one that holds nothing.
        if await self._store.add(f"{self.name}:alive", 0, self._ttl_s) is None:
            raise BoardLost
        found = await self._read("newest")
        number = 1 if found is None else found["number"]
        return number if isinstance(number, int) and number > 0 else 1

    async def look(self, number: int, member: str) -> Generation:
        """One generation, as ``member`` finds it."""
        began, mine, posted, arrived = await asyncio.gather(
            self._read(f"{number}:began"),
            self._read(f"{number}:member:{_short(member)}"),
            self._read(f"{number}:posted"),
            self._store.add(f"{self.name}:{number}:arrived", 0, self._ttl_s),
        )
        if arrived is None:
            raise BoardLost
        return Generation(
            number=number,
            common=None if began is None else began["common"],
            closes_at=0.0 if began is None else began["closes_at"],
            arrived=arrived,
            mine=None if mine is None else mine["hash"],
            posted=posted,
        )

    async def begin(self, number: int, common: str, closes_at: float) -> None:
        """Begin a generation unless it has begun, and make it the newest. Raises BoardLost."""
        key = f"{self.name}:{number}:began"
        body = self._signed(key, {"common": common, "closes_at": closes_at})
        if await self._store.put_new(key, body, self._ttl_s) is None:
            raise BoardLost
        newest = f"{self.name}:newest"
        await self._store.put(newest, self._signed(newest, {"number": number}), self._ttl_s)

    async def arrive(
        self, number: int, member: str, size: int, hash_: str, candidate: Mapping[str, Any]
    ) -> Arrival:
        """Leave a candidate in a generation. ``taken`` says that the same member is there already,
        perhaps with another candidate. Raises BoardLost.
        """
        key = f"{self.name}:{number}:member:{_short(member)}"
        body = self._signed(key, {"member": member, "hash": hash_, "candidate": candidate})
        new = await self._store.put_new(key, body, self._ttl_s)
        if new is None:
            raise BoardLost
        if not new:
            return "taken"
        place = await self._store.add(f"{self.name}:{number}:arrived", 1, self._ttl_s)
        if place is None:
            raise BoardLost
        if place > size:
            await self._store.delete(key)
            return "full"
        slot = f"{self.name}:{number}:slot:{place}"
        await self._store.put(slot, self._signed(slot, {"member": member}), self._ttl_s)
        return "there"

    async def members(self, number: int, size: int) -> dict[str, Mapping[str, Any]]:
        """The candidates in a generation, by member, in no order that means anything."""
        arrived = await self._store.add(f"{self.name}:{number}:arrived", 0, self._ttl_s) or 0
        found: dict[str, Mapping[str, Any]] = {}
        for place in range(1, min(arrived, size) + 1):
            slot = await self._soon(f"{number}:slot:{place}")
            if slot is None:
                continue
            record = await self._read(f"{number}:member:{_short(slot['member'])}")
            if record is not None:
                found[record["member"]] = record["candidate"]
        return found

    async def post(self, number: int, outcome: Mapping[str, Any], ttl_s: float) -> None:
        """Post the outcome of a generation."""
        key = f"{self.name}:{number}:posted"
        await self._store.put(key, self._signed(key, outcome), ttl_s)

    async def posted(self, number: int) -> Mapping[str, Any] | None:
        """The outcome of a generation, if there is one."""
        return await self._read(f"{number}:posted")

    async def arrived(self, number: int) -> int | None:
        """How many members have arrived; None when the store cannot say."""
        return await self._store.add(f"{self.name}:{number}:arrived", 0, self._ttl_s)

    async def lead(self, number: int, owner: str, ttl_s: float) -> bool:
        """Take or keep the lead of a generation. A store that cannot say does not stop anybody."""
        return await self._store.hold(f"{self.name}:{number}:lead", owner, 1, ttl_s) is not False

    async def leave(self, number: int, owner: str) -> None:
        """Give the lead back."""
        await self._store.drop(f"{self.name}:{number}:lead", owner)

    async def _soon(self, name: str) -> Mapping[str, Any] | None:
        """What somebody is just writing."""
        for _ in range(SLOT_TRIES):
            found = await self._read(name)
            if found is not None:
                return found
            await asyncio.sleep(SLOT_PAUSE_S)
        return None

    async def _read(self, name: str) -> dict[str, Any] | None:
        key = f"{self.name}:{name}"
        data = await self._store.get(key)
        body = None if data is None else self._signer.check(key, data)
        return None if body is None else dict(json.loads(body))

    def _signed(self, key: str, value: Mapping[str, Any]) -> bytes:
        body = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
        return self._signer.sign(key, body)


def _short(member: str) -> str:
    return hashlib.sha256(member.encode("utf-8", "surrogatepass")).hexdigest()[:32]
