"""A ranking, checked whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from judge_service.api.answers import RankAnswer
from tests.harness import RunningService, new_prompt


def rank(service: RunningService, texts: Sequence[object], **more: Any) -> Any:
    """A group of texts or candidate objects, ranked by main, and checked against the schema."""
    candidates = [{"text": t, "family": "x"} if isinstance(t, str) else t for t in texts]
    body = {"rubric": "quality", "prompt": new_prompt(), "judges": ["main"],
            "candidates": candidates}  # fmt: skip
    answer = service.post("/v1/rank", {**body, **more})
    RankAnswer.model_validate(answer)
    assert len(answer["candidates"]) == len(texts)
    assert all(math.isfinite(value) for value in answer["metrics"].values())
    for member in answer["candidates"]:
        assert (member["reward"] is None) == (member["status"] == "failed")
        assert (member["error"] is None) == (member["status"] == "success")
    if answer["status"] == "success":
        assert answer["error"] is None
        assert answer["rewards"] == [member["reward"] for member in answer["candidates"]]
        assert all(0.0 <= reward <= 1.0 for reward in answer["rewards"])
    else:
        assert answer["error"] is not None
        assert answer["rewards"] is answer["ranks"] is None
    return answer


def flags(answer: Any) -> set[str]:
    """The names of an answer's flags."""
    return {flag["flag"] for flag in answer["flags"]}
