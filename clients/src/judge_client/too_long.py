"""Texts longer than the service takes: a candidate has lost by its length, without being sent.

A reward is an honest 0 here, as with any hard rule. In a group the member is sent empty instead,
which the service gives 0 without asking a judge, so that the others are judged as ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge_client.candidate import MAX_TEXT_BYTES, size, written_bytes
from judge_client.results import Assessed, Compared, Failure, PairOutcome

RULE = "too_long"
MAX_ALL_BYTES = 4 * 1024 * 1024 - 64 * 1024
"""How much a policy may write over all turns, so that a request still holds it."""


def excess(candidate: Mapping[str, Any]) -> int:
    """The length of what the policy wrote, in bytes, where it is too long; else 0."""
    longest, total = written_bytes(candidate)
    if longest > MAX_TEXT_BYTES:
        return longest
    return total if total > MAX_ALL_BYTES else 0


def request_failure(length: int) -> Failure:
    """The failure of a question that is too long, which is not the candidate's fault."""
    return Failure(
        code="context_too_long",
        message=f"prompt, reference or context are too long to be sent ({length:,} bytes)",
        retryable=False,
        at="client",
    )


def assessed(fields: Mapping[str, Any], length: int) -> Assessed:
    """The assessment of a candidate of ``length`` bytes: success, reward 0, no judge asked."""
    metrics = {
        "rule_score": 0.0,
        "model_score": 0.0,
        "agreement": 0.0,
        "judge_failed": 0.0,
        "cached": 0.0,
        "short_circuited": 1.0,
        "length_chars": float(_chars(fields["candidate"])),
        "length_factor": 1.0,
    }
    raw = {**_raw(fields, metrics), "reward": 0.0, "rules": _report(length), "criteria": {}}
    return Assessed(raw=raw, metrics=metrics, short_circuited=True, reward=0.0)


def compared(fields: Mapping[str, Any], excesses: Sequence[int]) -> Compared:
    """A pair in which at least one is too long: it loses, and two such, or an empty one, tie."""
    lost = [
        length > 0 or not _says_something(candidate)
        for length, candidate in zip(excesses, fields["candidates"], strict=True)
    ]
    outcome: PairOutcome = "tie" if all(lost) else "second" if lost[0] else "first"
    preference = {"tie": 0.5, "second": 0.0, "first": 1.0}[outcome]
    metrics = {
        **{f"outcome/{word}": float(word == outcome) for word in ("first", "second", "tie")},
        "outcome/inconsistent": 0.0,
        "judge_failed": 0.0,
        "cached": 0.0,
        "short_circuited": 1.0,
        "length_chars/first": float(_chars(fields["candidates"][0])),
        "length_chars/second": float(_chars(fields["candidates"][1])),
    }
    raw = {
        **_raw(fields, metrics),
        "outcome": outcome,
        "preference": preference,
        "consistent": True,
        "orders": [],
        "rules": [_report(length) if length else None for length in excesses],
    }
    return Compared(
        raw=raw, metrics=metrics, short_circuited=True, outcome=outcome, preference=preference
    )


def emptied(candidate: dict[str, Any]) -> dict[str, Any]:
    """A group's member as it is sent: without its text where that is too long."""
    if not excess(candidate):
        return candidate
    kept = {name: value for name, value in candidate.items() if name != "messages"}
    return {**kept, "text": ""}


def _raw(fields: Mapping[str, Any], metrics: Mapping[str, float]) -> dict[str, Any]:
    return {
        "status": "success",
        "short_circuited": True,
        "verdicts": [],
        "flags": [],
        "metrics": dict(metrics),
        "usage": {
            "upstream_requests": 0,
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "cost_usd": 0.0,
        },
        "error": None,
        "metadata": fields.get("metadata"),
    }


def _report(length: int) -> dict[str, Any]:
    detail = f"{length:,} bytes; a text may have at most {MAX_TEXT_BYTES:,}"
    result = {"rule": RULE, "hard": True, "passed": False, "score": 0.0, "detail": detail}
    return {"passed": False, "score": 0.0, "results": [result]}


def _chars(candidate: Mapping[str, Any]) -> int:
    text = candidate.get("text")
    return len(text) if isinstance(text, str) else written_bytes(candidate)[0]


def _says_something(candidate: Mapping[str, Any]) -> bool:
    text = candidate.get("text")
    if isinstance(text, str):
        return bool(text.strip())
    turns = candidate.get("messages")
    return isinstance(turns, list) and size(turns) > 0
