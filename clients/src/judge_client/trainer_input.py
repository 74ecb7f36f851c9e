"""What trainers hand over, in the client's forms: arrays, odd characters and missing labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge_client.errors import ConfigError, InvalidRequest
from judge_client.pace import MAX_GRANTED_S, service_time
from judge_client.settings import check_timeout
from judge_client.turns import as_text, conversation

MAX_DEPTH = 64
Prompt = str | list[dict[str, Any]]


def plain(value: Any, depth: int = 0) -> Any:
    """The same as texts, numbers, lists and dicts: arrays become lists, and halves of surrogate
    pairs a replacement, for one odd sample must not stop a training. Raises InvalidRequest.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if depth > MAX_DEPTH:
        raise InvalidRequest("a sample is nested too deeply")
    if isinstance(value, Mapping):
        return {plain(name): plain(part, depth + 1) for name, part in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist(), depth + 1)
    if isinstance(value, (list, tuple)):
        return [plain(part, depth + 1) for part in value]
    return value


def prompt_of(value: Any, field: str = "prompt") -> Prompt:
    """A prompt, which is a text or a list of messages. Raises InvalidRequest."""
    given = plain(value)
    if isinstance(given, str):
        return given
    if isinstance(given, list) and given and all(isinstance(turn, dict) for turn in given):
        talk = conversation(given, None)
        return [*talk.prompt, *talk.turns]
    raise InvalidRequest(f"{field}: neither a text nor a list of messages", field=field)


def reference_of(value: Any) -> str | None:
    """A label as a reference: none where it is empty or missing, JSON where it is no text.

    Raises InvalidRequest.
    """
    given = plain(value)
    # A table's missing value is NaN, which is unequal to itself.
    if given is None or given != given or (isinstance(given, str) and not given.strip()):
        return None
    return as_text(given)


def wait_of(value: Any, name: str, judging_s: float) -> float:
    """How long a group may take to come together, in seconds, before ``judging_s`` begin, of which
    something must be left to the service. Raises ConfigError.
    """
    seconds = check_timeout(name, value)
    if seconds > MAX_GRANTED_S:
        raise ConfigError(f"{name}: the service waits for {MAX_GRANTED_S:g} seconds at most")
    if service_time(seconds + judging_s) <= seconds:
        raise ConfigError(
            f"{name}: {seconds:g} s of waiting leave no time to judge in {seconds + judging_s:g} s"
        )
    return seconds


def words_of(value: Any) -> str | tuple[str, ...] | None:
    """A word, or words in a list of whatever kind a configuration has."""
    if value is None or isinstance(value, str):
        return value
    return tuple(value) if isinstance(value, Sequence) else value
