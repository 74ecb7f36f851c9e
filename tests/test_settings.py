"""Settings: every variable is read, checked and named when it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judge_service.errors import ConfigError
from judge_service.settings import LOG_LEVELS, Settings, from_env, judge_keys


def env(**variables: str) -> dict[str, str]:
    """An environment with these settings, and with things that are none."""
    return {"PATH": "/bin", **{f"JUDGE_SERVICE_{name}": v for name, v in variables.items()}}


def test_without_variables_there_are_the_defaults() -> None:
    """The service listens on loopback at 8080 and asks for nothing."""
    assert from_env({}) == Settings()
    assert (Settings().host, Settings().port, Settings().workers) == ("127.0.0.1", 8080, 1)
    assert not Settings().log_texts
    assert not Settings().require_family


@pytest.mark.parametrize(
    ("environ", "file"),
    [
        ({"HOME": "/home/ada"}, "/home/ada/.local/state/judge-service/store.sqlite3"),
        ({"HOME": "/home/ada", "XDG_STATE_HOME": "/s"}, "/s/judge-service/store.sqlite3"),
        ({"HOME": "/home/ada", "XDG_STATE_HOME": "s"},
         "/home/ada/.local/state/judge-service/store.sqlite3"),
    ],
    ids=["home", "XDG", "a relative XDG does not count"],
)  # fmt: skip
def test_the_embedded_store_is_where_programs_keep_their_state(
    environ: dict[str, str], file: str
) -> None:
    """Without a file named, verdicts are kept in the user's state folder."""
    assert from_env(environ).default_store == Path(file)


READ: dict[str, tuple[str, str, Any]] = {
    "HOST": ("host", "::1", "::1"),
    "PORT": ("port", "9000", 9000),
    "free port": ("port", "0", 0),
    "WORKERS": ("workers", "4", 4),
    "JUDGES": ("judges", "my/judges.toml", Path("my/judges.toml")),
    "RUBRICS_DIR": ("rubrics_dir", "r", Path("r")),
    "ANCHORS_DIR": ("anchors_dir", "a", Path("a")),
    "STORE": ("store", "s.db", Path("s.db")),
    "API_KEYS_FILE": ("api_keys_file", "keys.toml", Path("keys.toml")),
    "SECRET": ("secret", "hush", "hush"),
    "SECRET_PREVIOUS": ("secret_previous", "hush", "hush"),
    "REQUIRE_FAMILY": ("require_family", "1", True),
    "switch in words": ("require_family", "Yes", True),
    "switch off": ("require_family", "off", False),
    "empty switch": ("require_family", "", False),
    "LOG_LEVEL": ("log_level", "WARNING", "warning"),
    "LOG_TEXTS": ("log_texts", "true", True),
    "RULE_MODULES": ("rule_modules", "my_rules, other.rules,", ("my_rules", "other.rules")),
    "EMBEDDED_JUDGE": ("embedded_judge", "1", True),
    "LOCAL_MODEL": ("local_model", "m.gguf", Path("m.gguf")),
    "LOCAL_MODEL_FAMILY": ("local_model_family", "qwen", "qwen"),
    "spaces": ("secret", "  hush\n", "hush"),
    "empty path": ("judges", "", None),
    "home": ("judges", "~/judges.toml", Path.home() / "judges.toml"),
}


@pytest.mark.parametrize(("field", "value", "expected"), READ.values(), ids=READ)
def test_every_variable_is_read(field: str, value: str, expected: object) -> None:
    """A variable becomes the setting of its name."""
    assert getattr(from_env(env(**{field.upper(): value})), field) == expected


def test_a_redis_url_is_read() -> None:
    """Redis is used where its URL and a secret are given."""
    settings = from_env(env(REDIS_URL="rediss://h:6380/1", SECRET="hush"))

    assert settings.redis_url == "rediss://h:6380/1"


WRONG: dict[str, tuple[dict[str, str], str]] = {
    "unknown variable": ({"JUGDES": "x"}, "JUDGE_SERVICE_JUGDES"),
    "nameless variable": ({"": "x"}, "JUDGE_SERVICE_"),
    "a method of settings": ({"ON_LOOPBACK": "1"}, "JUDGE_SERVICE_ON_LOOPBACK"),
    "port in words": ({"PORT": "http"}, "JUDGE_SERVICE_PORT"),
    "port too large": ({"PORT": "65536"}, "JUDGE_SERVICE_PORT"),
    "port negative": ({"PORT": "-1"}, "JUDGE_SERVICE_PORT"),
    "port as fraction": ({"PORT": "80.5"}, "JUDGE_SERVICE_PORT"),
    "port with underscore": ({"PORT": "80_80"}, "JUDGE_SERVICE_PORT"),
    "port in other digits": ({"PORT": "\u0668\u0660"}, "JUDGE_SERVICE_PORT"),
    "endless port": ({"PORT": "9" * 5_000}, "JUDGE_SERVICE_PORT"),
    "no workers": ({"WORKERS": "0"}, "JUDGE_SERVICE_WORKERS"),
    "unclear switch": ({"REQUIRE_FAMILY": "maybe"}, "JUDGE_SERVICE_REQUIRE_FAMILY"),
    "unclear text switch": ({"LOG_TEXTS": "2"}, "JUDGE_SERVICE_LOG_TEXTS"),
    "unknown level": ({"LOG_LEVEL": "loud"}, "JUDGE_SERVICE_LOG_LEVEL"),
    "home of nobody": ({"JUDGES": "~nobody-at-all/judges.toml"}, "JUDGE_SERVICE_JUDGES"),
    "redis without secret": ({"REDIS_URL": "redis://:pass@h"}, "JUDGE_SERVICE_SECRET"),
}


@pytest.mark.parametrize(("variables", "named"), WRONG.values(), ids=WRONG)
def test_a_wrong_setting_is_named(variables: dict[str, str], named: str) -> None:
    """What cannot be right is an error in one short line that starts with the variable."""
    with pytest.raises(ConfigError) as raised:
        from_env(env(**variables))

    message = str(raised.value)
    assert message.startswith(f"{named}: ")
    assert "\n" not in message
    assert len(message) < 250
    assert "pass" not in message


def test_settings_can_be_logged() -> None:
    """What may be secret does not stand in the representation of the settings."""
    shown = repr(Settings(secret="hush-1", secret_previous="hush-2", redis_url="redis://:hush-3@h"))

    assert "hush" not in shown


def test_clients_on_the_same_machine_do_not_disturb() -> None:
    """The variables of the clients are known, though the service has no use for them."""
    clients = env(
        URL="http://x", API_KEY="k", RUBRIC="r", TIMEOUT_S="9", FAMILY="f", POLICY_MODEL="m"
    )

    assert from_env(clients) == Settings()


def test_the_message_for_a_level_lists_the_levels() -> None:
    """A wrong word is answered with the right ones."""
    with pytest.raises(ConfigError, match=", ".join(LOG_LEVELS)):
        from_env(env(LOG_LEVEL="verbose"))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "LocalHost", "0:0:0:0:0:0:0:1"]
)
def test_loopback_needs_no_keys(host: str) -> None:
    """An address only this machine reaches needs no keys file."""
    assert Settings(host=host).on_loopback


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.example.org", "127.0.0.1.nip.io",
     "[::1]", "0177.0.0.1", "127.1 ", "::ffff:10.0.0.1"],
)  # fmt: skip
def test_other_addresses_need_keys(host: str) -> None:
    """Listening to others without keys is refused unless it is said plainly."""
    with pytest.raises(ConfigError, match=r"JUDGE_SERVICE_HOST: .*JUDGE_SERVICE_API_KEYS_FILE"):
        Settings(host=host)
    assert Settings(host=host, api_keys_file=Path("keys.toml")).host == host
    assert Settings(host=host, allow_unauthenticated=True).host == host
    assert from_env(env(HOST=host, ALLOW_UNAUTHENTICATED="1")).host == host.strip()


# Which judges.


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_on_its_own_the_embedded_judge_judges(empty: Path) -> None:
    """With nothing configured, on loopback, the trial model serves."""
    assert Settings().judges_file() is None


@pytest.mark.parametrize(
    "settings",
    [
        {"api_keys_file": Path("keys.toml")},
        {"redis_url": "redis://h", "secret": "hush"},
        {"host": "0.0.0.0", "allow_unauthenticated": True},
        {"host": "0.0.0.0", "api_keys_file": Path("keys.toml")},
    ],
    ids=["keys", "redis", "other address", "both"],
)
def test_a_real_service_does_not_fall_back_to_the_trial_model(
    empty: Path, settings: dict[str, Any]
) -> None:
    """Where others could take it for a real judge, missing judges are a start error."""
    with pytest.raises(ConfigError, match=r"JUDGE_SERVICE_JUDGES: .*--embedded-judge"):
        Settings(**settings).judges_file()
    assert Settings(**settings, embedded_judge=True).judges_file() is None


def test_a_judges_file_in_the_folder_is_found(empty: Path) -> None:
    """``judges.toml`` where the service starts is used, unless the trial model is asked for."""
    (empty / "judges.toml").touch()

    assert Settings().judges_file() == Path("judges.toml")
    assert Settings(api_keys_file=Path("keys.toml")).judges_file() == Path("judges.toml")
    assert Settings(embedded_judge=True).judges_file() is None


@pytest.mark.parametrize("embedded", [True, False])
def test_a_named_file_that_is_missing_is_an_error(empty: Path, embedded: bool) -> None:
    """A file that was named must be there, whatever else is said; a folder is no file."""
    (empty / "judges.toml").touch()
    (empty / "folder").mkdir()

    for name in ("missing.toml", "folder"):
        with pytest.raises(ConfigError, match=rf"JUDGE_SERVICE_JUDGES: {name}: no such file"):
            Settings(judges=Path(name), embedded_judge=embedded).judges_file()


def test_a_named_file_wins(empty: Path) -> None:
    """The named file is used, not the one in the folder."""
    (empty / "judges.toml").touch()
    (empty / "mine.toml").touch()

    assert Settings(judges=Path("mine.toml")).judges_file() == Path("mine.toml")


def test_judges_keys_come_from_the_variables_they_name() -> None:
    """Each judge has its own key; a judge without a variable has none."""
    keys = judge_keys({"a": "KEY_A", "b": None}, {"KEY_A": "secret\n"})

    assert keys == {"a": "secret"}


@pytest.mark.parametrize("environ", [{}, {"KEY_A": ""}, {"KEY_A": " "}, {"key_a": "secret"}])
def test_a_missing_key_is_named_with_its_judge(environ: dict[str, str]) -> None:
    """A judge whose key is not there is told at start, with the variable."""
    with pytest.raises(ConfigError, match=r"judge 'a': the variable KEY_A \(api_key_env\)"):
        judge_keys({"a": "KEY_A"}, environ)
