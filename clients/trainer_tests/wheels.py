"""Wheels from PyPI, unpacked into a folder: a trainer's own modules without what they require."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import types
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def unpacked(requirement: str, folder: Path) -> Path:
    """The folder with the wheel's files. Needs PyPI."""
    fetched = subprocess.run(
        [sys.executable, "-m", "pip", "download", requirement, "--no-deps", "--quiet",
         "--disable-pip-version-check", "--dest", str(folder)],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert fetched.returncode == 0, f"{requirement} cannot be fetched: {fetched.stderr[-500:]}"
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "files")
    return folder / "files"


def module(name: str, files: Path) -> types.ModuleType:
    """A module of the wheel; of the packages around it only the folders are there."""
    parts = name.split(".")[:-1]
    for depth in range(1, len(parts) + 1):
        package = types.ModuleType(".".join(parts[:depth]))
        package.__path__ = [str(files.joinpath(*parts[:depth]))]
        sys.modules.setdefault(package.__name__, package)
    return importlib.import_module(name)


def functions(name: str, wanted: Sequence[str], files: Path, **known: Any) -> dict[str, Any]:
    """Functions of a module that cannot be imported here, by name; they are of that module, and
    know what is ``known``.
    """
    text = files.joinpath(*name.split(".")).with_suffix(".py")
    if not text.exists():
        text = files.joinpath(*name.split("."), "__init__.py")
    space: dict[str, Any] = {"__name__": name, **known}
    for node in ast.walk(ast.parse(text.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name in wanted:
            node.decorator_list = []
            node.returns = None
            exec(compile(ast.Module([node], []), str(text), "exec"), space)  # noqa: S102 - a wheel's
    missing = set(wanted) - set(space)
    assert not missing, f"{name} has no {missing}"
    return space
