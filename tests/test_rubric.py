"""Rubrics as such: what may be said in one, its hash, its warnings, and its scales."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from judge_service.errors import ConfigError
from judge_service.rubric.library import parse_rubric
from judge_service.rubric.rubric import Rubric
from judge_service.rubric.scale import Point, Scale

BASE: dict[str, Any] = {
    "id": "r",
    "version": "1",
    "description": "A rubric.",
    "criteria": [
        {
            "name": "quality",
            "weight": 1.0,
            "question": "How good?",
            "scale": [{"point": p, "means": f"meaning {p}"} for p in (1, 2, 3)],
        }
    ],
}
ANCHOR = {"criterion": "quality", "point": 1, "prompt": "p", "candidate": "c", "reason": "r"}
Change = Callable[[dict[str, Any]], object]


def made(change: Change = lambda _: None) -> Rubric:
    """A rubric, with a change."""
    data = copy.deepcopy(BASE)
    change(data)
    return parse_rubric(data, where="here")


def rule(**fields: object) -> Change:
    """Adds a rule."""
    return lambda r: r.setdefault("rules", []).append(fields)


CHANGES: dict[str, Change] = {
    "id": lambda r: r.update(id="other"),
    "version": lambda r: r.update(version="2"),
    "description": lambda r: r.update(description="Another rubric."),
    "aggregate": lambda r: r.update(aggregate="min"),
    "criterion's name": lambda r: r["criteria"][0].update(name="other"),
    "question": lambda r: r["criteria"][0].update(question="How bad?"),
    "point": lambda r: r["criteria"][0]["scale"][2].update(point=4),
    "meaning": lambda r: r["criteria"][0]["scale"][1].update(means="other"),
    "one point less": lambda r: r["criteria"][0]["scale"].pop(),
    "rule": rule(rule="non_empty", hard=True),
    "rule's parameter": rule(rule="max_chars", hard=True, limit=10),
    "rule's other parameter": rule(rule="max_chars", hard=True, limit=11),
    "length": lambda r: r.update(length={"free_chars": 1, "zero_chars": 2}),
    "other length": lambda r: r.update(length={"free_chars": 1, "zero_chars": 3}),
    "panel": lambda r: r.update(judging={"panel_size": 2}),
    "judged": lambda r: r.update(judging={"judged": "trajectory"}),
    "strip_reasoning": lambda r: r.update(judging={"strip_reasoning": False}),
    "anchor": lambda r: r.update(anchors=[ANCHOR]),
    "anchor's reason": lambda r: r.update(anchors=[{**ANCHOR, "reason": "other"}]),
    "anchor's reference": lambda r: r.update(anchors=[{**ANCHOR, "reference": "other"}]),
    "anchor with an empty reference": lambda r: r.update(anchors=[{**ANCHOR, "reference": ""}]),
    "two anchors": lambda r: r.update(anchors=[ANCHOR, {**ANCHOR, "point": 3}]),
    "two anchors in another order": lambda r: r.update(anchors=[{**ANCHOR, "point": 3}, ANCHOR]),
}


def test_every_change_changes_the_hash() -> None:
    """No two of the contents have the same hash."""
    hashes = {name: made(change).rubric_hash for name, change in CHANGES.items()}
    hashes["base"] = made().rubric_hash

    assert len(set(hashes.values())) == len(hashes)


def reordered(data: Any) -> Any:
    """The same content with the keys of every table the other way round."""
    if isinstance(data, dict):
        return {key: reordered(data[key]) for key in reversed(data)}
    return [reordered(item) for item in data] if isinstance(data, list) else data


SAME: dict[str, Change] = {
    "order of keys": lambda r: r.update(reordered(r)),
    "defaults said": lambda r: r.update(
        kind="assess", aggregate="weighted_mean", weights={"rule": 0.0, "model": 1.0},
        judging={"quorum": 1, "panel_size": 1, "reference": "optional"}, rules=[],
    ),
    "whole numbers for shares": lambda r: r.update(weights={"rule": 0, "model": 1}),
    "spaces around a meaning": lambda r: r["criteria"][0]["scale"][0].update(means=" meaning 1 "),
}  # fmt: skip


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_the_same_content_has_the_same_hash(change: Change) -> None:
    """What is the same rubric has the same hash, however it is written."""
    assert made(change).rubric_hash == made().rubric_hash


def test_the_hash_is_one_of_sha256() -> None:
    """A hash is 64 hex digits, the same every time."""
    first, second = made().rubric_hash, made().rubric_hash

    assert first == second
    assert len(first) == 64
    assert int(first, 16) >= 0


def test_the_content_makes_the_same_rubric_again() -> None:
    """What is shown of a rubric is all of it: it can be loaded again."""
    rubric = made(lambda r: (CHANGES["rule"](r), CHANGES["anchor"](r), CHANGES["length"](r)))

    again = parse_rubric(json.loads(json.dumps(rubric.content())), where="here")

    assert again.rubric_hash == rubric.rubric_hash


def test_a_rubric_cannot_be_changed() -> None:
    """What is loaded stays as it is."""
    with pytest.raises(ValueError, match="frozen"):
        made().version = "2"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ((0, 1), (0.0, 1.0)),
        ((1, 2, 3, 4, 5), (0.0, 0.25, 0.5, 0.75, 1.0)),
        ((0, 1, 5), (0.0, 0.5, 1.0)),
        ((-10, 0, 1000), (0.0, 0.5, 1.0)),
        (tuple(range(1, 8)), tuple(n / 6 for n in range(7))),
        (tuple(range(10)), tuple(n / 9 for n in range(10))),
    ],
    ids=str,
)
def test_normalised_values(points: tuple[int, ...], expected: tuple[float, ...]) -> None:
    """A point's value is its rank, evenly spaced from 0 to 1, whatever its number."""
    scale = Scale([Point(point=p, means="x") for p in points])

    assert tuple(map(scale.normalized, scale.values)) == expected


@pytest.mark.parametrize("value", [0, 6, 2.5])
def test_what_is_off_the_scale_has_no_value(value: Any) -> None:
    """A value that is no point is an error, not the nearest point."""
    scale = made().criteria[0].points

    with pytest.raises(ValueError, match="tuple"):
        scale.normalized(value)


@pytest.mark.parametrize(
    ("points", "middle"), [((0, 1), 0), ((1, 2, 3), 2), ((1, 2, 3, 4), 2), ((1, 2, 3, 4, 5), 3)]
)
def test_the_middle(points: tuple[int, ...], middle: int) -> None:
    """The middle of an even scale is the lower of the two."""
    assert Scale([Point(point=p, means="x") for p in points]).middle == middle


@pytest.mark.parametrize(
    ("anchored", "missing"),
    [
        ((), "points 1 and 3"),
        ((1,), "point 3"),
        ((3,), "point 1"),
        ((2,), "points 1 and 3"),
        ((1, 3), None),
    ],
    ids=["none", "worst", "best", "middle", "both"],
)
def test_missing_anchors_are_warned_about(anchored: tuple[int, ...], missing: str | None) -> None:
    """A scale without anchors at both ends is allowed, and named."""
    warnings = made(
        lambda r: r.update(anchors=[{**ANCHOR, "point": p} for p in anchored])
    ).warnings()

    assert [f"criteria.quality: no anchor at {missing};" in w for w in warnings] == (
        [True] if missing else []
    )


def test_a_zero_that_a_comparison_cannot_give_is_warned_about() -> None:
    """A compare rubric has no rewards of its own."""

    def compares(rubric: dict[str, Any]) -> None:
        rubric.update(kind="compare", anchors=[], judging={"on_unjudgeable": "zero"})
        rubric["criteria"] = [{"name": "quality", "question": "Which is better?"}]

    assert ["on_unjudgeable" in warning for warning in made(compares).warnings()] == [True]


@pytest.mark.parametrize("total", [0.9999995, 1.0000005])
def test_weights_may_miss_their_sum_by_a_rounding_error(total: float) -> None:
    """Sums are met within a millionth."""
    weights = [0.3, 0.3, total - 0.6]
    rubric = made(
        lambda r: r.update(
            criteria=[
                {**r["criteria"][0], "name": f"c{n}", "weight": w} for n, w in enumerate(weights)
            ],
            weights={"rule": 0.2, "model": total - 0.2},
            rules=[{"rule": "markup_density", "weight": 1.0}],
        )
    )

    assert sum(c.weight or 0.0 for c in rubric.criteria) == pytest.approx(total, abs=1e-12)


def test_a_compare_rubric_may_weigh_its_criteria_or_not() -> None:
    """Criteria of a pair have weights all together or not at all."""
    question = {"question": "Which?"}

    def pair(*weights: float | None) -> Change:
        return lambda r: r.update(
            kind="compare",
            criteria=[
                {"name": f"c{n}", **question, **({} if w is None else {"weight": w})}
                for n, w in enumerate(weights)
            ],
        )

    assert made(pair(None, None)).kind == "compare"
    assert made(pair(0.5, 0.5)).kind == "compare"
    for wrong in (pair(0.5, None), pair(0.5, 0.6)):
        with pytest.raises(ConfigError, match="here: criteria: give every criterion a weight"):
            made(wrong)


def test_every_fault_is_told_at_once() -> None:
    """All that is wrong with a rubric is told together, a line each."""
    with pytest.raises(ConfigError) as raised:
        made(lambda r: (r.update(version=1, kind="x", extra=1), r["criteria"][0].pop("question")))

    lines = str(raised.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        "version", "kind", "criteria[0].question", "extra",
    ]  # fmt: skip
