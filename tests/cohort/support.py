"""Cohorts in this process: real ones over a store double, judged by a judge without a network."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from judge_service.asking.ask import Asker
from judge_service.asking.backend import ChatCall, ChatReply
from judge_service.cohort.cohorts import Cohorts
from judge_service.cohort.joined import Joined
from judge_service.cohort.request import JoinRequest
from judge_service.engine import Engine
from judge_service.judges.judge import Bench, JudgeSpec
from judge_service.rubric.library import load_library
from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.secret import ServiceSecret
from judge_service.types import Candidate
from judge_service.usage import Usage
from judge_service.verdicts.record import Seal
from judge_service.verdicts.source import VerdictSource
from tests.harness import write_rubric
from tests.provider.envelope_reader import read

SECRET = ServiceSecret(current=b"a secret for tests")


class PlainJudge:
    """A backend in this process: a text's score is the digit it begins with, capped at 5."""

    async def complete(self, call: ChatCall) -> ChatReply:
        """The verdict; of two texts the one with the larger digit wins."""
        envelope = read(call.user)
        texts = [text for slot, text in envelope.slots.items() if slot.startswith("candidate")]
        first, *others = (min(5, int(text[0])) for text in texts)
        value: object = max(1, first)
        if others:
            value = "candidate_1" if first > others[0] else "candidate_2"
        form = envelope.form
        reply = {"v": form.v, "reason": "", form.kind: value, "end": form.end}
        usage = Usage(upstream_requests=1)
        return ChatReply(content=json.dumps(reply), model=call.judge.id, usage=usage)

    async def context_window(self, judge: JudgeSpec) -> int | None:
        """Not known."""
        return None

    async def aclose(self) -> None:
        """Nothing to close."""


class CountingStore(MemoryStore):
    """A shared store that counts what it is asked; ``slow`` operations of a kind say nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        self.slow: Counter[str] = Counter()

    @property
    def shared(self) -> bool:
        """Others may see the same data."""
        return True

    def empty(self) -> None:
        """Lose everything."""
        self._values.clear()
        self._counts.clear()
        self._places.clear()

    async def _told(self, name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        self.asked[name] += 1
        await asyncio.sleep(0)
        if self.slow[name] > 0:
            self.slow[name] -= 1
            return None
        return await work()

    async def find(self, *keys: str) -> dict[str, bytes] | None:
        """The values that are there."""
        found: dict[str, bytes] | None = await self._told(
            "find", lambda: super(CountingStore, self).find(*keys)
        )
        return found

    async def put(self, key: str, value: bytes, ttl_s: float) -> bool:
        """Store or replace."""
        done = await self._told("put", lambda: super(CountingStore, self).put(key, value, ttl_s))
        return bool(done)

    async def put_new(self, key: str, value: bytes, ttl_s: float) -> bool | None:
        """Store unless the key exists."""
        self.asked["put_new"] += 1
        await asyncio.sleep(0)
        if key in self._values:
            return False
        return await super().put(key, value, ttl_s)

    async def add(self, key: str, amount: int, ttl_s: float) -> int | None:
        """Count."""
        count: int | None = await self._told(
            "add", lambda: super(CountingStore, self).add(key, amount, ttl_s)
        )
        return count

    async def hold(self, key: str, owner: str, limit: int, ttl_s: float) -> bool | None:
        """Take or renew a place."""
        held: bool | None = await self._told(
            "hold", lambda: super(CountingStore, self).hold(key, owner, limit, ttl_s)
        )
        return held

    async def holders(self, key: str) -> list[str] | None:
        """Who has a place."""
        owners: list[str] | None = await self._told(
            "holders", lambda: super(CountingStore, self).holders(key)
        )
        return owners


def cohorts(folder: Path, store: MemoryStore) -> Cohorts:
    """The cohorts of one replica."""
    rubrics = write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    (folder / "anchors").mkdir(exist_ok=True)
    spec = JudgeSpec(id="judge", model="openai/judge", family="alpha")
    source = VerdictSource(Asker(PlainJudge()), store, Seal(SECRET), ttl_s=60.0)
    library = load_library(rubrics, folder / "anchors")
    return Cohorts(Engine(library=library, bench=Bench((spec,)), source=source), store, SECRET)


def request(text: str, member: object, **more: Any) -> JoinRequest:
    """One member's request for a group of eight."""
    fields: dict[str, Any] = {
        "rubric": "quality", "prompt": "A question?", "group": "g", "size": 8,
        "deadline_s": 20.0, "timeout_s": 20.0, **more,
    }  # fmt: skip
    candidate = Candidate(text=text, families=frozenset({"x"}))
    return JoinRequest(candidate=candidate, member=str(member), **fields)


async def joined(place: Cohorts, wanted: JoinRequest) -> Joined:
    """What became of a member's group."""
    found = await place.join(wanted)
    assert isinstance(found, Joined)
    return found


async def turns(number: int = 100) -> None:
    """Let everybody else do something."""
    for _ in range(number):
        await asyncio.sleep(0)
