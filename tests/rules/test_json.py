"""Answers in JSON, tags, boxes and labels: valid, complete, and not empty inside."""

from __future__ import annotations

import json

import pytest

from judge_service.rules import RuleConfigError

from .support import check, passes, rule

SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}


@pytest.mark.parametrize("text", ['{"a": 1}', '```json\n{"a": 1}\n```', ' \ufeff{"a": 1.0}\n'])
def test_json_that_fits_passes(text: str) -> None:
    """Alone or in one code fence."""
    assert passes(rule("json_schema", schema=SCHEMA), text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "1"}',
        "{}",
        "a: 1",
        'Here: {"a": 1}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": 1, "a": 2}',
        '{"a": ' + "9" * 6000 + "}",
        "[" * 2000,
        "[" * 80 + "]" * 80,
        "[" + "1," * 30_000 + "1]",
        "",
    ],
    ids=str.__len__,
)
def test_json_that_does_not_fit_fails(text: str) -> None:
    """Wrong, ambiguous, not finite, too deep or too large are all not valid."""
    found = check(rule("json_schema", schema=SCHEMA), text)
    assert not found.passed
    assert found.score == 0.0


def test_a_schema_may_be_written_as_text() -> None:
    """As one would paste it into a TOML string."""
    made = rule("json_schema", schema=json.dumps(SCHEMA))
    assert passes(made, '{"a": 2}')
    assert not passes(made, '{"a": null}')


def test_references_inside_the_schema_work() -> None:
    """Definitions and recursion are resolved without any network."""
    tree = {
        "$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
        "$ref": "#/$defs/node",
    }
    assert passes(rule("json_schema", schema=tree), "[[], [[]]]")
    assert not passes(rule("json_schema", schema=tree), "[[], [1]]")


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "objct"}, "not a JSON schema"),
        ({"$ref": "https://example.com/s.json"}, "inside the schema"),
        ({"$ref": "#/$defs/none"}, "points at nothing"),
        ({"$ref": "#"}, "circle"),
        ({"$schema": "https://example.com/draft-99"}, "unknown $schema"),
        ("{nope", "not a JSON text"),
        ({"properties": {"a": {"$id": "https://example.com/x"}}}, "$id"),
    ],
    ids=["type", "remote", "dangling", "circle", "draft", "text", "id"],
)
def test_an_unusable_schema_is_refused_at_load(schema: object, reason: str) -> None:
    """Not at the first request."""
    with pytest.raises(RuleConfigError) as raised:
        rule("json_schema", schema=schema)
    assert str(raised.value).startswith("rules[0].schema: ")
    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("[1, 1.0]", False),
        ("[1, true]", True),
        ('[{"a": 1, "b": 2}, {"b": 2, "a": 1}]', False),
        ("[" + ",".join(f'{{"n": {n}}}' for n in range(9000)) + "]", True),
    ],
    ids=["equal numbers", "number and true", "key order", "thousands of objects"],
)
def test_unique_items(text: str, passed: bool) -> None:
    """By JSON's own equality, in linear time."""
    assert passes(rule("json_schema", schema={"uniqueItems": True}), text) is passed


def test_an_answer_cannot_blow_up_a_recursive_schema() -> None:
    """Doubling the work at every level ends in not valid, soon."""
    item = {"properties": {"x": {"$ref": "#"}}, "required": ["y"]}
    made = rule("json_schema", schema={"anyOf": [item, item, True]})
    assert not passes(made, '{"x":' * 30 + "{}" + "}" * 30)


def test_json_fields_are_found_by_path() -> None:
    """Dots go into objects, numbers and stars into lists; false and 0 are values."""
    text = '{"a": {"b": 0}, "c": [{"d": "x"}, {"d": false}]}'
    assert passes(rule("required_fields", fields=["a.b", "c.0.d", "c.*.d"]), text)
    assert not passes(rule("required_fields", fields=["c.2.d"]), text)


@pytest.mark.parametrize("empty", ["null", '""', '" \\u200b"', "[]", "{}"])
def test_empty_json_fields_fail_unless_allowed(empty: str) -> None:
    """A field is there to say something; the score is the share of fields that do."""
    text = f'{{"a": "x", "b": {empty}}}'
    found = check(rule("required_fields", fields=["a", "b"]), text)
    assert not found.passed
    assert found.score == 0.5
    assert passes(rule("required_fields", fields=["a", "b"], allow_empty=True), text)


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("<think>x</think><answer>4</answer>", True),
        ("<ANSWER kind='x'>4</ANSWER >", True),
        ("<answer></answer>", False),
        ("<answer> \u200b\n...</answer>", False),
        ("<answer>4", False),
        ("<answer>1</answer> <answer></answer>", False),
        ("4", False),
    ],
)
def test_tags_must_hold_something(text: str, passed: bool) -> None:
    """The last closed pair counts."""
    assert passes(rule("required_fields", form="xml", fields=["answer"]), text) is passed


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        (r"\boxed{4}", True),
        (r"so \boxed{\frac{1}{2}}", True),
        (r"\boxed{∅}", True),
        (r"\boxed{}", False),
        (r"\boxed{\text{ }}", False),
        (r"\boxed{.}", False),
        (r"\boxed{1} and \boxed{\ }", False),
        (r"\boxed{4", False),
        ("4", False),
    ],
)
def test_boxes_must_hold_something(text: str, passed: bool) -> None:
    """The last closed box counts, braces matched."""
    assert passes(rule("required_fields", form="boxed"), text) is passed


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("Answer: 4\nReason: x", True),
        ("**Answer:** 4\n- **Reason**: y", True),
        ("## Answer\n4\n\n## Reason\nbecause", True),
        ("1. Answer: 4\n2. Reason:\nbecause", True),
        ("Answer:\nReason: x", False),
        ("## Answer\n## Reason\nx", False),
        ("Answer: 4", False),
        ("The answer has a reason", False),
    ],
)
def test_labels_must_be_followed_by_something(text: str, passed: bool) -> None:
    """On the same line or below it, up to the next label."""
    made = rule("required_fields", form="label", fields=["Answer", "Reason"])
    assert passes(made, text) is passed
