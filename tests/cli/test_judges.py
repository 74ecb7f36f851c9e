"""``judges``: the list, and a control question to each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.harness import RunningService
from tests.provider import FakeProvider, behaviours, faults

FILE = """
[[judges]]
id = "gpt"
model = "openai/gpt-5-mini"
api_key_env = "TEST_JUDGE_KEY"
rpm = 60
[[judges]]
id = "claude"
model = "anthropic/claude-sonnet-latest"
purpose = "validate"
"""


def test_the_list(cli: Cli, tmp_path: Path) -> None:
    """Model, family, purpose, limits, key; what is odd is said."""
    (tmp_path / "judges.toml").write_text(FILE)

    ran = cli("judges")

    assert ran.code == 0
    for words in ("openai/gpt-5-mini", "anthropic", "validate", "60 rpm", "TEST_JUDGE_KEY"):
        assert words in ran.flat, words
    assert "TEST_JUDGE_KEY is not set" in ran.err
    assert "floating alias" in ran.err


def test_a_key_is_never_shown(cli: Cli, tmp_path: Path) -> None:
    """Only whether it is set."""
    (tmp_path / "judges.toml").write_text(FILE)

    ran = cli("judges", "--json", env={"TEST_JUDGE_KEY": "s3cr3t"})

    assert [judge["key"] for judge in ran.json["judges"]] == ["set", "none"]
    assert "s3cr3t" not in ran.out + ran.err


def test_without_judges_the_trial_model_is_named(cli: Cli) -> None:
    """And that it is for trying things out."""
    ran = cli("judges", "--json")

    assert ran.code == 0
    assert ran.json["judges"][0]["trial"]
    assert "trying" in ran.json["warnings"][0]


@pytest.fixture(params=["in process", "over HTTP"])
def judges_of(request: pytest.FixtureRequest, folder: Path) -> list[str]:
    """Both ways to the same judges."""
    if request.param == "in process":
        return ["--judges", str(folder / "judges.toml")]
    running: RunningService = request.getfixturevalue("service")
    return ["--url", running.url]


def test_ping_asks_every_judge(cli: Cli, provider: FakeProvider, judges_of: list[str]) -> None:
    """How long it took, who answered, in which form."""
    provider.behave_by_default(behaviours.decides(lambda seen: seen.best()))

    said = cli("judges", "--ping", "--json", *judges_of)
    shown = cli("judges", "--ping", *judges_of)

    assert (said.code, shown.code) == (0, 0), said.err + shown.err
    for judge in said.json["judges"]:
        assert judge["ping"]["status"] == "success"
        assert judge["ping"]["model_served"] == judge["id"]
        assert judge["ping"]["reply"] == "json_schema"
        assert judge["ping"]["latency_ms"] > 0
    assert "served by" in shown.flat


def test_a_judge_that_cannot_answer_is_exit_code_three(
    cli: Cli, provider: FakeProvider, judges_of: list[str]
) -> None:
    """With the error's code; the others are shown as usual."""
    provider.behave_by_default(behaviours.decides(lambda seen: seen.best()))
    provider.behave("beta", faults.status_error(401))

    ran = cli("judges", "--ping", "--json", *judges_of)

    assert ran.code == 3
    pings = {judge["id"]: judge["ping"] for judge in ran.json["judges"]}
    assert pings["alpha"]["status"] == "success"
    assert pings["beta"]["error"]["code"] == "upstream_auth"


def test_a_file_that_cannot_be_right_is_readable(cli: Cli, tmp_path: Path) -> None:
    """File, judge and field."""
    (tmp_path / "judges.toml").write_text('[[judges]]\nid = "a"\nmodel = "openai/gpt-4o"\nx = 1\n')

    ran = cli("judges")

    assert ran.code == 1
    assert "judges.toml: judges[a]: x: unknown field" in ran.err
