"""The built-in rules by name, and the reading of ``[[rules]]`` tables into rule objects."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from . import custom
from .rule import Rule, RuleConfigError

_CLASSES = {
    "non_empty": "length.NonEmpty",
    "min_chars": "length.MinChars",
    "max_chars": "length.MaxChars",
    "min_words": "length.MinWords",
    "max_words": "length.MaxWords",
    "opener_only": "openings.OpenerOnly",
    "refusal": "refusal.Refusal",
    "repetition": "repetition.Repetition",
    "keyword_stuffing": "stuffing.KeywordStuffing",
    "prompt_echo": "echo.PromptEcho",
    "required_text": "phrases.RequiredText",
    "forbidden_text": "phrases.ForbiddenText",
    "regex": "phrases.Regex",
    "json_schema": "json_schema.JsonSchema",
    "required_fields": "fields.RequiredFields",
    "markup_density": "markup.MarkupDensity",
    "finished": "process.Finished",
    "tool_calls": "process.ToolCalls",
    "matches_reference": "reference.MatchesReference",
}
"""Module and class of every rule that ships, by the name used in a rubric."""


class _BuiltIn(Mapping[str, type[Rule]]):
    """The rules that ship. A rule's module is imported when the rule is first asked for: patterns
    and libraries of rules that no rubric has cost no time and no memory.
    """

    def __getitem__(self, name: str) -> type[Rule]:
        module, _, cls = _CLASSES[name].partition(".")
        found: type[Rule] = getattr(import_module(f".{module}", __package__), cls)
        return found

    def __contains__(self, name: object) -> bool:
        return name in _CLASSES

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


BUILT_IN: Mapping[str, type[Rule]] = _BuiltIn()
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
