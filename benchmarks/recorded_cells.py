"""The numbers of recorded judgements, computed with the service's own statistics.

``JUDGE_RECORDINGS=/path python -m benchmarks.recorded_cells`` prints every cell, compares each
number with the expected ones (``expected*.json`` in the same folder, rounded to six digits), and
ends with exit code 1 when one differs.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.recorded_pairs import Pair, by_names, llmbar, read
from benchmarks.recorded_reviews import number, review_cells
from judge_service.drift.position import Orders, PositionCounts, position_counts
from judge_service.outcome import Choice
from judge_service.pairwise import mapped_back
from judge_service.statistics.agreement import Label, Weighting, cohen_kappa, exact_agreement
from judge_service.statistics.bootstrap import Bootstrap
from judge_service.statistics.correlation import kendall, pearson, spearman
from judge_service.statistics.estimate import Estimate
from judge_service.statistics.rates import rate

DIGITS = 6
Cells = dict[str, dict[str, Any]]
_NUMBERED: dict[str, Choice] = {"0": "tie", "Tie": "tie", "1": "first", "2": "second"}


def cells(folder: Path) -> Cells:
    """Every cell of a folder of recordings, by its name."""
    found: Cells = {}
    found |= pair_cells(llmbar(folder), gold_of(folder))
    found |= pair_cells(ratings(folder), gold_of(folder))
    found |= pair_cells(by_names(folder, "mtbench_judgments.jsonl.gz", "mtbench|{judge}"), {})
    found |= pair_cells(by_names(folder, "repetitions.jsonl.gz", "{bench}|{judge}|run{rep}"), {})
    found |= repetition_cells(folder)
    found |= {"pandalm": pandalm_cell(folder)}
    found |= prometheus_cells(folder)
    found |= unieval_cells(folder)
    found |= review_cells(folder)
    return found


def gold_of(folder: Path) -> dict[str, Choice]:
    """LLMBar's labels by prompt and outputs."""
    return {
        f"{item['input']}\n{item['output_1']}\n{item['output_2']}": _NUMBERED[str(item["gold"])]
        for item in read(folder, "llmbar_items.jsonl.gz")
    }


def ratings(folder: Path) -> Iterator[Pair]:
    """LLMBar's ratings as pairs: the higher one wins, and of equal ones the one shown last, which
    is how its authors read them.
    """
    items = {(i["subset"], i["idx"]): i for i in read(folder, "llmbar_items.jsonl.gz")}
    for row in read(folder, "llmbar_judgments.jsonl.gz"):
        if row["strategy"] != "Rating":
            continue
        item = items[row["subset"], row["idx"]]
        first, second = (number(text) for text in row["text"])
        known = first is not None and second is not None
        yield Pair(
            cell=f"llmbar|{row['subset']}|{row['judge']}|Rating",
            judge=row["judge"],
            prompt=item["input"],
            first=item["output_1"],
            second=item["output_2"],
            ab=_shown(first > second) if known else None,  # type: ignore[operator]
            ba=_shown(second > first) if known else None,  # type: ignore[operator]
        )


def _shown(first_wins: bool) -> str:
    return "candidate_1" if first_wins else "candidate_2"


def pair_cells(pairs: Iterator[Pair], gold: dict[str, Choice]) -> Cells:
    """Counts and rates of pairs that were asked in both orders; with labels, how often right."""
    orders: defaultdict[str, list[Orders]] = defaultdict(list)
    labels: defaultdict[str, list[Choice | None]] = defaultdict(list)
    for pair in pairs:
        orders[pair.cell].append(
            (
                None if pair.ab is None else mapped_back(pair.ab, "AB"),
                None if pair.ba is None else mapped_back(pair.ba, "BA"),
            )
        )
        labels[pair.cell].append(gold.get(f"{pair.prompt}\n{pair.first}\n{pair.second}"))
    found: Cells = {}
    for cell, asked in orders.items():
        counts = position_counts(asked)
        found[cell] = _position(counts)
        if all(label is not None for label in labels[cell]):
            found[cell] |= _correct(asked, [x for x in labels[cell] if x is not None], counts)
    return found


def _position(counts: PositionCounts) -> dict[str, Any]:
    consistency = rate(counts.consistent, counts.answered)
    named = ("n", "consistent", "consistent_tie", "primacy", "recency", "flip_full", "flip_tie")
    return {
        **{name: getattr(counts, name) for name in (*named, "error")},
        "consistency_rate": None if consistency is None else consistency.value,
        "consistency_wilson95": None if consistency is None else list(consistency.ci95 or ()),
        "preference_fairness_raw": counts.preference_fairness,
    }


def _correct(
    asked: Sequence[Orders], gold: Sequence[Choice], counts: PositionCounts
) -> dict[str, Any]:
    right = [(ab == label, ba == label) for (ab, ba), label in zip(asked, gold, strict=True)]
    accepted = [
        (ab, label)
        for (ab, ba), label in zip(asked, gold, strict=True)
        if ab is not None and ab == ba
    ]
    judged, people = [a for a, _ in accepted], [label for _, label in accepted]
    both = sum(ab and ba for ab, ba in right)
    first, second = sum(ab for ab, _ in right), sum(ba for _, ba in right)
    correct = sum(a == label for a, label in accepted)
    return {
        "correct_order1": first,
        "correct_order2": second,
        "correct_both": both,
        "accepted": len(accepted),
        "coverage": len(accepted) / counts.n,
        "accepted_correct": correct,
        "acc_on_accepted": _value(rate(correct, len(accepted))),
        "kappa_on_accepted": kappa(people, judged),
        "acc_avg": (first + second) / (2 * counts.n),
        "acc_both": both / counts.n,
    }


def repetition_cells(folder: Path) -> Cells:
    """The noise floor of judges that were asked three times: verdict by verdict, run by run."""
    runs: defaultdict[tuple[str, str], dict[int, dict[tuple[str, ...], str]]] = defaultdict(dict)
    for row in read(folder, "repetitions.jsonl.gz"):
        place = (row["qid"], row["first"], row["second"])
        if row["parsed"] is not None:
            runs[row["bench"], row["judge"]].setdefault(row["rep"], {})[place] = row["parsed"]
    found: Cells = {}
    for (bench, judge), by_run in runs.items():
        for a, b in combinations(sorted(by_run), 2):
            both = [key for key in by_run[a] if key in by_run[b]]
            first, second = [by_run[a][k] for k in both], [by_run[b][k] for k in both]
            found[f"{bench}|{judge}|run{a}-run{b}"] = {
                "n": len(both),
                "exact": _value(exact_agreement(first, second)),
                "kappa": kappa(first, second),
            }
    return found


def pandalm_cell(folder: Path) -> dict[str, Any]:
    """Three annotators with each other (agreement, kappa), and two judges with their majority."""
    rows = list(read(folder, "pandalm.jsonl.gz"))
    found: dict[str, Any] = {"n": len(rows)}
    for a, b in combinations(range(3), 2):
        first, second = [r["human"][a] for r in rows], [r["human"][b] for r in rows]
        found[f"human{a + 1}-human{b + 1}"] = [
            _value(exact_agreement(first, second)), kappa(first, second),
        ]  # fmt: skip
    for judge in ("gpt35", "pandalm7b"):
        judged = [
            (_NUMBERED.get(str(r[judge]["result"])), _NUMBERED[str(r["majority"])]) for r in rows
        ]
        parsed = [(said, people) for said, people in judged if said is not None]
        said, people = [a for a, _ in parsed], [b for _, b in parsed]
        correct = sum(a == b for a, b in parsed)
        found[judge] = {
            "parsed": len(parsed),
            "unparsed": len(rows) - len(parsed),
            "correct": correct,
            "acc_parsed": _value(rate(correct, len(parsed))),
            "kappa_parsed": kappa(people, said),
        }
    return found


def prometheus_cells(folder: Path) -> Cells:
    """One judge, one rubric of five points, three runs: each with each."""
    rows = [row["gpt4_score"] for row in read(folder, "prometheus_vicuna_eval.jsonl.gz")]
    found: Cells = {}
    for a, b in combinations(range(3), 2):
        first, second = [row[a] for row in rows], [row[b] for row in rows]
        found[f"prometheus vicuna run{a + 1} vs run{b + 1}"] = {
            "n": len(rows),
            "exact": _value(exact_agreement(first, second)),
            "kappa": kappa(first, second),
            "qwk": kappa(first, second, "quadratic"),
            "spearman": _value(spearman(first, second, draws=_no_draws(len(rows)))),
            "kendall": _value(kendall(first, second, draws=_no_draws(len(rows)))),
        }
    return found


def unieval_cells(folder: Path) -> Cells:
    """A judge's scores beside the means of people, question by question."""
    rows = list(read(folder, "unieval_topical_chat.jsonl.gz"))
    names = dict.fromkeys(name for row in rows for name in row["predict_scores"])
    found: Cells = {}
    for name in names:
        people = [row["scores"][name] for row in rows]
        judge = [row["predict_scores"][name] for row in rows]
        found[f"unieval topical|{name}"] = {
            "n": len(rows),
            "pearson": _value(pearson(judge, people, draws=_no_draws(len(rows)))),
            "spearman": _value(spearman(judge, people, draws=_no_draws(len(rows)))),
            "kendall": _value(kendall(judge, people, draws=_no_draws(len(rows)))),
        }
    return found


def kappa(
    first: Sequence[Label], second: Sequence[Label], weighting: Weighting = "none"
) -> float | None:
    """Cohen's kappa; None where it has no meaning."""
    return _value(cohen_kappa(first, second, weighting=weighting, draws=_no_draws(len(first))))


def _no_draws(n: int) -> Bootstrap:
    """Values only: the intervals are not looked at here."""
    return Bootstrap(n, draws=1)


def _value(found: Estimate | None) -> float | None:
    return None if found is None else found.value


def differences(ours: object, expected: object, where: str = "") -> list[str]:
    """Every number of ``expected`` that ours is not, at the digits it was written with."""
    if isinstance(expected, dict):
        own = ours if isinstance(ours, dict) else {}
        return [d for k, v in expected.items() for d in differences(own.get(k), v, f"{where}.{k}")]
    if isinstance(expected, list):
        own_list = ours if isinstance(ours, list) else []
        padded = [*own_list, *[None] * (len(expected) - len(own_list))]
        return [
            d for n, v in enumerate(expected) for d in differences(padded[n], v, f"{where}[{n}]")
        ]
    if isinstance(expected, float) and isinstance(ours, (int, float)) and math.isfinite(ours):
        return (
            []
            if round(float(ours), DIGITS) == round(expected, DIGITS)
            else [f"{where}: {ours} instead of {expected}"]
        )
    return [] if ours == expected else [f"{where}: {ours!r} instead of {expected!r}"]


def count_numbers(value: object) -> int:
    """How many numbers a value holds."""
    if isinstance(value, dict):
        return sum(count_numbers(v) for v in value.values())
    if isinstance(value, list):
        return sum(count_numbers(v) for v in value)
    return 1


def expected_cells(folder: Path) -> Cells:
    """The expected cells of a folder."""
    found: Cells = {}
    for file in sorted(folder.glob("expected*.json")):
        found |= json.loads(file.read_text(encoding="utf-8"))
    return found


def compare(folder: Path) -> int:
    """Print every cell and what differs; returns how many cells do."""
    ours, wrong, numbers = cells(folder), 0, 0
    expected = expected_cells(folder)
    for name in [*ours, *(n for n in expected if n not in ours)]:
        if name not in expected:
            print(f"         {name}: {json.dumps(_rounded(ours[name]))}")
            continue
        found = differences(ours.get(name), expected[name])
        wrong += bool(found)
        numbers += count_numbers(expected[name])
        print(f"{'DIFFERS' if found else 'same   '}  {name}")
        for difference in found:
            print(f"           {difference}")
    print(f"{len(expected)} cells with {numbers} numbers expected, {wrong} cells differ.")
    return wrong if expected else 1


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def recordings_folder() -> Path | None:
    """The folder that JUDGE_RECORDINGS names; None, with a word on stderr, where it is none."""
    where = os.environ.get("JUDGE_RECORDINGS")
    if not where or not Path(where).is_dir():
        print("JUDGE_RECORDINGS names no folder of recordings", file=sys.stderr)
        return None
    return Path(where)


def main() -> int:
    """The command."""
    folder = recordings_folder()
    return 2 if folder is None else int(compare(folder) > 0)


if __name__ == "__main__":
    sys.exit(main())
