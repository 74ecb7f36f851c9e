"""``judge-service bias``: from what batches write, and from a running service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Ran, write_lines
from tests.harness import RunningService, new_prompt
from tests.provider import FakeProvider, behaviours

STYLED = "# A good answer\n\n- with **many** marks\n- and more of them"


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Twelve pairs; the second answer is longer and marked up."""
    return write_lines(
        tmp_path / "items.jsonl",
        *(
            {
                "prompt": new_prompt(),
                "candidates": [{"text": "A good answer."}, {"text": STYLED + "." * n}],
            }
            for n in range(12)
        ),
    )


def judged(cli: Cli, here: list[str], items: Path, *more: str) -> Path:
    """The file of results of a batch of pairs."""
    out = items.with_name("results.jsonl")
    ran = cli("compare", "pair", "--batch", items, "--out", out, *more, *here)
    assert ran.code == 0, ran.err
    return out


def judge(ran: Ran, name: str = "alpha") -> Any:
    """The figures of one judge."""
    assert ran.code == 0, ran.err
    return next(one for one in ran.json["judges"] if one["judge"] == name)


def test_what_a_batch_wrote_is_reported(
    cli: Cli, here: list[str], items: Path, provider: FakeProvider
) -> None:
    """A judge that likes to see an answer first, and one that likes length and markup."""
    provider.behave("alpha", behaviours.first_position())
    provider.behave("beta", behaviours.longer_wins())
    results = judged(cli, here, items, "--panel-size", "2")

    ran = cli("bias", results, "--items", items, "--json")

    assert judge(ran)["position"]["primacy"]["value"] == 1.0
    beta = judge(ran, "beta")
    assert beta["position"]["consistent"]["value"] == 1.0
    assert beta["length"]["longer_won_share"]["value"] == 1.0
    assert beta["style"]["more_markup_won_share"]["value"] == 1.0
    assert ran.json["panel"]["pairs"] == 12


def test_the_report_is_for_people_too(
    cli: Cli, here: list[str], items: Path, provider: FakeProvider, tmp_path: Path
) -> None:
    """As text, Markdown and HTML, with what was found in words and reasons for what is missing."""
    provider.behave_by_default(behaviours.first_position())
    results = judged(cli, here, items)
    page = tmp_path / "bias.html"

    text = cli("bias", results)
    markdown = cli("bias", results, "--format", "markdown")
    assert cli("bias", results, "--format", "html", "--out", page).code == 0

    for shown in (text.flat, " ".join(page.read_text().split())):
        assert "prefers the answer shown first" in shown
        assert "not said" in shown
        assert "95 %" in shown
    assert "| figure | value |" in markdown.out
    assert "<script" not in page.read_text()
    assert "http" not in page.read_text()


def test_what_nothing_was_judged_for_is_one_row(
    cli: Cli, here: list[str], tmp_path: Path, provider: FakeProvider
) -> None:
    """Results of assess tell nothing of pairs, and say so once; of pairs nothing of points."""
    singles = write_lines(
        tmp_path / "singles.jsonl",
        *({"prompt": new_prompt(), "candidate": {"text": "good" * n}} for n in range(1, 13)),
    )
    out = tmp_path / "scored.jsonl"
    assert cli("assess", "quality", "--batch", singles, "--out", out, *here).code == 0

    shown = cli("bias", out)

    assert "everything that pairs tell" in shown.out
    assert "swap" not in shown.out
    assert sum("no pairs" in line for line in shown.out.splitlines()) == shown.out.count(
        "everything that pairs tell"
    )
    assert "points and length, rho" in shown.out


def test_without_the_items_markup_is_not_said(cli: Cli, here: list[str], items: Path) -> None:
    """Results hold no texts."""
    found = judge(cli("bias", judged(cli, here, items, "--judges", "alpha"), "--json"))

    assert found["style"]["more_markup_won_share"] is None
    assert "markup" in found["reasons"]["style.more_markup_won_share"]


def test_runs_of_the_same_items_tell_of_stability(
    cli: Cli, here: list[str], tmp_path: Path, provider: FakeProvider
) -> None:
    """Audits are asked anew every time."""
    provider.behave("alpha", behaviours.mixed(
        [(0.5, behaviours.fixed(2)), (0.5, behaviours.fixed(4))], seed=3
    ))  # fmt: skip
    batch = write_lines(
        tmp_path / "items.jsonl",
        *(
            {"prompt": new_prompt(), "candidate": {"text": "An answer."}, "audit": True}
            for _ in range(12)
        ),
    )
    runs = [tmp_path / f"run{n}.jsonl" for n in range(2)]
    for run in runs:
        options = ("--batch", batch, "--out", run, "--judges", "alpha")
        assert cli("assess", "quality", *options, *here).code == 0

    found = judge(cli("bias", *runs, "--json"))

    points = found["stability"]["points"]
    assert (points["n"], found["answers"]) == (12, 12)
    assert 0.0 < points["value"] < 1.0
    assert points["ci95"][0] <= points["value"] <= points["ci95"][1]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("nonsense\n", "line 1: not JSON"),
        ("[1]\n", "line 1: not a JSON object"),
        ('{"status": "success"}\n', "line 1: not an outcome"),
        ("", "no outcomes"),
    ],
)
def test_a_file_that_is_no_results(cli: Cli, tmp_path: Path, content: str, says: str) -> None:
    """Is named with the line, on stderr, and nothing is made of it."""
    file = tmp_path / "odd.jsonl"
    file.write_text(content)

    ran = cli("bias", file)

    assert (ran.code, ran.out) == (1, "")
    assert says in ran.err


def test_items_that_are_not_those_of_the_results(
    cli: Cli, here: list[str], items: Path, tmp_path: Path
) -> None:
    """Are refused: their texts are shorter than what was judged, or they are too few."""
    results = judged(cli, here, items)
    pair = {"prompt": "p", "candidates": [{"text": "."}, {"text": "."}]}
    others = write_lines(tmp_path / "others.jsonl", *[pair] * 12)
    fewer = write_lines(tmp_path / "fewer.jsonl", json.loads(items.read_text().splitlines()[0]))

    assert "was not made from item 0" in cli("bias", results, "--items", others).err
    assert "--items has no item 1" in cli("bias", results, "--items", fewer).err


def test_neither_files_nor_a_service_is_wrong_usage(cli: Cli) -> None:
    """There is nothing to look at."""
    assert cli("bias").code == 2
    assert cli("bias", "--items", "items.jsonl").code == 2


def test_a_report_that_cannot_be_written_is_told(cli: Cli, tmp_path: Path) -> None:
    """Before anything is read."""
    ran = cli("bias", tmp_path / "none.jsonl", "--out", tmp_path / "missing" / "page.html")

    assert ran.code == 1
    assert "no folder that can be written to" in ran.err


def test_no_verdict_at_all_is_exit_code_three(cli: Cli, service: RunningService) -> None:
    """There is a report, and it says nothing."""
    ran = cli("bias", "--url", service.url, "--json")

    assert ran.code == 3
    assert [one["pairs"] for one in ran.json["judges"]] == [0, 0]


def test_the_command_and_the_service_say_the_same(
    cli: Cli, service: RunningService, provider: FakeProvider
) -> None:
    """Pairs and scored answers of live traffic, by the same model."""
    provider.behave("alpha", behaviours.second_position())
    for number in range(12):
        service.compare("A good answer.", STYLED + "." * number, judges=["alpha"])
        service.assess("An answer" + "." * number, judges=["alpha"])

    ran = cli("bias", "--url", service.url, "--json")

    assert ran.json == service.http.get("/v1/bias").json()
    found = judge(ran)
    assert (found["pairs"], found["answers"]) == (12, 12)
    assert found["position"]["recency"]["value"] == 1.0
    assert found["length"]["point_correlation"] is None
    assert "same" in found["reasons"]["length.point_correlation"]
    assert "prefers the answer shown last" in cli("bias", "--url", service.url).flat
