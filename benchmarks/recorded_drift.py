"""Drift runs made of recorded runs: unchanged judges raise no alarm, another judge does.

``JUDGE_RECORDINGS=/path python -m benchmarks.recorded_drift`` prints the verdict of each.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.recorded_cells import recordings_folder
from benchmarks.recorded_pairs import by_names, llmbar, read
from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import RunData
from judge_service.drift.report import make_report
from judge_service.drift.side import SideInfo
from judge_service.drift.words import estimate, verdict
from judge_service.gold.item import GoldItem, GoldSet, Kind
from judge_service.pairwise import mapped_back, pair_outcome
from judge_service.types import Candidate

SCALE = (1, 2, 3, 4, 5)
Run = dict[str, Judgement]


def compare(folder: Path) -> int:
    """Print what each drift run says; returns how many say something else than they must."""
    wrong = 0
    for name, gold, baseline, candidate, expected in [
        *_repetitions(folder),
        *_points(folder),
        *_upgrades(folder),
    ]:
        report = make_report(gold, baseline, candidate, top=0)
        right = report["drift"] is expected
        wrong += not right
        part = report["noise_floor"]
        print(
            f"{'right' if right else 'WRONG'}  {name}: {verdict(report)}; agreement "
            f"{estimate(report['agreement'])}, floor {estimate(part['agreement'])}, kappa "
            f"{estimate(report['kappa'])}, floor {estimate(part['kappa'])}"
        )
        for reason in report["reasons"]:
            print(f"         {reason}")
        if report["kappa"] and report["kappa"]["note"]:
            print(f"         {report['kappa']['note']}")
    return wrong


Case = tuple[str, GoldSet, RunData, RunData, bool]


def _repetitions(folder: Path) -> list[Case]:
    """Each judge's third run beside its first two; and one judge beside another one."""
    runs: defaultdict[str, dict[str, Run]] = defaultdict(dict)
    gold: dict[str, GoldItem] = {}
    for pair in by_names(folder, "repetitions.jsonl.gz", "{judge}|run{rep}"):
        judge, _, run = pair.cell.partition("|")
        name = f"{pair.prompt}|{'|'.join(sorted((pair.first, pair.second)))}"
        gold[name] = _pair_item(name, pair.prompt, pair.first, pair.second)
        runs[judge].setdefault(run, {})[name] = _pair(gold[name], pair.ab, pair.ba)
    items = GoldSet(name="repetitions", items=tuple(gold.values()))
    cases: list[Case] = []
    for judge, by_run in runs.items():
        ordered = [by_run[run] for run in sorted(by_run)]
        cases.append(
            (f"{judge}, unchanged", items, _data(judge, "compare", ordered[:2]),
             _data(judge, "compare", ordered[2:]), False)
        )  # fmt: skip
    first, second = runs
    for old, new in ((first, second), (second, first)):
        cases.append(
            (f"{old} to {new}", items, _data(old, "compare", list(runs[old].values())[:2]),
             _data(new, "compare", list(runs[new].values())[:1]), True)
        )  # fmt: skip
    return cases


def _points(folder: Path) -> list[Case]:
    """GPT-4 on five points: its third run, and the same made a point more lenient now and then."""
    rows = list(read(folder, "prometheus_vicuna_eval.jsonl.gz"))
    items = GoldSet(
        name="prometheus",
        items=tuple(
            GoldItem(
                id=str(row["item"]), prompt=row["instruction"],
                candidates=(Candidate(text=row["response_source"]),),
            )
            for row in rows
        ),
    )  # fmt: skip
    columns = [[row["gpt4_score"][run] for row in rows] for run in range(3)]
    runs = [_points_run(items, column) for column in columns]
    lenient = [min(5, point + (n % 4 == 0)) for n, point in enumerate(columns[2])]
    baseline = _data("gpt-4", "assess", runs[:2])
    return [
        ("gpt-4 on points, unchanged", items, baseline, _data("gpt-4", "assess", runs[2:]), False),
        ("gpt-4 on points, a point more for every fourth item", items, baseline,
         _data("gpt-4", "assess", [_points_run(items, lenient)]), True),
    ]  # fmt: skip


def _upgrades(folder: Path) -> list[Case]:
    """A prompt changed and a judge changed on LLMBar; one run of each is recorded, so no floor."""
    runs: defaultdict[str, Run] = defaultdict(dict)
    gold: dict[str, GoldItem] = {}
    for pair in llmbar(folder):
        name = f"{pair.cell.rpartition('|')[0].rpartition('|')[0]}|{pair.prompt}|{pair.first}"
        gold[name] = _pair_item(name, pair.prompt, pair.first, pair.second)
        runs[pair.judge][name] = _pair(gold[name], pair.ab, pair.ba)
    items = GoldSet(name="llmbar", items=tuple(gold.values()))
    return [
        (f"{old} to {new} on LLMBar", items, _data(old, "compare", [runs[old]]),
         _data(new, "compare", [runs[new]]), True)
        for old, new in (("gpt-4-vanilla", "chatgpt-vanilla"), ("gpt-4-cot", "chatgpt-cot"))
    ]  # fmt: skip


def _pair_item(name: str, prompt: str, first: str, second: str) -> GoldItem:
    shown = (Candidate(text=first), Candidate(text=second))
    return GoldItem(id=name, prompt=prompt, candidates=shown)


def _pair(item: GoldItem, ab: str | None, ba: str | None) -> Judgement:
    orders = {
        "AB": None if ab is None else mapped_back(ab, "AB"),
        "BA": None if ba is None else mapped_back(ba, "BA"),
    }
    one, two = orders["AB"], orders["BA"]
    common: dict[str, Any] = {"item": item.id, "digest": item.digest, "orders": orders}
    if one is None or two is None:
        return Judgement(status="failed", error="unparsable", **common)
    return Judgement(status="judged", outcome=pair_outcome(one, two), **common)


def _points_run(gold: GoldSet, points: Sequence[int]) -> Run:
    return {
        item.id: Judgement(
            item=item.id, digest=item.digest, status="judged", points={"quality": point},
            chars=(1,), score=(point - 1) / 4, reward=(point - 1) / 4,
        )
        for item, point in zip(gold.items, points, strict=True)
    }  # fmt: skip


def _data(judge: str, kind: Kind, runs: Sequence[Mapping[str, Judgement]]) -> RunData:
    points = kind == "assess"
    side = SideInfo(
        judge=judge, model=judge, family=judge, rubric="recorded", rubric_version="1",
        rubric_hash="", fingerprint=judge, kind=kind,
        scales={"quality": SCALE} if points else {}, weights={"quality": 1.0} if points else {},
    )  # fmt: skip
    return RunData(side=side, runs=tuple(runs))


def main() -> int:
    """The command."""
    folder = recordings_folder()
    return 2 if folder is None else int(compare(folder) > 0)


if __name__ == "__main__":
    sys.exit(main())
