"""The direction of imports: edges know the core, the core knows no edge."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "judge_service"
EDGES = ("judge_service.api", "judge_service.adapters", "judge_service.cli")
# The two places where the parts are put together.
COMPOSERS = {"service.py"}
OUTSIDE_OF_CORE = {
    "fastapi", "starlette", "uvicorn", "litellm", "openai", "redis", "httpx", "aiohttp",
    "xllamacpp", "typer", "rich", "judge_client", "prometheus_client", "opentelemetry", "tomlkit",
    "sqlite3",
}  # fmt: skip


PROVIDER = Path(__file__).resolve().parent / "provider"
TREES = {
    file: ast.parse(file.read_text(encoding="utf-8"))
    for folder in (PACKAGE, PROVIDER)
    for file in folder.rglob("*.py")
}


def imports_of(file: Path) -> set[str]:
    """Every module a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(TREES[file]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
    return found


def core_files() -> list[Path]:
    """The core: everything that is no edge."""
    edges = {PACKAGE / name for name in ("api", "adapters", "cli")}
    return sorted(f for f in PACKAGE.rglob("*.py") if not edges & set(f.parents))


@pytest.mark.parametrize("file", core_files(), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_core_imports_no_framework(file: Path) -> None:
    """Nothing in the core imports a web framework, LiteLLM, a store or a trainer's SDK."""
    outside = {name.split(".")[0] for name in imports_of(file)} & OUTSIDE_OF_CORE

    assert not outside


@pytest.mark.parametrize("file", core_files(), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_core_imports_no_edge(file: Path) -> None:
    """The core imports no edge, except where the parts are put together."""
    edges = {name for name in imports_of(file) if name.startswith(EDGES)}

    assert not edges or file.name in COMPOSERS


def part_of(module: str) -> str:
    """The folder or file of the package that a module belongs to."""
    return module.removeprefix("judge_service").lstrip(".").partition(".")[0]


def test_imports_point_one_way() -> None:
    """No folder or file of the package needs another one that needs it, however far around."""
    needs: dict[str, set[str]] = {}
    for file in TREES:
        if PACKAGE in file.parents:
            own = part_of(
                ".".join(("judge_service", *file.relative_to(PACKAGE).with_suffix("").parts))
            )
            found = {
                part_of(name) for name in imports_of(file) if name.startswith("judge_service.")
            }
            needs.setdefault(own, set()).update(found - {own})

    # Raises CycleError, which names the circle.
    assert [*TopologicalSorter(needs).static_order()]


@pytest.mark.parametrize(
    ("library", "importers"),
    [
        ("litellm", {"litellm_backend.py"}),
        ("aiohttp", {"http_client.py"}),
        ("redis", {"redis_link.py"}),
        ("xllamacpp", {"local_model.py"}),
        ("prometheus_client", {"prometheus_metrics.py"}),
        ("opentelemetry", {"tracing.py"}),
    ],
)
def test_each_library_has_one_adapter(library: str, importers: set[str]) -> None:
    """What stands behind an adapter is imported there and nowhere else."""
    found = {
        file.name
        for file in TREES
        if PACKAGE in file.parents and library in {name.split(".")[0] for name in imports_of(file)}
    }

    assert found == importers


def test_only_settings_readers_touch_the_environment() -> None:
    """The environment is read where a process starts, and nowhere below."""
    readers = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if any(
            isinstance(node, ast.Attribute)
            and node.attr in ("environ", "getenv")
            and isinstance(node.value, ast.Name)
            and node.value.id == "os"
            for node in ast.walk(TREES[file])
        )
    }

    assert {name for name in readers if not name.startswith("cli/")} == {
        "api/app.py",
        # Written, for the libraries they load.
        "adapters/litellm_backend.py",
        "adapters/local_model.py",
    }


def test_tests_and_service_do_not_share_the_envelope_reader() -> None:
    """The fake provider is a second implementation: it imports nothing of the service."""
    for file in PROVIDER.glob("*.py"):
        assert not {n for n in imports_of(file) if n.startswith("judge_service")}, file.name
