"""The direction of imports: edges know the core, the core knows no edge."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "judge_service"
EDGES = ("judge_service.api", "judge_service.adapters", "judge_service.cli")
# The two places where the parts are put together.
COMPOSERS = {"service.py"}
OUTSIDE_OF_CORE = {
    "fastapi", "starlette", "uvicorn", "litellm", "openai", "redis", "httpx", "aiohttp",
    "xllamacpp", "typer", "rich", "judge_client",
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
    """The core: modules directly in the package, and the rules."""
    return sorted([*PACKAGE.glob("*.py"), *(PACKAGE / "rules").glob("*.py")])


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


def test_only_the_adapters_import_litellm_and_llama() -> None:
    """LiteLLM and llama.cpp are imported in one adapter each."""
    importers = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if {name.split(".")[0] for name in imports_of(file)} & {"litellm", "xllamacpp"}
    }

    assert importers == {"adapters/litellm_backend.py", "adapters/local_model.py"}


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
