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


NO_KEY = '[[judges]]\nid = "gpt"\nmodel = "{model}"\n'


@pytest.mark.parametrize(
    ("model", "more", "env", "warned"),
    [
        ("gpt-5-mini", "", {}, True),
        ("openai/gpt-4.1-mini-2025-04-14", "", {}, True),
        ("anthropic/claude-haiku-4-5", "", {}, True),
        ("openai/gpt-5-mini", "", {"OPENAI_API_KEY": "x"}, False),
        ("openai/gpt-5-mini", 'api_base = "http://127.0.0.1:9/v1"\n', {}, False),
        ("hosted_vllm/Qwen/Qwen3-8B", 'api_base = "http://127.0.0.1:9/v1"\n', {}, False),
        ("openai/gpt-5-mini", 'api_key_env = "TEST_JUDGE_KEY"\n', {"TEST_JUDGE_KEY": "x"}, False),
    ],
    ids=["bare", "openai", "anthropic", "usual variable", "own address", "own server", "named"],
)
@pytest.mark.parametrize("command", [("judges",), ("check", "quick-look")], ids=["judges", "check"])
def test_a_judge_without_the_key_it_needs_is_warned_about(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...],
    model: str, more: str, env: dict[str, str], warned: bool,
) -> None:  # fmt: skip
    """Naming the field; a server of one's own may need none, and the usual variable counts."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "judges.toml").write_text(NO_KEY.format(model=model) + more)

    ran = cli(*command, env=env)

    assert ran.code == 0
    assert ("api_key_env" in ran.err) == warned


def test_without_a_key_the_ping_says_so(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line below the table, not a library's message in a narrow column."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "judges.toml").write_text(NO_KEY.format(model="openai/gpt-4.1-mini"))

    ran = cli("judges", "--ping")

    assert ran.code == 3
    assert "upstream_auth" in ran.out
    assert "gpt: has no key: api_key_env is to name its variable" in ran.out
    assert ran.err.count("api_key_env") == 1


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
