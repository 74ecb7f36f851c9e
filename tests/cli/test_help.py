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
    ("line", "says"),
    [
        ("nonsense", "No such command 'nonsense'"),
        ("--nonsense", "No such option: --nonsense"),
        ("keys nonsense", "No such command 'nonsense'"),
        ("assess --nonsense", "No such option: --nonsense"),
        ("serve --port many", "--port: must be a valid integer"),
        ("assess quality --concurrency 0", "--concurrency: must be at least 1"),
        ("bias --format word", "--format: 'word' is not one of"),
        ("assess quality", "missing: --prompt, --candidate"),
        ("assess", "missing: RUBRIC"),
        ("bias", "missing: RESULTS"),
        ("keys new", "missing: NAME"),
        ("gold convert", "missing: FILE"),
        ("gold correct --runs x", "missing: --gold"),
        ("review export", "--out: name the sheet"),
        ("review import", "missing: SHEET"),
        ("assess quality -p x -c y --judges judges.toml", "--judges-file judges.toml"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_two(cli: Cli, line: str, says: str) -> None:
    """On stderr, with what was wrong: a missing option like an unknown one."""
    ran = cli(*line.split())

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("command", ["drift", "watch", "probe"])
@pytest.mark.parametrize("more", [(), ("--nonsense",)], ids=["missing", "unknown"])
def test_where_two_says_something_wrong_usage_is_one(
    cli: Cli, command: str, more: tuple[str, ...]
) -> None:
    """Drift, an alarm and a probe that succeeded are never confused with a typing error."""
    ran = cli(command, *more)

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: ")
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("assess quality -p x -c y --timeout 900", "--timeout: must be at most 600"),
        ("assess quality --batch x.jsonl --timeout 900", "--timeout: must be at most 600"),
        ("probe quality --timeout 900", "--timeout: must be at most 600"),
        ("probe quality --panel-size 0", "--panel-size: must be at least 1"),
        ("rank quality -p x -c y", "--candidate: needs at least 2, not 1"),
        ("rank quality -p x -c y -c z --strategy best", "--strategy: must be 'auto',"),
        ("assess quality -p x -c y --purpose fun", "--purpose: must be 'train' or 'validate'"),
        ("keys new ci --rpm 5 --daily-cost-usd -1", "--daily-cost-usd: must be greater than 0"),
        ("keys new ci --scope all", "--scope: must be 'judge' or 'admin'"),
    ],
)
def test_a_value_that_cannot_be_right_names_its_option(cli: Cli, line: str, says: str) -> None:
    """As it is written on the command line, not the field of the request."""
    ran = cli(*line.split())

    assert (ran.code, ran.out) == (1, "")
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("command", ["watch", "bias"])
def test_what_judges_nothing_does_not_speak_of_judging(cli: Cli, command: str) -> None:
    """Their service is only read."""
    shown = " ".join(cli(command, "--help").flat.replace("│", " ").split())

    assert "The running service." in shown
    assert "the judging is done" not in shown


@pytest.mark.parametrize(
    "command", ["serve", "check", "judges", "assess", "rank", "probe", "drift"]
)
def test_the_file_of_judges_is_the_same_option_everywhere(cli: Cli, command: str) -> None:
    """Whatever ``--judges`` means there."""
    assert "--judges-file" in cli(command, "--help").out
