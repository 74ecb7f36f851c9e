"""The classic rubric: an exception of a reward function is 0.0, and counts in everybody's mean."""

from __future__ import annotations

import inspect
from typing import Any


class Rubric:
    """Weighted reward functions over states."""

    def __init__(self, funcs: list[Any], weights: list[float], parser: Any = None) -> None:
        self.funcs = funcs
        self.weights = weights
        self.parser = parser or (lambda text: text)

    @property
    def has_group_rewards(self) -> bool:
        """None of the functions here sees a group."""
        return False

    def add_reward_func(self, func: Any, weight: float = 1.0) -> None:
        """One more."""
        self.funcs.append(func)
        self.weights.append(weight)

    def _get_reward_func_names(self) -> list[str]:
        return [func.__name__ for func in self.funcs]

    async def score_rollout(self, state: dict[str, Any]) -> None:
        """The reward and the metrics of one state."""
        self._score(state)

    def _score(self, state: dict[str, Any]) -> None:
        scores = [_score(func, state) for func in self.funcs]
        state["reward"] = sum(s * w for s, w in zip(scores, self.weights, strict=True))
        state["metrics"] = dict(zip(self._get_reward_func_names(), scores, strict=True))

    async def score_group(self, states: list[dict[str, Any]]) -> None:
        """The same of all, and their advantages."""
        for state in states:
            self._score(state)
        mean = sum(state["reward"] for state in states) / len(states)
        for state in states:
            state["advantage"] = state["reward"] - mean
            for step in state["trajectory"]:
                for field in ("advantage", "reward"):
                    step[field] = state[field] if step[field] is None else step[field]


def _score(func: Any, state: dict[str, Any]) -> float:
    wanted = inspect.signature(func).parameters
    offered = {"state": state, "prompt": state["prompt"], "completion": state["completion"]}
    try:
        return float(func(**{name: value for name, value in offered.items() if name in wanted}))
    except Exception:  # noqa: BLE001 - as it is done there
        return 0.0
