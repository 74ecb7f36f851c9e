"""From files of results to a report: what counts, what is left out, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from judge_service.bias.report import BiasReport, JudgeBias
from judge_service.bias.results import NotAnOutcome, Reading
from tests.bias.made import assessed, compared


def report_of(*outcomes: dict[str, Any], **reading: Any) -> BiasReport:
    """The report of outcomes, each of an item of its own unless it names one."""
    taken = Reading(**reading)
    for number, outcome in enumerate(outcomes):
        taken.take(outcome.pop("item", f"item {number}"), outcome)
    return taken.report()


def of(report: BiasReport, judge: str) -> JudgeBias:
    """The figures of one judge."""
    return next(one for one in report.judges if one.judge == judge)


def test_a_failed_order_is_counted_and_enters_no_share() -> None:
    """One pair has no verdict in one order; the other one is whole."""
    report = report_of(
        compared({"a": ("first", None)}, outcome=None), compared({"a": ("first", "first")})
    )

    judge = of(report, "a")
    assert (judge.pairs, judge.failed_pairs) == (1, 1)
    assert judge.position.consistent is not None
    assert (judge.position.consistent.value, judge.position.consistent.n) == (1.0, 1)
    assert report.outcomes == {"outcomes": 2, "failed": 1}


def test_a_repeated_item_counts_once() -> None:
    """However often it is in the files; a later verdict replaces a failure, not a verdict."""
    same = [compared({"a": ("first", "second")}, outcome="inconsistent") for _ in range(3)]
    failed = compared({"a": (None, None)}, outcome=None)
    report = report_of(*({**one, "item": "same"} for one in (failed, *same)))

    judge = of(report, "a")
    assert (judge.pairs, judge.failed_pairs) == (1, 0)


def test_a_pair_that_a_rule_decided_is_no_judges() -> None:
    """Nobody was asked."""
    settled = {**compared({}), "short_circuited": True}
    report = report_of(settled, compared({"a": ("first", "first")}))

    assert of(report, "a").pairs == 1
    assert report.outcomes is not None
    assert report.outcomes["short_circuited"] == 1


def test_a_panel_stands_beside_its_judges() -> None:
    """By the outcome it was given; judges keep their own figures."""
    report = report_of(
        *(
            compared({"a": ("first", "first"), "b": ("first", "second")}, outcome="inconsistent")
            for _ in range(4)
        )
    )

    assert report.panel is not None
    assert report.panel.position.consistent is not None
    assert report.panel.position.consistent.value == 0.0
    assert report.panel.position.primacy is not None
    assert report.panel.position.primacy.value == 1.0
    assert of(report, "a").position.consistent is not None


def test_single_judges_make_no_panel() -> None:
    """The report has none then."""
    assert report_of(compared({"a": ("first", "first")})).panel is None


def test_points_are_worth_what_the_file_says() -> None:
    """A panel's judge whose point was never the panel's is left out, unless the scale is known."""
    line = assessed({"a": {"c": 1}, "b": {"c": 5}}, {"c": (1, 0.0)})

    unknown, known = report_of(dict(line)), report_of(dict(line), scales={("hash", "c"): [1, 3, 5]})

    assert (of(unknown, "a").answers, of(unknown, "b").answers) == (1, 0)
    assert "1 scores were left out" in unknown.notes[0]
    assert (of(known, "b").answers, known.notes) == (1, [])


def test_longer_answers_with_more_points_are_found() -> None:
    """Over many answers, with an interval; a finding says it in words."""
    lines = [
        assessed(
            {"a": {"c": 1 + n % 5}}, {"c": (1 + n % 5, n % 5 / 4)}, chars=100 + 90 * (n % 5) + n
        )
        for n in range(40)
    ]

    judge = of(report_of(*lines), "a")

    assert judge.length.point_correlation is not None
    assert judge.length.point_correlation.above(0.5)
    assert any("longer answers more points" in text for text in judge.findings)


def test_families_can_stand_in_the_metadata() -> None:
    """Where the service must not know them, so that it lets a judge judge its own kin."""
    lines = [
        compared(
            {"a": ("first", "first"), "b": ("second", "second")},
            outcome="inconsistent",
            metadata={"families": ["a-family", "third"]},
        )
        for _ in range(12)
    ]

    gap = of(report_of(*lines), "a").own_family.gap

    assert gap is not None
    assert (gap.value, gap.n) == (1.0, 12)


def test_every_figure_is_there_or_has_a_reason() -> None:
    """Whatever was read; and nothing is NaN."""
    judge = of(report_of(compared({"a": ("first", "first")})), "a")

    for section in ("position", "length", "own_family", "style", "stability"):
        for name, figure in getattr(judge, section):
            assert (figure is None) == (f"{section}.{name}" in judge.reasons), (section, name)


def test_groups_are_left_out_and_named() -> None:
    """A ranking tells sums, no single verdict."""
    report = report_of({"status": "success", "rewards": [1.0]}, compared({"a": ("tie", "tie")}))

    assert "1 groups were left out" in report.notes[0]


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"status": "odd"},
        {"status": "success"},
        {**compared({"a": ("first", "first")}), "verdicts": None},
        {**compared({"a": ("first", "first")}), "verdicts": [{}]},
        compared({"a": ("candidate_1", "first")}),
        {**compared({"a": ("first", "first")}), "orders": [{"order": "XY"}]},
        {**assessed({"a": {"c": 1}}, {"c": (1, 0.0)}), "metrics": {}},
        {**assessed({"a": {"c": 1}}, {"c": (1, 0.0)}), "criteria": {"c": {}}},
    ],
)
def test_what_is_no_outcome_is_refused(line: dict[str, Any]) -> None:
    """One error, never a number made of it."""
    with pytest.raises(NotAnOutcome):
        report_of(line)
