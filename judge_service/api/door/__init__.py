"""The door: what a connection must keep to before, while and after a request is heard."""

from __future__ import annotations

from judge_service.api.door.limits import DoorLimits
from judge_service.api.door.options import door_options
from judge_service.api.door.protocol import GuardedProtocol

__all__ = ["DoorLimits", "GuardedProtocol", "door_options"]
