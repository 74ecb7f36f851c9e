"""Reading the service's answers: strict about what becomes a number, tolerant of new fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from judge_client.results import (
    Assessed,
    AssessFailed,
    AssessOutcome,
    Compared,
    CompareFailed,
    CompareOutcome,
    Failure,
    Joined,
    JoinFailed,
    JoinOutcome,
    PairOutcome,
    Ranked,
    RankFailed,
    RankOutcome,
)

_PREFERENCES: dict[str, float | None] = {
    "first": 1.0,
    "second": 0.0,
    "tie": 0.5,
    "inconsistent": None,
}
_LARGEST = 1e308


class NotTheProtocol(ValueError):
    """An answer that the service does not give; the message says what is wrong with it."""


def decode(content: bytes) -> dict[str, Any]:
    """The JSON object of a body: UTF-8, no NaN, no infinity. Raises NotTheProtocol."""
    try:
        found = json.loads(content.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise NotTheProtocol("nested too deeply") from None
    except ValueError:
        raise NotTheProtocol("not JSON") from None
    if not isinstance(found, dict):
        raise NotTheProtocol("not a JSON object")
    return found


def _no_constant(word: str) -> Any:
    raise ValueError(word)


def protocol_failure(why: str) -> Failure:
    """The failure that an unreadable answer is."""
    return Failure(
        code="protocol", message=f"this is no answer of a judge_service: {why}", retryable=True,
        at="client",
    )  # fmt: skip


def read_assess(answer: object) -> AssessOutcome:
    """An assessment; whatever is not one is a failure."""
    try:
        raw = _outcome(answer)
        if raw["status"] == "failed":
            return AssessFailed(raw=raw, metrics=_lenient(raw), error=_failure(raw))
        reward = _unit(raw.get("reward"), "reward")
        return Assessed(
            raw=raw, metrics=_metrics(raw), short_circuited=_short(raw), reward=reward
        )  # fmt: skip
    except NotTheProtocol as wrong:
        return AssessFailed(error=protocol_failure(str(wrong)), raw=_shown(answer))


def read_compare(answer: object) -> CompareOutcome:
    """A comparison; whatever is not one is a failure."""
    try:
        raw = _outcome(answer)
        if raw["status"] == "failed":
            return CompareFailed(raw=raw, metrics=_lenient(raw), error=_failure(raw))
        outcome = raw.get("outcome")
        if not isinstance(outcome, str) or outcome not in _PREFERENCES:
            raise NotTheProtocol("a comparison without outcome")
        preference = _PREFERENCES[outcome]
        told = raw.get("preference", "")
        # True is equal to 1, and is no number.
        if isinstance(told, bool) or told != preference:
            raise NotTheProtocol("outcome and preference contradict each other")
        return Compared(
            raw=raw, metrics=_metrics(raw), short_circuited=_short(raw),
            outcome=cast("PairOutcome", outcome), preference=preference,
        )  # fmt: skip
    except NotTheProtocol as wrong:
        return CompareFailed(error=protocol_failure(str(wrong)), raw=_shown(answer))


def read_rank(answer: object, ids: Sequence[str | None]) -> RankOutcome:
    """A ranking of candidates with these ids, where they have any; whatever is not one is a
    failure.
    """
    size = len(ids)
    try:
        raw = _outcome(answer)
        members = _entries(raw)
        if raw["status"] == "failed":
            return RankFailed(
                raw=raw, metrics=_lenient(raw), error=_failure(raw), candidates=members
            )  # fmt: skip
        rewards = raw.get("rewards")
        if not isinstance(rewards, list) or len(rewards) != size:
            raise NotTheProtocol(f"not {size} rewards for {size} candidates")
        units = tuple(_unit(reward, f"rewards[{at}]") for at, reward in enumerate(rewards))
        _check_entries(raw, units, ids)
        return Ranked(
            raw=raw, metrics=_metrics(raw), short_circuited=_short(raw), rewards=units,
            ranks=_ranks(raw, size), candidates=members,
            zero_advantage=len(set(units)) == 1,
        )  # fmt: skip
    except NotTheProtocol as wrong:
        return RankFailed(error=protocol_failure(str(wrong)), raw=_shown(answer))


def read_join(answer: object) -> JoinOutcome:
    """A member's share of a group; whatever is not one is a failure."""
    try:
        raw = _outcome(answer)
        group = raw.get("group")
        summary = group if isinstance(group, dict) else {}
        told = raw if "metrics" in raw else summary
        if raw["status"] == "failed":
            return JoinFailed(raw=raw, metrics=_lenient(told), error=_failure(raw))
        rank = raw.get("rank")
        return Joined(
            raw=raw, metrics=_metrics(told), short_circuited=_short(raw), group=summary,
            reward=_unit(raw.get("reward"), "reward"),
            rank=rank if isinstance(rank, int) and not isinstance(rank, bool) else None,
        )  # fmt: skip
    except NotTheProtocol as wrong:
        return JoinFailed(error=protocol_failure(str(wrong)), raw=_shown(answer))


def _shown(answer: object) -> Mapping[str, Any]:
    return answer if isinstance(answer, dict) else {}


def _outcome(answer: object) -> dict[str, Any]:
    """An outcome whose status and error agree."""
    if not isinstance(answer, dict):
        raise NotTheProtocol("no outcome")
    status = answer.get("status")
    if status not in ("success", "failed"):
        raise NotTheProtocol("an outcome without status")
    if status == "success" and answer.get("error") is not None:
        raise NotTheProtocol("a success with an error")
    return answer


def _failure(raw: Mapping[str, Any]) -> Failure:
    error = raw.get("error")
    told = error if isinstance(error, dict) else {}
    code, message = told.get("code"), told.get("message")
    return Failure(
        code=code if isinstance(code, str) and code else "internal",
        message=message if isinstance(message, str) and message else "the service did not say why",
        # Only a clear no ends it: what is not said may pass.
        retryable=told.get("retryable") is not False,
        retry_after_s=seconds(told.get("retry_after_s")),
    )


def seconds(value: object) -> float | None:
    """A waiting time as told, or None when it cannot be one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= _LARGEST else None


def _unit(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise NotTheProtocol(f"{name} is not a number")
    # Also False for NaN, and for integers too long to be a float.
    if not 0 <= value <= 1:
        raise NotTheProtocol(f"{name} is not in [0, 1]")
    return float(value)


def _is_finite(value: object) -> bool:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and -_LARGEST <= value <= _LARGEST
    )


def _metrics(raw: Mapping[str, Any]) -> Mapping[str, float]:
    found = raw.get("metrics", {})
    if not isinstance(found, dict) or not all(_is_finite(value) for value in found.values()):
        raise NotTheProtocol("metrics that are no finite numbers")
    if raw.get("status") != "failed" and found.get("judge_failed"):
        raise NotTheProtocol("a success whose metrics say that it failed")
    return {name: float(value) for name, value in found.items()}


def _lenient(raw: Mapping[str, Any]) -> Mapping[str, float]:
    """The metrics of a failure, which stays one whatever they are."""
    try:
        return _metrics(raw)
    except NotTheProtocol:
        return {}


def _short(raw: Mapping[str, Any]) -> bool:
    return raw.get("short_circuited") is True


def _entries(raw: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    found = raw.get("candidates")
    return (
        tuple(entry for entry in found if isinstance(entry, dict))
        if isinstance(found, list)
        else ()
    )


def _check_entries(
    raw: Mapping[str, Any], rewards: Sequence[float], ids: Sequence[str | None]
) -> None:
    """Raises NotTheProtocol where the members' entries are of others, or contradict the rewards."""
    entries = raw.get("candidates")
    if entries is None:
        return
    if not isinstance(entries, list) or len(entries) != len(rewards):
        raise NotTheProtocol(f"not {len(rewards)} entries for {len(rewards)} candidates")
    for at, (entry, reward, own) in enumerate(zip(entries, rewards, ids, strict=True)):
        if not isinstance(entry, dict):
            raise NotTheProtocol(f"candidates[{at}] is no entry")
        if entry.get("status", "success") != "success" or entry.get("reward", reward) != reward:
            raise NotTheProtocol(f"candidates[{at}] contradicts its reward")
        if own is not None and entry.get("id", own) != own:
            raise NotTheProtocol(f"candidates[{at}] is another candidate's")


def _ranks(raw: Mapping[str, Any], size: int) -> tuple[int, ...]:
    found = raw.get("ranks")
    if found is None:
        return ()
    right = isinstance(found, list) and len(found) == size
    if not right or not all(isinstance(rank, int) and not isinstance(rank, bool) for rank in found):
        raise NotTheProtocol("ranks that are none")
    return tuple(found)
