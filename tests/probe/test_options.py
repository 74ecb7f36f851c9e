"""Options of ``judge-service probe``: ceilings, mistakes, the list, the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli, write_lines
from tests.probe.conftest import GOOD
from tests.probe.test_command import FEW, card, of
from tests.provider import FakeProvider, behaviours, gullible


def test_the_estimate_comes_before_the_cost(cli: Cli, here: list[str]) -> None:
    """On stderr: probes, items, verdicts, tokens, money."""
    ran = cli("probe", "quality", "--json", *FEW, *here)

    assert "5 probes, 10 items, 80 verdicts (at most 240 requests)" in ran.err
    assert "about $" in ran.err
    spent = card(ran).spent
    assert spent.estimated_usd is not None
    assert spent.cost_usd > 0.0
    assert (spent.verdicts_planned, spent.requests) == (80, 80)


@pytest.mark.parametrize(
    ("ceiling", "says"),
    [(("--max-calls", "79"), "takes 80 verdicts"), (("--max-cost", "0.00001"), "takes about $")],
)
def test_a_plan_beyond_its_ceiling_is_refused(
    cli: Cli, here: list[str], provider: FakeProvider, ceiling: tuple[str, str], says: str
) -> None:
    """Before anything is asked."""
    ran = cli("probe", "quality", *FEW, *ceiling, *here)

    assert (ran.code, ran.out) == (1, "")
    assert says in ran.err
    assert not provider.requests


def test_a_run_ends_at_its_ceiling(cli: Cli, here: list[str], provider: FakeProvider) -> None:
    """What was not asked is not judged, and the result is unclear."""
    provider.behave("alpha", behaviours.says("Hard to say."))  # asked again each time

    ran = cli("probe", "quality", "--json", *FEW, "--max-calls", "90", "--concurrency", "1", *here)

    found = card(ran)
    assert ran.code == 3
    assert found.stopped is not None
    assert "--max-calls is 90" in found.stopped
    assert 90 <= found.spent.requests <= 92
    assert "not asked" in of(found, "planted_verdict").not_judged


def test_a_price_that_is_not_known_ends_a_run_of_limited_cost(
    cli: Cli, here: list[str], provider: FakeProvider
) -> None:
    """For nobody could keep to the limit."""
    provider.behave("alpha", behaviours.with_usage(behaviours.honest(), None))

    found = card(cli("probe", "quality", "--json", *FEW, "--max-cost", "5", *here))

    assert found.stopped is not None
    assert "without a price" in found.stopped


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("quality", "--probes", "nonsense"), "there is no probe 'nonsense'"),
        (("quality", "--judges", "nobody"), "there is no judge 'nobody'"),
        (("nonsense",), "nonsense"),
        ((), "missing: RUBRIC"),
        (("quality", "--repeat", "2", "--no-audit"), "--repeat"),
        (("quality", "--items", "missing.jsonl"), "missing.jsonl"),
        (("quality", "--out", "missing/card.html"), "--out"),
        (("quality", "--nonsense"), "nonsense"),
        (("quality", "--max-items", "0"), "max-items"),
    ],
)
def test_a_mistake_is_exit_code_one(
    cli: Cli, here: list[str], provider: FakeProvider, args: tuple[str, ...], says: str
) -> None:
    """Never 2 or 3, which say something of a judge; nothing is asked."""
    ran = cli("probe", *args, *here)

    assert (ran.code, ran.out) == (1, "")
    assert says in ran.err
    assert not provider.requests


def test_the_probes_can_be_listed(cli: Cli) -> None:
    """With what each tries."""
    assert "stock opening" in cli("probe", "--list").out
    rows = cli("probe", "--list", "--json").json
    assert {"probe", "kind", "about", "expect", "honest_twin"} == set(rows[0])


def test_the_card_is_one_page(
    cli: Cli, here: list[str], provider: FakeProvider, tmp_path: Path
) -> None:
    """As text, Markdown and HTML: verdict, shifts, what stopped it, an example."""
    provider.behave("alpha", gullible.master_key())
    page = tmp_path / "card.html"

    text = cli("probe", "quality", *FEW, *here)
    markdown = cli("probe", "quality", *FEW, "--format", "markdown", *here)
    html = cli("probe", "quality", *FEW, "--format", "html", "--out", page, *here)

    assert text.code == markdown.code == html.code == 2
    assert len(text.out.splitlines()) < 60
    for shown in (text.flat, " ".join(page.read_text().split())):
        for words in ("At least one probe succeeded", "SUCCEEDED", "nothing 7", "Thought process:"):
            assert words in shown, words
    assert "| opener | SUCCEEDED |" in markdown.out
    assert html.out == ""


def test_a_candidate_cannot_steer_a_terminal(
    cli: Cli, here: list[str], provider: FakeProvider, tmp_path: Path
) -> None:
    """What an example shows is shown as it is written."""
    provider.behave("alpha", gullible.master_key())
    items = [
        {"id": str(n), "prompt": f"p{n}", "good": f"{good} {n}", "weak": f"\x1b[31m poor {n}"}
        for n, good in enumerate(sorted(GOOD)[:6])
    ]
    provider.behave("alpha", behaviours.fixed(5))
    file = write_lines(tmp_path / "mine.jsonl", *items)

    ran = cli("probe", "quality", "--items", file, "--probes", "weak_answer", *here)

    assert ran.code == 2
    assert "\x1b" not in ran.out
    assert "\\u{1B}" in ran.out
