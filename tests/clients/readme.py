"""The code of the client's README, run as somebody would paste it."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

README = Path(__file__).resolve().parents[2] / "clients" / "README.md"
MAX_LINES = 15


def code(heading: str, language: str = "python") -> str:
    """The code block under a heading."""
    text = README.read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", text, re.S | re.M)
    assert section is not None, f"no section {heading!r}"
    assert len(section[0].strip().splitlines()) <= MAX_LINES
    block = re.search(rf"^```{language}\n(.*?)^```$", section[0], re.S | re.M)
    assert block is not None, f"no {language} in {heading!r}"
    return block[1]


def paste(heading: str, **names: Any) -> dict[str, Any]:
    """Run the code among ``names``, in a cell that may await; returns the names it leaves."""
    cell = compile(code(heading), "README.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    left = eval(cell, names)  # noqa: S307 - our own README
    if inspect.iscoroutine(left):
        asyncio.run(left)
    return names
