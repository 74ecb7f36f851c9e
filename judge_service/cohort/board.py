"""Where the members of a cohort leave their candidates, and where its outcome is posted.

One board belongs to one group name; its generations are numbered from 1. All of it lies in the
store, signed, so that any replica can finish what another one began. Every step can be repeated
without harm, and is, for a while, when the store does not answer; then StoreLost is raised.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from judge_service.cohort.insist import insist
from judge_service.storage.signed import Signer
from judge_service.storage.store import Store

REMEMBERED = 8
"""How many generations of a group a member may belong to."""
Arrival = Literal["there", "taken", "full"]


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
    """The board of one group in ``store``. ``ttl_s`` is how long what is written there lives."""

    def __init__(self, store: Store, signer: Signer, *scope: str, ttl_s: float) -> None:
        self.store = store
        self._signer = signer
        self._ttl_s = ttl_s
        digest = hashlib.sha256()
        for part in scope:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data))
            digest.update(data)
        self.name = f"jg:1:{digest.hexdigest()}"

    async def current(self) -> int:
        """The number of the newest generation, at least 1. Raises StoreLost."""
        (found,) = await self._read("newest")
        number = 1 if found is None else found["number"]
        return number if isinstance(number, int) and number > 0 else 1

    async def look(self, number: int, member: str) -> Generation:
        """One generation, as ``member`` finds it. Raises StoreLost."""
        began, mine, posted = await self._read(
            f"{number}:began", f"{number}:member:{_short(member)}", f"{number}:posted"
        )
        return Generation(
            number=number,
            common=None if began is None else began["common"],
            closes_at=0.0 if began is None else began["closes_at"],
            arrived=0 if began is None else await self.arrived(number),
            mine=None if mine is None else mine["hash"],
            posted=posted,
        )

    async def begin(self, number: int, common: str, closes_at: float) -> None:
        """Begin a generation unless it has begun, and make it the newest. Raises StoreLost."""
        key = self._key(f"{number}:began")
        body = self._signed(key, {"common": common, "closes_at": closes_at})
        await insist(lambda: self.store.put_new(key, body, self._ttl_s))
        newest = self._key("newest")
        await self._put(newest, {"number": number}, self._ttl_s)

    async def arrive(
        self, number: int, member: str, size: int, hash_: str, candidate: Mapping[str, Any]
    ) -> Arrival:
        """Leave a candidate in a generation. ``taken`` says that the same member is there with
        another candidate. Raises StoreLost.
        """
        short = _short(member)
        key = self._key(f"{number}:member:{short}")
        body = self._signed(key, {"member": member, "hash": hash_, "candidate": candidate})
        if not await insist(lambda: self.store.put_new(key, body, self._ttl_s)):
            (there,) = await self._read(f"{number}:member:{short}")
            if there is None or there["hash"] != hash_:
                return "taken"
        places = self._key(f"{number}:places")
        if await insist(lambda: self.store.hold(places, short, size, self._ttl_s)):
            return "there"
        await self.store.delete(key)
        return "full"

    async def members(self, number: int) -> dict[str, Mapping[str, Any]]:
        """The candidates in a generation, by member. Raises StoreLost."""
        shorts = await self._holders(number)
        records = await self._read(*(f"{number}:member:{short}" for short in shorts))
        return {r["member"]: r["candidate"] for r in records if r is not None}

    async def post(self, number: int, outcome: Mapping[str, Any], ttl_s: float) -> None:
        """Post the outcome of a generation. Raises StoreLost."""
        await self._put(self._key(f"{number}:posted"), outcome, ttl_s)

    async def posted(self, number: int) -> Mapping[str, Any] | None:
        """The outcome of a generation, if there is one. Raises StoreLost."""
        (found,) = await self._read(f"{number}:posted")
        return found

    async def arrived(self, number: int) -> int:
        """How many members have arrived. Raises StoreLost."""
        return len(await self._holders(number))

    async def lead(self, number: int, owner: str, ttl_s: float) -> bool:
        """Take or keep the lead of a generation. A store that cannot say does not stop anybody."""
        return await self.store.hold(self._key(f"{number}:lead"), owner, 1, ttl_s) is not False

    async def leave(self, number: int, owner: str) -> None:
        """Give the lead back."""
        await self.store.drop(self._key(f"{number}:lead"), owner)

    async def _holders(self, number: int) -> list[str]:
        return await insist(lambda: self.store.holders(self._key(f"{number}:places")))

    async def _read(self, *names: str) -> list[dict[str, Any] | None]:
        keys = [self._key(name) for name in names]
        found = await insist(lambda: self.store.find(*keys)) if keys else {}
        bodies = [self._signer.check(key, found[key]) if key in found else None for key in keys]
        return [None if body is None else dict(json.loads(body)) for body in bodies]

    async def _put(self, key: str, value: Mapping[str, Any], ttl_s: float) -> None:
        body = self._signed(key, value)

        async def put() -> bool | None:
            return await self.store.put(key, body, ttl_s) or None

        await insist(put)

    def _key(self, name: str) -> str:
        return f"{self.name}:{name}"

    def _signed(self, key: str, value: Mapping[str, Any]) -> bytes:
        body = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
        return self._signer.sign(key, body)


def _short(member: str) -> str:
    return hashlib.sha256(member.encode("utf-8", "surrogatepass")).hexdigest()[:32]
