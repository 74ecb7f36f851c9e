"""The resources server over a service: rollouts posted to it, and the rows that come back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx

from tests.clients.digits import Digits
from tests.clients.stand_in import StandIn

MARKS = {"_ng_failure_class", "_ng_failure_judge_error"}
NAMES = {"judge_score_raw", "judge_failed", "judge_swap_consistent", "judge_cached"}
ADDED = {"reward", "reward_components", "mask_sample", *NAMES}


def server(where: Digits | StandIn, **settings: Any) -> Any:
    """The application of a server."""
    from judge_client.nemo_gym import JudgeResourcesServer, JudgeResourcesServerConfig

    given = {"judge_url": where.url, "rubric": "quality", "family": "xi", "timeout_s": 20}
    config = JudgeResourcesServerConfig(**{**given, **settings})
    return JudgeResourcesServer(config=config).setup_webserver()


def post(app: Any, *bodies: dict[str, Any]) -> list[httpx.Response]:
    """The answers to rollouts that are posted together."""

    async def run() -> Sequence[httpx.Response]:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://gym") as http:
            return await asyncio.gather(*(http.post("/verify", json=body) for body in bodies))

    return list(asyncio.run(run()))


def verified(app: Any, *bodies: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows: what was posted, the reward as the sum of its parts, and marks where it is none."""
    rows: list[dict[str, Any]] = []
    for body, answer in zip(bodies, post(app, *bodies), strict=True):
        assert answer.status_code == 200, answer.text[:500]
        row = answer.json()
        old = ADDED | MARKS
        assert all(row[name] == value for name, value in body.items() if name not in old)
        assert sum(row["reward_components"].values()) == row["reward"]
        failed = row["judge_failed"] == 1.0
        assert set(row) - set(body) - old == set()
        assert (failed, failed) == (set(row) >= MARKS, bool(MARKS & set(row)))
        assert row["mask_sample"] is True or not failed
        rows.append(row)
    return rows
