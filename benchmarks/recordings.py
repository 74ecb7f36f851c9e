"""Recorded judgements of real judges, counted, replayed through the service, and compared.

``JUDGE_RECORDINGS=/path python -m benchmarks.recordings`` does three things. It computes every
number of the recordings with the service's own statistics and compares it with the expected one
(``recorded_cells``). It puts the choices that real judges made, in both orders, into the envelope's
reply form by the provider fake, sends every pair through the real service, and compares consistent,
primacy, recency and error of each cell. And it makes drift runs of them: of a judge with itself in
another run, which must raise no alarm, and of one judge with another, which must
(``recorded_drift``). Exit code 1 when anything differs.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks import recorded_drift
from benchmarks.recorded_cells import compare, expected_cells, recordings_folder
from benchmarks.recorded_pairs import Pair, by_names, llmbar
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider, Reply, Seen, replies

COUNTS = ("n", "consistent", "primacy", "recency", "error")


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


def replayed(folder: Path) -> int:
    """Print every cell as the service counts it; returns how many differ from what is expected."""
    pairs = [
        *llmbar(folder),
        *by_names(folder, "mtbench_judgments.jsonl.gz", "mtbench|{judge}"),
        *by_names(folder, "repetitions.jsonl.gz", "{bench}|{judge}|run{rep}"),
    ]
    expected = expected_cells(folder)
    wrong = 0
    compared = 0
    for cell, counts in count(pairs).items():
        ours = {name: counts[name] for name in COUNTS}
        known = expected.get(cell)
        if known is None or "consistent" not in known:
            print(f"         {cell}: {ours}")
            continue
        compared += 1
        same = all(ours[name] == known[name] for name in COUNTS)
        wrong += not same
        print(f"{'same   ' if same else 'DIFFERS'}  {cell}: {ours}")
    print(f"{len(pairs)} pairs in both orders; {compared} cells compared, {wrong} differ.")
    return wrong if compared else 1


def main() -> int:
    """All three parts; 0 when nothing differs."""
    folder = recordings_folder()
    if folder is None:
        return 2
    print("Numbers, by the service's statistics:")
    wrong = compare(folder)
    print("\nDrift runs of recorded runs:")
    wrong += recorded_drift.compare(folder)
    print("\nPairs, replayed through the service:")
    wrong += replayed(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
