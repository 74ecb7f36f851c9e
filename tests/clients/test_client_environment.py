"""The environment's certificates and proxies: what cannot be right is found at set-up, and nothing
in it raises from a call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judge_client import AssessFailed, AsyncJudgeClient, ConfigError, JudgeClient
from judge_client.art import judge_group
from judge_client.dashscope import JudgeRewardProcessor
from judge_client.ms_swift import make_orm
from judge_client.slime import JudgeRM
from judge_client.tinker import JudgePreferenceModel
from judge_client.trl import JudgeReward

from tests.clients.stand_in import StandIn
from tests.clients.test_garbage import well

REMOTE, SAFE = "http://judge.invalid:8080", "https://judge.invalid"
WRONG: dict[str, tuple[str, dict[str, str]]] = {
    "no such certificates": (SAFE, {"SSL_CERT_FILE": "/nonexistent"}),
    "certificates that are none": (SAFE, {"SSL_CERT_FILE": __file__}),
    "certificates, local": ("https://127.0.0.1:9", {"SSL_CERT_FILE": "/nonexistent"}),
    "a proxy of another protocol": (REMOTE, {"HTTP_PROXY": "ftp://proxy:1"}),
    "a proxy for all": (REMOTE, {"ALL_PROXY": "gopher://proxy:1"}),
    "SOCKS without its package": (REMOTE, {"ALL_PROXY": "socks5://127.0.0.1:1080"}),
    "no proxy for what is no host": (REMOTE, {"NO_PROXY": "[::1"}),
    "a port that is none": (REMOTE, {"HTTP_PROXY": "http://127.0.0.1:99999"}),
    "a port that is no number": (REMOTE, {"HTTPS_PROXY": "http://127.0.0.1:proxy"}),
}
SET_UPS: dict[str, Callable[[str], object]] = {
    "client": lambda url: JudgeClient(url, rubric="r"),
    "async client": lambda url: AsyncJudgeClient(url, rubric="r"),
    "trl": lambda url: JudgeReward(url, rubric="r"),
    "ms-swift": lambda url: make_orm(url, rubric="r"),
    "slime": lambda url: JudgeRM(url, rubric="r"),
    "tinker": lambda url: JudgePreferenceModel(url, rubric="r"),
    "art": lambda url: judge_group(url, rubric="r"),
    "dashscope": lambda url: asyncio.run(JudgeRewardProcessor(url=url, rubric="r").setup()),
}


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have proxies."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"):
        monkeypatch.delenv(name, raising=False)


def tell(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    """Set variables."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(("url", "environment"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_right_is_found_at_set_up(
    monkeypatch: pytest.MonkeyPatch, url: str, environment: dict[str, str]
) -> None:
    """One message names the variable."""
    tell(monkeypatch, environment)

    with pytest.raises(ConfigError, match=next(iter(environment))):
        JudgeClient(url, rubric="r")


@pytest.mark.parametrize("set_up", SET_UPS.values(), ids=SET_UPS)
def test_every_module_finds_it_at_set_up(
    monkeypatch: pytest.MonkeyPatch, set_up: Callable[[str], object]
) -> None:
    """Before the first sample, not with it."""
    tell(monkeypatch, {"HTTP_PROXY": "ftp://proxy:1"})

    with pytest.raises(ConfigError, match="HTTP_PROXY"):
        set_up(REMOTE)


def test_a_proxys_password_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the variable's name, not what is in it."""
    for proxy in ("ftp://user:hunter2@proxy:1", "http://user:hunter2@proxy:x"):
        tell(monkeypatch, {"HTTP_PROXY": proxy})
        with pytest.raises(ConfigError) as caught:
            JudgeClient(REMOTE, rubric="r")
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(("url", "environment"), WRONG.values(), ids=WRONG)
def test_the_service_of_this_machine_needs_none_of_it(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, url: str, environment: dict[str, str]
) -> None:
    """Without TLS no certificates are read, and no proxy is asked."""
    stand_in.script = well
    tell(monkeypatch, environment)

    assert JudgeClient(stand_in.url, rubric="r", timeout_s=5).assess("p", "a").status == "success"


@pytest.mark.parametrize(("url", "environment"), WRONG.values(), ids=WRONG)
def test_what_goes_wrong_after_set_up_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, url: str, environment: dict[str, str]
) -> None:
    """An environment that changed, as in another process: no exception leaves the call."""
    client = JudgeClient(url, rubric="r", timeout_s=0.5)
    tell(monkeypatch, environment)

    found = client.assess("p", "a")

    assert isinstance(found, AssessFailed)
    assert (found.error.code, found.error.retryable) == ("unreachable", True)


def test_certificates_may_be_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder, also an empty one, is where they are looked for."""
    tell(monkeypatch, {"SSL_CERT_DIR": str(tmp_path)})

    client: Any = JudgeClient(SAFE, rubric="r")

    assert client.settings.url == SAFE
