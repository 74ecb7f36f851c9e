"""Every reply a judge may give ends in the one right outcome, within its requests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks import matrix
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider
from tests.provider.matrix import MORE_ROWS, ROWS, Row

ROWS_THAT_WAIT = {"hang", "dripping_head", "dripping_body"}
"""Rows that last as long as the request may: a short time tells as much as a long one."""


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of the judge."""
    with FakeProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service with one judge."""
    folder = tmp_path_factory.mktemp("matrix")
    write_rubric(folder)
    with judged_by(Judges(provider).add(matrix.JUDGE, "alpha"), folder, breaker=False) as service:
        yield service


@pytest.mark.parametrize("row", [*ROWS, *MORE_ROWS], ids=lambda row: row.name)
def test_a_reply_gives_its_verdict_or_its_error_and_nothing_else(
    row: Row, service: RunningService, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right point or code, every upstream request counted, and no more of them than allowed."""
    if row.name in ROWS_THAT_WAIT:
        monkeypatch.setattr(matrix, "TIMEOUT_S", 0.8)
    cell = matrix.run_row(row, service, provider)
    assert cell.right, f"{cell.text()}, counted {cell.counted}, wanted {row.expected}"
    assert provider.problems == []
    assert provider.elsewhere == []
