"""Rules of a user's own, named by an import path such as ``my_rules.style:NoEmoji``."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol, cast, runtime_checkable

import regex
from pydantic import PrivateAttr

from .rule import Finding, Rule, RuleInput

_PATH = regex.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z]\w*")


@runtime_checkable
class Check(Protocol):
    """What a custom rule is when it is no ``Rule``: anything called with one candidate."""

    def __call__(self, given: RuleInput, /) -> Finding:
        """Return a ``Finding``, or a tuple of its three values."""


class CustomRule(Rule):
    """A rule whose check is a callable of the user's; ``rule`` is its import path."""

    params: Mapping[str, Any] = {}
    _call: Check = PrivateAttr()

    def check(self, given: RuleInput) -> Finding:
        """Call it, and take nothing for granted about what it returns."""
        return as_finding(self._call(given))


def is_path(name: str) -> bool:
    """Whether a rule name is an import path rather than the name of a built-in rule."""
    return ":" in name or "." in name


def load(table: Mapping[str, Any], allowed_modules: Collection[str]) -> Rule:
    """The rule that the table's import path names.

    Its target is a subclass of ``Rule``, made with ``params`` as its fields; any other class, made
    with ``params`` and then called; or a function, called with the candidate and ``params``.

    Raises:
        ValueError: The path is malformed, its module not allowed or not importable, or its target
            unusable. ``pydantic.ValidationError``, which is one, where parameters are wrong.
    """
    path, rest = str(table["rule"]), dict(table)
    params = rest.pop("params", {})
    if not isinstance(params, Mapping):
        raise ValueError("params must be a table")
    target = _target(path, allowed_modules)
    if isinstance(target, type) and issubclass(target, Rule):
        return target.model_validate({**params, **rest})
    made = CustomRule.model_validate({**rest, "params": dict(params)})
    made._call = _bound(path, target, params)
    return made


def as_finding(value: object) -> Finding:
    """The value as a finding.

    Raises:
        ValueError: It is none: ``passed`` no bool, ``score`` no finite number in [0, 1], or
            ``detail`` neither text nor None.
    """
    if not isinstance(value, tuple) or len(value) != 3:
        raise ValueError("a check must return Finding(passed, score, detail)")
    passed, score, detail = value
    if not isinstance(passed, bool):
        raise ValueError("passed must be true or false")
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise ValueError("score must be a finite number")
    if not 0.0 <= score <= 1.0:
        raise ValueError(f"score must be in [0, 1], not {score:.6g}")
    if detail is not None and not isinstance(detail, str):
        raise ValueError("detail must be text or None")
    return Finding(passed, float(score), detail)


def _target(path: str, allowed_modules: Collection[str]) -> object:
    if not _PATH.fullmatch(path):
        raise ValueError("an import path looks like my_rules.style:NoEmoji")
    module, _, name = path.partition(":")
    if not any(module == name_ or module.startswith(f"{name_}.") for name_ in allowed_modules):
        raise ValueError(
            f"module {module!r} is not among those the operator allows (--rule-modules, "
            "JUDGE_SERVICE_RULE_MODULES)"
        )
    try:
        return getattr(importlib.import_module(module), name)
    except AttributeError:
        raise ValueError(f"module {module!r} has no {name!r}") from None
    except Exception as error:
        raise ValueError(f"cannot import {module!r}: {type(error).__name__}: {error}") from error


def _bound(path: str, target: object, params: Mapping[str, Any]) -> Check:
    if not callable(target):
        raise ValueError(f"{path!r} is neither a class nor a function")
    call = cast("Callable[..., Any]", target)
    if not isinstance(target, type):
        return lambda given: call(given, **params)
    try:
        made = call(**params)
    except Exception as error:
        raise ValueError(f"cannot make {path!r}: {type(error).__name__}: {error}") from error
    if not isinstance(made, Check):
        raise ValueError(f"{path!r} has no __call__(given)")
    return made
