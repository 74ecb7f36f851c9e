"""What sentinels showed of judges, by judge and rubric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from judge_service.watch.baseline import number_of
from judge_service.watch.keepsake import Void


@dataclass(slots=True, kw_only=True)
class Figures:
    """Of one judge under one rubric. ``version`` is that of both: figures of another one say
    nothing of this one.
    """

    gold: str
    version: str
    asked: int = 0
    failed: int = 0
    agreed: float = 0.0
    compared: int = 0

    def wire(self, judge: str, rubric: str) -> dict[str, Any]:
        """JSON."""
        agreement = self.agreed / self.compared if self.compared else None
        return {
            "judge": judge, "rubric": rubric, "gold": self.gold, "asked": self.asked,
            "failed": self.failed, "agreement": agreement,
        }  # fmt: skip


@dataclass(slots=True)
class SentinelFigures:
    """A ``Keepsake``. ``version`` gives that of a judge and a rubric by their ids, None where
    either is gone.
    """

    version: Callable[[str, str], str | None]
    _figures: dict[tuple[str, str], Figures] = field(default_factory=dict)

    def of(self, judge: str, rubric: str, gold: str, version: str) -> Figures:
        """Those of a judge under a rubric, new ones for another version of either."""
        found = self._figures.get((judge, rubric))
        if found is None or (found.version, found.gold) != (version, gold):
            found = self._figures[judge, rubric] = Figures(gold=gold, version=version)
        return found

    def state(self) -> Any:
        """JSON that ``restore`` takes."""
        return [
            [*where, one.gold, one.version, one.asked, one.failed, one.agreed, one.compared]
            for where, one in self._figures.items()
        ]

    def restore(self, state: Any, void: Void) -> None:
        """Go on where another process has stopped."""
        for judge, rubric, gold, version, asked, failed, agreed, compared in state or ():
            if version == self.version(judge, rubric) and not void(judge, rubric):
                self._figures[judge, rubric] = Figures(
                    gold=str(gold), version=version, asked=int(asked), failed=int(failed),
                    agreed=number_of(agreed), compared=int(compared),
                )  # fmt: skip

    def forget(self, judge: str | None, rubric: str | None) -> None:
        """Begin anew."""
        for where in list(self._figures):
            if judge in (None, where[0]) and rubric in (None, where[1]):
                del self._figures[where]

    def wire(self) -> list[dict[str, Any]]:
        """JSON."""
        return [one.wire(*where) for where, one in self._figures.items()]
