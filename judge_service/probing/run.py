"""Asks the questions of a plan, a few at a time, up to a ceiling."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from judge_service.probing.plan import Key, Question

Ask: TypeAlias = Callable[[Question], Awaitable[Mapping[str, Any]]]
After: TypeAlias = Callable[[Mapping[str, Any]], str | None]
"""Told of every outcome; says why no more may be asked, or None."""


async def ask_all(
    questions: Sequence[Question], ask: Ask, after: After, *, concurrency: int
) -> tuple[dict[Key, Mapping[str, Any]], str | None]:
    """The outcomes by key, and why not all were asked. What ``ask`` raises ends the run."""
    outcomes: dict[Key, Mapping[str, Any]] = {}
    left = iter(questions)
    reasons: list[str] = []

    async def work() -> None:
        # All workers draw from one iterator, so the next free one takes the next question.
        while not reasons and (question := next(left, None)) is not None:
            outcome = await ask(question)
            outcomes[question.key] = outcome
            why = after(outcome)
            if why is not None:
                reasons.append(why)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(questions))):
                group.create_task(work())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return outcomes, reasons[0] if reasons and len(outcomes) < len(questions) else None
