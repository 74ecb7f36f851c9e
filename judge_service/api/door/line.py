"""The line to the caller of one request: who works for the answer is told when it is cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LINE = "judge_service.line"
"""Under this name a request's scope has it, among the extensions."""


class Line:
    """Whether the caller of one request is still there to be answered."""

    __slots__ = ("_cut", "_told")

    def __init__(self) -> None:
        self._cut = False
        self._told: list[Callable[[], object]] = []

    def is_cut(self) -> bool:
        """Whether the caller has hung up."""
        return self._cut

    def when_cut(self, told: Callable[[], object]) -> None:
        """Call ``told`` when the caller hangs up, unless it is forgotten before."""
        self._told.append(told)

    def forget(self, told: Callable[[], object]) -> None:
        """Do not call ``told`` any more."""
        self._told.remove(told)

    def cut(self) -> None:
        """The caller has hung up."""
        if not self._cut:
            self._cut = True
            for told in list(self._told):
                told()


def line_of(scope: Any) -> Line | None:
    """The line of an ASGI scope; None where it did not come in through the door."""
    # Another server may say None of what it has none of.
    found = (scope.get("extensions") or {}).get(LINE)
    return None if found is None else found["line"]
