"""Help, version and how fast they come."""

from __future__ import annotations

import subprocess
import sys

import pytest

from judge_service import __version__
from judge_service.settings import Settings
from tests.cli.conftest import Cli

COMMANDS = ("serve", "assess", "compare", "check", "judges", "version")
HEAVY = ("litellm", "fastapi", "uvicorn", "judge_service.adapters")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(cli: Cli, command: str) -> None:
    """``--help`` is a success."""
    ran = cli(command, "--help")

    assert ran.code == 0
    assert f"judge-service {command}" in ran.out


@pytest.mark.parametrize("command", ["serve", "assess", "compare", "check", "judges"])
def test_help_has_an_example(cli: Cli, command: str) -> None:
    """Each command shows how it is called."""
    assert "Examples" in cli(command, "--help").out


def test_the_help_tells_the_exit_codes(cli: Cli) -> None:
    """Scripts can rely on them."""
    assert "3 no verdict" in cli("--help").flat


def test_every_setting_is_a_flag_of_serve(cli: Cli) -> None:
    """With the variable it stands for."""
    shown = cli("serve", "--help").out

    for name in Settings.__dataclass_fields__.keys() - {"default_store"}:
        assert f"--{name.replace('_', '-')}" in shown
        assert f"JUDGE_SERVICE_{name.upper()}" in shown


@pytest.mark.parametrize("args", [["--help"], ["version"], ["check"], ["judges", "--help"]])
def test_looking_does_not_load_what_judging_needs(args: list[str]) -> None:
    """Help, version and check come at once: no LiteLLM, no web framework."""
    code = (
        "import sys; from judge_service.cli.app import app\n"
        f"try: app({args!r})\nexcept SystemExit as end: code = end.code\n"
        f"print(code, [m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stderr.splitlines()[-1] == "0 []"


def test_version_says_what_is_installed(cli: Cli) -> None:
    """Product, Python and LiteLLM; for machines as JSON."""
    assert f"judge-service {__version__}" in cli("version").out
    assert cli("--version").out.strip() == f"judge-service {__version__}"
    said = cli("version", "--json").json
    assert said["judge_service"] == __version__
    assert said["python"].startswith("3.")
    assert said["packages"]["litellm"]


@pytest.mark.parametrize(
    "args",
    [["nonsense"], ["assess", "--nonsense"], ["serve", "--port", "many"], ["assess", "quality"]],
    ids=["command", "option", "value", "missing texts"],
)
def test_wrong_usage_is_exit_code_two(cli: Cli, args: list[str]) -> None:
    """On stderr, with what was wrong."""
    ran = cli(*args)

    assert ran.code == 2
    assert ran.err
    assert not ran.out
