"""Recorded pairs: the choices that real judges made in both orders, read from their files."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

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
