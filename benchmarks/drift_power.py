"""How often a drift run sees a change, and how often it sees one that is not there.

``python -m benchmarks.drift_power [RUNS]`` simulates judges on five points (100 runs of each line,
some minutes) and prints in how many of them drift was called.
"""

from __future__ import annotations

import random
import sys
from typing import NamedTuple

from judge_service.drift.criterion import compare_criterion
from judge_service.drift.data import line_up
from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import RunData
from judge_service.drift.side import SideInfo
from judge_service.drift.verdict import decide
from judge_service.gold.item import GoldItem, GoldSet
from judge_service.types import Candidate

SCALE = (1, 2, 3, 4, 5)


class Setting(NamedTuple):
    """``noise`` is the share of verdicts that are a point off, ``raised`` the share of items on
    which the candidate judge says a point more.
    """

    items: int
    repeat: int
    noise: float
    raised: float


SETTINGS = (
    Setting(200, 2, 0.0, 0.1), Setting(80, 2, 0.0, 0.1), Setting(200, 2, 0.1, 0.2),
    Setting(200, 2, 0.0, 0.0), Setting(200, 2, 0.1, 0.0), Setting(80, 2, 0.2, 0.0),
    Setting(200, 3, 0.1, 0.0),
)  # fmt: skip


def called(setting: Setting, seed: int) -> bool:
    """Whether drift is called in one simulated run."""
    draw = random.Random(seed)  # noqa: S311 - a repeatable draw, no secret
    truth = [draw.randint(1, 5) for _ in range(setting.items)]

    def run(raised: float) -> dict[str, Judgement]:
        points = [_said(draw, point, setting.noise, raised) for point in truth]
        return {f"i{n}": _judgement(n, point) for n, point in enumerate(points)}

    baseline = RunData(side=_side("old"), runs=tuple(run(0.0) for _ in range(setting.repeat)))
    candidate = RunData(side=_side("new"), runs=(run(setting.raised),))
    lined = line_up(_gold(setting.items), baseline, candidate)
    return decide(lined, [compare_criterion(lined, "quality", SCALE, seed=1)]).drift is True


def _said(draw: random.Random, point: int, noise: float, raised: float) -> int:
    off = draw.choice([-1, 1]) if draw.random() < noise else 0
    return min(5, max(1, point + off + (draw.random() < raised)))


def _judgement(number: int, point: int) -> Judgement:
    score = (point - 1) / 4
    return Judgement(
        item=f"i{number}", digest="", status="judged", points={"quality": point}, chars=(1,),
        score=score, reward=score,
    )  # fmt: skip


def _gold(n: int) -> GoldSet:
    items = (
        GoldItem(id=f"i{k}", prompt=f"Q{k // 4}", candidates=(Candidate(text=str(k)),))
        for k in range(n)
    )
    return GoldSet(name="simulated", items=tuple(items))


def _side(judge: str) -> SideInfo:
    return SideInfo(
        judge=judge, model=judge, family=judge, rubric="simulated", rubric_version="1",
        rubric_hash="", fingerprint=judge, kind="assess", scales={"quality": SCALE},
        weights={"quality": 1.0},
    )  # fmt: skip


def main() -> int:
    """The command."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print("items  repeats  noise  raised  drift called")
    for setting in SETTINGS:
        hits = sum(called(setting, seed) for seed in range(runs))
        print(
            f"{setting.items:5}  {setting.repeat:7}  {setting.noise:5.0%}  {setting.raised:6.0%}  "
            f"{hits} of {runs}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
