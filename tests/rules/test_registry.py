"""Reading [[rules]] tables: every mistake is named with its place."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from judge_service.rules import BUILT_IN, RuleConfigError, RuleInput, parse_rules, run_rules

HERE = "tests.rules.custom_rules"

NAMES = [
    "non_empty",
    "min_chars",
    "max_chars",
    "min_words",
    "max_words",
    "opener_only",
    "refusal",
    "repetition",
    "keyword_stuffing",
    "prompt_echo",
    "required_text",
    "forbidden_text",
    "regex",
    "json_schema",
    "required_fields",
    "markup_density",
    "finished",
    "tool_calls",
    "matches_reference",
]


def custom(name: str, **rest: Any) -> dict[str, Any]:
    """A table that names a custom rule."""
    return {"rule": f"{HERE}:{name}", "hard": True, **rest}


def test_every_rule_that_ships_has_its_name() -> None:
    """The names are what rubrics are written with."""
    assert list(BUILT_IN) == NAMES


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"rule": "max_chars", "limit": "5", "hard": True}, "rules[1].limit: "),
        ({"rule": "max_chars", "limit": 0, "hard": True}, "rules[1].limit: "),
        ({"rule": "max_chars", "limit": True, "hard": True}, "rules[1].limit: "),
        ({"rule": "max_chars", "hard": True}, "rules[1].limit: Field required"),
        ({"rule": "non_empty"}, "rules[1]: does nothing"),
        ({"rule": "non_empty", "hard": True, "weight": 1.0}, "rules[1]: a hard rule has no weight"),
        ({"rule": "non_empty", "weight": -1.0}, "rules[1].weight: "),
        ({"rule": "non_empty", "weight": float("nan")}, "rules[1].weight: "),
        ({"rule": "non_empty", "weight": float("inf")}, "rules[1].weight: "),
        ({"rule": "non_empty", "hard": True, "limit": 3}, "rules[1].limit: "),
        (
            {"rule": "nonempty", "hard": True},
            "rules[1].rule: unknown rule 'nonempty'; did you mean",
        ),
        ({"rule": "zzz", "hard": True}, "rules[1].rule: unknown rule 'zzz'; known: non_empty"),
        ({"hard": True}, "rules[1].rule: "),
        ({"rule": "regex", "pattern": "(", "hard": True}, "rules[1].pattern: not a regular"),
        ({"rule": "tool_calls", "hard": True}, "rules[1]: give at least one of"),
        ({"rule": "tool_calls", "min": 3, "max": 2, "hard": True}, "rules[1]: max is 2"),
        ({"rule": "forbidden_text", "text": ["a", " "], "hard": True}, "rules[1].text[1]: "),
        ({"rule": "forbidden_text", "text": ["\u200b"], "hard": True}, "rules[1].text: "),
        ({"rule": "forbidden_text", "text": [], "hard": True}, "rules[1].text: "),
        ({"rule": "required_fields", "hard": True}, "rules[1]: form json needs fields"),
        (
            {"rule": "required_fields", "form": "boxed", "fields": ["a"], "hard": True},
            "rules[1]: form boxed takes no fields",
        ),
        ({"rule": "required_fields", "fields": ["a..b"], "hard": True}, "rules[1]: not a dotted"),
        ({"rule": "repetition", "free": 0.9, "weight": 1.0}, "rules[1]: free must be below"),
        ({"rule": "matches_reference", "letters": "ab", "hard": True}, "rules[1].letters: "),
        ("non_empty", "rules[1]: must be a table"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_table_is_refused_by_place(table: Any, message: str) -> None:
    """The message says which rule, which field, and what is wrong."""
    good = {"rule": "non_empty", "hard": True}
    with pytest.raises(RuleConfigError) as raised:
        parse_rules([good, table])
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("allowed", [HERE, "tests.rules", "tests"])
def test_custom_rules_come_from_allowed_modules(allowed: str) -> None:
    """A module, or any package above it, allows it."""
    rules = parse_rules(
        [
            custom("NoEmoji", params={"emoji": "🚀"}),
            custom("Shorter", hard=False, weight=2.0, params={"than": 4}),
            custom("starts_with", params={"word": "Yes"}),
        ],
        allowed_modules=[allowed],
    )
    report = run_rules(rules, RuleInput(text="Yes 🎉"))
    assert [result.passed for result in report.results] == [True, False, True]
    assert report.passed
    assert report.score == 0.5
    assert report.results[1].rule == f"{HERE}:Shorter"


@pytest.mark.parametrize("allowed", [(), ("os",), ("tests.rul",), ("custom_rules",), ("",)])
def test_other_modules_are_not_imported(allowed: tuple[str, ...]) -> None:
    """A rubric cannot make the service run code that nobody listed."""
    with pytest.raises(RuleConfigError, match="not among those the operator allows"):
        parse_rules([custom("NoEmoji")], allowed_modules=allowed)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (custom("Missing"), r"rules\[0\]\.rule: module .* has no 'Missing'"),
        (custom("not_a_rule"), r"neither a class nor a function"),
        (custom("NotCallable"), r"has no __call__"),
        (custom("Shorter"), r"cannot make .*TypeError"),
        (custom("Shorter", params=3), r"params must be a table"),
        (custom("NoEmoji", params={"emoji": 3}), r"rules\[0\]\.emoji: "),
        (custom("NoEmoji", params={"other": 3}), r"rules\[0\]\.other: "),
        (custom("NoEmoji", extra=3), r"rules\[0\]\.extra: "),
        (custom("starts_with", extra=3), r"rules\[0\]\.extra: "),
        ({"rule": f"{HERE}.none:x", "hard": True}, r"cannot import"),
        ({"rule": f"{HERE}:a.b", "hard": True}, r"an import path looks like"),
        ({"rule": f"{HERE}:__builtins__", "hard": True}, r"an import path looks like"),
        ({"rule": "tests..rules:x", "hard": True}, r"an import path looks like"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_custom_rule_that_cannot_be_made_is_a_config_error(
    table: dict[str, Any], message: str
) -> None:
    """Found at load, with the reason."""
    with pytest.raises(RuleConfigError, match=message):
        parse_rules([table], allowed_modules=["tests"])


def test_the_documented_tables_work() -> None:
    """Every example in docs/rules.md loads, and every rule has a section there."""
    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    tables = [table for example in examples for table in tomllib.loads(example)["rules"]]
    built_in = [table for table in tables if ":" not in table["rule"]]
    assert len(parse_rules(built_in)) >= 10
    assert [name for name in BUILT_IN if f"`{name}`" not in page] == []
