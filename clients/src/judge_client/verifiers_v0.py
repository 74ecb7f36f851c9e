"""A rubric for the classic API of verifiers, which 0.3 still has.

    from judge_client.verifiers_v0 import JudgeRubric

    env = vf.SingleTurnEnv(dataset=data, rubric=JudgeRubric(rubric="helpfulness"))

A rollout that could not be judged gets ``state["error"] = vf.InfraError(…)``: it is generated anew
where the environment runs with ``max_retries``, and otherwise it is for the trainer to leave out,
whatever its reward says (the classic API wants a number there, 0.0). From 0.4 on use the plugin
``judge_client_verifiers``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from judge_client import shared
from judge_client.requests import Rank, Request
from judge_client.results import Failure
from judge_client.rollouts import assess_of, candidate_of, policy_of, shares_of
from judge_client.rows import Row, row_of

try:
    from verifiers.errors import InfraError
    from verifiers.rubrics.rubric import Rubric
except ImportError as missing:
    raise ImportError(
        "judge_client.verifiers_v0 needs the classic API: pip install 'verifiers<0.4'; from 0.4 on "
        f"use the judge plugin judge_client_verifiers ({missing})"
    ) from missing

log = logging.getLogger("judge_client.verifiers_v0")
DEFAULT_TIMEOUT_S = 120.0
VERDICTS = "judge_verdicts"
"""Where a state keeps them: by the name of the reward, the reward or None."""


class JudgeRubric(Rubric):
    """A rubric of one reward in [0, 1], the metric ``name``, beside the metric ``<name>_failed``;
    more functions may be added to it.

    ``mode="each"`` assesses every rollout, ``mode="group"`` ranks those of one prompt against each
    other. The dataset's ``answer`` is the reference, unless ``use_answer`` is false. A rollout
    without a verdict counts in nobody's advantage.

    Raises ConfigError for a setting that cannot be right. Picklable, and right in every event loop.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        rubric: str | None = None,
        name: str = "judge",
        weight: float = 1.0,
        mode: Literal["each", "group"] = "each",
        use_answer: bool = True,
        parser: Any = None,
        timeout_s: float | str | None = None,
        api_key: str | None = None,
        family: str | Sequence[str] | None = None,
        policy_model: str | None = None,
        purpose: str | None = None,
    ) -> None:
        shared.one_of("mode", mode, "each", "group")
        self.settings = shared.load(
            default_timeout_s=DEFAULT_TIMEOUT_S, url=url, api_key=api_key, rubric=rubric,
            timeout_s=timeout_s, family=family, policy_model=policy_model, purpose=purpose,
        )  # fmt: skip
        self._name = shared.metric_name(name)
        self._mode = mode
        self._use_answer = shared.yes_or_no("use_answer", use_answer)
        self._parser = parser
        super().__init__(funcs=[Verdict(name), Missing(name)], weights=[weight, 0.0], parser=parser)

    def __reduce__(self) -> tuple[Any, ...]:
        """Made anew: the parser that a rubric has by default cannot be pickled."""
        told = self.settings
        given = {
            "url": told.url, "api_key": told.api_key, "rubric": told.rubric,
            "timeout_s": told.timeout_s, "family": told.family or None,
            "policy_model": told.policy_model, "purpose": told.purpose, "name": self._name,
            "mode": self._mode, "use_answer": self._use_answer, "parser": self._parser,
        }  # fmt: skip
        return _unpickled, (type(self), given, list(self.funcs), list(self.weights))

    @property
    def has_group_rewards(self) -> bool:
        """Whether the rollouts of a prompt must be scored together."""
        return self._mode == "group" or bool(super().has_group_rewards)

    async def score_rollout(self, state: Any) -> None:
        """Score one rollout. Raises RequestRefused for mistakes."""
        await self._judge([state])
        await super().score_rollout(state)

    async def score_group(self, states: list[Any]) -> None:
        """Score the rollouts of a prompt. Raises RequestRefused for mistakes."""
        await self._judge(states)
        scored = [state for state in states if state.get("error") is None]
        if scored:
            await super().score_group(scored)
        for state in states:
            if state.get("error") is not None:
                self._leave_out(state)

    async def _judge(self, states: Sequence[Any]) -> None:
        """Put a verdict or an error into each state; one that has an error is not judged."""
        for state in states:
            _verdicts(state)[self._name] = None
        alive = [state for state in states if state.get("error") is None]
        if not alive:
            return
        groups = [alive] if self._mode == "group" else [[state] for state in alive]
        results = await shared.client_of(self.settings).bulk([self._asked(g) for g in groups])
        shares = [
            share
            for group, result in zip(groups, results, strict=True)
            for share in shares_of(result, len(group))
        ]
        for state, found in zip(alive, shares, strict=True):
            if isinstance(found, Failure):
                log.warning("no verdict: %s: %s", found.code, found.message)
                state["error"] = InfraError(f"no verdict: {found.code}: {found.message}")
            else:
                _verdicts(state)[self._name] = found

    def _row(self, state: Any) -> Row:
        answer = state.get("answer") if self._use_answer else None
        return row_of(
            _spoken(state.get("prompt"), "user"),
            _spoken(state.get("completion"), "assistant"),
            answer,
        )

    def _told(self, state: Any) -> dict[str, Any]:
        """What a state tells beside its texts."""
        return {
            "finish_reason": "length" if state.get("is_truncated") is True else None,
            "policy_model": policy_of(self.settings, state.get("model")),
        }

    def _asked(self, states: Sequence[Any]) -> Request[Any]:
        """A ranking; of one alone an assessment."""
        if len(states) == 1:
            return assess_of(self._row(states[0]), **self._told(states[0]))
        rows = [self._row(state) for state in states]
        candidates = [
            candidate_of(row, **self._told(state)) for row, state in zip(rows, states, strict=True)
        ]
        return Rank(prompt=rows[0].prompt or "", candidates=candidates, reference=rows[0].reference)

    def _leave_out(self, state: Any) -> None:
        """The placeholders that the classic API demands beside an error: zero advantage."""
        names = self._get_reward_func_names()
        state["reward"] = state["advantage"] = 0.0
        state["metrics"] = {**dict.fromkeys(names, 0.0), f"{self._name}_failed": 1.0}
        for step in state.get("trajectory") or []:
            for field in ("reward", "advantage"):
                if step.get(field) is None:
                    step[field] = 0.0


class Verdict:
    """The reward of a state that was judged."""

    def __init__(self, name: str) -> None:
        self._of = self.__name__ = name

    def __call__(self, state: Any) -> float:
        """In [0, 1]; 0.0 is a placeholder where the state has an error."""
        found = _verdicts(state).get(self._of)
        return 0.0 if found is None else found


class Missing:
    """Whether a state has no verdict: 1.0, else 0.0."""

    def __init__(self, name: str) -> None:
        self._of = name
        self.__name__ = f"{name}_failed"

    def __call__(self, state: Any) -> float:
        """A metric, of no weight."""
        return float(_verdicts(state).get(self._of) is None)


def _verdicts(state: Any) -> dict[str, float | None]:
    found: dict[str, float | None] = state.setdefault(VERDICTS, {})
    return found


def _spoken(messages: Any, role: str) -> Any:
    """A base model's turns are of the role "text"."""
    if not isinstance(messages, (list, tuple)):
        return messages
    return [
        {"role": role, "content": _of(message, "content")} if _of(message, "role") == "text"
        else message
        for message in messages
    ]  # fmt: skip


def _of(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _unpickled(
    kind: type[JudgeRubric], given: Mapping[str, Any], funcs: list[Any], weights: list[float]
) -> JudgeRubric:
    made = kind(**given)
    made.funcs, made.weights = funcs, weights
    return made
