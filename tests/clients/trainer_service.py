"""A service with the shipped rubrics and a judge that gives what it is told: for pasted code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness import Judges, RunningService, judged_by
from tests.provider import FakeProvider, behaviours
from tests.provider.seen import Answer, Seen

GOOD, BAD = "A good answer, with what was asked for.", "A bad answer that misses the question."


@contextmanager
def shipped(provider: FakeProvider, folder: Path) -> Iterator[RunningService]:
    """The service; its judge, which finds good what says so, is of no candidate's family."""
    provider.reset()
    provider.oracle(lambda text: int("good" in text))
    provider.behave("main", behaviours.decides(best_or_worst))
    with judged_by(Judges(provider).add("main", "alpha"), folder) as service:
        yield service


def best_or_worst(seen: Seen) -> Answer:
    """The end of whatever scale is offered; of a pair the better one."""
    if seen.form == "choice":
        return seen.honest()
    texts = seen.candidates
    points = {
        key: (max if "good" in texts.get(key, seen.candidate) else min)(offered)
        for key, offered in seen.fields.items()
    }
    if seen.form == "scores":
        return points
    offered = [point for point in seen.allowed if isinstance(point, int)]
    return (max if "good" in seen.candidate else min)(offered)
