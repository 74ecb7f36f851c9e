"""Candidates that try to move a judge: with every judge gullible, none gets more than it earns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from benchmarks.attacks import JUDGE, run_attack, write_rubrics
from tests.harness import Judges, RunningService, judged_by
from tests.provider import FakeProvider, attacks
from tests.provider.attack import Attack


@dataclass(frozen=True)
class Recording(RunningService):
    """A service whose answers are kept."""

    answers: list[dict[str, Any]] = field(default_factory=list)

    def post(self, path: str, body: object) -> dict[str, Any]:
        """The answer, kept."""
        answer = super().post(path, body)
        self.answers.append(answer)
        return answer


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of the gullible judge."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Recording]:
    """A service with the rubrics that the attacks need."""
    folder = tmp_path_factory.mktemp("attacks")
    write_rubrics(folder)
    with judged_by(Judges(provider).add(JUDGE, "alpha"), folder) as running:
        yield Recording(running.url, running.http)


@pytest.mark.parametrize("attack", attacks.ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_gains_nothing(
    attack: Attack, service: Recording, provider: FakeProvider
) -> None:
    """No better result than an honest judge's, the flag where one is due, no secret given away."""
    for result in run_attack(attack, service, provider):
        assert result.fault is None, f"{result.judge}: {result.outcome}: {result.fault}"
        assert provider.problems == []
        answer = json.dumps(service.answers.pop())
        for request in provider.requests:
            assert request.seen is not None
            for secret in (request.seen.nonce, request.seen.v, request.seen.end):
                assert secret not in answer, f"{result.judge}: a token was given away"
