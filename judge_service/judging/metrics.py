"""The numbers of an outcome: the same keys for a rubric whatever happened, all finite floats.

Trainers log these and break when a key appears or goes, so what is unknown on a failure is a 0.0
placeholder beside ``judge_failed`` 1.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judge_service.judging.combine import length_factor
from judge_service.outcome import CriterionResult, PairOutcome, Verdict
from judge_service.rubric.rubric import Rubric
from judge_service.rules import RulesReport


def assess_metrics(
    rubric: Rubric,
    rules: RulesReport | None,
    results: Mapping[str, CriterionResult],
    verdicts: Sequence[Verdict],
    *,
    chars: int,
    model_score: float | None,
    short_circuited: bool,
) -> dict[str, float]:
    """The metrics of an assessment; ``model_score`` is None without verdict, ``rules`` where they
    were not run to their end.
    """
    failed = model_score is None and not short_circuited
    agreements = [r.agreement for r in results.values()]
    metrics = {
        "rule_score": 0.0 if rules is None else rules.score,
        "model_score": model_score or 0.0,
        "agreement": sum(agreements) / len(agreements) if agreements else 0.0,
        "judge_failed": float(failed),
        "cached": _cached_share(verdicts),
        "short_circuited": float(short_circuited),
        "length_chars": float(chars),
        "length_factor": length_factor(rubric, chars),
    }
    for criterion in rubric.criteria:
        result = results.get(criterion.name)
        metrics[f"criterion/{criterion.name}"] = 0.0 if result is None else result.normalized
        if rubric.judging.score == "expected":
            expected = None if result is None else result.expected
            metrics[f"mass/{criterion.name}"] = 0.0 if expected is None else expected.mass
    return metrics


def compare_metrics(
    outcome: PairOutcome | None,
    verdicts: Sequence[Verdict],
    *,
    lengths: tuple[int, int],
    short_circuited: bool,
    mass: float | None = None,
) -> dict[str, float]:
    """The metrics of a comparison; ``outcome`` is None when it failed. ``mass`` is given exactly
    where the rubric wants expected scores.
    """
    metrics = {
        f"outcome/{word}": float(outcome == word)
        for word in ("first", "second", "tie", "inconsistent")
    }
    metrics |= {
        "judge_failed": float(outcome is None),
        "cached": _cached_share(verdicts),
        "short_circuited": float(short_circuited),
        "length_chars/first": float(lengths[0]),
        "length_chars/second": float(lengths[1]),
    }
    return metrics if mass is None else {**metrics, "mass": mass}


def _cached_share(verdicts: Sequence[Verdict]) -> float:
    return sum(v.cached for v in verdicts) / len(verdicts) if verdicts else 0.0
