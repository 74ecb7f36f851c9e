"""What consecutive calls of a criterion share, so that a provider's prompt cache serves it.

``python -m benchmarks.speed.prefix`` assesses and compares by shipped rubrics, each time another
prompt and other candidates, and looks at the bytes that the judge was sent, directly and through
LiteLLM: how many are the same from the start on, beside those up to the end of the system message.
The tokens that the provider says its cache served must all stand in usage and in the metrics.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import httpx

from benchmarks.faults.stage import ROOT
from benchmarks.speed.recorder import recorder, shared
from benchmarks.speed.row import Row
from benchmarks.speed.stand import WORDS, Way, service

GOAL = 1.0
ASSESSED, COMPARED = "helpfulness", "pairwise-helpfulness"
SETTINGS = {"RUBRICS_DIR": str(ROOT / "rubrics"), "ANCHORS_DIR": str(ROOT / "anchors")}
_CACHED = re.compile(
    r'^judge_service_upstream_tokens_total\{[^}]*type="cached"[^}]*\} (\S+)$', re.M
)


@dataclass(frozen=True, slots=True)
class Reuse:
    """Of one call and the one before it of the same criterion: bytes of the body, those up to the
    end of the system message, and those that are the same from the start on.
    """

    whole: int
    system: int
    same: int

    @property
    def share(self) -> float:
        """What is shared as a share of all up to the end of the system message."""
        return self.same / self.system


@dataclass(frozen=True, slots=True)
class Tokens:
    """From the prompt cache: as the provider said, as ``usage`` and as the metrics tell."""

    provider: int
    usage: int
    metrics: int

    @property
    def passed_on(self) -> bool:
        """Whether all are told, and there are any."""
        return 0 < self.provider == self.usage == self.metrics


def measure(*, requests: int = 12) -> Row:
    """The row: the least over all pairs of consecutive calls."""
    reuses: list[Reuse] = []
    tokens: list[Tokens] = []
    for way in get_args(Way):
        found, told = _calls(way, requests)
        reuses += found
        tokens.append(told)
    least = min(reuses, key=lambda one: one.share)
    cached = sum(one.provider for one in tokens)
    lost = cached - sum(min(one.usage, one.metrics) for one in tokens)
    whole = sum(one.whole for one in reuses)
    return Row(
        name="bytes that a call has in common with the one before it of its criterion",
        against="all up to the end of its system message",
        goal=f">= {GOAL:.2f} x, the cached-token count passed on",
        value=least.share,
        unit="x",
        met=least.share >= GOAL and all(one.passed_on for one in tokens),
        told=f"{least.share:.2f} x; {lost} of {cached} cached tokens lost",
        detail=(
            f"{len(reuses)} pairs of calls, directly and through LiteLLM; of all bytes "
            f"{sum(one.same for one in reuses) / whole:.0%} are shared, the system message and "
            f"what stands before it is {sum(one.system for one in reuses) / whole:.0%}"
        ),
    )


def _calls(way: Way, requests: int) -> tuple[list[Reuse], Tokens]:
    """What the calls of so many requests of each kind share, and what is told of cached tokens."""
    reuses: list[Reuse] = []
    usage = 0
    with recorder() as judge, service(judge.url, way, SETTINGS) as asked:
        with httpx.Client(base_url=asked.url, timeout=60.0, trust_env=False) as http:
            for path, rubric in (("/v1/assess", ASSESSED), ("/v1/compare", COMPARED)):
                before: list[bytes] = []
                for number in range(requests):
                    first = len(judge.bodies)
                    answer = http.post(path, json=_body(rubric, number)).raise_for_status().json()
                    if answer["status"] != "success":
                        raise RuntimeError(f"not judged: {answer['error']}")
                    usage += answer["usage"]["cached_tokens"]
                    now = judge.bodies[first:]
                    if not now:
                        raise RuntimeError("the judge was not asked")
                    reuses += [reuse(before, body) for body in now if before]
                    before = now
            metrics = http.get("/metrics").raise_for_status().text
        cached = sum(float(value) for value in _CACHED.findall(metrics))
        return reuses, Tokens(judge.cached_tokens, usage, round(cached))


def _body(rubric: str, number: int) -> dict[str, Any]:
    one, other = ({"text": _words(f"{n}{number}", 120), "family": "nobody"} for n in "ab")
    shown = {"candidate": one} if rubric == ASSESSED else {"candidates": [one, other]}
    return {"rubric": rubric, "prompt": _words(f"q{number}", 40), "judges": ["alpha"], **shown}


def _words(seed: str, number: int) -> str:
    """Some words in an order of their own, which no rule takes for repetition."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    return " ".join(draw.choices(sorted(set(WORDS.split())), k=number)) + "."


def reuse(before: Sequence[bytes], body: bytes) -> Reuse:
    """Beside that of the calls ``before`` it with which it shares most: the one of its criterion.

    Raises RuntimeError for a body whose first message is not the system message.
    """
    messages = json.loads(body)["messages"]
    if [message["role"] for message in messages] != ["system", "user"]:
        raise RuntimeError("a call of other messages than system and user")
    end = _end(body, messages[0]["content"])
    return Reuse(len(body), end, max(shared(one, body) for one in before))


def _end(body: bytes, system: str) -> int:
    """Where the system message ends, as it was written."""
    for written in _written(system):
        at = body.find(written)
        if at >= 0:
            return at + len(written)
    raise RuntimeError("the system message is not where it should be")


def _written(words: str) -> Iterable[bytes]:
    yield json.dumps(words, ensure_ascii=False).encode()
    yield json.dumps(words).encode()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=12, help="of each kind")
    print(measure(requests=parser.parse_args().requests))
