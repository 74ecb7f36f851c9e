"""One process of a training with TRL, which has a part of every group."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

Part = Sequence[tuple[str, str]]


def reward_part(
    steps: Sequence[Part], settings: Mapping[str, Any], environ: Mapping[str, str]
) -> list[list[float | None]]:
    """The rewards of this process's completions, (prompt, completion) each, step by step."""
    os.environ.update(environ)
    from judge_client.trl import JudgeReward

    reward = JudgeReward(rubric="pair", name="judge_rank", mode="group", family="xi", **settings)
    return [reward([p for p, _ in rows], [c for _, c in rows]) for rows in steps]
