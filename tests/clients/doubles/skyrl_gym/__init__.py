"""A registry of environments, as SkyRL makes them for each rollout."""

from __future__ import annotations

import copy
import importlib
from typing import Any

REGISTRY: dict[str, tuple[str, dict[str, Any]]] = {}


def make(name: str, **given: Any) -> Any:
    """A new environment of a registered kind."""
    entry_point, kwargs = REGISTRY[name]
    module, _, attribute = entry_point.partition(":")
    kind = getattr(importlib.import_module(module), attribute)
    return kind(**{**copy.deepcopy(kwargs), **given})
