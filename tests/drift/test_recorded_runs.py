"""Files of runs: reported from again, a baseline for later, refused where they are of others."""

from __future__ import annotations

import pytest

from tests.drift.support import RUNS, Bench, points, raised, write_gold
from tests.provider import behaviours


def test_a_silent_upgrade_is_found_against_recorded_runs(bench: Bench) -> None:
    """The same judge, recorded before and asked after its provider changed it."""
    gold = points(40, scores=lambda i: i % 4 + 1)
    bench.provider.behave("alpha", behaviours.served_as(behaviours.honest(), "alpha-2026-01"))
    recorded = bench.command(
        "drift", "--gold", write_gold(bench.folder / "quality.jsonl", gold),
        "--baseline", "alpha", *RUNS,
    )  # fmt: skip
    before = bench.asked("alpha")
    bench.provider.behave("alpha", behaviours.served_as(raised(0.3), "alpha-2026-02"))

    ran = bench.drift("--baseline-run", "kept.runs", "--candidate", "alpha", gold=gold)

    assert recorded.code == 0
    assert "80 judgements recorded in kept.runs" in recorded.err
    assert bench.asked("alpha") - before == 40
    assert ran.code == 2
    assert ran.report["baseline"]["recorded"] is not None
    assert ran.report["baseline"]["models_served"] == ["alpha-2026-01"]
    assert ran.report["candidate"]["served_model_changed"] is True


def test_recorded_runs_of_other_items_are_refused(bench: Bench) -> None:
    """A judge is not blamed for what was changed in the items."""
    bench.drift(*RUNS, gold=points(8))
    changed = points(8)
    changed[3]["candidate"] += " By the way."

    ran = bench.drift("--baseline-run", "kept.runs", gold=changed)
    fewer = bench.drift("--baseline-run", "kept.runs", gold=points(7))

    assert (ran.code, fewer.code) == (1, 1)
    assert "item 'i3' was changed since" in ran.err
    assert "item 'i7' is not in the gold set any more" in fewer.err


def test_a_file_of_runs_is_reported_from_again(bench: Bench) -> None:
    """Nobody is asked a second time, and the report is the same."""
    first = bench.drift(*RUNS, gold=points(8))
    asked = len(bench.provider.requests)
    second = bench.drift(*RUNS, gold=points(8))
    anew = bench.drift(*RUNS, "--overwrite", gold=points(8))

    assert len(bench.provider.requests) == 2 * asked
    assert "nobody is asked" in second.err
    assert second.report == first.report
    assert anew.code == 0


def test_a_file_of_other_runs_is_not_continued(bench: Bench) -> None:
    """Another number of repeats is another run."""
    bench.drift(*RUNS, gold=points(4))
    ran = bench.drift(*RUNS, "--repeat", "3", gold=points(4))
    (bench.folder / "notes.txt").write_text("mine\n")
    foreign = bench.drift("--runs", "notes.txt", gold=points(4))

    assert ran.code == 1
    assert "--overwrite" in ran.err
    assert foreign.code == 1
    assert (bench.folder / "notes.txt").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("found", "written"),
    [('"points": {"quality": 4}', '"points": {"quality": 9}'), ('{"quality": 4}', '{"style": 4}')],
    ids=["off the scale", "another criterion"],
)
def test_recorded_points_have_to_be_the_side_s(bench: Bench, found: str, written: str) -> None:
    """A file that says what the judge cannot have said is refused by its line."""
    runs = bench.folder / "alpha.runs"
    bench.drift("--runs", str(runs), gold=points(4))
    text = runs.read_text()
    assert found in text
    runs.write_text(text.replace(found, written, 1))
    ran = bench.drift("--baseline-run", str(runs), gold=points(4))

    assert ran.code == 1
    assert f"{runs}: line " in ran.err


def test_a_folder_is_no_file_of_runs(bench: Bench) -> None:
    """One line says so."""
    ran = bench.drift("--baseline-run", str(bench.folder), gold=points(4))

    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "is a directory" in ran.err.lower()
