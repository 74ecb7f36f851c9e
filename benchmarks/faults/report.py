"""What a scenario promised and what was seen."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

Figure = int | float | str | dict[str, int] | list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """One thing that must hold, the bound and what was seen."""

    name: str
    wanted: str
    seen: str
    kept: bool


@dataclass(slots=True)
class Report:
    """The promises of one run, its figures, and examples of what broke a promise."""

    scenario: str
    seed: int
    promises: list[Promise] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)

    def at_most(self, name: str, seen: float, bound: float, unit: str = "") -> None:
        """Promise that ``seen`` does not exceed ``bound``."""
        self._add(name, f"≤ {_number(bound)}{unit}", f"{_number(seen)}{unit}", seen <= bound)

    def at_least(self, name: str, seen: float, bound: float, unit: str = "") -> None:
        """Promise that ``seen`` is not below ``bound``."""
        self._add(name, f"≥ {_number(bound)}{unit}", f"{_number(seen)}{unit}", seen >= bound)

    def exactly(self, name: str, seen: object, wanted: object) -> None:
        """Promise that ``seen`` is ``wanted``."""
        self._add(name, str(wanted), str(seen), seen == wanted)

    def example(self, text: str) -> None:
        """Keep one of the first examples of something wrong."""
        if len(self.examples) < 10:
            self.examples.append(text[:400])

    def _add(self, name: str, wanted: str, seen: str, kept: bool) -> None:
        self.promises.append(Promise(name=name, wanted=wanted, seen=seen, kept=kept))

    @property
    def broken(self) -> list[Promise]:
        """The promises that were not kept."""
        return [promise for promise in self.promises if not promise.kept]

    def explain(self) -> str:
        """The broken promises and the examples, for a test's message."""
        lines = [f"{p.name}: wanted {p.wanted}, saw {p.seen}" for p in self.broken]
        return "\n".join([f"seed {self.seed}", *lines, *self.examples, str(self.figures)])

    def print(self) -> None:
        """A table for people, then one line of JSON for machines."""
        table = Table(title=f"{self.scenario}, seed {self.seed}")
        for name in ("promise", "wanted", "seen", ""):
            table.add_column(name)
        for promise in self.promises:
            mark = "[green]kept[/]" if promise.kept else "[red]BROKEN[/]"
            table.add_row(promise.name, promise.wanted, promise.seen, mark)
        Console(width=110).print(table)
        for example in self.examples:
            print("example:", example)
        print(json.dumps(self.summary()), flush=True)

    def summary(self) -> dict[str, object]:
        """The whole report as JSON."""
        return {
            "scenario": self.scenario,
            "seed": self.seed,
            "ok": not self.broken,
            "broken": [p.name for p in self.broken],
            "promises": {p.name: {"wanted": p.wanted, "seen": p.seen} for p in self.promises},
            "figures": self.figures,
        }


def quantile(values: list[float], share: float) -> float:
    """The value below which ``share`` of the values lie; 0 without values."""
    if not values:
        return 0.0
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"
