"""Commands of the README, run by a shell whose Python only prints what it was given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.clients.readme import code
from tests.clients.test_distribution import SOURCE

PRINTING = "python3() { printf '%s\\n' \"$@\"; }\n"


def shell(script: str, folder: Path) -> str:
    """What a script prints; its ``python3`` is this one, and knows the client."""
    ran = subprocess.run(
        ["bash", "-euc", f'python3() {{ "{sys.executable}" "$@"; }}\n{script}'], cwd=folder,
        env={"PYTHONPATH": str(SOURCE), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    return ran.stdout


def printed(script: str) -> list[str]:
    """The arguments of the command that a script ends in."""
    return shell(PRINTING + script, SOURCE).splitlines()


def pasted(which: str) -> dict[str, Any]:
    """The configuration of verl with the overrides of its section, ``each`` or ``group``."""
    block = code("verl", "sh").replace('"${each[@]}"', f'"${{{which}[@]}}"')
    module, name, *overrides = printed(block)
    assert (module, name) == ("-m", "verl.trainer.main_ppo")
    tree: dict[str, Any] = {}
    for override in overrides:
        path, _, value = override.removeprefix("+").partition("=")
        *parents, last = path.split(".")
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = mapping(value) if value.startswith("{") else value
    return tree


def mapping(text: str) -> dict[str, str]:
    """The names and texts between braces, as verl's overrides and YAML have them."""
    pairs = (pair.split(":", 1) for pair in text.strip("{} ").split(","))
    return {name.strip(): value.strip() for name, value in pairs}
