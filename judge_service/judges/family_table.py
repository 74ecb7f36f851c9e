"""The family table: reads ``data/families.toml``, and compiles what it says about names when the
first name is looked up.

How the table is written is explained at its top; how a model's name is taken apart before it is
looked up here is ``family.py``'s business.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

_SYNTAX = {"-": "-?", ".": "[.p-]", "#": "[0-9]", "(": "(?:", ")": ")", "|": "|"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One lineage: its id, who trains it, and the names that tell it."""

    id: str
    by: str
    names: re.Pattern[str] | None
    unless: re.Pattern[str] | None

    def claims(self, name: str) -> bool:
        """Whether ``name`` (already in matching form) says this family."""
        if self.names is None or self.names.search(name) is None:
            return False
        return self.unless is None or self.unless.search(name) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """Models built on another house's: what to add to the families their name says."""

    names: re.Pattern[str]
    also: frozenset[str]
    base: frozenset[str]
    maker: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class FamilyTable:
    """The whole table. ``aliases`` and ``publishers`` map a word to a family id."""

    aliases: Mapping[str, str]
    publishers: Mapping[str, str]
    protocols: frozenset[str]
    vendors: frozenset[str]
    raw: Mapping[str, Any]

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """All lineages."""
        return tuple(_family(id_, entry) for id_, entry in self.raw["family"].items())

    @cached_property
    def derived(self) -> tuple[Derived, ...]:
        """All rules for models built on others."""
        return tuple(_derived(rule) for rule in self.raw["derived"])

    @cached_property
    def ignore(self) -> re.Pattern[str]:
        """What in a name says nothing of its lineage."""
        return _compile(self.raw["ignore"])

    def match(self, name: str) -> frozenset[str]:
        """The families that ``name`` (in matching form) says by its own words."""
        name = self.ignore.sub("-", name)
        said = {family.id for family in self.families if family.claims(name)}
        base: frozenset[str] = frozenset()
        makers: set[str] = set()
        for rule in self.derived:
            if rule.names.search(name):
                said |= rule.also
                makers |= rule.maker
                base = base or rule.base
        said = said or set(base)
        # A fine-tuner's name is no lineage: without the base it was built on, nothing is known.
        return frozenset(said | makers) if said else frozenset()


@cache
def family_table() -> FamilyTable:
    """The table shipped with the package, read on the first call."""
    source = files("judge_service").joinpath("data/families.toml").read_text(encoding="utf-8")
    return _build(tomllib.loads(source))


def _build(raw: Mapping[str, Any]) -> FamilyTable:
    entries: Mapping[str, Mapping[str, Any]] = raw["family"]
    aliases = {alias: id_ for id_, entry in entries.items() for alias in entry["aliases"]}
    publishers = {
        word: id_ for id_, entry in entries.items() for word in entry.get("publishers", ())
    }
    return FamilyTable(
        aliases=aliases | {id_: id_ for id_ in entries},
        publishers=publishers,
        protocols=frozenset(raw["protocols"]),
        vendors=frozenset(raw["vendors"]),
        raw=raw,
    )


def _family(id_: str, entry: Mapping[str, Any]) -> Family:
    names, unless = entry["names"], entry.get("unless", ())
    return Family(
        id=id_,
        by=entry["by"],
        names=_compile(names) if names else None,
        unless=_compile(unless) if unless else None,
    )


def _derived(rule: Mapping[str, Any]) -> Derived:
    return Derived(
        names=_compile(rule["names"]),
        also=frozenset(rule.get("also", ())),
        base=frozenset(rule.get("base", ())),
        maker=frozenset({rule["maker"]} if "maker" in rule else ()),
    )


def _compile(names: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(_expression(name) for name in names))


def _expression(name: str) -> str:
    """One name of the table as a regular expression, whole words unless ``*`` says otherwise."""
    body = name.removeprefix("^").removeprefix("*").removesuffix("$").removesuffix("*")
    if set("*^$?+[]{}\\") & set(body):
        raise ValueError(f"families.toml: {name!r} has a sign that the table does not know there")
    start = "^" if name.startswith("^") else "" if name.startswith("*") else "(?<![a-z])"
    if name.endswith("$"):
        end = "(?:-latest)?$"
    elif name.endswith("*"):
        end = ""
    else:
        end = "(?![a-z])(?:(?<![0-9])|(?![0-9]))"
    inner = "".join(_SYNTAX.get(char, re.escape(char)) for char in body)
    return f"{start}(?:{inner}){end}"
