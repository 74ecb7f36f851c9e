"""A resources server for NeMo Gym (and so for NeMo-RL): its ``/verify`` asks a judge.

``resources_servers/judge_service/app.py``, where Gym looks for it, is

    from judge_client.nemo_gym import JudgeResourcesServer

    if __name__ == "__main__":
        JudgeResourcesServer.run_webserver()

A rollout without a verdict comes back as ``_ng_failure_class: judge_failed`` with
``mask_sample: true``; the reward in it is the placeholder that Gym's answer must have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge_client.nemo_gym.server import (
        JudgeResourcesServer,
        JudgeResourcesServerConfig,
        JudgeVerifyRequest,
        JudgeVerifyResponse,
    )

__all__ = [
    "JudgeResourcesServer",
    "JudgeResourcesServerConfig",
    "JudgeVerifyRequest",
    "JudgeVerifyResponse",
]


def __getattr__(name: str) -> Any:
    """The classes, whose bases are Gym's: imported when one is asked for."""
    if name in __all__:
        from judge_client.nemo_gym import server

        return getattr(server, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
