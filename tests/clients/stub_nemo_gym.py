"""NeMo Gym as far as a resources server sees it: its base classes and their routes.

The real ones are met in ``clients/trainer_tests/test_nemo_gym_server.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

BASE = "nemo_gym.base_resources_server"


class BaseResourcesServerConfig(BaseModel):
    """Where a server listens."""

    name: str = "judge_service"
    entrypoint: str = "app.py"
    host: str = "127.0.0.1"
    port: int = 0


class BaseVerifyRequest(BaseModel):
    """A rollout."""

    responses_create_params: dict[str, Any]
    response: dict[str, Any]


class BaseVerifyResponse(BaseVerifyRequest):
    """A rollout with its reward."""

    reward: float


class SimpleResourcesServer(BaseModel):
    """A server with Gym's routes."""

    config: BaseResourcesServerConfig
    server_client: Any = None

    def setup_webserver(self) -> FastAPI:
        """The application."""
        app = FastAPI()
        # What is given to a route is looked at for its annotations.
        app.post("/verify")(self.verify)
        return app

    async def verify(self, body: Any) -> Any:
        """A subclass's."""
        raise NotImplementedError


def install(put: Callable[[str, ModuleType], None]) -> None:
    """Make the classes importable, by ``put`` into ``sys.modules``."""
    sys.modules.pop("judge_client.nemo_gym.server", None)
    put("nemo_gym", ModuleType("nemo_gym"))
    module = ModuleType(BASE)
    for kind in (
        BaseResourcesServerConfig, BaseVerifyRequest, BaseVerifyResponse, SimpleResourcesServer,
    ):  # fmt: skip
        vars(module)[kind.__name__] = kind
    put(BASE, module)
