"""The judges, folder and command of the drift tests serve reviews, too."""

from __future__ import annotations

from tests.drift.conftest import bench, provider

__all__ = ["bench", "provider"]
