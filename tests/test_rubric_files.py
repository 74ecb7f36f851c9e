"""The shipped rubrics and anchors: sound, documented, and usable as they are."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from judge_service.candidate.exhibit import exhibit
from judge_service.envelope.envelope import assess_system, compare_system
from judge_service.rubric.anchor import Anchor
from judge_service.rubric.library import Library, load_library
from judge_service.rubric.rubric import Criterion, Rubric
from judge_service.rules import run_rules
from judge_service.types import Candidate

DOCS = Path(__file__).resolve().parent.parent / "docs" / "rubrics.md"
LIBRARY: Library = load_library()
CRITERIA = [
    pytest.param(r, c, id=f"{r.id}-{c.name}")
    for r in LIBRARY.values()
    for c in r.criteria
    if c.scale is not None
]
ANCHORS = [
    pytest.param(r, a, id=f"{r.id}-{a.criterion}-{a.point}-{n}")
    for r in LIBRARY.values()
    for n, a in enumerate(r.anchors)
]
every_rubric = pytest.mark.parametrize("rubric", LIBRARY.values(), ids=list(LIBRARY))
MAX_SYSTEM_CHARS = 16_000
"""About 4,000 tokens: read once, then kept by a provider's prompt cache."""


def documented() -> dict[str, str]:
    """The rows of the table of shipped rubrics, by id."""
    section = DOCS.read_text(encoding="utf-8").split("## The shipped rubrics")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `([a-z-]+)` \|(.*)\|$", section, re.MULTILINE))


def test_every_rubric_is_documented() -> None:
    """The documentation lists the shipped rubrics, all of them and no others."""
    assert documented().keys() == set(LIBRARY)


@every_rubric
def test_the_documentation_names_the_criteria(rubric: Rubric) -> None:
    """A rubric's row names its criteria, and with them its weights where they count."""
    row = documented()[rubric.id]

    for criterion in rubric.criteria:
        assert criterion.name in row
        if rubric.aggregate == "weighted_mean":
            assert f"{criterion.weight:g}" in row or f"{criterion.weight:.1f}" in row


def test_the_kinds_of_work_are_covered() -> None:
    """There are at least eight rubrics, for one candidate and for pairs, turns and trajectories."""
    assert len(LIBRARY) >= 8
    assert {r.kind for r in LIBRARY.values()} == {"assess", "compare"}
    assert {r.judging.judged for r in LIBRARY.values()} == {"last_turn", "trajectory"}
    assert {"required", "optional"} <= {r.judging.reference for r in LIBRARY.values()}


@every_rubric
def test_a_rubric_loads_without_warnings(rubric: Rubric) -> None:
    """Nothing in a shipped rubric is likely to be a mistake."""
    assert rubric.warnings() == []


@every_rubric
def test_a_rubric_has_an_upper_length(rubric: Rubric) -> None:
    """Length never pays without end, and decay and limit meet: there is no cliff to sit on."""
    limits = [r.model_dump()["limit"] for r in rubric.rules if r.rule == "max_chars" and r.hard]

    assert len(limits) == 1
    if rubric.length is not None:
        assert rubric.length.zero_chars <= limits[0]
        assert rubric.length.free_chars <= rubric.length.zero_chars / 2


@every_rubric
def test_what_needs_no_judge_is_stopped_by_rule(rubric: Rubric) -> None:
    """Empty answers, stock openings and answers cut off by their own limit cost no call."""
    assert {"non_empty", "opener_only", "finished"} <= {r.rule for r in rubric.rules if r.hard}


@pytest.mark.parametrize(("rubric", "criterion"), CRITERIA)
def test_anchors_at_both_ends_and_in_the_middle(rubric: Rubric, criterion: Criterion) -> None:
    """A scale is held by examples at both ends, and in the middle where it has one."""
    values = criterion.points.values
    anchored = {a.point for a in rubric.anchors if a.criterion == criterion.name}

    assert {values[0], values[-1]} <= anchored
    if len(values) % 2:
        assert criterion.points.middle in anchored


@pytest.mark.parametrize(("rubric", "criterion"), CRITERIA)
def test_points_are_told_apart(rubric: Rubric, criterion: Criterion) -> None:
    """Every point of a scale means something of its own."""
    meanings = [p.means for p in criterion.scale or ()]

    assert len(set(meanings)) == len(meanings)
    assert all(10 <= len(m) <= 400 for m in meanings)
    assert criterion.question.endswith("?")


@pytest.mark.parametrize(("rubric", "anchor"), ANCHORS)
def test_an_anchor_passes_its_own_rubric(rubric: Rubric, anchor: Anchor) -> None:
    """No anchor shows an answer that would never reach the judge, and length costs it nothing."""
    shown = exhibit(Candidate(text=anchor.candidate, finish_reason="stop"), rubric)

    report = run_rules(rubric.rules, shown.rule_input(anchor.prompt, anchor.reference))

    # Calls are written out in an anchor's text, so a rule on calls cannot see them.
    failed = [r.rule for r in report.results if r.hard and not r.passed and r.rule != "tool_calls"]
    assert failed == []
    assert not shown.empty
    assert rubric.length is None or rubric.length.factor(shown.chars) == 1.0


@pytest.mark.parametrize(("rubric", "anchor"), ANCHORS)
def test_an_anchor_fits_its_rubric(rubric: Rubric, anchor: Anchor) -> None:
    """An anchor shows a reference exactly where requests may have one, and gives a reason."""
    if rubric.judging.reference == "required":
        assert anchor.reference
    if rubric.judging.reference == "forbidden":
        assert anchor.reference is None
    assert len(anchor.reason) >= 20


@every_rubric
def test_length_alone_does_not_tell_the_points(rubric: Rubric) -> None:
    """Among the anchors the longest candidate is not always the best one."""
    for criterion in rubric.criteria:
        own = [a for a in rubric.anchors if a.criterion == criterion.name]
        ranked = sorted(own, key=lambda a: len(a.candidate))
        if len(own) > 3:
            assert [a.point for a in ranked] != sorted(a.point for a in own)


def test_no_anchor_stands_twice() -> None:
    """Every anchor shows something else."""
    seen = Counter(
        (r.id, a.criterion, a.prompt, a.candidate) for r in LIBRARY.values() for a in r.anchors
    )

    assert [key for key, count in seen.items() if count > 1] == []


@every_rubric
def test_system_messages_are_moderate(rubric: Rubric) -> None:
    """What a judge reads before every candidate stays short, all criteria together included."""
    if rubric.kind == "compare":
        systems = [compare_system(rubric)]
    else:
        names = tuple(c.name for c in rubric.criteria)
        systems = [assess_system(rubric, names), *(assess_system(rubric, (n,)) for n in names)]

    assert all(500 < len(system) < MAX_SYSTEM_CHARS for system in systems)
