"""What the tests of drift runs share: gold items, judges that are noisy or changed, the command."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.provider import FakeProvider, behaviours
from tests.provider.behaviours import Behaviour
from tests.provider.seen import Answer, Seen

DRIFT_KEYS = {
    "n", "judged", "failed", "short_circuited", "drift", "reasons", "noise_floor", "kappa_paradox",
    "confusion", "mcnemar", "stuart_maxwell", "agreement", "kappa", "quadratic_kappa", "spearman",
    "kendall", "mean_shift", "within_group_flips", "position", "humans", "length", "own_family",
    "changed", "highest", "lowest", "usage", "baseline", "candidate",
}  # fmt: skip
RUNS = ("--runs", "kept.runs")
Lines = Iterable[dict[str, Any]]


def points(
    n: int, *, group: int = 4, scores: Callable[[int], int] = lambda i: i % 5 + 1
) -> list[dict[str, Any]]:
    """Gold items with one candidate each, ``group`` to a prompt; people give the honest score."""
    return [
        {
            "id": f"i{i}",
            "prompt": f"Question {i // group}?",
            "candidate": f"Answer {i}, worth={scores(i)} in all.",
            "labels": {"quality": [scores(i)]},
        }
        for i in range(n)
    ]


def pairs(n: int) -> list[dict[str, Any]]:
    """Gold pairs: a third each that the first wins, that the second wins, and ties."""
    worth = [(4, 2), (2, 4), (3, 3)]
    return [
        {
            "id": f"p{i}",
            "prompt": f"Question {i}?",
            "candidates": [
                f"Left {i}, worth={worth[i % 3][0]}.",
                f"Right {i}, worth={worth[i % 3][1]}.",
            ],
            "choice": [["first", "second", "tie"][i % 3]],
        }
        for i in range(n)
    ]


def write_gold(file: Path, lines: Lines) -> Path:
    """A gold file."""
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def worth(text: str) -> int:
    """The honest score that a text names."""
    return int(text.split("worth=")[1][0])


def chance(*of: object) -> float:
    """A number in [0, 1) that only the arguments decide."""
    return int(hashlib.sha256(repr(of).encode()).hexdigest()[:8], 16) / 2**32


def raised(share: float, seed: object = 0) -> Behaviour:
    """The honest judge, one point more lenient with a fixed ``share`` of the texts."""

    def judge(seen: Seen) -> Answer:
        lift = chance(seed, seen.candidate) < share
        return min(max(_points(seen)), seen.score_of(seen.candidate) + lift)

    return behaviours.decides(judge)


def noisy(share: float, seed: int = 0) -> Behaviour:
    """The honest judge, a point off with ``share`` of its requests, another draw each time."""

    def judge(seen: Seen) -> Answer:
        draw = chance(seed, seen.n, seen.candidate)
        off = 0 if draw >= share else (1 if draw < share / 2 else -1)
        allowed = _points(seen)
        return min(max(allowed), max(min(allowed), seen.score_of(seen.candidate) + off))

    return behaviours.decides(judge)


def _points(seen: Seen) -> list[int]:
    return [value for value in seen.allowed if isinstance(value, int)]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a drift command ended."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The report, as JSON."""
        found: dict[str, Any] = json.loads(self.out)
        return found


@dataclass(frozen=True, slots=True)
class Bench:
    """Two judges, ``alpha`` and ``beta``, on the fake provider, and the command that uses them."""

    provider: FakeProvider
    folder: Path
    command: Callable[..., Ran]

    def drift(self, *more: object, gold: Lines | None = None) -> Ran:
        """``judge-service drift`` with alpha as baseline and beta as candidate unless told."""
        options = [str(option) for option in more]
        if gold is not None:
            file = write_gold(self.folder / "quality.jsonl", gold)
            options = ["--gold", str(file), *options]
        for flag, judge in (("--baseline", "alpha"), ("--candidate", "beta")):
            if flag not in options and f"{flag}-run" not in options:
                options += [flag, judge]
        if "--format" not in options and "--out" not in options:
            options += ["--format", "json"]
        return self.command("drift", *options)

    def asked(self, judge: str) -> int:
        """How many requests a judge got."""
        return len(self.provider.requests_of(judge))
