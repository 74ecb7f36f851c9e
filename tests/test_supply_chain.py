"""What is installed and what the code may do: floors, hashes, and no dangerous calls."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "judge_service"
LOCKS = ("requirements.lock", "requirements-dev.lock", "build.lock", "local-model.lock")
FLOORS = {
    "starlette": "1.0.1",
    "fastapi": "0.136.3",
    "uvicorn": "0.33",
    "h11": "0.16",
    "redis": "5.0.1",
    "pydantic": "2.11",
    "litellm": "1.84.0",
    "pyyaml": "6.0.3",
    "orjson": "3.11.6",
}
"""Older releases have a known hole."""
NEVER = {("litellm", "1.82.7"), ("litellm", "1.82.8")}
ABSENT = {"python-multipart"}
OPTIONAL = {"orjson"}
"""Nothing needs it today; where it comes in, its floor counts."""


def pins(lock: str) -> Iterator[tuple[str, str, list[str]]]:
    """Name, version and hashes of every requirement of a lock file."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    for entry in re.sub(r"\\\n\s*", " ", text).splitlines():
        if not entry.strip() or entry.lstrip().startswith("#"):
            continue
        words = entry.split(";")[0].split()
        name, _, version = words[0].partition("==")
        yield name.lower(), version, re.findall(r"--hash=(\S+)", entry)


@pytest.mark.parametrize("name", sorted(FLOORS))
def test_installed_versions_are_not_below_their_floors(name: str) -> None:
    """What runs here has none of the known holes."""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        assert name in OPTIONAL, f"{name} is not installed"
        return
    assert Version(version) >= Version(FLOORS[name])
    assert (name, version) not in NEVER


@pytest.mark.parametrize("name", sorted(ABSENT))
def test_what_must_not_be_installed(name: str) -> None:
    """No route takes forms, so their parser, with its history, is not there."""
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.version(name)


@pytest.mark.parametrize("lock", LOCKS)
def test_locked_versions_are_pinned_by_hash(lock: str) -> None:
    """Every requirement has one version and the hashes of its files."""
    entries = list(pins(lock))

    assert entries
    for name, version, hashes in entries:
        assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name), name
        assert Version(version), name
        assert hashes, name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in hashes), name


@pytest.mark.parametrize("lock", LOCKS)
def test_locked_versions_are_not_below_their_floors(lock: str) -> None:
    """What gets installed from a lock file has none of the known holes."""
    for name, version, _ in pins(lock):
        assert Version(version) >= Version(FLOORS.get(name, "0")), name
        assert (name, version) not in NEVER
        assert name not in ABSENT


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_files_name_no_host(lock: str) -> None:
    """Where packages come from is the installer's affair: no index, no address, no path."""
    text = (ROOT / lock).read_text(encoding="utf-8")

    assert not re.search(r"https?:|git\+|file:|--(?:extra-)?index-url|--find-links| @ ", text)
    assert not re.search(r"(?m)^\s*(?:-e|-r|\.|/)", text)


def test_both_lock_files_agree() -> None:
    """Tests run on the versions that are shipped."""
    runtime = {name: version for name, version, _ in pins("requirements.lock")}
    dev = {name: version for name, version, _ in pins("requirements-dev.lock")}

    assert runtime.items() <= dev.items()


def test_the_lock_files_satisfy_the_project() -> None:
    """Every dependency of the project is locked, within its range."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = {name: version for name, version, _ in pins("requirements.lock")}

    for wanted in map(Requirement, project["dependencies"]):
        assert wanted.specifier, wanted.name
        assert wanted.specifier.contains(locked[wanted.name.lower()]), wanted.name


@pytest.mark.parametrize("name", ["fastapi", "uvicorn", "litellm", "pydantic", "redis"])
def test_the_project_asks_for_the_floors_itself(name: str) -> None:
    """Whoever installs without the lock file gets no version with a known hole either."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (wanted,) = [r for r in map(Requirement, project["dependencies"]) if r.name == name]

    lowest = [Version(s.version) for s in wanted.specifier if s.operator == ">="]
    assert lowest
    assert min(lowest) >= Version(FLOORS[name])


def test_nothing_runs_at_every_start_of_python() -> None:
    """A ``.pth`` file runs code in every interpreter: only known ones are there."""
    allowed = re.compile(
        r"distutils-precedence\.pth|_?judge_service\.pth|__editable__\..*judge_service.*\.pth"
        r"|_virtualenv\.pth"
    )
    folders = {Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}

    found = [file.name for folder in folders for file in folder.glob("*.pth")]

    assert [name for name in found if not allowed.fullmatch(name)] == []


def tracked() -> list[Path]:
    """Every file of the project: what git knows, else all but what tools put there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        files = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        own = re.compile(r"\.venv|\.git|dist|build|__pycache__|\.\w+_cache|\.hypothesis")
        files = [
            file
            for file in ROOT.rglob("*")
            if not any(own.fullmatch(part) for part in file.relative_to(ROOT).parts)
        ]
    return [file for file in files if file.is_file()]


def test_no_file_names_a_package_index() -> None:
    """Neither a public index nor this machine's own stands in any file of the project."""
    known = {"pypi." + "org/simple", "files.python" + "hosted.org", "registry.npm" + "js.org"}
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    )
    known |= {host for host in re.findall(r"https?://(?:[^/@\s]*@)?([^/:\s']+)", asked.stdout)}
    known -= {"127.0.0.1", "localhost"}
    files = tracked()

    assert len(files) > 100
    for file in files:
        text = file.read_bytes().decode("utf-8", "replace")
        assert not [host for host in known if host in text], file


def test_ci_and_hooks_fetch_nothing_of_their_own() -> None:
    """Hooks are the locked tools, and what CI runs holds no secret and loads nothing."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert set(re.findall(r"repo: *(\S+)", hooks)) == {"local"}
    assert not re.search(r"curl|wget|https?:|pip install|TOKEN|SECRET|_KEY", steps)


def test_new_releases_wait_before_they_are_locked() -> None:
    """The lock files are resolved with a cool-down, with hashes, and without naming an index."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (compile_,) = re.findall(r"(?m)^COMPILE := ((?:.*\\\n)*.*)$", text)

    assert re.search(r"(?m)^COOLDOWN := \d{4}-\d{2}-\d{2}$", text)
    assert "--exclude-newer $(COOLDOWN)" in compile_
    assert "--generate-hashes" in compile_
    assert "--no-emit-index-url" in compile_


def test_ci_runs_the_security_linter() -> None:
    """Bandit is part of `make check`, over the whole package, and CI stops where it complains."""
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    (needed,) = re.findall(r"(?m)^check:([^#\n]*)", targets)
    (command,) = re.findall(r"(?m)^bandit:.*\n\t(.*)$", targets)
    assert "bandit" in needed.split()
    assert command.startswith("$(BIN)/bandit ")
    assert {"--recursive", "--configfile", "judge_service"} <= set(command.split())
    assert "--exit-zero" not in command
    assert {"set -euo pipefail", "make check"} <= set(steps)


def test_every_exception_says_why() -> None:
    """Where a security check is switched off in the service, the line says which and why."""
    for file in sources():
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if re.search(r"# (noqa: .*\bS\d{3}|nosec)", line):
                assert re.search(r"# noqa: .*\bS\d{3}.* - .*\w{3}", line), f"{file}:{number}"
            assert not re.search(r"# nosec(?! B\d{3}\b)", line), f"{file}:{number}"


def sources() -> list[Path]:
    """Every module of the package."""
    return sorted(PACKAGE.rglob("*.py"))


FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "execfile", "input", "breakpoint"}
FORBIDDEN_IMPORTS = {
    "pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "dbm", "yaml",
    "jinja2", "mako", "subprocess", "pty", "ctypes", "cffi", "code", "telnetlib", "ftplib", "xml",
    "runpy", "imp",
}  # fmt: skip
FORBIDDEN_ATTRIBUTES = {
    ("os", "system"), ("os", "popen"), ("os", "execv"), ("os", "execve"), ("os", "execvp"),
    ("os", "spawnv"), ("os", "spawnl"), ("os", "posix_spawn"), ("os", "fork"), ("os", "forkpty"),
    ("asyncio", "create_subprocess_exec"), ("asyncio", "create_subprocess_shell"),
    ("builtins", "eval"), ("builtins", "exec"),
    ("yaml", "load"), ("pickle", "loads"), ("numpy", "load"), ("np", "load"), ("shutil", "rmtree"),
    ("random", "random"), ("random", "choice"), ("tempfile", "mktemp"),
}  # fmt: skip


def findings(file: Path) -> Iterator[str]:
    """Calls and imports in a module that have no place in the service."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (n for n in names if n.split(".")[0] in FORBIDDEN_IMPORTS)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            if node.module.split(".")[0] in FORBIDDEN_IMPORTS:
                yield node.module
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in FORBIDDEN_CALLS:
                yield f"{node.func.id}()"
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and (node.value.id, node.attr) in FORBIDDEN_ATTRIBUTES
        ):
            yield f"{node.value.id}.{node.attr}"


@pytest.mark.parametrize("file", sources(), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_no_dangerous_calls(file: Path) -> None:
    """Nothing evaluates text, loads code from data, or starts a process."""
    assert list(findings(file)) == []


def test_the_check_itself_sees(tmp_path: Path) -> None:
    """The check finds what it is for, however it is written."""
    file = tmp_path / "bad.py"
    file.write_text(
        "import os, pickle as p\nfrom yaml import load\nimport jinja2.sandbox\n"
        "def f(): return eval('1'), os.system('x')\n",
        encoding="utf-8",
    )

    assert sorted(findings(file)) == ["eval()", "jinja2.sandbox", "os.system", "pickle", "yaml"]


def test_modules_are_imported_by_name_in_known_places_only() -> None:
    """Code named by configuration is imported in one place, which asks the operator's list; the
    others import parts of this package, late, by names that stand in tables of their own.
    """
    importers = {
        str(file.relative_to(PACKAGE))
        for file in sources()
        if re.search(r"\bimport_module\(|\bspec_from_file_location\(", file.read_text("utf-8"))
    }

    own_tables = {"__init__.py", "cli/app.py", "rules/registry.py"}
    assert importers <= {"rules/custom.py"} | own_tables
