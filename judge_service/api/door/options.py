"""What uvicorn is told so that the door is shut, the same in production and in tests."""

from __future__ import annotations

from typing import Any

from judge_service.api.door.limits import DoorLimits
from judge_service.api.door.protocol import GuardedProtocol


def door_options(limits: DoorLimits | None = None) -> dict[str, Any]:
    """Arguments of ``uvicorn.Config``. With ``limits`` of one's own only for a single process."""
    own = limits or GuardedProtocol.limits

    class Limited(GuardedProtocol):
        limits = own

    return {
        # Worker processes find a class by its name.
        "http": GuardedProtocol if limits is None else Limited,
        # A connection that became a websocket would be out of the door's sight.
        "ws": "none",
        # Nothing here depends on who the caller says to be.
        "proxy_headers": False,
        "access_log": False,
        "server_header": False,
    }
