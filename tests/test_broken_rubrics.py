"""Rubrics that cannot be right: each fault is told with file and field, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_service.errors import ConfigError
from judge_service.rubric.library import load_library
from tests.test_library import PAIR, RUBRIC, SCALE, folders


def fault(at: Path, rubric: str | bytes) -> str:
    """The message for a rubric that cannot be right."""
    with pytest.raises(ConfigError) as raised:
        load_library(*folders(at, {"r.toml": rubric}))
    return str(raised.value).replace(str(at) + "/", "")


def without(text: str) -> str:
    """The rubric without a line."""
    return RUBRIC.replace(text + "\n", "")


def scaled(scale: str) -> str:
    """The rubric with another scale."""
    return RUBRIC.replace(SCALE, scale)


def weighing(weight: str) -> str:
    """The rubric with another weight of its criterion."""
    return RUBRIC.replace("weight = 1.0", f"weight = {weight}")


def top(lines: str) -> str:
    """The rubric with more at its top."""
    return lines + RUBRIC


def more(lines: str) -> str:
    """The rubric with more at its end."""
    return RUBRIC + lines + "\n"


def points(count: int) -> str:
    """A scale of so many points."""
    return "[" + ", ".join(f'{{point = {n}, means = "x"}}' for n in range(count)) + "]"


SECOND = RUBRIC[RUBRIC.index("[[criteria]]") :].replace("weight = 1.0", "weight = 0.0")
RULE = '[[rules]]\nrule = "max_chars"\n'

BROKEN: dict[str, tuple[str | bytes, str]] = {
    # the file
    "empty file": ("", "id: missing"),
    "no TOML": ("id = ", "not TOML"),
    "no UTF-8": (b"\xff\xfe", "cannot be read"),
    "key twice": (top('id = "r"\n'), "not TOML"),
    "endless number": (f"x = {'9' * 5000}", "not TOML"),
    "deep lists": ("x = " + "[" * 5000 + "]" * 5000, "not TOML: nested too deeply"),
    "deep tables": ("x = " + "{a=" * 5000 + "1" + "}" * 5000, "not TOML: nested too deeply"),
    "anchors inside": (top("anchors = []\n"), "anchors: they belong in a file of their own"),
    # names
    "no id": (without('id = "r"'), "id: missing"),
    "id is not the file's": (RUBRIC.replace('"r"', '"s"'), "id: 's' is not the file's name 'r'"),
    "id in capitals": (RUBRIC.replace('"r"', '"R"'), "id: "),
    "path for an id": (RUBRIC.replace('"r"', '"../r"'), "id: "),
    "line break in id": (RUBRIC.replace('"r"', '"r\\n"'), "id: "),
    "NUL in id": (RUBRIC.replace('"r"', '"\\u0000"'), "id: "),
    "long id": (RUBRIC.replace('"r"', f'"{"r" * 65}"'), "id: "),
    "version as number": (RUBRIC.replace('"1"', "1"), "version: "),
    "version as date": (RUBRIC.replace('"1"', "1979-05-27"), "version: "),
    "control in the version": (
        RUBRIC.replace('"1"', '"1\\u001b[31m"'), "version: must not have control characters",
    ),
    "line break in the version": (
        RUBRIC.replace('"1"', '"1\\n"'), "version: must not have control characters",
    ),
    "no version": (without('version = "1"'), "version: missing"),
    "blank description": (RUBRIC.replace("A rubric.", " "), "description: must not be blank"),
    "unknown field": (top("colour = 1\n"), "colour: unknown field"),
    "unknown kind": (top('kind = "rank"\n'), "kind: "),
    "unknown aggregate": (top('aggregate = "max"\n'), "aggregate: "),
    # criteria
    "no criteria": (RUBRIC[: RUBRIC.index("[[")], "criteria: missing"),
    "empty criteria": (RUBRIC[: RUBRIC.index("[[")] + "criteria = []\n", "criteria: 1 to 16"),
    "one table for criteria": (RUBRIC.replace("[[criteria]]", "[criteria]"), "criteria: "),
    "criterion twice": (more(SECOND), "criteria: the name 'quality' is used twice"),
    "unnamed criterion": (without('name = "quality"'), "criteria[0].name: missing"),
    "criterion's name": (RUBRIC.replace('"quality"', '"Quality"'), "criteria[0].name: "),
    "unknown field of a criterion": (more("colour = 1"), "criteria[0].colour: unknown field"),
    "no question": (without('question = "How good?"'), "criteria[0].question: missing"),
    "blank question": (RUBRIC.replace("How good?", " "), "criteria[0].question: must not be blank"),
    # scales
    "no scale": (without(f"scale = {SCALE}"), "criteria.quality.scale: "),
    "scale backwards": (
        scaled('[{point = 2, means = "a"}, {point = 1, means = "b"}]'),
        "criteria[0].scale: points go from worst to best",
    ),
    "point twice": (
        scaled('[{point = 1, means = "a"}, {point = 1, means = "b"}]'), "criteria[0].scale: ",
    ),
    "no points": (scaled(points(0)), "criteria[0].scale: a scale has 2 to 10 points, not 0"),
    "one point": (scaled(points(1)), "criteria[0].scale: a scale has 2 to 10 points, not 1"),
    "eleven points": (scaled(points(11)), "criteria[0].scale: a scale has 2 to 10 points, not 11"),
    "undescribed point": (
        scaled('[{point = 1}, {point = 2, means = "b"}]'), "criteria[0].scale[0].means: missing",
    ),
    "blank meaning": (
        scaled('[{point = 1, means = " "}, {point = 2, means = "b"}]'),
        "criteria[0].scale[0].means: every point needs a described meaning",
    ),
    "bool for a point": (
        scaled('[{point = 0, means = "a"}, {point = true, means = "b"}]'),
        "criteria[0].scale[1].point: ",
    ),
    "fraction for a point": (
        scaled('[{point = 1, means = "a"}, {point = 1.5, means = "b"}]'),
        "criteria[0].scale[1].point: ",
    ),
    "float for a point": (
        scaled('[{point = 1.0, means = "a"}, {point = 2, means = "b"}]'),
        "criteria[0].scale[0].point: ",
    ),
    "text for a point": (
        scaled('[{point = "1", means = "a"}, {point = 2, means = "b"}]'),
        "criteria[0].scale[0].point: ",
    ),
    "far-off point": (
        scaled('[{point = 1, means = "a"}, {point = 1001, means = "b"}]'),
        "criteria[0].scale[1].point: ",
    ),
    "unknown field of a point": (
        scaled('[{point = 1, means = "a", value = 0.5}, {point = 2, means = "b"}]'),
        "criteria[0].scale[0].value: unknown field",
    ),
    "bare numbers": (scaled("[1, 2]"), "criteria[0].scale[0]: must be a table"),
    "range for a scale": (scaled("{min = 1, max = 5}"), "criteria[0].scale: must be a list"),
    "lists in a compare rubric": (
        PAIR + '[judging]\npairs = "after_lists"\n',
        "judging.pairs: a compare rubric has no scale for lists",
    ),
    "scale in a compare rubric": (
        top('kind = "compare"\n'), "criteria.quality.scale: a compare rubric asks for a choice",
    ),
    # weights
    "no weight": (without("weight = 1.0"), "criteria.quality.weight: missing"),
    "weights below 1": (weighing("0.9"), "criteria: the weights must sum to 1, not 0.9"),
    "weights just below 1": (weighing("0.999998"), "criteria: the weights must sum to 1"),
    "weight above 1": (weighing("1.1"), "criteria[0].weight: "),
    "negative weight": (weighing("-1.0"), "criteria[0].weight: "),
    "NaN for a weight": (weighing("nan"), "criteria[0].weight: "),
    "infinite weight": (weighing("inf"), "criteria[0].weight: "),
    "text for a weight": (weighing('"1.0"'), "criteria[0].weight: "),
    "bool for a weight": (weighing("true"), "criteria[0].weight: "),
    "shares below 1": (
        more("[weights]\nrule = 0.3\nmodel = 0.3"),
        "weights: rule and model must sum to 1, not 0.6",
    ),
    "share without weighted rules": (
        more("[weights]\nrule = 0.3\nmodel = 0.7"), "weights.rule: no rule has a weight",
    ),
    "weighted rules without share": (
        more('[[rules]]\nrule = "markup_density"\nweight = 1.0'),
        "weights.rule: rules have weights",
    ),
    "unknown share": (more("[weights]\nrules = 0.3"), "weights.rules: unknown field"),
    # rules
    "unknown rule": (
        more('[[rules]]\nrule = "non_emty"\nhard = true'),
        "rules[0].rule: unknown rule 'non_emty'; did you mean 'non_empty'?",
    ),
    "nameless rule": (more("[[rules]]\nhard = true"), "rules[0].rule: "),
    "rule without effect": (more('[[rules]]\nrule = "non_empty"'), "rules[0]: does nothing"),
    "hard rule with weight": (
        more('[[rules]]\nrule = "non_empty"\nhard = true\nweight = 1.0'), "rules[0]: a hard rule",
    ),
    "rule's missing parameter": (more(RULE + "hard = true"), "rules[0].limit: "),
    "rule's wrong parameter": (more(RULE + 'hard = true\nlimit = "x"'), "rules[0].limit: "),
    "rule's unknown parameter": (
        more(RULE + "hard = true\nlimit = 1\ncolour = 1"), "rules[0].colour: ",
    ),
    "second rule": (
        more(RULE + "hard = true\nlimit = 1\n" + RULE + "hard = true"), "rules[1].limit: ",
    ),
    "rule from anywhere": (
        more('[[rules]]\nrule = "os:system"\nhard = true'),
        "rules[0].rule: module 'os' is not among those the operator allows",
    ),
    "bad regular expression": (
        more('[[rules]]\nrule = "regex"\npattern = "("\nhard = true'), "rules[0].pattern: ",
    ),
    "bad JSON schema": (
        more('[[rules]]\nrule = "json_schema"\nschema = {type = "x"}\nhard = true'),
        "rules[0].schema: ",
    ),
    "number for rules": (top("rules = 5\n"), "rules: "),
    "texts for rules": (top('rules = ["non_empty"]\n'), "rules[0]: must be a table"),
    # length and judging
    "length backwards": (
        more("[length]\nfree_chars = 10\nzero_chars = 5"),
        "length: free_chars (10) must be smaller than zero_chars (5)",
    ),
    "half a length": (more("[length]\nfree_chars = 10"), "length.zero_chars: missing"),
    "negative length": (
        more("[length]\nfree_chars = -1\nzero_chars = 5"), "length.free_chars: ",
    ),
    "quorum above the panel": (
        more("[judging]\npanel_size = 2\nquorum = 3"),
        "judging: quorum 3 can never be met by a panel of 2",
    ),
    "no panel": (more("[judging]\npanel_size = 0"), "judging.panel_size: "),
    "large panel": (more("[judging]\npanel_size = 10"), "judging.panel_size: "),
    "float for the panel": (more("[judging]\npanel_size = 1.0"), "judging.panel_size: "),
    "bool for the quorum": (more("[judging]\nquorum = true"), "judging.quorum: "),
    "other word for reference": (
        more('[judging]\nreference = "maybe"'),
        "judging.reference: Input should be 'optional', 'required' or 'forbidden'",
    ),
    "other word for judged": (more('[judging]\njudged = "all"'), "judging.judged: "),
    "other word for fallback": (more('[judging]\nfallback = "any"'), "judging.fallback: "),
    "other word for ask": (more('[judging]\nask = "once"'), "judging.ask: "),
    "other word for unjudgeable": (
        more('[judging]\non_unjudgeable = "one"'), "judging.on_unjudgeable: ",
    ),
    "other word for inconsistent": (
        more('[judging]\non_inconsistent = "tie"'), "judging.on_inconsistent: ",
    ),
    "other word for pairs": (more('[judging]\npairs = "none"'), "judging.pairs: "),
    "text for a switch": (
        more('[judging]\nstrip_reasoning = "yes"'), "judging.strip_reasoning: ",
    ),
    "unknown way of judging": (more("[judging]\npanel = 1"), "judging.panel: unknown field"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "told"), BROKEN.values(), ids=BROKEN)
def test_a_broken_rubric(tmp_path: Path, text: str | bytes, told: str) -> None:
    """The message names the file and the field, in one line for each fault."""
    lines = fault(tmp_path, text).splitlines()

    assert f"rubrics/r.toml: {told}" in lines[0]
    assert all(line.startswith("rubrics/r.toml: ") for line in lines)
    assert not any("after validation" in line for line in lines)
