"""Many callers at once, and what each was answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import aiohttp
from rich.console import Console
from rich.progress import Progress

from benchmarks.faults.truth import choice, point, reward

CODES = frozenset(
    {"timeout", "deadline_exceeded", "rate_limited", "upstream_error", "upstream_auth",
     "upstream_protocol", "quota_exhausted", "context_too_long", "empty_reply", "refused",
     "content_filtered", "truncated_reply", "unparsable", "off_scale", "wrong_model",
     "no_eligible_judge", "breaker_open", "quorum_not_met", "cohort_incomplete", "inconclusive",
     "overloaded", "internal"}
)  # fmt: skip
"""Every code a failed outcome may have."""
GIVE_UP_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request. ``repeat`` says that the same was asked before; ``expect`` names an answer that
    is no verdict: ``zero`` (a hard rule) or an HTTP status.
    """

    path: str
    body: dict[str, Any] | None
    repeat: bool = False
    expect: str | int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came back; ``status`` is None where nothing did."""

    ask: Ask
    status: int | None
    body: dict[str, Any] | None
    seconds: float
    error: str | None = None


def assess(number: int | str, *, prompts: int = 500, timeout_s: float = 30.0, **more: Any) -> Ask:
    """A request about one candidate of its own."""
    group = number % prompts if isinstance(number, int) else 0
    body = {
        "rubric": "quality",
        "prompt": f"Question {group}: what is to be done?",
        "candidate": {"text": f"Answer {number}: this is what I would do.", "family": "nobody"},
        "timeout_s": timeout_s,
    }
    return Ask(path="/v1/assess", body=body, **more)


def compare(number: int, *, timeout_s: float = 30.0, **more: Any) -> Ask:
    """A request about a pair of its own."""
    pair = [{"text": f"Answer {number}-{side}: so it is.", "family": "nobody"} for side in "ab"]
    body = {"rubric": "pair", "prompt": f"Question {number % 500}?", "candidates": pair,
            "timeout_s": timeout_s}  # fmt: skip
    return Ask(path="/v1/compare", body=body, **more)


async def run(
    url: str,
    asks: Iterable[Ask],
    seen: Callable[[Answered], None],
    *,
    in_flight: int,
    total: int,
    title: str,
) -> None:
    """Send every request, ``in_flight`` at a time, and hand each answer to ``seen``."""
    todo = iter(asks)
    console = Console(stderr=True)
    timeout = aiohttp.ClientTimeout(total=GIVE_UP_S)
    connector = aiohttp.TCPConnector(limit=0)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=total)

        def counted(answered: Answered) -> None:
            progress.advance(task)
            seen(answered)

        async with aiohttp.ClientSession(url, connector=connector, timeout=timeout) as session:
            await asyncio.gather(*(_caller(session, todo, counted) for _ in range(in_flight)))


async def _caller(
    session: aiohttp.ClientSession, todo: Iterator[Ask], seen: Callable[[Answered], None]
) -> None:
    for ask in todo:
        seen(await send(session, ask))


async def send(session: aiohttp.ClientSession, ask: Ask) -> Answered:
    """One request and its answer."""
    started = time.monotonic()
    method = "GET" if ask.body is None else "POST"
    try:
        async with session.request(method, ask.path, json=ask.body) as response:
            kind = response.headers.get("content-type", "")
            body = await response.json() if kind.startswith("application/json") else None
            if body is None:
                await response.read()
            seconds = time.monotonic() - started
            return Answered(ask=ask, status=response.status, body=body, seconds=seconds)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        seconds = time.monotonic() - started
        return Answered(ask=ask, status=None, body=None, seconds=seconds, error=repr(error))


def fault_of(answered: Answered, seed: int) -> str | None:
    """What is wrong with an answer, None when it is right or an explicit failure."""
    ask, body = answered.ask, answered.body
    if isinstance(ask.expect, int):
        return None if answered.status == ask.expect else f"HTTP {answered.status}"
    if answered.status != 200 or (body is None and ask.body is not None):
        return f"no outcome: HTTP {answered.status} {answered.error or ''}"
    if ask.body is None or body is None:
        return None
    if body["status"] == "failed":
        return _failed_fault(body)
    if body["error"] is not None:
        return "a success with an error"
    if ask.expect == "zero":
        right = body["reward"] == 0.0 and body["short_circuited"] and not body["verdicts"]
        return None if right else "a broken rule did not end it"
    return _verdict_fault(ask.body, body, seed)


def _failed_fault(body: dict[str, Any]) -> str | None:
    if body.get("reward") is not None or body.get("preference") is not None:
        return f"a failure became a number: {body}"
    if body.get("outcome") is not None:
        return "a failure with an outcome"
    code = (body["error"] or {}).get("code")
    if code not in CODES or code == "internal":
        return f"failed with the code {code!r}"
    return None


def _verdict_fault(asked: dict[str, Any], body: dict[str, Any], seed: int) -> str | None:
    verdicts = body["verdicts"]
    if not verdicts:
        return "a success without a verdict"
    judge = verdicts[0]["judge"]
    if any(v["model_served"] != judge for v in verdicts):
        return f"another model's verdict: {verdicts[0]['model_served']}"
    if "candidates" in asked:
        first, second = (c["text"] for c in asked["candidates"])
        right = choice(seed, judge, asked["prompt"], first, second)
        wrong = body["outcome"] != right or not body["consistent"]
        return f"WRONG VERDICT: {body['outcome']} instead of {right}" if wrong else None
    right_point = point(seed, judge, asked["prompt"], asked["candidate"]["text"])
    if [v["point"] for v in verdicts] != [right_point]:
        return f"WRONG VERDICT: {verdicts[0]['point']} instead of {right_point}"
    if body["reward"] != reward(right_point):
        return f"WRONG REWARD: {body['reward']} instead of {reward(right_point)}"
    return None
