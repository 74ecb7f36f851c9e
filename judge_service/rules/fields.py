"""The rule ``required_fields``: parts an answer must have, and must not leave empty."""

from __future__ import annotations

from typing import Any, Literal, Self

import regex
from pydantic import model_validator

from .answer_forms import box_is_empty, is_empty_value, last_box, last_tag, read_json
from .rule import PASSED, Finding, Rule, RuleInput, Texts, failed
from .words import fold

_SAID = regex.compile(r"[\p{L}\p{N}\p{S}]")
_TAG_NAME = regex.compile(r"[A-Za-z_][\w.\-]{0,63}")
_LABEL_EDGE = regex.compile(r"^[\s>#*_\-+]+|^\d{1,3}[.)]\s+|[\s*_]+$")
_SECTION = regex.compile(r"^\s*(?:#{1,6}\s+\S|(?:[-+]\s+)?\*\*[^*\n]{1,80}\*\*\s*:?\s*$)")


class RequiredFields(Rule):
    r"""Fails when a field is missing or empty; the score is the share of fields that are there.

    ``form`` says what a field is: ``"json"``, a dotted path in a JSON answer (numbers index lists,
    ``*`` stands for every entry of a non-empty one); ``"xml"``, the last ``<name>…</name>``;
    ``"boxed"``, the last ``\boxed{…}`` (no ``fields``); ``"label"``, a line "Name: …" or a heading
    with text below it. Empty is null, blank, ``[]``, ``{}`` or, outside JSON, only punctuation;
    ``allow_empty = true`` asks for presence only.
    """

    rule: Literal["required_fields"] = "required_fields"
    form: Literal["json", "xml", "boxed", "label"] = "json"
    fields: Texts = ()
    allow_empty: bool = False

    @model_validator(mode="after")
    def _fields_fit_the_form(self) -> Self:
        if (self.form == "boxed") == bool(self.fields):
            raise ValueError(
                "form boxed takes no fields" if self.fields else f"form {self.form} needs fields"
            )
        for field in self.fields:
            if self.form == "json" and not all(field.split(".")):
                raise ValueError(f"not a dotted path: {field!r}")
            if self.form == "xml" and not _TAG_NAME.fullmatch(field):
                raise ValueError(f"not a tag name: {field!r}")
            if self.form == "label" and not _label(field):
                raise ValueError(f"not a label: {field!r}")
        return self

    def check(self, given: RuleInput) -> Finding:
        """Look every field up in the form."""
        if self.form == "json":
            return self._in_json(given.text)
        if self.form == "boxed":
            box = last_box(given.text)
            return self._share({r"\boxed": None if box is None else not box_is_empty(box)})
        if self.form == "xml":
            found = {name: last_tag(given.text, name) for name in self.fields}
        else:
            found = _sections(given.text, self.fields)
        return self._share({name: _said(content) for name, content in found.items()})

    def _in_json(self, text: str) -> Finding:
        try:
            value = read_json(text)
        except ValueError as error:
            return failed(f"not a JSON answer: {error}")
        return self._share({path: _filled(value, path.split(".")) for path in self.fields})

    def _share(self, filled: dict[str, bool | None]) -> Finding:
        """``filled`` maps a field to None (missing), False (empty) or True."""
        lacking = {
            name: "missing" if state is None else "empty"
            for name, state in filled.items()
            if state is None or not (state or self.allow_empty)
        }
        if not lacking:
            return PASSED
        name, why = next(iter(lacking.items()))
        return Finding(False, 1.0 - len(lacking) / len(filled), f"{why} field: {name!r}")


def _said(content: str | None) -> bool | None:
    return None if content is None else _SAID.search(content) is not None


def _filled(value: Any, path: list[str]) -> bool | None:
    """True when every value at the path says something, False when one is empty, None if absent."""
    level = [value]
    for key in path:
        below: list[Any] = []
        for entry in level:
            if key == "*" and isinstance(entry, list) and entry:
                below.extend(entry)
            elif isinstance(entry, dict) and key in entry:
                below.append(entry[key])
            elif isinstance(entry, list) and key.isdecimal() and int(key) < len(entry):
                below.append(entry[int(key)])
            else:
                return None
        level = below
    return not any(map(is_empty_value, level))


def _label(line: str) -> str:
    return fold(_LABEL_EDGE.sub("", _LABEL_EDGE.sub("", line))).rstrip(" :：*_").strip()


def _sections(text: str, fields: tuple[str, ...]) -> dict[str, str | None]:
    """The text after each label, on its line or below it up to the next label or heading."""
    wanted = {_label(field): field for field in fields}
    found: dict[str, str | None] = dict.fromkeys(fields)
    parts: dict[str, list[str]] = {}
    at: str | None = None
    for line in filter(str.strip, text.splitlines()):
        name, rest = _labelled(line, wanted)
        if name is not None:
            at = name
            parts[at] = [rest]
        elif _SECTION.match(line):
            at = None
        elif at is not None:
            parts[at].append(line)
    found.update({wanted[name]: "\n".join(lines) for name, lines in parts.items()})
    return found


def _labelled(line: str, wanted: dict[str, str]) -> tuple[str | None, str]:
    head, colon, rest = line[:200].replace("：", ":").partition(":")
    name = _label(head)
    if name in wanted and (colon or _SECTION.match(line)):
        return name, rest + line[200:]
    return None, ""
