"""What is distributed: small, apart from the service, and nothing at import that costs."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "clients" / "src"
FILES = sorted(SOURCE.rglob("*.py"))
COPIES = [file for file in FILES if file.parent.name == "vendor" and file.name != "__init__.py"]
ADAPTERS = {"dashscope": {"dashscope"}, "rows": {"accelerate"}}
ADAPTERS |= {"verl": {"verl"}, "areal": {"areal", "torch"}, "nemo_gym": {"nemo_gym", "pydantic"}}
ADAPTERS |= {"verifiers_v0": {"verifiers"}, "skyrl": {"skyrl_gym"}}
ADAPTERS |= {"judge_client_verifiers": {"judge_client_verifiers", "verifiers", "pydantic"}}
"""What an adapter imports of its trainer, by the beginning of its file's path."""


def imports_of(file: Path) -> set[str]:
    """The packages that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_the_client_needs_httpx_only(file: Path) -> None:
    """Each file imports the standard library, httpx, its own package, and at most its trainer."""
    package, part, *_ = file.relative_to(SOURCE).parts
    adapter = part if package == "judge_client" else package
    trainer = adapter.strip("_").removesuffix(".py")
    allowed = {*sys.stdlib_module_names, "httpx", "judge_client", *ADAPTERS.get(trainer, set())}

    assert imports_of(file) <= allowed


@pytest.mark.parametrize("folder", ["judge_service", "benchmarks"])
def test_the_service_does_not_know_its_client(folder: str) -> None:
    """The two share nothing but the protocol."""
    for file in (ROOT / folder).rglob("*.py"):
        assert not {n for n in imports_of(file) if n.startswith("judge_client")}, file


@pytest.mark.parametrize("copy", COPIES, ids=lambda file: file.name)
def test_copies_are_those_of_the_service(copy: Path) -> None:
    """What the two share is the same file: ``make client-copies`` was run since it changed."""
    (original,) = (ROOT / "judge_service").rglob(copy.name)

    assert copy.read_bytes() == original.read_bytes()


def in_a_new_process(code: str) -> str:
    """What ``code`` prints."""
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(SOURCE)}, capture_output=True,
        text=True, timeout=60, check=True,
    )  # fmt: skip
    return ran.stdout.strip()


def test_importing_starts_nothing() -> None:
    """No trainer, no server and no thread comes with the client."""
    heavy = {"dashscope", "pydantic", "numpy", "torch", "trl", "fastapi", "judge_service"}
    code = (
        "import sys, threading, judge_client; "
        f"print(sorted({heavy!r} & set(sys.modules)), threading.active_count())"
    )

    assert in_a_new_process(code) == "[] 1"


def test_a_missing_sdk_is_explained() -> None:
    """Without DashScope's SDK the import says what to install."""
    code = (
        "import sys; sys.modules['dashscope'] = None\n"
        "try:\n    import judge_client.dashscope\nexcept ImportError as error:\n    print(error)"
    )

    assert "pip install './clients[dashscope]'" in in_a_new_process(code)


def test_the_wheel_is_the_client_alone(tmp_path: Path) -> None:
    """Sources and the typing marker, one requirement, and nothing of the service."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT / "clients", check=True, capture_output=True, timeout=100,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("judge_service_client-*.whl")

    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if "dist-info" not in name}
        (about,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        metadata = archive.read(about).decode()

    own = {str(f.relative_to(SOURCE)) for f in SOURCE.rglob("*") if f.suffix in (".py", ".typed")}
    assert names == own
    assert "judge_client/py.typed" in names
    assert "Requires-Dist: httpx>=0.25\n" in metadata
    assert "Requires-Python: >=3.10" in metadata
    plain = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert [line for line in plain if "extra ==" not in line] == ["Requires-Dist: httpx>=0.25"]
