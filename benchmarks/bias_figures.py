"""Position figures of the bias report against counts made of real judges' recorded choices.

``JUDGE_RECORDINGS=/path python -m benchmarks.bias_figures`` writes the recorded choices as a batch
writes its results, every cell a judge, has ``judge-service bias`` report on the file, and compares
consistency with its interval, primacy, recency, ties, preference fairness and errors with the
numbers counted from the recordings. Exit code 1 when a cell differs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.recorded_cells import expected_cells, ratings, recordings_folder
from benchmarks.recorded_pairs import Pair, by_names, llmbar

MAX_OFF = 1e-6
"""Expected shares are given to six digits."""
SHOWN = {"candidate_1": ("first", "second"), "candidate_2": ("second", "first")}


def choice(shown: str | None, order: int) -> str | None:
    """A choice among the slots as shown, in the caller's order."""
    return shown if shown in (None, "tie") else SHOWN[shown][order]


def result(index: int, pair: Pair) -> dict[str, Any]:
    """A pair's line of results, as ``compare --batch`` writes it."""
    choices = {"AB": choice(pair.ab, 0), "BA": choice(pair.ba, 1)}
    failed = None in choices.values()
    agree = len(set(choices.values())) == 1
    outcome = None if failed else choices["AB"] if agree else "inconsistent"
    return {
        "index": index,
        "item": f"{index:016x}",
        "status": "failed" if failed else "success",
        "outcome": outcome,
        "orders": [{"order": o, "choice": c, "judge": pair.cell} for o, c in choices.items()],
        "verdicts": [
            {"judge": pair.cell, "family": "recorded", "order": o, "choice": c, "cached": False}
            for o, c in choices.items()
            if c is not None
        ],
        "short_circuited": False,
        "metrics": {
            "length_chars/first": float(len(pair.first)),
            "length_chars/second": float(len(pair.second)),
        },
        "metadata": None,
    }


def reported(pairs: list[Pair], folder: Path) -> dict[str, dict[str, Any]]:
    """What the command says of every cell."""
    file = folder / "results.jsonl"
    lines = (json.dumps(result(index, pair)) + "\n" for index, pair in enumerate(pairs))
    file.write_text("".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "judge_service.cli", "bias", str(file), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return {judge["judge"]: judge for judge in json.loads(ran.stdout)["judges"]}


def differences(judge: dict[str, Any], known: dict[str, Any]) -> list[str]:
    """What is not as counted, in words."""
    position, n = judge["position"], judge["pairs"]
    ours: dict[str, float] = {
        "n": n + judge["failed_pairs"],
        "consistent": round(position["consistent"]["value"] * n),
        "consistent_tie": round(position["ties"]["value"] * n),
        "primacy": round(position["primacy"]["value"] * n),
        "recency": round(position["recency"]["value"] * n),
        "error": judge["failed_pairs"],
        "consistency_rate": position["consistent"]["value"],
        "preference_fairness_raw": position["preference_fairness"]["value"],
        "low": position["consistent"]["ci95"][0],
        "high": position["consistent"]["ci95"][1],
    }
    low, high = known["consistency_wilson95"]
    wanted = {**known, "low": low, "high": high}
    return [
        f"{name}: {value} instead of {wanted[name]}"
        for name, value in ours.items()
        if abs(value - wanted[name]) > MAX_OFF
    ]


def main() -> int:
    """Print every cell; 0 when all that have expected counts agree with them."""
    recordings = recordings_folder()
    if recordings is None:
        return 2
    pairs = [
        *llmbar(recordings),
        *ratings(recordings),
        *by_names(recordings, "mtbench_judgments.jsonl.gz", "mtbench|{judge}"),
    ]
    expected = expected_cells(recordings)
    wanted = {cell: known for cell, known in expected.items() if "consistency_rate" in known}
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        judges = reported(pairs, Path(folder))
    for cell, known in wanted.items():
        found = differences(judges[cell], known)
        wrong += bool(found)
        print(f"{'DIFFERS' if found else 'same   '}  {cell} {'; '.join(found)}")
    print(f"{len(wanted)} cells compared, {wrong} differ.")
    return 1 if wrong or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
