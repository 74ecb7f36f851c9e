"""What runs in a peer's own environment: judges batches with the peer's scorer, on command.

``python -P run.py SCORER BASE_URL IN_FLIGHT`` reads a line of JSON with pairs of prompt and
candidate, says that it is ready, starts at the next line, and says how many seconds it took. It
imports nothing but the standard library, uvloop and the scorer, a file of the folder ``scorers``.
A scorer's ``make`` returns either a coroutine function that judges one pair, or a function that
judges a list; the number is the point that the judge gave.
"""

from __future__ import annotations

import asyncio
import gc
import importlib.metadata
import importlib.util
import inspect
import json
import os
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop

Pairs = list[tuple[str, str]]
LOOPBACK = ("127.0.0.1", "localhost", "::1", None)


@dataclass(frozen=True)
class Asked:
    """What every scorer is told: where the judge is, how many at once, and what to judge."""

    base_url: str
    in_flight: int
    right: int
    model: str = "gpt-4o-mini"
    api_key: str = "none"
    question: str = "How good is the answer?"
    points: tuple[str, ...] = ("wrong", "mostly wrong", "half right", "mostly right", "right")


def one_by_one(judge: Callable[[str, str], Awaitable[float]], in_flight: int) -> Any:
    """Judges a list with so many callers on one event loop that stays, as do its connections."""
    runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)

    async def together(pairs: Pairs) -> list[float]:
        todo = iter(pairs)
        found: list[float] = []

        async def caller() -> None:
            for prompt, candidate in todo:
                found.append(await judge(prompt, candidate))

        await asyncio.gather(*(caller() for _ in range(in_flight)))
        return found

    return lambda pairs: runner.run(together(pairs))


def stay_here() -> None:
    """Resolve nothing but loopback: no telemetry, no download."""
    resolve = socket.getaddrinfo

    def here_only(host: Any, *rest: Any, **more: Any) -> Any:
        if (host.decode() if isinstance(host, bytes) else host) not in LOOPBACK:
            print(f"offline: {host} is not asked", file=sys.stderr)
            raise socket.gaierror(socket.EAI_NONAME, f"offline: {host}")
        return resolve(host, *rest, **more)

    socket.getaddrinfo = here_only


def load(scorer: str) -> Any:
    """The scorer's module, under a name that hides no package."""
    file = Path(__file__).with_name("scorers") / f"{scorer}.py"
    spec = importlib.util.spec_from_file_location("scorer", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["scorer"] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Serve the commands of standard input until it ends."""
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What a library prints is no answer.
    scorer, base_url, in_flight, right, package = sys.argv[1:]
    stay_here()
    asked = Asked(base_url=base_url, in_flight=int(in_flight), right=int(right))
    made = load(scorer).make(asked)
    judge = one_by_one(made, asked.in_flight) if inspect.iscoroutinefunction(made) else made

    def say(**what: object) -> None:
        said.write(json.dumps(what) + "\n")
        said.flush()

    say(version=importlib.metadata.version(package))
    for line in sys.stdin:
        pairs = [(prompt, candidate) for prompt, candidate in json.loads(line)]
        gc.collect()
        gc.freeze()
        say(ready=len(pairs))
        sys.stdin.readline()
        began = time.perf_counter()
        found = judge(pairs)
        seconds = time.perf_counter() - began
        if found != [asked.right] * len(pairs):
            raise SystemExit(f"{len(found)} verdicts, the first are {found[:3]}")
        say(seconds=seconds)


if __name__ == "__main__":
    main()
