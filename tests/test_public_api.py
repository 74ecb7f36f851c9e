"""The package as a library: its names, its weight, and that importing it does nothing."""

from __future__ import annotations

import ast
import asyncio
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import judge_service
from judge_service import (
    Assessed,
    AssessFailed,
    AssessRequest,
    Candidate,
    ConfigError,
    JudgeServiceError,
    JudgingError,
    Ranked,
    RankFailed,
    RankRequest,
    RequestError,
    Settings,
    assess_wire,
    open_service,
    rank_wire,
)
from tests.harness import Judges, write_rubric
from tests.provider import FakeProvider, behaviours

ROOT = Path(__file__).resolve().parent.parent
MAX_IMPORT_SECONDS = 5.0
HEAVY = {
    "fastapi", "starlette", "uvicorn", "litellm", "openai", "redis", "httpx", "pydantic", "numpy",
    "regex", "jsonschema", "typer", "rich", "xllamacpp", "aiohttp", "tenacity",
}  # fmt: skip
EXPECTED = {
    "Engine", "AssessRequest", "CompareRequest", "Candidate", "Message", "ToolCall", "Prompt",
    "Rubric", "Criterion", "Point", "Anchor", "Library", "load_library", "load_rubric",
    "parse_rubric", "Bench", "JudgeSpec", "load_bench", "Settings", "Service", "open_service",
    "Assessed", "AssessFailed", "AssessOutcome", "Compared", "CompareFailed", "CompareOutcome",
    "RankRequest", "Ranked", "RankFailed", "RankOutcome", "RankedMember", "PairCounts",
    "JudgeCount", "rank_wire",
    "Verdict", "CriterionResult", "OrderChoice", "Flag", "Usage", "assess_wire", "compare_wire",
    "JudgeServiceError", "ConfigError", "RequestError", "JudgingError", "Rule", "RuleInput",
    "RuleResult", "RulesReport", "Finding", "Asker", "Backend", "ChatCall", "ChatReply",
    "__version__",
}  # fmt: skip

PROBE = """
import json, logging, os, sys, threading, time
before = (dict(os.environ), set(sys.modules), list(logging.root.handlers), os.getcwd())
started = time.perf_counter()
import judge_service
{more}
print(json.dumps({{
    "seconds": time.perf_counter() - started,
    "modules": sorted({{name.split(".")[0] for name in set(sys.modules) - before[1]}}),
    "own": sorted(name for name in sys.modules if name.startswith("judge_service")),
    "still": (dict(os.environ), list(logging.root.handlers), os.getcwd())
        == (before[0], before[2], before[3]),
    "threads": threading.active_count(),
}}))
"""


def probed(more: str = "") -> dict[str, object]:
    """What importing the package does in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", PROBE.format(more=more)],
        capture_output=True, text=True, check=True, timeout=60, cwd=ROOT,
    )  # fmt: skip
    assert ran.stderr == ""
    found: dict[str, object] = json.loads(ran.stdout)
    return found


def test_all_is_sorted_and_complete() -> None:
    """``__all__`` has every public name, once and in order, and nothing else."""
    assert judge_service.__all__ == sorted(judge_service.__all__)
    assert set(judge_service.__all__) == EXPECTED
    assert len(judge_service.__all__) == len(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_public_name_is_there(name: str) -> None:
    """A public name can be imported, is always the same object, and says what it is."""
    value = getattr(judge_service, name)

    assert value is getattr(judge_service, name)
    assert name in dir(judge_service)
    if callable(value) and not name.endswith("Outcome"):
        assert value.__doc__
        assert value.__module__.startswith("judge_service.")


def test_type_checkers_are_told_the_same_names() -> None:
    """Each from the module that has it, and as a name that may be imported from here."""
    tree = ast.parse(Path(judge_service.__file__).read_text(encoding="utf-8"))
    told = {
        (node.module, alias.name, alias.asname)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert told == {
        (f"judge_service.{module}", name, name)
        for module, names in judge_service._NAMES.items()
        for name in names
    }


def test_other_names_are_not_there() -> None:
    """A name that is not public is an ordinary AttributeError."""
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        judge_service.nonsense  # noqa: B018
    with pytest.raises(ImportError):
        from judge_service import nonsense  # noqa: F401


def test_a_star_import_brings_the_public_names() -> None:
    """``from judge_service import *`` works."""
    names: dict[str, object] = {}
    exec("from judge_service import *", names)  # noqa: S102

    assert set(names) - {"__builtins__"} == EXPECTED


def test_importing_is_light_and_does_nothing() -> None:
    """The import takes a moment, loads no other package, and leaves the process as it was."""
    found = probed()

    assert isinstance(found["seconds"], float)
    assert found["seconds"] < MAX_IMPORT_SECONDS
    assert found["own"] == ["judge_service"]
    assert not HEAVY & set(found["modules"])  # type: ignore[call-overload]
    assert found["still"]
    assert found["threads"] == 1


def test_the_core_needs_no_framework() -> None:
    """Rubrics, judges and the engine load without web framework, LiteLLM or store."""
    found = probed(
        "from judge_service import Engine, Asker, Rubric, load_library, load_bench, Settings\n"
        "load_library()"
    )

    assert "pydantic" in set(found["modules"])  # type: ignore[call-overload]
    frameworks = {"fastapi", "starlette", "uvicorn", "litellm", "openai", "redis", "httpx", "typer"}
    assert not frameworks & set(found["modules"])  # type: ignore[call-overload]
    assert found["still"]


def test_the_version_is_the_distributions() -> None:
    """The version is said once more in the project file, and agrees."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert judge_service.__version__ == project["version"]
    assert (ROOT / "judge_service" / "py.typed").is_file()


def test_one_base_for_every_error() -> None:
    """Whoever wants all errors of the package catches one class."""
    for error in (ConfigError, RequestError, JudgingError):
        assert issubclass(error, JudgeServiceError)
        assert issubclass(error, Exception)


async def judge(folder: Path, text: str) -> Assessed | AssessFailed:
    """An assessment as a library user writes it."""
    settings = Settings(
        judges=folder / "judges.toml",
        rubrics_dir=folder / "rubrics",
        anchors_dir=folder / "anchors",
    )
    async with open_service(settings, {}) as service:
        return await service.engine.assess(
            AssessRequest(rubric="quality", prompt="Why?", candidate=Candidate(text=text))
        )


def test_judging_without_http(tmp_path: Path) -> None:
    """With public names alone one gets a reward, or a failure that has none."""
    write_rubric(tmp_path)
    (tmp_path / "anchors").mkdir()
    with FakeProvider() as provider:
        provider.oracle(lambda _: 5)
        Judges(provider).add("alpha").write(tmp_path)
        scored = asyncio.run(judge(tmp_path, "Because."))
        provider.behave("alpha", behaviours.says("I would rather not."))
        failed = asyncio.run(judge(tmp_path, "Because."))

    assert isinstance(scored, Assessed)
    assert scored.reward == 1.0
    assert isinstance(failed, AssessFailed)
    assert not hasattr(failed, "reward")
    assert assess_wire(failed)["reward"] is None


async def rank(folder: Path, *texts: str) -> Ranked | RankFailed:
    """A group as a library user ranks it."""
    settings = Settings(
        judges=folder / "judges.toml",
        rubrics_dir=folder / "rubrics",
        anchors_dir=folder / "anchors",
    )
    request = RankRequest(
        rubric="quality", prompt="Why?", candidates=tuple(Candidate(text=text) for text in texts)
    )
    async with open_service(settings, {}) as service:
        return await service.engine.rank(request)


def test_ranking_without_http(tmp_path: Path) -> None:
    """A group gets its rewards, or as a whole none."""
    write_rubric(tmp_path)
    (tmp_path / "anchors").mkdir()
    with FakeProvider() as provider:
        provider.oracle(lambda text: 5 if "good" in text else 2)
        Judges(provider).add("alpha").write(tmp_path)
        ranked = asyncio.run(rank(tmp_path, "A bad answer.", "A good answer."))
        provider.behave("alpha", behaviours.says("I would rather not."))
        failed = asyncio.run(rank(tmp_path, "A bad answer.", "A good answer."))

    assert isinstance(ranked, Ranked)
    assert ranked.ranks == (2, 1)
    assert rank_wire(ranked)["rewards"] == list(ranked.rewards)
    assert isinstance(failed, RankFailed)
    assert not hasattr(failed, "rewards")
    assert rank_wire(failed)["rewards"] is None
