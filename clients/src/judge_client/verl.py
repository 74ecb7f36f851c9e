"""Rewards for verl 0.7.1 and newer: a function for each sample, and a manager for groups.

    reward.custom_reward_function.path=pkg://judge_client.verl
    reward.reward_manager.source=importlib
    reward.reward_manager.name=JudgeGroupRewardManager
    reward.reward_manager.module.path=pkg://judge_client.verl

A sample without a verdict raises JudgeUnavailable. The trainer of 0.9 fails that sample's session:
its group is given up and replaced, or goes on without it. An older one stops at the exception;
there is no number that would be better.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from judge_client._verl.asking import DEFAULT_TIMEOUT_S, JudgeUnavailable, scored
from judge_client.errors import InvalidRequest
from judge_client.requests import Assess
from judge_client.shared import client_of, load, yes_or_no
from judge_client.trainer_input import Prompt, completion_of, prompt_of, reference_of, words_of

if TYPE_CHECKING:
    from judge_client._verl.manager import JudgeGroupRewardManager

__all__ = ["JudgeGroupRewardManager", "JudgeUnavailable", "compute_score"]

log = logging.getLogger("judge_client.verl")
PROMPT_KEYS = ("question", "prompt", "raw_prompt", "problem")
"""Where the prompt is looked for in a row's ``extra_info``, unless ``prompt_key`` says it."""
_OF_THE_TRAINER = {"reward_router_address", "reward_model_tokenizer"}


def __getattr__(name: str) -> Any:
    """The manager, whose base class is verl's: imported when it is asked for."""
    if name == "JudgeGroupRewardManager":
        from judge_client._verl.manager import JudgeGroupRewardManager

        return JudgeGroupRewardManager
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


async def compute_score(
    data_source: Any,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    judge_url: str | None = None,
    api_key: str | None = None,
    rubric: str | None = None,
    timeout_s: float | str | None = None,
    family: str | Sequence[str] | None = None,
    policy_model: str | None = None,
    purpose: str | None = None,
    prompt_key: str | None = None,
    use_ground_truth: bool = True,
    **more: Any,
) -> dict[str, float]:
    """The reward of one response, in [0, 1], as ``score``, with the same numbers beside it every
    time (``judge_client.trainer_numbers``).

    The prompt is ``extra_info[prompt_key]``, a text or messages; without ``prompt_key`` the first
    of PROMPT_KEYS that is there. ``ground_truth`` is the reference unless ``use_ground_truth`` is
    false, for rubrics that take none. Settings come from ``reward_kwargs``, else the environment;
    ``timeout_s`` (120) is the whole time.

    Raises JudgeUnavailable where there is no verdict, ConfigError and RequestRefused for mistakes.
    """
    for name in sorted(more.keys() - _OF_THE_TRAINER):
        _warn(name)
    takes_one = yes_or_no("use_ground_truth", use_ground_truth)
    client = client_of(
        load(
            url=judge_url, api_key=api_key, rubric=rubric, timeout_s=timeout_s,
            family=words_of(family), policy_model=policy_model, purpose=purpose,
            default_timeout_s=DEFAULT_TIMEOUT_S,
        )
    )  # fmt: skip
    request = Assess(
        prompt=_prompt(extra_info or {}, prompt_key),
        candidate=completion_of(solution_str, "solution_str"),
        reference=reference_of(ground_truth) if takes_one else None,
    )
    return scored(await client.ask(request))


def _prompt(extra_info: Mapping[str, Any], key: str | None) -> Prompt:
    names = PROMPT_KEYS if key is None else (key,)
    for name in names:
        if extra_info.get(name) is not None:
            return prompt_of(extra_info[name], f"extra_info[{name!r}]")
    raise InvalidRequest(
        f"prompt_key: extra_info has no {' or '.join(map(repr, names))}; verl gives a reward "
        "function no prompt, so a row's extra_info must hold it",
        field="prompt_key",
    )


@lru_cache(maxsize=256)
def _warn(name: str) -> None:
    """Tell, once, of a setting that is none: verl itself may add arguments."""
    log.warning("compute_score: %r is no setting of the judge, and is passed over", name)
