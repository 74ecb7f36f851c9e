"""Where the service is and what is asked of it by default: arguments first, then the environment.

| setting | environment | default |
|---|---|---|
| ``url`` | ``JUDGE_SERVICE_URL`` | ``http://127.0.0.1:8080`` |
| ``api_key`` | ``JUDGE_SERVICE_API_KEY`` | none |
| ``rubric`` | ``JUDGE_SERVICE_RUBRIC`` | none |
| ``timeout_s`` | ``JUDGE_SERVICE_TIMEOUT_S`` | 30 |
| ``family`` | ``JUDGE_SERVICE_FAMILY`` (several with commas) | none |
| ``policy_model`` | ``JUDGE_SERVICE_POLICY_MODEL`` | none |
| ``purpose`` | ``JUDGE_SERVICE_PURPOSE`` (``train`` or ``validate``) | the service's |
"""

from __future__ import annotations

import ipaddress
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import httpx

from judge_client import connections
from judge_client.errors import ConfigError

DEFAULT_URL = "http://127.0.0.1:8080"
DEFAULT_TIMEOUT_S = 30.0
MAX_TIMEOUT_S = 86_400.0
MAX_POLICY_MODEL = 512
Purpose = Literal["train", "validate"]
_RUBRIC = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_FAMILY = re.compile(r"[^\s\x00-\x1f\x7f]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Checked settings; ``timeout_s`` is the whole time of a call, retries included."""

    url: str = DEFAULT_URL
    api_key: str | None = field(default=None, repr=False)
    rubric: str | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    family: tuple[str, ...] = ()
    policy_model: str | None = None
    purpose: Purpose | None = None

    @property
    def scheme(self) -> str:
        """``http`` or ``https``."""
        return httpx.URL(self.url).scheme

    @property
    def is_local(self) -> bool:
        """Whether the service is this machine's, which no proxy leads to."""
        host = httpx.URL(self.url).host
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


def load(
    *,
    url: str | None = None,
    api_key: str | None = None,
    rubric: str | None = None,
    timeout_s: float | str | None = None,
    family: str | Sequence[str] | None = None,
    policy_model: str | None = None,
    purpose: str | None = None,
    environ: Mapping[str, str] | None = None,
    default_timeout_s: float = DEFAULT_TIMEOUT_S,
) -> Settings:
    """The settings from the arguments, else the environment, else the defaults.

    Raises ConfigError when one cannot be right, or when the environment's certificates or proxies
    cannot. Nothing is connected to.
    """
    env = os.environ if environ is None else environ

    def told(name: str, given: str | None) -> tuple[str, str | None]:
        """Where a setting comes from, and what it is."""
        if given is not None:
            return name, given
        variable = f"JUDGE_SERVICE_{name.upper()}"
        return variable, env.get(variable, "").strip() or None

    if timeout_s is None:
        timeout = told("timeout_s", None)
        seconds = default_timeout_s if timeout[1] is None else check_timeout(*timeout)
    else:
        seconds = check_timeout("timeout_s", timeout_s)
    loaded = Settings(
        url=_url(*told("url", url)),
        api_key=_api_key(*told("api_key", api_key)),
        rubric=_rubric(*told("rubric", rubric)),
        timeout_s=seconds,
        family=families(*told("family", None)) if family is None else families("family", family),
        policy_model=_policy_model(*told("policy_model", policy_model)),
        purpose=check_purpose(*told("purpose", purpose)),
    )
    connections.check(loaded.scheme, is_local=loaded.is_local)
    return loaded


def check_timeout(name: str, value: object) -> float:
    """A number of seconds above 0. Raises ConfigError."""
    seconds = math.nan
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        try:
            seconds = float(value)
        except (ValueError, OverflowError):
            seconds = math.nan
    if not 0 < seconds <= MAX_TIMEOUT_S:
        raise ConfigError(f"{name}: not a number of seconds above 0: {str(value)[:40]!r}")
    return seconds


def check_purpose(name: str, value: object) -> Purpose | None:
    """What judging is for, which says who may judge. Raises ConfigError."""
    if value not in (None, "train", "validate"):
        raise ConfigError(f"{name}: 'train' or 'validate', not {str(value)[:40]!r}")
    return value


def families(name: str, value: object) -> tuple[str, ...]:
    """The families of a word, of words with commas, or of a list. Raises ConfigError."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise ConfigError(f"{name}: neither a word nor a list of words")
    words = [word.strip() if isinstance(word, str) else word for word in value]
    if not 1 <= len(words) <= 8 or not all(
        isinstance(word, str) and _FAMILY.fullmatch(word) for word in words
    ):
        raise ConfigError(f"{name}: not one to eight words without blanks")
    return tuple(words)


def _url(name: str, value: object) -> str:
    if value is None:
        return DEFAULT_URL
    text = value.strip().rstrip("/") if isinstance(value, str) else ""
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        raise ConfigError(f"{name}: not a URL") from None
    port_is_one = url.port is None or 0 < url.port < 65_536
    if url.scheme not in ("http", "https") or not url.host or not port_is_one:
        raise ConfigError(f"{name}: not an http or https URL")
    if url.userinfo:
        raise ConfigError(
            f"{name}: no user or password in the URL; the key is a setting of its own"
        )
    if url.query or url.fragment:
        raise ConfigError(f"{name}: the address of the service has no query and no fragment")
    return text


def _api_key(name: str, value: object) -> str | None:
    if value is None:
        return None
    key = value.strip() if isinstance(value, str) else ""
    if not key or not key.isascii() or not key.isprintable() or len(key) > 512:
        # Never the key itself in a message.
        raise ConfigError(f"{name}: empty, too long or with characters that no key has")
    return key


def _rubric(name: str, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not _RUBRIC.fullmatch(value):
        raise ConfigError(f"{name}: not the id of a rubric: {str(value)[:80]!r}")
    return value


def _policy_model(name: str, value: object) -> str | None:
    if value is None:
        return None
    if (
        not isinstance(value, str)
        or not 1 <= len(value) <= MAX_POLICY_MODEL
        or not value.isprintable()
    ):
        raise ConfigError(f"{name}: not the name of a model")
    return value
