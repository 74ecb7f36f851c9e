"""Deterministic checks of one candidate, made before any judge is asked."""

from .registry import BUILT_IN, parse_rules
from .rule import (
    Finding,
    Rule,
    RuleConfigError,
    RuleError,
    RuleInput,
    RuleNeedsReference,
    RuleResult,
)
from .run import RulesReport, run_rules
from .words import is_blank

__all__ = [
    "BUILT_IN",
    "Finding",
    "Rule",
    "RuleConfigError",
    "RuleError",
    "RuleInput",
    "RuleNeedsReference",
    "RuleResult",
    "RulesReport",
    "is_blank",
    "parse_rules",
    "run_rules",
]
