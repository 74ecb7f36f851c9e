"""Outcomes as JSON-ready values: the one form that HTTP and the command line give out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from judge_service.errors import JudgingError
from judge_service.outcome import (
    Assessed,
    AssessOutcome,
    Common,
    Compared,
    CompareOutcome,
    CriterionResult,
    Ranked,
    RankedMember,
    RankOutcome,
    Verdict,
)
from judge_service.reply.expectation import Expectation
from judge_service.rules import RulesReport
from judge_service.usage import Usage


def assess_wire(
    outcome: AssessOutcome, metadata: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The answer to an assessment: ``reward`` is None exactly when ``status`` is failed."""
    scored = isinstance(outcome, Assessed)
    return {
        "status": "success" if scored else "failed",
        "reward": outcome.reward if isinstance(outcome, Assessed) else None,
        "short_circuited": outcome.short_circuited if isinstance(outcome, Assessed) else False,
        "rules": _rules(outcome.rules),
        "criteria": _criteria(outcome.criteria),
        **_common(outcome, None if isinstance(outcome, Assessed) else outcome.error, metadata),
    }


def compare_wire(
    outcome: CompareOutcome, metadata: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The answer to a comparison: ``outcome`` and ``preference`` are None when it failed."""
    success = outcome if isinstance(outcome, Compared) else None
    error = None if isinstance(outcome, Compared) else outcome.error
    return {
        "status": "success" if success else "failed",
        "outcome": success.outcome if success else None,
        "preference": success.preference if success else None,
        **_expected(outcome.expected),
        "consistent": success.consistent if success else None,
        "orders": [asdict(order) for order in outcome.orders],
        "length_ratio": outcome.length_ratio,
        "short_circuited": success.short_circuited if success else False,
        "rules": [_rules(report) for report in outcome.rules],
        **_common(outcome, error, metadata),
    }


def rank_wire(outcome: RankOutcome, metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The answer to a ranking: ``rewards`` is None exactly when ``status`` is failed."""
    success = outcome if isinstance(outcome, Ranked) else None
    error = None if isinstance(outcome, Ranked) else outcome.error
    common = _common(outcome, error, metadata)
    # A group has too many verdicts to tell each; what the judges gave stands under ``judges``.
    del common["verdicts"]
    return {
        "status": "success" if success else "failed",
        "strategy": outcome.strategy,
        "rewards": list(success.rewards) if success else None,
        "ranks": list(success.ranks) if success else None,
        "candidates": [_member(member) for member in outcome.members],
        "pairs": asdict(outcome.pairs),
        "zero_advantage": success.zero_advantage if success else False,
        "judges": [asdict(count) for count in outcome.judges],
        **common,
    }


def _member(member: RankedMember) -> dict[str, Any]:
    return {
        "id": member.id,
        "status": "success" if member.error is None else "failed",
        "reward": member.reward,
        "rules": _rules(member.rules),
        "criteria": _criteria(member.criteria),
        "wins": member.wins,
        "error": None if member.error is None else error_wire(member.error),
    }


def _criteria(results: Mapping[str, CriterionResult]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, result in results.items():
        found[name] = {
            "point": result.point,
            "normalized": result.normalized,
            "weight": result.weight,
            "agreement": result.agreement,
            "votes": result.votes,
            **_expected(result.expected),
        }
        if result.worth is not None:
            found[name]["corrected"] = result.value
    return found


def _expected(expected: Expectation | None) -> dict[str, Any]:
    """A field of its own where probabilities were asked for, and only there."""
    return {} if expected is None else {"expected": asdict(expected)}


def _common(
    outcome: Common, error: JudgingError | None, metadata: Mapping[str, Any] | None
) -> dict[str, Any]:
    return {
        "verdicts": [_verdict(verdict) for verdict in outcome.verdicts],
        "flags": [{"flag": flag.flag, "detail": flag.detail} for flag in outcome.flags],
        "metrics": dict(outcome.metrics),
        "usage": usage_wire(outcome.usage),
        "rubric_hash": outcome.rubric_hash,
        "fingerprint": outcome.fingerprint,
        "error": None if error is None else error_wire(error),
        "metadata": None if metadata is None else dict(metadata),
    }


def error_wire(error: JudgingError) -> dict[str, Any]:
    """Code, message and whether asking again can help."""
    return {
        "code": error.code,
        "message": str(error),
        "retryable": error.retryable,
        "retry_after_s": error.retry_after_s,
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    where: dict[str, Any] = (
        {"criterion": verdict.criterion, "point": verdict.point}
        if verdict.choice is None
        else {"order": verdict.order, "choice": verdict.choice}
    )
    return {
        "judge": verdict.judge,
        "family": verdict.family,
        "model": verdict.model,
        "model_served": verdict.model_served,
        **where,
        **_expected(verdict.expected),
        "reason": verdict.reason,
        "cached": verdict.cached,
        "attempts": verdict.attempts,
        "latency_ms": round(verdict.latency_ms, 1),
        "usage": usage_wire(verdict.usage),
    }


def usage_wire(usage: Usage) -> dict[str, Any]:
    """What was spent, as plain values."""
    return {
        "upstream_requests": usage.upstream_requests,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost_usd": usage.cost_usd,
        "unknown_cost_calls": usage.unknown_cost_calls,
    }


def _rules(report: RulesReport | None) -> dict[str, Any] | None:
    """None where the rules were not run to their end: no number is made up for them."""
    if report is None:
        return None
    return {
        "passed": report.passed,
        "score": report.score,
        "results": [
            {
                "rule": r.rule,
                "hard": r.hard,
                "passed": r.passed,
                "score": r.score,
                "detail": r.detail,
            }
            for r in report.results
        ],
    }
