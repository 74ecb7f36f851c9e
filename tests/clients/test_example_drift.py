"""The drift example: two judges on labelled answers, a card, a page, and what to look at next."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.provider import FakeProvider

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "drift"


@contextmanager
def word_judge() -> Iterator[str]:
    """The example's own judge on a free port; gives its address."""
    command = [sys.executable, str(EXAMPLE / "word_judge.py")]
    environ = {**os.environ, "JUDGE_PORT": "0"}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def compare(folder: Path, trusted: str, cheap: str) -> subprocess.CompletedProcess[str]:
    """The comparison, run to its end."""
    return subprocess.run(
        [sys.executable, str(EXAMPLE / "compare.py"), str(folder)], cwd=folder, text=True,
        env={**os.environ, "TRUSTED_URL": trusted, "CHEAP_URL": cheap}, capture_output=True,
        timeout=110, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("same", "exit_code", "says"),
    [(False, 2, "DRIFT: cheap on quick-look"), (True, 0, "no drift: cheap on quick-look")],
    ids=["another judge", "the same judge twice"],
)
def test_two_judges_are_compared(
    provider: FakeProvider, tmp_path: Path, same: bool, exit_code: int, says: str
) -> None:
    """One command prints the card, writes a page that loads nothing, and says what is next."""
    provider.reset()
    provider.oracle({}, default=1)
    with word_judge() as trusted:
        ran = compare(tmp_path, trusted, trusted if same else provider.base_url)

    assert ran.returncode == 0, ran.stderr[-2000:]
    assert says in ran.stdout
    assert "12: 12 judged by both, 0 failed" in ran.stdout
    assert f"exit code {exit_code}:" in ran.stdout
    page = (tmp_path / "drift.html").read_text(encoding="utf-8")
    assert str(tmp_path / "drift.html") in ran.stdout
    assert "<script" not in page
    assert "rivers-a" in page


def test_a_comparison_that_failed_is_no_finding(tmp_path: Path) -> None:
    """An address that is none: the reason, exit code 1, and neither a card nor a page."""
    ran = compare(tmp_path, "nowhere", "nowhere")

    assert ran.returncode == 1
    assert "api_base" in ran.stderr
    assert "drift" not in ran.stdout.lower()
    assert not (tmp_path / "drift.html").exists()


@pytest.mark.parametrize(
    ("candidate", "point"),
    [("Mercury and Neptune.", 3), ("It is NEPTUNE", 2), ("Venus", 1), ("| Mercury\n| no", 2)],
)
def test_the_word_judge_counts_words(candidate: str, point: int) -> None:
    """Its reply has the two tokens of the question, and a point by the words that are there."""
    lines = "\n".join(f"| {line}" for line in candidate.split("\n"))
    question = (
        "<<JS-DATA nonce=ab slot=prompt>>\n| Which?\n<<JS-END nonce=ab>>\n"
        "<<JS-DATA nonce=ab slot=reference>>\n| Mercury, Neptune\n<<JS-END nonce=ab>>\n"
        f"<<JS-DATA nonce=ab slot=candidate>>\n{lines}\n<<JS-END nonce=ab>>\n"
        'Reply with exactly one JSON object and nothing else: {"v":"12","reason":"","end":"34"}'
    )

    reply: dict[str, Any] = runpy.run_path(str(EXAMPLE / "word_judge.py"))["verdict"](question)

    assert (reply["v"], reply["score"], reply["end"]) == ("12", point, "34")


def test_its_labels_are_of_the_rubric() -> None:
    """Ten items or more, in groups, by two people, of every point."""
    items = [json.loads(line) for line in (EXAMPLE / "gold.jsonl").read_text().splitlines()]

    assert len(items) >= 10
    assert {point for item in items for point in item["labels"]["answers"]} == {1, 2, 3}
    assert all(re.fullmatch(r"[a-z]+-[abc]", item["id"]) for item in items)
