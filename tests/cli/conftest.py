"""What the tests of the command line share: a runner, a folder with judges and rubrics."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from judge_service.cli.app import app
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider

BOUNDED = '[[rules]]\nrule = "max_chars"\nlimit = 1000\nhard = true\n'


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output, as JSON."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """Its output, as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def flat(self) -> str:
        """Its output as words, however a table wrapped them."""
        return " ".join(self.out.split())


Cli = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """``serve`` configures logging for its process; here it lets go of it again."""
    root, own = logging.getLogger(), logging.getLogger("judge_service")
    before = (root.handlers[:], root.level, own.level)
    yield
    root.handlers[:], root.level, own.level = before


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Runs ``judge-service`` in this process, in an empty folder, without settings around it."""
    for name in list(os.environ):
        if name.startswith("JUDGE_SERVICE_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def run(*args: object, stdin: str | bytes = "", env: dict[str, str] | None = None) -> Ran:
        columns = {"COLUMNS": "160", **(env or {})}
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin, env=columns)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture(scope="session")
def provider() -> Iterator[FakeProvider]:
    """Where every judge of these tests lives. A text with "good" in it is worth 5, others 2."""
    with FakeProvider() as fake:
        fake.oracle(lambda text: 5 if "good" in text else 2)
        yield fake


@pytest.fixture(autouse=True)
def _forget(provider: FakeProvider) -> Iterator[None]:
    yield
    assert not provider.problems
    provider.reset()


@pytest.fixture(scope="session")
def folder(provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a judges file and two rubrics: ``quality`` and ``pair``."""
    made = tmp_path_factory.mktemp("service")
    Judges(provider).add("alpha").add("beta").write(made)
    write_rubric(made, rules=BOUNDED)
    write_rubric(made, "pair", kind="compare", rules=BOUNDED)
    (made / "anchors").mkdir()
    return made


@pytest.fixture
def here(folder: Path) -> list[str]:
    """The options that make a command judge in process with what is in ``folder``."""
    return [
        "--judges-file", str(folder / "judges.toml"),
        "--rubrics-dir", str(folder / "rubrics"),
        "--anchors-dir", str(folder / "anchors"),
    ]  # fmt: skip


@pytest.fixture(scope="session")
def service(provider: FakeProvider, folder: Path) -> Iterator[RunningService]:
    """The same, as a running service."""
    judges = Judges(provider).add("alpha").add("beta")
    with judged_by(judges, folder, breaker=False) as running:
        yield running


@pytest.fixture(params=["in process", "over HTTP"])
def where(request: pytest.FixtureRequest, here: list[str]) -> list[str]:
    """Both ways of judging; a test that takes this runs both ways."""
    if request.param == "in process":
        return here
    running: RunningService = request.getfixturevalue("service")
    return ["--url", running.url]


def write_lines(file: Path, *items: Any) -> Path:
    """A JSONL file."""
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return file


def read_lines(file: Path) -> list[Any]:
    """The values of a JSONL file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def pytest_configure(config: pytest.Config) -> None:
    """LiteLLM's late imports, in a thread, warn about the TypedDicts of a library it uses."""
    config.addinivalue_line("filterwarnings", "ignore:.*using the `ReadOnly` qualifier:UserWarning")
