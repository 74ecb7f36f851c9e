"""The rule ``json_schema``: the answer is JSON that fits a schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cached_property
from typing import Annotated, Any, Literal
from urllib.parse import unquote

import jsonschema
import regex
from jsonschema import ValidationError
from pydantic import BeforeValidator, ConfigDict, Field, field_validator

from .answer_forms import read_json
from .rule import PASSED, Finding, Rule, RuleInput, failed

_PATTERN_SECONDS = 0.25
_MAX_REFS = 20_000
# A dynamic reference is followed like a plain one: nothing outside the schema can extend it.
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_NO_DRAFT: Any = object()
_refs_left: ContextVar[int] = ContextVar("refs_left", default=_MAX_REFS)


class _TooMuch(Exception):
    """Checking this answer would take too long."""


def _from_text(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise ValueError("not a JSON text") from None


class JsonSchema(Rule):
    """Fails unless the whole answer, or the one code fence it is, is JSON valid under ``schema``.

    ``schema`` is a table, or the schema as JSON text, in any draft that ``$schema`` names (2020-12
    without). References point inside the schema only. A JSON answer with duplicate keys, more
    than 64 levels or more than 20,000 values does not pass.
    """

    model_config = ConfigDict(populate_by_name=True)

    rule: Literal["json_schema"] = "json_schema"
    schema_: Annotated[dict[str, Any], BeforeValidator(_from_text)] = Field(alias="schema")

    @field_validator("schema_")
    @classmethod
    def _usable(cls, value: dict[str, Any]) -> dict[str, Any]:
        draft = _draft(value)
        try:
            draft.check_schema(value)
        except jsonschema.SchemaError as wrong:
            raise ValueError(f"not a JSON schema: {wrong.message[:120]}") from None
        for place, ref in _references(value, top=True):
            _check_reference(value, place, ref)
        return value

    @cached_property
    def _validator(self) -> Any:
        return _guarded(_draft(self.schema_), self.schema_)(self.schema_)

    def check(self, given: RuleInput) -> Finding:
        """Read the JSON, then report the first thing that does not fit."""
        try:
            value = read_json(given.text)
        except ValueError as problem:
            return failed(f"not a JSON answer: {problem}")
        token = _refs_left.set(_MAX_REFS)
        try:
            error: ValidationError | None = next(self._validator.iter_errors(value), None)
        except (_TooMuch, RecursionError, TimeoutError):
            return failed("the answer is too intricate to check")
        finally:
            _refs_left.reset(token)
        if error is None:
            return PASSED
        return failed(f"at {error.json_path[:60]}: not valid under {error.validator!r}")


def _draft(schema: dict[str, Any]) -> Any:
    named = schema.get("$schema")
    if named is None:
        return jsonschema.Draft202012Validator
    draft = jsonschema.validators.validator_for(schema, default=_NO_DRAFT)
    if draft is _NO_DRAFT:
        raise ValueError(f"unknown $schema: {str(named)[:80]!r}")
    return draft


def _references(node: Any, top: bool = False) -> Iterator[tuple[dict[str, Any], str]]:
    """Every reference in the schema with the object it stands in."""
    if isinstance(node, dict):
        if not top and isinstance(node.get("$id"), str):
            raise ValueError("$id is allowed at the top of a schema only")
        for key, value in node.items():
            if key in _REFERENCES and isinstance(value, str):
                yield node, value
            elif key not in ("const", "enum", "default", "examples"):
                yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _check_reference(schema: dict[str, Any], place: dict[str, Any], ref: str) -> None:
    """Inside the schema, to something that is there, and not round in a circle."""
    met = [id(place)]
    while True:
        target = _resolve(schema, ref)
        if not isinstance(target, dict) or not isinstance(target.get("$ref"), str):
            return
        if id(target) in met:
            raise ValueError(f"$ref goes round in a circle: {ref[:80]!r}")
        met.append(id(target))
        ref = target["$ref"]


def _resolve(schema: dict[str, Any], ref: str) -> Any:
    if not ref.startswith("#"):
        raise ValueError(f"$ref must point inside the schema, with #: {ref[:80]!r}")
    pointer = unquote(ref[1:])
    try:
        if pointer and not pointer.startswith("/"):
            return _anchored(schema, pointer)
        node: Any = schema
        for part in pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            node = node[int(key)] if isinstance(node, list) else node[key]
    except (LookupError, ValueError, TypeError):
        raise ValueError(f"$ref points at nothing: {ref[:80]!r}") from None
    return node


def _anchored(node: Any, name: str) -> Any:
    """The object with this anchor, depth first."""
    below = [node]
    while below:
        found = below.pop()
        if isinstance(found, dict):
            if name in (found.get("$anchor"), found.get("$dynamicAnchor")):
                return found
            below.extend(found.values())
        elif isinstance(found, list):
            below.extend(found)
    raise LookupError(name)


def _guarded(draft: Any, schema: dict[str, Any]) -> Any:
    """The draft's validator with the keywords bounded that a hostile answer could make slow."""
    targets = {ref: _resolve(schema, ref) for _, ref in _references(schema, top=True)}

    def counted(validator: Any, ref: str, instance: Any, _: Any) -> Any:
        left = _refs_left.get()
        if left <= 0:
            raise _TooMuch
        _refs_left.set(left - 1)
        return validator.descend(instance, targets[ref])

    references = {key: counted for key in _REFERENCES if key in draft.VALIDATORS}
    extend: Any = jsonschema.validators.extend
    return extend(draft, {**references, "pattern": _pattern, "uniqueItems": _unique_items})


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string") and not regex.search(
        pattern, instance, timeout=_PATTERN_SECONDS
    ):
        yield ValidationError("does not match the pattern")


def _unique_items(validator: Any, on: bool, instance: Any, _: Any) -> Iterator[ValidationError]:
    """In linear time; the library compares every two items that cannot be sorted."""
    if not on or not validator.is_type(instance, "array"):
        return
    seen = {_canonical(item) for item in instance}
    if len(seen) != len(instance):
        yield ValidationError("has an item twice")


def _canonical(value: Any) -> str:
    """Equal text for equal JSON values; 1 and 1.0 are equal, 1 and true are not."""
    return json.dumps(_integral(value), sort_keys=True)


def _integral(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_integral(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _integral(entry) for key, entry in value.items()}
    return value
