"""What trainers hand over, in the client's forms: arrays, odd characters and missing labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge_client.errors import ConfigError
from judge_client.messages import messages_of, refuse
from judge_client.pace import MAX_GRANTED_S, service_time
from judge_client.settings import check_timeout
from judge_client.turns import as_text, conversation
from judge_client.values import listed, plain

Turns = list[dict[str, Any]]
Prompt = str | Turns


def prompt_of(value: Any, field: str = "prompt") -> Prompt:
    """A prompt, which is a text or a list of messages. Raises InvalidRequest."""
    return told(value, field) or _nothing(value, field)


def completion_of(value: Any, field: str = "completion") -> str | Turns:
    """What a policy wrote: a text, or messages; None is an empty text. Raises InvalidRequest."""
    return "" if value is None else told(value, field)


def told(value: Any, field: str) -> str | Turns:
    """A text, or messages as the turns that are judged. Raises InvalidRequest, which names the
    place in ``field``.
    """
    given = listed(value)
    if isinstance(given, str):
        text: str = plain(given)
        return text
    talk = conversation(messages_of(given, field), None)
    turns: Turns = plain([*talk.prompt, *talk.turns], field=field)
    return turns


def _nothing(value: Any, field: str) -> str:
    """A text may be empty, a conversation may not."""
    if not isinstance(value, str):
        refuse(field, "no message in the list")
    return ""


def reference_of(value: Any, field: str = "reference") -> str | None:
    """A label as a reference: none where it is empty or missing, JSON where it is no text.

    Raises InvalidRequest.
    """
    given = plain(value, field=field)
    if _is_missing(given) or (isinstance(given, str) and not given.strip()):
        return None
    return as_text(given, field)


def _is_missing(value: Any) -> bool:
    """Whether a table has no value there: None, NaN (which is unequal to itself), pandas' NA."""
    return value is None or (value != value) is True or type(value).__name__ == "NAType"


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
