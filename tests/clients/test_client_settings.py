"""Settings: arguments, environment, defaults; what cannot be right is found at once."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from judge_client import (
    AccessDenied,
    AsyncJudgeClient,
    ConfigError,
    InvalidRequest,
    JudgeClient,
    JudgingFailed,
)

from tests.clients.stand_in import StandIn, Told, failed, problem

KEY = "js-not-a-real-key"


def test_without_settings_it_is_the_local_service() -> None:
    """Nothing has to be set."""
    settings = JudgeClient().settings

    assert (settings.url, settings.timeout_s) == ("http://127.0.0.1:8080", 30.0)
    assert (settings.api_key, settings.rubric, settings.family) == (None, None, ())


def test_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every setting has its variable; blanks around it do not matter."""
    for name, value in {
        "URL": " https://judge.example/base/ ",
        "API_KEY": KEY,
        "RUBRIC": "helpfulness",
        "TIMEOUT_S": "120",
        "FAMILY": "qwen, deepseek",
        "POLICY_MODEL": "qwen3-4b",
        "PURPOSE": "validate",
    }.items():
        monkeypatch.setenv(f"JUDGE_SERVICE_{name}", value)

    settings = AsyncJudgeClient().settings

    assert settings.url == "https://judge.example/base"
    assert (settings.api_key, settings.rubric) == (KEY, "helpfulness")
    assert (settings.timeout_s, settings.policy_model) == (120.0, "qwen3-4b")
    assert (settings.family, settings.purpose) == (("qwen", "deepseek"), "validate")


def test_arguments_win(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given counts, even where the environment has nonsense; an empty variable is none."""
    monkeypatch.setenv("JUDGE_SERVICE_URL", "nonsense")
    monkeypatch.setenv("JUDGE_SERVICE_TIMEOUT_S", "soon")
    monkeypatch.setenv("JUDGE_SERVICE_RUBRIC", "")

    settings = JudgeClient("http://judge:8080", timeout_s=5).settings

    assert (settings.url, settings.timeout_s, settings.rubric) == ("http://judge:8080", 5.0, None)


WRONG: list[dict[str, Any]] = [
    {"url": "judge:8080"},
    {"url": "ftp://judge"},
    {"url": "http://"},
    {"url": ""},
    {"url": "http://judge:99999"},
    {"url": "http://judge:0"},
    {"url": "http://user:secret@judge"},
    {"url": "http://judge?token=secret"},
    {"url": "http://judge/#x"},
    {"url": 7},
    {"purpose": "validation"},
    {"purpose": ""},
    {"purpose": ["train"]},
    {"timeout_s": 0},
    {"timeout_s": -1},
    {"timeout_s": float("nan")},
    {"timeout_s": float("inf")},
    {"timeout_s": "soon"},
    {"timeout_s": True},
    {"rubric": "No Such"},
    {"rubric": "../etc"},
    {"rubric": ""},
    {"api_key": ""},
    {"api_key": "secret\nkey"},
    {"api_key": "secret-ключ"},
    {"family": ""},
    {"family": "a b"},
    {"family": []},
    {"family": 7},
    {"policy_model": ""},
    {"policy_model": "x" * 600},
    {"retry_failed": -1},
    {"retry_failed": 1.5},
]


@pytest.mark.parametrize("given", WRONG, ids=str)
def test_a_setting_that_cannot_be_right_is_an_error(given: dict[str, Any]) -> None:
    """It is found at set-up, named, and no secret is repeated."""
    with pytest.raises(ConfigError, match=next(iter(given))) as caught:
        JudgeClient(**given)

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("URL", "judge"),
        ("TIMEOUT_S", "soon"),
        ("TIMEOUT_S", "nan"),
        ("RUBRIC", "No"),
        ("FAMILY", ","),
    ],
)
def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """The message says which variable it is."""
    monkeypatch.setenv(f"JUDGE_SERVICE_{name}", value)

    with pytest.raises(ConfigError, match=f"JUDGE_SERVICE_{name}"):
        JudgeClient()


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan"), "soon"])
def test_a_calls_timeout_is_checked(timeout_s: Any) -> None:
    """The same for the time of one call."""
    with pytest.raises(ConfigError, match="timeout_s"):
        JudgeClient(rubric="quality").assess("p", "c", timeout_s=timeout_s)


def test_the_key_is_sent_and_never_shown(
    stand_in: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    """The key goes into the header; not into a repr, a log or an error."""
    caplog.set_level(logging.DEBUG)
    client = JudgeClient(stand_in.url, api_key=KEY, rubric="quality")
    stand_in.says(Told(status=401, body=problem("unauthorized")))

    with pytest.raises(AccessDenied) as caught:
        client.assess("p", "c")

    assert stand_in.requests[0].headers["authorization"] == f"Bearer {KEY}"
    shown = [
        repr(client),
        repr(client.settings),
        str(caught.value),
        repr(caught.value),
        caplog.text,
    ]
    assert not [text for text in shown if KEY in text]


def test_an_unset_key_is_not_sent(stand_in: StandIn) -> None:
    """Without a key there is no such header."""
    JudgeClient(stand_in.url, rubric="quality").assess("p", "c")

    assert "authorization" not in stand_in.requests[0].headers


def test_the_policys_family_goes_with_every_candidate(stand_in: StandIn) -> None:
    """The settings say who wrote the candidate, unless the candidate does."""
    by_family = JudgeClient(stand_in.url, rubric="q", family="qwen", policy_model="m")
    by_model = JudgeClient(stand_in.url, rubric="q", policy_model="qwen3-4b")

    by_family.assess("p", "c")
    by_model.assess("p", "c")
    by_model.assess("p", {"text": "c", "family": "llama"})

    assert [got.body["candidate"] for got in stand_in.requests] == [
        {"text": "c", "family": ["qwen"]},
        {"text": "c", "policy_model": "qwen3-4b"},
        {"text": "c", "family": "llama"},
    ]


def test_proxies_are_for_other_machines(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment is not asked for the service on this machine."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    result = JudgeClient(stand_in.url, rubric="quality", timeout_s=5).assess("p", "c")

    assert result.status == "success"


def test_exceptions_survive_pickling(stand_in: StandIn) -> None:
    """Trainers carry exceptions from worker processes."""
    stand_in.says(Told(body=failed("refused")))
    refused = InvalidRequest("candidate: no", "invalid_request", "candidate", 422)
    result = JudgeClient(stand_in.url, rubric="quality").assess("p", "c")
    with pytest.raises(JudgingFailed) as caught:
        result.or_raise()

    again = pickle.loads(pickle.dumps(refused))  # noqa: S301 - our own
    assert (str(again), again.field, again.status) == ("candidate: no", "candidate", 422)
    failure = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own
    assert failure.error == caught.value.error
    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301 - our own


CALLS: dict[str, Callable[..., object]] = {
    "assess": lambda client, **more: client.assess("p", "c", **more),
    "compare": lambda client, **more: client.compare("p", "c", "d", **more),
    "rank": lambda client, **more: client.rank("p", ["c", "d"], **more),
    "join": lambda client, **more: client.join("g", 2, "m", "p", "c", **more),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_request_says_its_purpose(stand_in: StandIn, call: Callable[..., object]) -> None:
    """The client's, unless the call has its own; the service's own choice where none is given."""
    stand_in.says(Told(body=failed()))
    client = JudgeClient(stand_in.url, rubric="quality", purpose="validate")

    call(client)
    call(client, purpose="train")
    call(JudgeClient(stand_in.url, rubric="quality"))

    assert [got.body.get("purpose") for got in stand_in.requests] == ["validate", "train", None]
    with pytest.raises(InvalidRequest, match="purpose"):
        call(client, purpose="test")
