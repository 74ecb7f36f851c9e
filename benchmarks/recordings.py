"""Recorded choices of real judges, replayed through the service.

``JUDGE_RECORDINGS=/path python -m benchmarks.recordings`` puts the choices that real judges made,
in both orders, into the envelope's reply form by the provider fake, sends every pair through the
real service, and compares consistent, primacy, recency and error of each cell with the numbers
counted from the recordings. Exit code 1 when a cell differs.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import track

from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider, Reply, Seen, replies

COUNTS = ("n", "consistent", "primacy", "recency", "error")
SHOWN = {"a": "candidate_1", "b": "candidate_2", "A": "candidate_1", "B": "candidate_2", "C": "tie"}
_LABEL = re.compile(r"Output \(([ab])\)\.?")
_BETTER = re.compile(r"Output \(([ab])\) is (?:the |a )?better")


class Pair(NamedTuple):
    """One recorded pair: the choice of each order among the slots as shown; None is no verdict."""

    cell: str
    judge: str
    prompt: str
    first: str
    second: str
    ab: str | None
    ba: str | None


def read(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The lines of a compressed JSONL file."""
    with gzip.open(folder / name, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def llmbar_choice(text: str) -> str | None:
    """The verdict of an LLMBar reply: the whole text is a label, or the last "is better"."""
    whole = _LABEL.fullmatch(text.strip())
    found = [whole.group(1)] if whole else _BETTER.findall(text)
    start = re.match(r"\s*Output \(([ab])\)", text)
    if not found and start and len(text) < 200:
        found = [start.group(1)]
    return SHOWN[found[-1]] if found else None


def llmbar(folder: Path) -> Iterator[Pair]:
    """LLMBar's pairs, all prompts but the ratings."""
    items = {(i["subset"], i["idx"]): i for i in read(folder, "llmbar_items.jsonl.gz")}
    orders: dict[tuple[str, str, str, int], dict[str, str | None]] = defaultdict(dict)
    for row in read(folder, "llmbar_judgments.jsonl.gz"):
        if row["strategy"] != "Rating":
            key = (row["subset"], row["judge"], row["strategy"], row["idx"])
            orders[key][row["order"]] = llmbar_choice(row["text"])
    for (subset, judge, strategy, idx), found in orders.items():
        item = items[subset, idx]
        yield Pair(
            cell=f"llmbar|{subset}|{judge}|{strategy}",
            judge=f"{judge}-{strategy}".lower().replace("_", "-"),
            prompt=item["input"],
            first=item["output_1"],
            second=item["output_2"],
            ab=found["AB"],
            ba=found["BA"],
        )


def by_names(folder: Path, file: str, cell: str) -> Iterator[Pair]:
    """Recordings that name the two answers without their texts; ``cell`` is a format."""
    rows: dict[tuple[str, ...], dict[str, str | None]] = defaultdict(dict)
    for row in read(folder, file):
        name = cell.format(**{"rep": "", **row})
        rows[name, row["judge"], row["qid"]][f"{row['first']}\n{row['second']}"] = row["parsed"]
    for (name, judge, question), found in rows.items():
        done: set[frozenset[str]] = set()
        for order, parsed in found.items():
            first, second = order.split("\n")
            if frozenset((first, second)) in done:
                continue
            done.add(frozenset((first, second)))
            back = found[f"{second}\n{first}"]
            yield Pair(
                cell=name,
                judge=re.sub(r"[^a-z0-9.-]", "-", f"{judge}-{name}".lower())[-60:].strip("-."),
                prompt=f"Question {question}",
                first=f"The answer of {first} to question {question}.",
                second=f"The answer of {second} to question {question}.",
                ab=SHOWN[parsed] if parsed else None,
                ba=SHOWN[back] if back else None,
            )


def replay(seen: Seen, choices: dict[tuple[str, str, str], str | None]) -> Reply:
    """The recorded choice for the pair as shown, or a reply without a verdict."""
    shown = (str(seen.body["model"]), seen.slots["candidate_1"], seen.slots["candidate_2"])
    choice = choices[shown]
    if choice is None:
        return Reply(content="The two answers are hard to tell apart.")
    return Reply(content=replies.verdict(seen, choice))


def judge_pair(service: RunningService, pair: Pair) -> str:
    """What the service says of a pair: consistent, primacy, recency or error."""
    answer = service.post(
        "/v1/compare",
        {
            "rubric": "pair",
            "prompt": pair.prompt,
            "candidates": [{"text": pair.first}, {"text": pair.second}],
            "judges": [pair.judge],
        },
    )
    if answer["status"] == "failed":
        return "error"
    if answer["consistent"]:
        return "consistent"
    choices = {order["order"]: order["choice"] for order in answer["orders"]}
    shown_first_gained = choices["AB"] == "first" or choices["BA"] == "second"
    return "primacy" if shown_first_gained else "recency"


def count(pairs: list[Pair]) -> dict[str, Counter[str]]:
    """Send every pair through the service; counts per cell."""
    choices: dict[tuple[str, str, str], str | None] = {}
    for pair in pairs:
        choices[pair.judge, pair.first, pair.second] = pair.ab
        choices[pair.judge, pair.second, pair.first] = pair.ba
    cells: dict[str, Counter[str]] = defaultdict(Counter)
    with FakeProvider() as provider, tempfile.TemporaryDirectory() as folder:
        provider.behave_by_default(lambda seen: replay(seen, choices))
        write_rubric(Path(folder), "pair", kind="compare")
        judges = Judges(provider)
        for judge in dict.fromkeys(pair.judge for pair in pairs):
            judges.add(judge, "recorded")
        with judged_by(judges, Path(folder)) as service, ThreadPoolExecutor(8) as pool:
            results = pool.map(lambda pair: judge_pair(service, pair), pairs)
            console = Console(stderr=True)
            shown = track(results, "replaying", total=len(pairs), console=console, transient=True)
            for pair, result in zip(pairs, shown, strict=True):
                cells[pair.cell].update(("n", result))
    return cells


def main() -> int:
    """Print every cell; 0 when all that have expected counts agree with them."""
    where = os.environ.get("JUDGE_RECORDINGS")
    if not where or not Path(where).is_dir():
        print("JUDGE_RECORDINGS names no folder of recordings", file=sys.stderr)
        return 2
    folder = Path(where)
    pairs = [
        *llmbar(folder),
        *by_names(folder, "mtbench_judgments.jsonl.gz", "mtbench|{judge}"),
        *by_names(folder, "repetitions.jsonl.gz", "{bench}|{judge}|run{rep}"),
    ]
    expected: dict[str, dict[str, Any]] = {}
    for file in sorted(folder.glob("expected*.json")):
        expected |= json.loads(file.read_text(encoding="utf-8"))
    wrong = 0
    compared = 0
    for cell, counts in count(pairs).items():
        ours = {name: counts[name] for name in COUNTS}
        known = expected.get(cell)
        if known is None or "consistent" not in known:
            print(f"       {cell}: {ours}")
            continue
        compared += 1
        same = all(ours[name] == known[name] for name in COUNTS)
        wrong += not same
        print(f"{'same ' if same else 'DIFFERS'}  {cell}: {ours}")
    print(f"{len(pairs)} pairs in both orders; {compared} cells compared, {wrong} differ.")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
