"""What the tests of watching share: a service with a ``[watch]`` table, traffic, and its alarms."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge_service.api.looking_answers import JudgesAnswer
from tests.harness import Judges, RunningService, judged_by, new_prompt
from tests.provider import FakeProvider

BATCH = 100
OWN = "candidate-family"
PRICE = {"input": 1.0, "output": 2.0}


def table(**settings: object) -> str:
    """A ``[watch]`` table; small baselines, so that tests are short."""
    lines = [f"{name} = {_toml(value)}" for name, value in {"baseline": 60, **settings}.items()]
    return "[watch]\n" + "\n".join(lines)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else repr(value)


@contextmanager
def watched(
    provider: FakeProvider,
    folder: Path,
    *judges: str,
    watch: str | None = None,
    limit: int | None = None,
    **settings: Any,
) -> Iterator[RunningService]:
    """A service with judges of one family each, watched by ``watch`` (a table).

    Each takes ``limit`` calls at once.
    """
    made = Judges(provider)
    for judge in judges or ("alpha",):
        made.add(judge, price=PRICE, max_concurrency="" if limit is None else limit)
    made.tables.append(table() if watch is None else watch)
    with judged_by(made, folder, **settings) as service:
        yield service


def assess(
    service: RunningService, texts: Sequence[str], rubric: str = "quality", **more: Any
) -> list[dict[str, Any]]:
    """The outcomes of answers to different prompts, many at once."""
    items = [
        {
            "kind": "assess", "rubric": rubric, "prompt": new_prompt(),
            "candidate": {"text": text, "family": OWN}, **more,
        }
        for text in texts
    ]  # fmt: skip
    found: list[dict[str, Any]] = []
    for start in range(0, len(items), BATCH):
        some = items[start : start + BATCH]
        found += service.post("/v1/bulk", {"items": some, "timeout_s": 300})["results"]
    return found


def lengths(n: int, seed: int, low: int = 20, high: int = 400) -> list[str]:
    """Answers of different lengths."""
    draw = random.Random(seed)  # noqa: S311 - a repeatable draw, no secret
    return ["word " * draw.randint(low // 5, high // 5) for _ in range(n)]


def compare(service: RunningService, n: int) -> list[dict[str, Any]]:
    """The outcomes of ``n`` pairs of different answers."""
    items = [
        {
            "kind": "compare", "rubric": "pair", "prompt": new_prompt(),
            "candidates": [{"text": "One.", "family": OWN}, {"text": "Other.", "family": OWN}],
        }
        for _ in range(n)
    ]  # fmt: skip
    found: list[dict[str, Any]] = service.post("/v1/bulk", {"items": items, "timeout_s": 300})[
        "results"
    ]
    return found


def state(service: RunningService) -> JudgesAnswer:
    """What ``/v1/judges`` says, in the documented form."""
    return JudgesAnswer.model_validate(service.http.get("/v1/judges").json())


def alarms(service: RunningService) -> dict[tuple[str, str | None], dict[str, Any]]:
    """The alarms by statistic and cause."""
    watch = service.http.get("/v1/judges").json()["watch"]
    return {(alarm["statistic"], alarm["cause"]): alarm for alarm in watch["alarms"]}


def until_alarm(
    service: RunningService, statistic: str, send: Callable[[], object], most: int
) -> dict[str, Any]:
    """Send until the alarm is raised, at most so often; the alarm."""
    for _ in range(most):
        send()
        found = alarms(service).get((statistic, None))
        if found is not None:
            return found
    raise AssertionError(f"no alarm of {statistic} in {most}: {alarms(service)}")
