"""A rubric as the text of a TOML file that a person can read and edit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.items import AoT, Array, Item, Table

from judge_service.rubric.file import document
from judge_service.rubric.library import UPLOADED
from judge_service.rubric.rubric import Rubric

_TABLES = ("weights", "length", "judging")
_LISTS = ("criteria", "rules", "anchors")


def rubric_toml(rubric: Rubric) -> str:
    """The text of the rubric's file, anchors included. What is null is left out: TOML has none."""
    content = document(rubric)
    text = tomlkit.document()
    text.add(tomlkit.comment(UPLOADED.removeprefix("# ")))
    for name, value in content.items():
        if name not in (*_TABLES, *_LISTS) and value is not None:
            text.add(name, tomlkit.item(value))
    for name in _TABLES:
        if content[name] is not None:
            text.add(name, _table(content[name]))
    for name in _LISTS:
        if content[name]:
            text.add(name, _tables(content[name]))
    return tomlkit.dumps(text)


def _tables(values: list[dict[str, Any]]) -> AoT:
    tables = tomlkit.aot()
    for value in values:
        tables.append(_table(value))
    return tables


def _table(value: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for name, part in value.items():
        if part is not None:
            table.add(name, _part(name, part))
    return table


def _part(name: str, value: Any) -> Item:
    if name == "scale":
        return _scale(value)
    if name == "schema" and isinstance(value, dict):
        # As JSON, which may hold null.
        return tomlkit.string(json.dumps(value, ensure_ascii=False))
    item: Item = tomlkit.item(value)
    return item


def _scale(points: list[dict[str, Any]]) -> Array:
    array = tomlkit.array()
    for point in points:
        line = tomlkit.inline_table()
        line.update(point)
        array.append(line)
    array.multiline(True)
    return array
