"""Shorthands for tests of rules."""

from __future__ import annotations

from typing import Any

from judge_service.rules import Finding, Rule, RuleInput, parse_rules


def rule(name: str, **parameters: Any) -> Rule:
    """One hard rule, read from a table as a rubric would hold it."""
    (made,) = parse_rules([{"rule": name, "hard": True, **parameters}])
    return made


def check(made: Rule, text: str, **given: Any) -> Finding:
    """What the rule finds in a text."""
    return made.check(RuleInput(text=text, **given))


def passes(made: Rule, text: str, **given: Any) -> bool:
    """Whether the rule passes a text."""
    return check(made, text, **given).passed
