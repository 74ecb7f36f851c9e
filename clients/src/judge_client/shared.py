"""The client behind a trainer's module: settings with a rubric among them, one client for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from judge_client import settings
from judge_client.async_client import AsyncJudgeClient
from judge_client.errors import ConfigError
from judge_client.settings import Settings


def load(
    *,
    default_timeout_s: float,
    url: str | None = None,
    api_key: str | None = None,
    rubric: str | None = None,
    timeout_s: float | str | None = None,
    family: str | Sequence[str] | None = None,
    policy_model: str | None = None,
    purpose: str | None = None,
) -> Settings:
    """Settings that name a rubric, from the arguments, else the environment, else the defaults.

    Raises ConfigError when one cannot be right. Nothing is connected to.
    """
    loaded = settings.load(
        url=url, api_key=api_key, rubric=rubric, timeout_s=timeout_s, family=family,
        policy_model=policy_model, purpose=purpose, default_timeout_s=default_timeout_s,
    )  # fmt: skip
    if loaded.rubric is None:
        raise ConfigError("rubric: give one, or set JUDGE_SERVICE_RUBRIC")
    return loaded


@lru_cache(maxsize=64)
def client_of(loaded: Settings) -> AsyncJudgeClient:
    """The client with these settings: trainers make a new object for every rollout, which must not
    mean new connections.
    """
    return AsyncJudgeClient.from_settings(loaded)


def one_of(name: str, value: object, *allowed: object) -> None:
    """Raises ConfigError where ``value`` is none of the allowed."""
    if value not in allowed:
        raise ConfigError(f"{name}: one of {', '.join(map(repr, allowed))}")


def yes_or_no(name: str, value: object) -> bool:
    """A setting that is true or false; a text such as "no" would be true. Raises ConfigError."""
    if not isinstance(value, bool):
        raise ConfigError(f"{name}: true or false, not {str(value)[:40]!r}")
    return value


def metric_name(name: object, allows: Callable[[str], object] = str.isidentifier) -> str:
    """The name of a reward's metric. Raises ConfigError."""
    if not isinstance(name, str) or not allows(name):
        raise ConfigError("name: not the name of a metric")
    return name
