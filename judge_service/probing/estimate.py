"""What a run will take, before anything is asked: verdicts, tokens, and money where it is known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from judge_service.probing.plan import Plan

CHARS_PER_TOKEN = 3.5
SYSTEM_CHARS = 3_000
"""What a judge is told beside the rubric, roughly."""
REPLY_TOKENS = 120
Rates: TypeAlias = tuple[float, float]
"""USD per token of a question and of a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """``verdicts`` are planned; up to three requests may be sent for each. ``tokens`` are all
    tokens, roughly; ``usd`` is None where a judge's price is not known.
    """

    verdicts: int
    tokens: int
    usd: float | None


def estimate(
    plans: Iterable[Plan], rubric: Mapping[str, Any], prices: Mapping[str, Rates]
) -> Estimate:
    """The sum over all plans. ``rubric`` is its content, ``prices`` are those known, by judge."""
    system = SYSTEM_CHARS + len(json.dumps([rubric.get("criteria"), rubric.get("anchors")]))
    verdicts = tokens = 0
    usd: float | None = 0.0
    for plan in plans:
        rates = [prices[judge] for judge in plan.subject.judges if judge in prices]
        known = len(rates) == len(plan.subject.judges)
        for question in plan.questions:
            shown = (system + _size(question.body)) / CHARS_PER_TOKEN
            verdicts += question.verdicts
            tokens += int(question.verdicts * (shown + REPLY_TOKENS))
            if not known:
                usd = None
            elif usd is not None:
                # Of a panel nobody knows who is asked; the dearest counts.
                dearest = max(shown * into + REPLY_TOKENS * out for into, out in rates)
                usd += question.verdicts * dearest
    return Estimate(verdicts=verdicts, tokens=tokens, usd=usd)


def _size(body: Mapping[str, Any]) -> int:
    candidates = body.get("candidates") or [body.get("candidate", {})]
    texts = [body["prompt"], body.get("reference") or "", *(c["text"] for c in candidates)]
    return sum(map(len, texts))
