"""The line to the caller of one request: who works for the answer is told when it is cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LINE = "judge_service.line"
"""Under this name a request's scope has it, among the extensions."""


class Line:
    """Whether the caller of one request is still there to be answered."""

    __slots__ = ("_told", "is_cut")

    def __init__(self) -> None:
        self.is_cut = False
        self._told: list[Callable[[], None]] = []

    def when_cut(self, told: Callable[[], None]) -> None:
        """Call ``told`` when the caller hangs up, unless it is forgotten before."""
        self._told.append(told)

    def forget(self, told: Callable[[], None]) -> None:
        """Do not call ``told`` any more."""
        self._told.remove(told)

    def cut(self) -> None:
        """The caller has hung up."""
        if not self.is_cut:
            self.is_cut = True
            for told in list(self._told):
                told()


def line_of(scope: Any) -> Line | None:
    """The line of an ASGI scope; None where it did not come in through the door."""
    extensions = scope.get("extensions")
    return None if extensions is None else extensions.get(LINE)
