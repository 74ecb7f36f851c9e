"""What a service counts of itself. Prometheus' client is loaded when its text is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_service.adapters.metric_events import EventCounts
from judge_service.adapters.metric_table import Levels
from judge_service.adapters.own_figures import OwnFigures

if TYPE_CHECKING:
    from judge_service.adapters.prometheus_metrics import SharedFigures


class Metrics(EventCounts):
    """Counts events (``handlers``) and HTTP requests (``answered``), and renders them.

    ``shared_dir`` is the folder of all worker processes, where there are several. Raises
    ConfigError when it is missing.
    """

    def __init__(self, version: str, shared_dir: str | None = None) -> None:
        kept = OwnFigures() if shared_dir is None else _shared(shared_dir)
        # Of several processes any may be asked for the figures of all: each tells at once.
        super().__init__(kept, queues_late=shared_dir is None)
        kept.set(Levels.build_info, 1, version)
        self._kept = kept

    def render(self, accept: str = "") -> tuple[bytes, str]:
        """Everything that was counted so far, as text in the form that ``accept`` asks for, and
        its content type. May run in another thread than the rest.
        """
        from judge_service.adapters.prometheus_metrics import rendered

        self.set_queues()
        return rendered(self._kept, accept)


def _shared(folder: str) -> SharedFigures:
    """Figures that the client keeps in files. Raises ConfigError when the folder is missing."""
    from judge_service.adapters.prometheus_metrics import SharedFigures

    return SharedFigures(folder)
