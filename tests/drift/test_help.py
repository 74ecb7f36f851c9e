"""Help of the commands, and how little it loads."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from judge_service.cli.app import app

HEAVY = ("scipy", "sklearn", "litellm", "fastapi", "judge_service.drift")


@pytest.mark.parametrize(
    "command",
    [
        "drift",
        "gold check",
        "gold convert",
        "gold correct",
        "gold forms",
        "review export",
        "review import",
    ],
)
def test_a_command_explains_itself(command: str) -> None:
    """With examples where there is something to show."""
    told = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "120"})

    assert told.exit_code == 0
    assert f"judge-service {command}" in " ".join(told.stdout.split())
    assert "Examples" in told.stdout or command == "gold forms"


@pytest.mark.parametrize(
    "args", [["drift", "--help"], ["gold", "--help"], ["gold", "forms"], ["review", "--help"]]
)
def test_looking_loads_nothing_heavy(args: list[str]) -> None:
    """No statistics library, no web framework."""
    code = (
        "import sys; from judge_service.cli.app import app\n"
        f"try: app({args!r})\nexcept SystemExit as end: code = end.code\n"
        f"print(code, [m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stderr.splitlines()[-1] == "0 []"


def test_a_service_starts_without_the_statistics_library() -> None:
    """SciPy is loaded by the first report, not by the service."""
    loaded = "[m for m in ('scipy', 'sklearn') if m in sys.modules]"
    code = f"import sys, judge_service.api.app; print({loaded})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "[]"
