"""Registering."""

from __future__ import annotations

from typing import Any

import skyrl_gym


def register(id: str, entry_point: str, kwargs: dict[str, Any] | None = None) -> None:
    """Make an environment known by its id."""
    skyrl_gym.REGISTRY[id] = (entry_point, kwargs or {})
