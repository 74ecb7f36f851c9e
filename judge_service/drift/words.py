"""Numbers of a report in words: the same in text and in HTML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNKNOWN = "–"


def number(value: float | None, digits: int = 3) -> str:
    """A number with ``digits`` decimals; a dash where there is none."""
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def estimate(found: Mapping[str, Any] | None, *, signed: bool = False) -> str:
    """``0.883 [0.778, 0.942]``; a dash where the statistic has no meaning."""
    if found is None or found.get("value") is None:
        return UNKNOWN
    form = "+.3f" if signed else ".3f"
    value = format(found["value"], form)
    if found.get("ci95") is None:
        return value
    low, high = found["ci95"]
    return f"{value} [{format(low, form)}, {format(high, form)}]"


def test(found: Mapping[str, Any] | None) -> str:
    """``Wilcoxon signed-rank: p = 0.0004 (0.0012 after Holm), rank-biserial 0.84 [0.61, 0.97]``."""
    if found is None:
        return "nothing differs"
    adjusted = found.get("p_adjusted")
    corrected = "" if adjusted in (None, found["p_value"]) else f" ({p_value(adjusted)} after Holm)"
    effect = found["effect"]
    return (
        f"{found['test']}: {p_value(found['p_value'])}{corrected}, {effect['name']} "
        f"{estimate(effect)}"
    )


def p_value(p: float) -> str:
    """A p-value in words."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def money(usage: Mapping[str, Any]) -> str:
    """``$0.1234``, or how many calls have no known price."""
    if usage["cost_usd"] is None:
        return f"unknown price for {usage['unknown_cost_calls']} of {usage['upstream_requests']}"
    return f"${usage['cost_usd']:.4f}"


def spent(usage: Mapping[str, Any]) -> str:
    """Requests, tokens, money and the judges' time in a sentence."""
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    return (
        f"{usage['upstream_requests']:,} requests, {tokens:,} tokens, cost: {money(usage)}, "
        f"{usage['judge_seconds']:.1f} s of judging"
    )


def verdict(report: Mapping[str, Any]) -> str:
    """The verdict in a word or three."""
    return {True: "DRIFT", False: "no drift", None: "not enough evidence"}[report["drift"]]


def side(found: Mapping[str, Any]) -> str:
    """``gpt on helpfulness``."""
    return f"{found['judge']} on {found['rubric']}"


def one_line(report: Mapping[str, Any]) -> str:
    """The verdict and what it is about."""
    old, new = report["baseline"], report["candidate"]
    return (
        f"{verdict(report)}: {side(new)} beside {side(old)}, {report['judged']} of {report['n']} "
        f"items judged by both, {report['failed']} failed"
    )


def kappa_words(part: Mapping[str, Any]) -> str:
    """Agreement and kappa side by side, with what kappa lacks."""
    kappa = part["kappa"]
    if kappa is None:
        return "kappa has no meaning: both sides give one and the same label only"
    return kappa.get("note") or ""


def changed_labels(entry: Mapping[str, Any]) -> tuple[str, str]:
    """What both sides said of an item."""
    return said(entry["baseline"]), said(entry["candidate"])


def said(judged: Mapping[str, Any]) -> str:
    """Points by criterion, or the outcome of a pair with both its orders."""
    if "outcome" in judged:
        orders = judged["orders"]
        told = ", ".join(f"{order}: {orders[order] or 'no verdict'}" for order in orders)
        return (
            f"{judged['outcome']} ({told})"
            if judged["outcome"] == "inconsistent"
            else str(judged["outcome"])
        )
    points = judged["points"]
    if len(points) == 1:
        return str(next(iter(points.values())))
    return ", ".join(f"{name} {point}" for name, point in points.items())


def humans_said(humans: Mapping[str, Any]) -> str:
    """What people said of an item."""
    return "; ".join(
        ("" if name == "choice" or len(humans) == 1 else f"{name} ")
        + ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)
        for name, values in humans.items()
    )


def gate_words(gate: Mapping[str, Any]) -> str:
    """Whether a judge passed the gate of agreement with people, or why that cannot be said."""
    if gate["passed"] is None:
        return gate.get("untold") or "cannot be said"
    return "passed" if gate["passed"] else "NOT passed"
