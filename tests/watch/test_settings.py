"""The ``[watch]`` table: what it may say, and one clear error for what it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_service.errors import ConfigError
from judge_service.judges.judge import load_bench
from judge_service.rubric.library import load_library
from judge_service.watch.opening import watch_settings
from judge_service.watch.sentinel_plan import sentinels_of
from judge_service.watch.settings import SentinelSettings, WatchSettings, load_watch
from tests.cli.conftest import Cli, cli
from tests.watch.gold import write_gold

__all__ = ["cli"]
JUDGES = """
[[judges]]
id = "gpt"
model = "openai/gpt-5-mini"

[[judges]]
id = "claude"
model = "anthropic/claude-sonnet-4-5"
purpose = "validate"
"""
MONEY = "daily_cost_usd = 1.0"


def written(folder: Path, watch: str) -> Path:
    """A judges file with that table."""
    file = folder / "judges.toml"
    file.write_text(JUDGES + watch, encoding="utf-8")
    return file


def test_defaults_cost_nothing(tmp_path: Path) -> None:
    """Charts from the start; sentinels and shadow not before somebody asks for them."""
    found = load_watch(written(tmp_path, ""))

    assert found == WatchSettings()
    assert (found.enabled, found.baseline, found.run_length, found.shift) == (
        True,
        500,
        20_000,
        0.5,
    )
    assert found.sentinel is None
    assert found.shadow is None
    assert watch_settings(None, None) == WatchSettings()


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    """As the manual shows it."""
    file = written(
        tmp_path,
        f"""
[watch]
baseline = 1000
run_length = 50000
shift = 0.4
[watch.sentinel]
gold = ["helpfulness", "mine,quick-look"]
per_hour = 12
{MONEY}
daily_requests = 300
[watch.shadow]
judges = ["claude"]
share = 0.02
{MONEY}
""",
    )
    found = watch_settings(file, load_bench(file))

    assert found.sentinel is not None
    assert found.sentinel.gold == ("helpfulness", "mine,quick-look")
    assert found.shadow is not None
    assert (found.shadow.share, found.shadow.max_concurrency) == (0.02, 2)


@pytest.mark.parametrize(
    ("watch", "told"),
    [
        ("[watch]\nbaselines = 3", "watch: baselines:"),
        ("[watch]\nbaseline = 10", "watch: baseline:"),
        ("[watch]\nbaseline = 400.5", "watch: baseline:"),
        ("[watch]\nshift = 0.1", "watch: shift:"),
        ("[watch]\nrun_length = 10", "watch: run_length:"),
        ('[watch]\nenabled = "yes"', "watch: enabled:"),
        ("watch = 3", "watch:"),
        ('[watch.sentinel]\ngold = ["a"]\nshare = 0.1', "watch: sentinel.daily_cost_usd:"),
        (f'[watch.sentinel]\ngold = ["a"]\n{MONEY}', "exactly one of share and per_hour"),
        (
            f'[watch.sentinel]\ngold = ["a"]\n{MONEY}\nshare = 0.1\nper_hour = 3',
            "exactly one of share and per_hour",
        ),
        (f"[watch.sentinel]\ngold = []\n{MONEY}\nshare = 0.1", "watch: sentinel.gold:"),
        (f'[watch.sentinel]\ngold = ["a"]\n{MONEY}\nshare = 1.5', "watch: sentinel.share:"),
        (f'[watch.sentinel]\ngold = ["a"]\n{MONEY}\nshare = nan', "watch: sentinel.share:"),
        (
            '[watch.sentinel]\ngold = ["a"]\ndaily_cost_usd = inf\nshare = 0.1',
            "watch: sentinel.daily_cost_usd:",
        ),
        (
            f'[watch]\nenabled = false\n[watch.sentinel]\ngold = ["a"]\n{MONEY}\nshare = 0.1',
            "sentinel: does nothing with enabled = false",
        ),
        (f'[watch.shadow]\njudges = ["claude"]\n{MONEY}', "watch: shadow.share:"),
        (
            f'[watch.shadow]\njudges = ["nobody"]\nshare = 0.1\n{MONEY}',
            "there is no judge 'nobody'; configured: gpt, claude",
        ),
        (
            f'[watch.shadow]\njudges = ["gpt"]\nshare = 0.1\n{MONEY}',
            "none is of another family than the judges in rotation",
        ),
    ],
)
def test_what_cannot_be_is_one_clear_error(tmp_path: Path, watch: str, told: str) -> None:
    """File, field, and what is wrong with it; at start."""
    file = written(tmp_path, watch) if watch.startswith("[") else tmp_path / "judges.toml"
    if not file.exists():
        file.write_text(watch + "\n" + JUDGES, encoding="utf-8")

    with pytest.raises(ConfigError) as error:
        watch_settings(file, load_bench(file))

    (line,) = str(error.value).splitlines()
    assert line.startswith(f"{file}: watch")
    assert told in line


@pytest.mark.parametrize(
    ("gold", "told"),
    [
        (["nothing"], "there is no such gold set"),
        (["../quick-look"], "there is no such gold set"),
        (["quick-look,nothing"], "there is no rubric 'nothing'"),
        (["odd"], "does not say which rubric it is for"),
        (["quick-look", "odd,quick-look"], "is asked under rubric 'quick-look' already"),
        (["quick-look,pairwise-writing"], "compares two candidates"),
    ],
)
def test_gold_sets_that_cannot_be_asked(tmp_path: Path, gold: list[str], told: str) -> None:
    """Also at start: one that is not there, is for no rubric, or for one that has another."""
    write_gold(tmp_path, "quick-look")
    write_gold(tmp_path, "odd")
    settings = SentinelSettings(gold=tuple(gold), daily_cost_usd=1.0, share=0.1)

    with pytest.raises(ConfigError, match=told):
        sentinels_of(settings, tmp_path / "anchors" / "gold", load_library())


def test_a_gold_file_that_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    """As everywhere."""
    file = write_gold(tmp_path, "quick-look")
    file.write_text(file.read_text() + "{}\n", encoding="utf-8")
    settings = SentinelSettings(gold=("quick-look",), daily_cost_usd=1.0, share=0.1)

    with pytest.raises(ConfigError, match="line 13"):
        sentinels_of(settings, tmp_path / "anchors" / "gold", load_library())


@pytest.mark.parametrize(
    ("watch", "told"),
    [
        ("[watch]\nbaseline = 1", "watch: baseline:"),
        (f'[watch.sentinel]\ngold = ["none"]\n{MONEY}\nshare = 0.1', "there is no such gold set"),
    ],
)
@pytest.mark.parametrize("command", ["check", "serve"])
def test_commands_tell_it_before_anything_starts(
    cli: Cli, tmp_path: Path, command: str, watch: str, told: str
) -> None:
    """``check`` in CI, ``serve`` at once."""
    file = written(tmp_path, watch)
    ran = cli(command, "--judges", file)

    assert ran.code == 1
    assert told in ran.out + ran.err
