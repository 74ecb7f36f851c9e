"""Running the rules of a rubric over one candidate."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from .custom import as_finding
from .rule import MAX_DETAIL, Rule, RuleError, RuleInput, RuleNeedsReference, RuleResult


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesReport:
    """What all rules found.

    ``passed``: every hard rule passed. ``score``: the mean of the other rules' scores by weight,
    in [0, 1]; 1.0 when there are none. ``results`` are in the order of the rules.
    """

    passed: bool
    score: float
    results: tuple[RuleResult, ...]


def run_rules(rules: Iterable[Rule], given: RuleInput) -> RulesReport:
    """Check one candidate against every rule.

    Raises:
        RuleNeedsReference: A rule needs a reference that the request does not have.
        RuleError: A rule broke or returned no finding. There is no score then.
    """
    results = tuple([_run(rule, given) for rule in rules])
    passed = all([result.passed for result in results if result.hard])
    weighed = [result for result in results if not result.hard and result.weight > 0]
    total = math.fsum(result.weight for result in weighed)
    if total == 0:
        return RulesReport(passed=passed, score=1.0, results=results)
    score = math.fsum(result.weight * result.score for result in weighed) / total
    # Rounding in the last place must not leave [0, 1].
    return RulesReport(passed=passed, score=min(1.0, score), results=results)


def _run(rule: Rule, given: RuleInput) -> RuleResult:
    try:
        finding = as_finding(rule.check(given))
    except RuleNeedsReference:
        raise
    except Exception as error:
        # The text of the error may quote the candidate, so it stays in the cause.
        raise RuleError(f"rule {rule.rule!r} broke: {type(error).__name__}") from error
    detail = finding.detail if finding.detail is None else finding.detail[:MAX_DETAIL]
    return RuleResult(rule.rule, rule.hard, rule.weight, finding.passed, finding.score, detail)
