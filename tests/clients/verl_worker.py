"""A reward worker of verl in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from tests.clients import stub_verl


def score(url: str, text: str) -> float:
    """The score of one response, by a loop of its own."""
    from judge_client.verl import compute_score

    asked = {"question": f"What of {text}?"}
    settings: dict[str, Any] = {"judge_url": url, "rubric": "quality", "timeout_s": 30}
    return asyncio.run(compute_score("d", text, "", asked, **settings))["score"]


def work(url: str, uid: str, texts: list[tuple[int, str]], settings: dict[str, Any]) -> list[Any]:
    """The rewards of some rollouts of one prompt, or why there are none, in order."""
    stub_verl.install(sys.modules.__setitem__)
    from judge_client.verl import JudgeGroupRewardManager, JudgeUnavailable

    configuration = stub_verl.config(8, url=url, rubric="pair", family="xi", **settings)
    manager = JudgeGroupRewardManager(configuration, stub_verl.Characters())
    prompt = [{"role": "user", "content": f"What of {uid}?"}]

    async def one(session: int, text: str) -> Any:
        data = stub_verl.sample(text, raw_prompt=prompt, uid=uid, session_id=session)
        try:
            return (await manager.run_single(data))["reward_score"]
        except JudgeUnavailable as error:
            return error.error.code

    async def all_of_them() -> list[Any]:
        return list(await asyncio.gather(*(one(*member) for member in texts)))

    return asyncio.run(all_of_them())
