"""Judges, a folder and the command for the tests of drift runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge_service.cli.app import app
from tests.drift.support import Bench, Ran, worth
from tests.harness import Judges, write_rubric
from tests.provider import FakeProvider


@pytest.fixture(scope="session")
def provider() -> Iterator[FakeProvider]:
    """Where every judge of these tests lives."""
    with FakeProvider() as fake:
        fake.oracle(worth)
        yield fake


@pytest.fixture
def bench(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    """``alpha`` and ``beta``, honest unless told otherwise, on rubrics ``quality`` and ``pair``."""
    for name in list(os.environ):
        if name.startswith("JUDGE_SERVICE_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    Judges(provider).add("alpha").add("beta").write(tmp_path)
    write_rubric(tmp_path)
    write_rubric(tmp_path, "pair", kind="compare")
    (tmp_path / "anchors").mkdir()

    def command(*args: object) -> Ran:
        here = ["--rubrics-dir", "rubrics", "--anchors-dir", "anchors"]
        if args[0] == "drift":
            here += ["--judges-file", "judges.toml"]
        told = CliRunner().invoke(app, [str(arg) for arg in (*args, *here)], env={"COLUMNS": "200"})
        if told.exception is not None and not isinstance(told.exception, SystemExit):
            raise told.exception
        return Ran(told.exit_code, told.stdout, told.stderr)

    yield Bench(provider, tmp_path, command)
    assert not provider.problems
    provider.reset()
