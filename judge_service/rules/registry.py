"""The built-in rules by name, and the reading of ``[[rules]]`` tables into rule objects."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from . import custom
from .echo import PromptEcho
from .fields import RequiredFields
from .json_schema import JsonSchema
from .length import MaxChars, MaxWords, MinChars, MinWords, NonEmpty
from .markup import MarkupDensity
from .openings import OpenerOnly
from .phrases import ForbiddenText, Regex, RequiredText
from .process import Finished, ToolCalls
from .reference import MatchesReference
from .refusal import Refusal
from .repetition import Repetition
from .rule import Rule, RuleConfigError
from .stuffing import KeywordStuffing

_CLASSES: tuple[type[Rule], ...] = (
    NonEmpty,
    MinChars,
    MaxChars,
    MinWords,
    MaxWords,
    OpenerOnly,
    Refusal,
    Repetition,
    KeywordStuffing,
    PromptEcho,
    RequiredText,
    ForbiddenText,
    Regex,
    JsonSchema,
    RequiredFields,
    MarkupDensity,
    Finished,
    ToolCalls,
    MatchesReference,
)

BUILT_IN: Mapping[str, type[Rule]] = {
    str(cls.model_fields["rule"].default): cls for cls in _CLASSES
}
"""Every rule that ships, by the name used in a rubric."""


def parse_rules(
    tables: Sequence[Mapping[str, Any]], *, allowed_modules: Collection[str] = ()
) -> tuple[Rule, ...]:
    """Turn the ``[[rules]]`` tables of a rubric into rules, in order.

    ``allowed_modules`` are the modules that custom rules may be imported from; a package allows
    everything in it. Nothing is imported from anywhere else.

    Raises:
        RuleConfigError: A table is wrong. The message names it, as in ``rules[2].limit: …``,
            counting from 0.
    """
    return tuple(_parse(f"rules[{at}]", table, allowed_modules) for at, table in enumerate(tables))


def _parse(place: str, table: object, allowed_modules: Collection[str]) -> Rule:
    if not isinstance(table, Mapping):
        raise RuleConfigError(f"{place}: must be a table")
    name = table.get("rule")
    if not isinstance(name, str):
        raise RuleConfigError(f"{place}.rule: the name of a rule is missing")
    try:
        if custom.is_path(name):
            return custom.load(table, allowed_modules)
        if name not in BUILT_IN:
            raise RuleConfigError(f"{place}.rule: {_unknown(name)}")
        return BUILT_IN[name].model_validate(dict(table))
    except ValidationError as error:
        raise RuleConfigError(f"{place}{_first(error)}") from None
    except RuleConfigError:
        raise
    except ValueError as error:
        raise RuleConfigError(f"{place}.rule: {error}") from error


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, BUILT_IN, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(BUILT_IN)}"
    return f"unknown rule {name[:60]!r}; {hint}"


def _first(error: ValidationError) -> str:
    """``.limit: what is wrong`` for the first problem."""
    problem = error.errors(include_url=False, include_input=False)[0]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    return f"{where}: {message}"
