"""What goes over a restart beside the charts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

Void: TypeAlias = Callable[[str | None, str | None], bool]
"""Whether what was kept of a judge and a rubric has been reset since."""


class Keepsake(Protocol):
    """Figures that are kept for the next process."""

    def state(self) -> Any:
        """JSON that ``restore`` takes."""

    def restore(self, state: Any, void: Void) -> None:
        """Go on where another process has stopped, but for what is void. May raise ValueError,
        KeyError, TypeError or AttributeError for what nobody here has written.
        """

    def forget(self, judge: str | None, rubric: str | None) -> None:
        """Begin anew with a judge, a rubric, both or, with neither, all."""
