"""Batches: results as lines, continued where they stopped, whole after whatever stopped them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from judge_service.cli import batch
from judge_service.cli.requests import Asked
from judge_service.cli.results import FileResults
from judge_service.cli.target import Later, Refused, Target
from tests.cli.conftest import Cli, read_lines, write_lines
from tests.provider import FakeProvider, behaviours

USAGE = {
    "upstream_requests": 1, "prompt_tokens": 1, "completion_tokens": 1, "cached_tokens": 0,
    "cost_usd": 0.001, "unknown_cost_calls": 0,
}  # fmt: skip


def item(text: str, **more: Any) -> dict[str, Any]:
    """A line of a batch."""
    return {"candidate": {"text": text}, **more}


class Scripted:
    """Answers without a judge: ``bad`` fails, ``refused`` is refused, ``busy`` is late once."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.stop_at: str | None = None

    async def ask(self, request: Asked) -> dict[str, Any]:
        """The scripted outcome."""
        text = str(request.data["candidate"]["text"])
        self.asked.append(text)
        if text == self.stop_at:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        if text == "refused":
            raise Refused("rubric 'quality' needs a reference")
        if text == "busy" and self.asked.count("busy") == 1:
            raise Later("busy", after_s=0.0)
        error = None
        if text.startswith("bad"):
            error = {"code": "timeout", "message": "!", "retryable": text != "bad for good"}
        return {"status": "failed" if error else "success", "usage": USAGE, "error": error}

    async def rubric(self, rubric_id: str) -> None:
        """Never shown."""


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """A target that needs no judge."""
    target = Scripted()

    @asynccontextmanager
    async def opened(*_: object) -> AsyncIterator[Target]:
        yield target

    monkeypatch.setattr(batch, "open_target", opened)
    monkeypatch.setattr(batch, "FIRST_WAIT_S", 0.0)
    return target


RUN = ("assess", "quality", "-p", "Why?", "--batch", "in.jsonl", "--out", "out.jsonl")


def test_results_are_outcomes_in_the_order_of_the_items(
    cli: Cli, where: list[str], tmp_path: Path
) -> None:
    """Each with its index, its id and the outcome."""
    write_lines(
        tmp_path / "in.jsonl",
        *[item("good" if n % 2 else "bad", id=f"i{n}") for n in range(9)],
    )

    ran = cli(*RUN, "--family", "qwen", *where)

    lines = read_lines(tmp_path / "out.jsonl")
    assert ran.code == 0, ran.err
    assert [line["index"] for line in lines] == list(range(9))
    assert [line["id"] for line in lines] == [f"i{n}" for n in range(9)]
    assert [line["reward"] for line in lines] == [1.0 if n % 2 else 0.25 for n in range(9)]
    assert "9 of 9 with success" in ran.err


def test_pairs_are_a_batch_too(cli: Cli, where: list[str], tmp_path: Path) -> None:
    """With ``compare``, each line is a pair."""
    pair = {"candidates": [{"text": "good"}, {"text": "bad"}], "prompt": "Own?", "rubric": "pair"}
    write_lines(tmp_path / "in.jsonl", pair)

    ran = cli("compare", "--batch", "in.jsonl", "--out", "out.jsonl", *where)

    assert ran.code == 0, ran.err
    assert read_lines(tmp_path / "out.jsonl")[0]["outcome"] == "first"


def test_a_batch_from_stdin_to_stdout(cli: Cli, here: list[str]) -> None:
    """In a pipe, results are lines on stdout and the rest is on stderr."""
    lines = "".join(json.dumps(item(text)) + "\n" for text in ("good", "bad"))

    ran = cli("assess", "quality", "-p", "Why?", "--batch", "-", *here, stdin=lines)

    assert ran.code == 0, ran.err
    assert {line["index"]: line["reward"] for line in ran.lines} == {0: 1.0, 1: 0.25}
    assert "2 of 2" in ran.err


def test_an_items_own_fields_win(cli: Cli, here: list[str], tmp_path: Path) -> None:
    """Options fill in what a line lacks; a candidate's own origin is kept."""
    own = {"text": "good", "family": "alpha"}
    write_lines(tmp_path / "in.jsonl", item("good"), {"candidate": own, "judges": ["beta"]})

    ran = cli(*RUN, "--family", "beta", "--judges", "alpha", *here)

    assert ran.code == 0, ran.err
    judges = [line["verdicts"][0]["judge"] for line in read_lines(tmp_path / "out.jsonl")]
    assert judges == ["alpha", "beta"]


def test_failed_outcomes_are_exit_code_three(
    cli: Cli, provider: FakeProvider, here: list[str], tmp_path: Path
) -> None:
    """They stand in the file like the others, and can be asked again."""
    write_lines(tmp_path / "in.jsonl", item("fine"), item("poison"))
    provider.behave_by_default(behaviours.chokes_on("poison"))

    ran = cli(*RUN, *here)
    provider.behave_by_default(behaviours.honest())
    again = cli(*RUN, "--retry-failed", *here)

    assert (ran.code, again.code) == (3, 0)
    assert "1 failed (1 retryable: --retry-failed)" in ran.err
    lines = read_lines(tmp_path / "out.jsonl")
    assert [(line["index"], line["status"]) for line in lines] == [(0, "success"), (1, "success")]


def test_what_is_answered_is_not_asked_again(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    """A finished batch costs nothing the second time."""
    write_lines(tmp_path / "in.jsonl", item("a"), item("bad"), item("b"))

    first, second = cli(*RUN), cli(*RUN)

    assert (first.code, second.code) == (3, 3)
    assert sorted(scripted.asked) == ["a", "b", "bad"]


def test_only_retryable_failures_are_asked_again(
    cli: Cli, scripted: Scripted, tmp_path: Path
) -> None:
    """What asking cannot help stays as it is."""
    write_lines(tmp_path / "in.jsonl", item("a"), item("bad"), item("bad for good"))
    cli(*RUN)
    scripted.asked.clear()

    ran = cli(*RUN, "--retry-failed")

    assert ran.code == 3
    assert scripted.asked == ["bad"]
    assert [line["index"] for line in read_lines(tmp_path / "out.jsonl")] == [0, 1, 2]


@pytest.mark.parametrize(
    "torn",
    ['{"index": 1, "item": "x", "status": "succ', '{"ind', "{", '{"index": 1, "item"\n', "\0\0\0"],
    ids=["in a value", "in a key", "first character", "with a newline", "zeros"],
)
def test_a_torn_last_line_is_dropped(
    cli: Cli, scripted: Scripted, tmp_path: Path, torn: str
) -> None:
    """A process that was killed while writing costs that one line."""
    write_lines(tmp_path / "in.jsonl", item("a"), item("b"))
    out = tmp_path / "out.jsonl"
    cli(*RUN)
    out.write_text(out.read_text().splitlines()[0] + "\n" + torn)
    scripted.asked.clear()

    ran = cli(*RUN)

    assert ran.code == 0, ran.err
    assert scripted.asked == ["b"]
    assert [line["index"] for line in read_lines(out)] == [0, 1]


def test_a_last_line_without_newline_is_kept(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    """Only what cannot be read is lost."""
    write_lines(tmp_path / "in.jsonl", item("a"), item("b"))
    out = tmp_path / "out.jsonl"
    cli(*RUN)
    out.write_text(out.read_text().splitlines()[0])
    scripted.asked.clear()

    assert cli(*RUN).code == 0
    assert scripted.asked == ["b"]
    assert len(read_lines(out)) == 2


@pytest.mark.parametrize(
    "content",
    ["# My notes", "# My notes\n", '{"a": 1}\n', "[1]\nmore\n", '{"index": 0}\n{"index": 1}\n'],
    ids=["text", "line", "other JSON", "list", "no status"],
)
def test_another_file_is_not_written_to(
    cli: Cli, scripted: Scripted, tmp_path: Path, content: str
) -> None:
    """A file that holds something else stays untouched, unless told otherwise."""
    write_lines(tmp_path / "in.jsonl", item("a"))
    out = tmp_path / "out.jsonl"
    out.write_text(content)

    ran = cli(*RUN)

    assert (ran.code, out.read_text()) == (1, content)
    assert "is not a result" in ran.err
    assert cli(*RUN, "--overwrite").code == 0
    assert len(read_lines(out)) == 1


def test_results_of_other_items_are_not_continued(
    cli: Cli, scripted: Scripted, tmp_path: Path
) -> None:
    """A changed item or option would mix two batches in one file."""
    write_lines(tmp_path / "in.jsonl", item("a"), item("b"))
    cli(*RUN)
    write_lines(tmp_path / "in.jsonl", item("a"), item("other"))

    ran = cli(*RUN)

    assert ran.code == 1
    assert "index 1 was made from another item" in ran.err
    assert cli(*RUN, "--overwrite").code == 0


def test_more_time_is_the_same_batch(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    """What failed for time is asked again with more of it."""
    write_lines(tmp_path / "in.jsonl", item("a"), item("bad"))
    cli(*RUN, "--timeout", "5")
    scripted.asked.clear()

    assert cli(*RUN, "--timeout", "60", "--retry-failed").code == 3
    assert scripted.asked == ["bad"]


def test_an_interrupted_batch_is_continued(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    """Ctrl-C leaves whole lines; the same command asks the rest."""
    write_lines(tmp_path / "in.jsonl", *[item(f"t{n}") for n in range(20)])
    scripted.stop_at = "t7"

    ran = cli(*RUN, "--concurrency", "2")
    done = [line["index"] for line in read_lines(tmp_path / "out.jsonl")]
    scripted.stop_at = None
    scripted.asked.clear()
    again = cli(*RUN)

    assert (ran.code, again.code) == (130, 0)
    assert "continues" in ran.err
    assert done == sorted(done)
    assert 5 <= len(done) < 20
    assert len(scripted.asked) == 20 - len(done)
    assert [line["index"] for line in read_lines(tmp_path / "out.jsonl")] == list(range(20))


def test_a_refused_item_does_not_stop_the_others(
    cli: Cli, scripted: Scripted, tmp_path: Path
) -> None:
    """It has no line in the results; its line in the batch is named."""
    write_lines(tmp_path / "in.jsonl", item("a"), item("refused"), item("b"))

    ran = cli(*RUN)

    assert ran.code == 1
    assert "line 2: rubric 'quality' needs a reference" in ran.err
    assert [line["index"] for line in read_lines(tmp_path / "out.jsonl")] == [0, 2]


def test_a_busy_service_is_waited_for(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    """What is shed before judging is sent again."""
    write_lines(tmp_path / "in.jsonl", item("busy"))

    assert cli(*RUN).code == 0
    assert scripted.asked == ["busy", "busy"]


def test_a_service_that_goes_away_ends_the_batch_with_what_is_done(
    cli: Cli, scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, and the results so far are kept."""
    write_lines(tmp_path / "in.jsonl", item("a"), item("b"))
    honest = scripted.ask

    async def away(request: Asked) -> dict[str, Any]:
        if request.data["candidate"]["text"] == "b":
            raise Later("http://x: cannot connect")
        return await honest(request)

    monkeypatch.setattr(scripted, "ask", away)

    ran = cli(*RUN, "--concurrency", "1")

    assert ran.code == 1
    assert "cannot connect" in ran.err
    assert len(read_lines(tmp_path / "out.jsonl")) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"candidate": ', "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"candidate": {"text": "a"}, "colour": 1}', "colour: unknown field"),
        ('{"candidate": {"text": "a"}, "candidate": {"text": "b"}}', "stands twice"),
        ('{"candidate": {"text": "a"}, "metadata": {"x": NaN}}', "NaN"),
        ('{"candidate": {"text": "a"}, "id": [1]}', "id:"),
        ('{"candidate": {}}', "exactly one of text and messages"),
        ('{"prompt": "only"}', "candidate"),
        ('{"candidate": {"text": "\\ud800"}}', "surrogate"),
    ],
    ids=["torn", "list", "field", "twice", "nan", "id", "empty", "none", "surrogate"],
)
def test_a_bad_line_is_named_before_anything_is_asked(
    cli: Cli, scripted: Scripted, tmp_path: Path, line: str, words: str
) -> None:
    """With its number; nothing is spent and no file is made."""
    (tmp_path / "in.jsonl").write_text(json.dumps(item("a")) + "\n\n" + line + "\n")

    ran = cli(*RUN)

    assert ran.code == 1
    assert "in.jsonl: line 3: " in ran.err
    assert words in ran.err
    assert scripted.asked == []
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("--batch", "nowhere.jsonl"), 1, "nowhere.jsonl"),
        (("--batch", "empty.jsonl"), 1, "no items"),
        (("--batch", "in.jsonl", "--out", "in.jsonl"), 1, "same file"),
        (("--batch", "in.jsonl", "--out", "."), 1, "not a regular file"),
        (("--batch", "in.jsonl", "--out", "no/such/folder"), 1, "--out"),
        (("--batch", "in.jsonl", "--retry-failed"), 2, "--out"),
        (("--batch", "in.jsonl", "-c", "x"), 2, "--candidate"),
        (("-c", "x", "--out", "out.jsonl"), 2, "--out"),
    ],
)
def test_options_that_cannot_be_right(
    cli: Cli, scripted: Scripted, tmp_path: Path, args: tuple[str, ...], code: int, words: str
) -> None:
    """A readable line for each."""
    write_lines(tmp_path / "in.jsonl", item("a"))
    (tmp_path / "empty.jsonl").write_text("\n\n")

    ran = cli("assess", "quality", "-p", "Why?", *args)

    assert ran.code == code
    assert words in ran.err
    assert scripted.asked == []


def test_one_process_at_a_time_writes(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    """Two runs into one file would tear each other's lines."""
    write_lines(tmp_path / "in.jsonl", item("a"))
    holder = FileResults(tmp_path / "out.jsonl")

    ran = cli(*RUN)
    holder.close()

    assert ran.code == 1
    assert "another process" in ran.err
    assert cli(*RUN).code == 0


def test_the_summary_is_json_for_machines(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    """Counts, and what it cost."""
    write_lines(tmp_path / "in.jsonl", item("a"), item("bad"), item("refused"))

    said = cli(*RUN, "--json").json

    assert (said["items"], said["success"], said["failed"], said["refused"]) == (3, 1, 1, 1)
    assert said["refused_lines"] == [3]
    assert said["cost_usd"] == pytest.approx(0.002)
