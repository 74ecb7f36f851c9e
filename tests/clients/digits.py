"""A service whose judge reads the digit that a text begins with, 3 without one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider

REWARDS = {1: 0.0, 2: 0.25, 3: 0.5, 4: 0.75, 5: 1.0}
SHORT = '[[rules]]\nrule = "max_chars"\nlimit = 60\nhard = true\n'


@dataclass(frozen=True, slots=True)
class Digits:
    """The service, and the provider of its judge."""

    service: RunningService
    provider: FakeProvider

    @property
    def url(self) -> str:
        """Where the service is."""
        return self.service.url

    def reset(self) -> None:
        """An honest judge again, without requests."""
        self.provider.reset()
        self.provider.oracle(lambda text: int(text[0]) if text[:1] in "12345" else 3)


@contextmanager
def digits(folder: Path) -> Iterator[Digits]:
    """Rubrics to assess (``quality``, ``short``, ``blind``) and to compare (``pair``); the judge is
    asked however often it fails.
    """
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    write_rubric(folder, "short", rules=SHORT)
    write_rubric(folder, "blind", reference="forbidden")
    with FakeProvider(tolerant=True) as provider:
        judges = Judges(provider).add("main", "alpha")
        with judged_by(judges, folder, breaker=False) as service:
            made = Digits(service, provider)
            made.reset()
            yield made
