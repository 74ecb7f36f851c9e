"""A provider in a process of its own: fast, seeded, faulty, and with a memory of everything.

``python -m benchmarks.faults.upstream`` listens on a free port of loopback, says where in one line
of JSON, and ends when its standard input does. ``GET /stats`` tells what happened,
``POST /control`` changes what happens next.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import struct
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, cast

import uvloop

from benchmarks.faults.replies import Sent, reply
from benchmarks.faults.truth import Plan, choice, point
from tests.provider.envelope_reader import EnvelopeError, read

MAX_REQUEST = 8 * 1024 * 1024
FAR_AWAY_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One chat request: which question it is, and what is right for it."""

    tag: str
    question: str
    model: str
    right: int | str
    v: str
    end: str


@dataclass(slots=True, kw_only=True)
class Conduct:
    """How the provider behaves at present. ``latency_s`` is what an answer takes."""

    plan: Plan = field(default_factory=Plan)
    latency_s: float = 0.005
    retry_after_s: int = 1


@dataclass(slots=True)
class Memory:
    """What happened since the last reset."""

    calls: int = 0
    replies: Counter[str] = field(default_factory=Counter)
    attempts: Counter[str] = field(default_factory=Counter)
    good: Counter[str] = field(default_factory=Counter)
    good_at: dict[str, float] = field(default_factory=dict)
    twice: list[tuple[str, float]] = field(default_factory=list)
    begun: int = 0
    hung_up: list[tuple[str, float]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    def answered(self, asked: Asked) -> None:
        """Count a good answer; note how long after the one before it came, if there was one."""
        now = time.monotonic()
        self.good[asked.question] += 1
        if asked.question in self.good_at:
            self.twice.append((asked.tag, now - self.good_at[asked.question]))
        self.good_at[asked.question] = now

    def summary(self, connections: int) -> dict[str, Any]:
        """The same as JSON. Times are those of the monotonic clock, which processes share."""
        return {
            "calls": self.calls,
            "replies": dict(self.replies),
            "questions": len(self.attempts),
            "most_attempts": max(self.attempts.values(), default=0),
            "good": sum(self.good.values()),
            "good_twice": sum(n - 1 for n in self.good.values()),
            "twice": self.twice[-200:],
            "begun": self.begun,
            "hung_up": self.hung_up,
            "unreadable": self.unreadable[:5],
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
            "connections": connections,
        }


class Provider:
    """All connections, the conduct and the memory of one provider."""

    def __init__(self) -> None:
        self.conduct = Conduct()
        self.memory = Memory()
        self.connections: set[Connection] = set()

    def control(self, body: dict[str, Any]) -> None:
        """Change the conduct; ``reset`` forgets what happened (calls in flight stay)."""
        if body.get("reset"):
            self.memory = Memory(in_flight=self.memory.in_flight)
        plan = {k: body[k] for k in ("seed", "faults", "only") if k in body}
        self.conduct.plan = replace(self.conduct.plan, **plan)
        self.conduct.latency_s = body.get("latency_s", self.conduct.latency_s)
        self.conduct.retry_after_s = body.get("retry_after_s", self.conduct.retry_after_s)

    def asked(self, body: dict[str, Any]) -> Asked:
        """Read a chat request as its public description says. Raises EnvelopeError."""
        user = body["messages"][-1]["content"]
        envelope = read(user)
        slots, model = envelope.slots, body["model"]
        prompt = slots.get("prompt", "")
        right: int | str
        if envelope.form.kind == "choice":
            won = choice(
                self.conduct.plan.seed, model, prompt, slots["candidate_1"], slots["candidate_2"]
            )
            right = {"first": "candidate_1", "second": "candidate_2"}.get(won, won)
        else:
            right = point(self.conduct.plan.seed, model, prompt, slots["candidate"])
        tag = slots.get("candidate", slots.get("candidate_1", ""))
        return Asked(
            tag=tag,
            question=_digest([model, body["messages"][0]["content"], slots]),
            model=model,
            right=right,
            v=envelope.form.v,
            end=envelope.form.end,
        )


def _digest(parts: list[object]) -> str:
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


class Connection(asyncio.Protocol):
    """One HTTP/1.1 connection; one request at a time."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._pending: Asked | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember it."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance
        self._provider.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note whether an answer was still owed."""
        self._provider.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._pending is not None:
            self._provider.memory.hung_up.append((self._pending.tag, time.monotonic()))
            self._over()

    def data_received(self, data: bytes) -> None:
        """Take requests out of what has come."""
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0 or len(self._buffer) > MAX_REQUEST:
            return
        head = bytes(self._buffer[:end]).decode("latin-1").lower()
        _, _, rest = head.partition("\r\ncontent-length:")
        length = int(rest.split("\r\n", 1)[0] or "0")
        if len(self._buffer) < end + 4 + length:
            return
        body = bytes(self._buffer[end + 4 : end + 4 + length])
        del self._buffer[: end + 4 + length]
        self._request(head.split("\r\n", 1)[0].split(" ")[1], body)

    def _request(self, path: str, body: bytes) -> None:
        provider = self._provider
        if path == "/stats":
            self._send(Sent.json(200, provider.memory.summary(len(provider.connections))))
        elif path == "/control":
            provider.control(json.loads(body))
            self._send(Sent.json(200, {}))
        else:
            self._chat(json.loads(body))

    def _chat(self, body: dict[str, Any]) -> None:
        provider, memory = self._provider, self._provider.memory
        memory.calls += 1
        try:
            asked = provider.asked(body)
        except (EnvelopeError, KeyError, TypeError, IndexError) as error:
            memory.unreadable.append(repr(error)[:300])
            self._send(Sent.json(500, {"error": {"message": "unreadable envelope"}}))
            return
        memory.attempts[asked.question] += 1
        memory.begun += 1
        memory.in_flight += 1
        memory.most_in_flight = max(memory.most_in_flight, memory.in_flight)
        self._pending = asked
        fault = provider.conduct.plan.fault(asked.question, memory.attempts[asked.question])
        memory.replies[fault or "good"] += 1
        wait = FAR_AWAY_S if fault == "hang" else provider.conduct.latency_s
        self._timer = asyncio.get_running_loop().call_later(wait, self._answer, asked, fault)

    def _answer(self, asked: Asked, fault: str | None) -> None:
        self._over()
        provider = self._provider
        if fault is None:
            provider.memory.answered(asked)
        number = provider.memory.attempts[asked.question]
        self._send(reply(asked, fault, number=number, retry_after_s=provider.conduct.retry_after_s))

    def _over(self) -> None:
        self._pending = None
        self._provider.memory.in_flight -= 1

    def _send(self, sent: Sent) -> None:
        assert self._transport is not None
        if self._transport.is_closing():
            return
        self._transport.write(sent.data)
        if sent.then == "close":
            self._transport.close()
        elif sent.then == "reset":
            asyncio.get_running_loop().call_later(0.01, self._reset)

    def _reset(self) -> None:
        assert self._transport is not None
        raw = self._transport.get_extra_info("socket")
        if raw is not None and not self._transport.is_closing():
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()


async def serve() -> None:
    """Listen until standard input ends."""
    loop = asyncio.get_running_loop()
    provider = Provider()
    server = await loop.create_server(
        lambda: Connection(provider), "127.0.0.1", 0, backlog=2048, reuse_address=True
    )
    port = server.sockets[0].getsockname()[1]
    print(json.dumps({"port": port}), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    uvloop.run(serve())
