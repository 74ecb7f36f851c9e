"""Rewards for slime: functions for ``--custom-rm-path``, and the filter that they need.

    --group-rm --custom-rm-path judge_client.slime.group_rm
    --dynamic-sampling-filter-path judge_client.slime.drop_failed_groups

Settings come from the environment; with others, put ``my_rm = JudgeRM(...)`` into a module of your
own. slime takes a number from every sample, so a sample without a verdict gets None for its reward
and a mark, ``metadata["judge_failed"]``, by which the filter drops its group. Where slime runs
without the filter, which would leave such a sample in the group, it raises instead.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Literal

from judge_client.candidate import Candidate
from judge_client.chat_text import exchange
from judge_client.errors import ConfigError, InvalidRequest, JudgingFailed
from judge_client.requests import Assess, Rank
from judge_client.results import Assessed, Failure, Ranked
from judge_client.shared import client_of, load, one_of, yes_or_no
from judge_client.trainer_input import Prompt, completion_of, prompt_of, reference_of, words_of
from judge_client.trainer_numbers import FAILED, PLACEHOLDERS, numbers
from judge_client.vendor.chat_turns import clean_response

__all__ = ["JudgeRM", "drop_failed_groups", "group_rm", "rm"]

log = logging.getLogger("judge_client.slime")
DEFAULT_TIMEOUT_S = 120.0
ERROR = "judge_error"
FILTER = "judge_client.slime.drop_failed_groups"
Reward = float | dict[str, float | None] | None
Scored = tuple[float, dict[str, float]] | Failure


class JudgeRM:
    """A reward function of slime: ``mode="group"`` ranks a list of samples against each other,
    ``mode="each"`` assesses each; one sample alone is always assessed.

    A reward is a number in [0, 1], or with ``--reward-key score`` an object with the number as
    ``score`` and the same numbers beside it every time (``judge_client.trainer_numbers``).

    The prompt is the sample's, a text or messages; a chat template in it is read. With
    ``prompt_key`` it is ``metadata[prompt_key]``. ``label`` is the reference unless ``use_label``
    is false, for rubrics that take none. ``on_failed="mark"`` is for a filter of one's own that
    calls ``drop_failed_groups``, ``"raise"`` stops the run at a sample without a verdict; otherwise
    what ``--dynamic-sampling-filter-path`` says decides.

    A sample whose generation was aborted or failed (``status``) has no verdict either, and its
    group is not ranked: what is left of it is not what the policy says.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        rubric: str | None = None,
        mode: Literal["group", "each"] = "group",
        on_failed: Literal["mark", "raise"] | None = None,
        prompt_key: str | None = None,
        use_label: bool = True,
        timeout_s: float | str | None = None,
        api_key: str | None = None,
        family: str | Sequence[str] | None = None,
        policy_model: str | None = None,
        purpose: str | None = None,
    ) -> None:
        one_of("mode", mode, "group", "each")
        one_of("on_failed", on_failed, None, "mark", "raise")
        self._settings = load(
            url=url, api_key=api_key, rubric=rubric, timeout_s=timeout_s, family=words_of(family),
            policy_model=policy_model, purpose=purpose, default_timeout_s=DEFAULT_TIMEOUT_S,
        )  # fmt: skip
        self._mode = mode
        self._on_failed = on_failed
        self._prompt_key = prompt_key
        self._use_label = yes_or_no("use_label", use_label)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._mode!r}, {self._settings!r})"

    async def __call__(self, args: Any, samples: Any, **more: Any) -> Any:
        """The reward of a sample, or of each of a list of them, in order.

        Raises JudgingFailed where nothing would drop a sample without a verdict, ConfigError and
        RequestRefused for mistakes.
        """
        with_key = _with_key(args)
        many = isinstance(samples, (list, tuple))
        # Of a trajectory in several fragments the last holds what was said in the end.
        listed = (
            [one[-1] if isinstance(one, list) else one for one in samples] if many else [samples]
        )
        broken = [_broken(one) for one in (samples if many else [samples])]
        if many and self._mode == "group" and len(listed) > 1:
            if not getattr(args, "group_rm", True):
                raise ConfigError("group_rm: without --group-rm these samples are no group")
            lost = next((why for why in broken if why is not None), None)
            found = await self._ranked(listed) if lost is None else [lost for _ in listed]
        else:
            alive = [one for one, why in zip(listed, broken, strict=True) if why is None]
            scored = iter(await self._assessed(alive))
            found = [next(scored) if why is None else why for why in broken]
        failures = [one for one in found if isinstance(one, Failure)]
        if failures and self._stops(args):
            raise JudgingFailed(failures[0])
        rewards = [_told(sample, one, with_key) for sample, one in zip(listed, found, strict=True)]
        if failures:
            codes = sorted({failure.code for failure in failures})
            log.warning("no verdict for %d of %d samples: %s", len(failures), len(found), codes)
        return rewards if many else rewards[0]

    def _stops(self, args: Any) -> bool:
        """Whether a sample without a verdict is an exception: where nobody reads its mark."""
        if self._on_failed is not None:
            return self._on_failed == "raise"
        return bool(getattr(args, "dynamic_sampling_filter_path", FILTER) != FILTER)

    async def _assessed(self, samples: Sequence[Any]) -> list[Scored]:
        asked: list[Assess] = []
        for sample in samples:
            prompt, candidate = self._exchange(sample)
            reference = self._reference(sample)
            asked.append(Assess(prompt=prompt, candidate=candidate, reference=reference))
        client = client_of(self._settings)
        if not asked:
            return []
        alone = len(asked) == 1
        results = [await client.ask(asked[0])] if alone else await client.assess_many(asked)
        return [
            (result.reward, numbers(result, result.reward))
            if isinstance(result, Assessed)
            else result.error
            for result in results
        ]

    async def _ranked(self, samples: Sequence[Any]) -> list[Scored]:
        exchanges = [self._exchange(sample) for sample in samples]
        prompt, reference = exchanges[0][0], self._reference(samples[0])
        if any(other != prompt for other, _ in exchanges):
            raise InvalidRequest("the samples of a group have different prompts", field="prompt")
        if any(self._reference(sample) != reference for sample in samples):
            raise InvalidRequest("the samples of a group have different labels", field="label")
        members = [candidate for _, candidate in exchanges]
        request = Rank(prompt=prompt, candidates=members, reference=reference)
        result = await client_of(self._settings).ask(request)
        if not isinstance(result, Ranked):
            return [result.error for _ in samples]
        return [(reward, numbers(result, reward)) for reward in result.rewards]

    def _exchange(self, sample: Any) -> tuple[Prompt, Candidate]:
        response = completion_of(sample.response, "response")
        told = sample.prompt
        if self._prompt_key is not None:
            told = _metadata(sample).get(self._prompt_key)
        prompt = prompt_of(
            told, f"metadata[{self._prompt_key!r}]" if self._prompt_key else "prompt"
        )
        reason = "length" if _status(sample) == "truncated" else None
        if not isinstance(response, str):
            return prompt, Candidate(messages=response, finish_reason=reason)
        if isinstance(prompt, str) and self._prompt_key is None:
            prompt, text = exchange(prompt, response)
        else:
            text = clean_response(response)
        return prompt, Candidate(text=text, finish_reason=reason)

    def _reference(self, sample: Any) -> str | None:
        return reference_of(sample.label) if self._use_label else None


async def group_rm(args: Any, samples: Any, **more: Any) -> Any:
    """The rewards of a group of samples, ranked against each other; settings of the environment."""
    return await JudgeRM(mode="group")(args, samples)


async def rm(args: Any, sample: Any, **more: Any) -> Any:
    """The reward of one sample, or of each of a list; settings of the environment."""
    return await JudgeRM(mode="each")(args, sample)


def drop_failed_groups(args: Any, samples: Sequence[Any], **more: Any) -> Any:
    """Slime's filter: a group with a sample that has no verdict is dropped, and counted as
    ``rollout/dynamic_filter/drop_judge_failed``. It also reads the objects of the service's own
    address for slime.
    """
    flat = [part for one in samples for part in (one if isinstance(one, list) else [one])]
    failed = any(_has_failed(sample) for sample in flat)
    return _filter_output(keep=not failed, reason=FAILED if failed else None)


class FilterOutput:
    """What a filter says, where slime's own class for it is not to be found."""

    def __init__(self, *, keep: bool, reason: str | None) -> None:
        self.keep = keep
        self.reason = reason
        self.keep_when_insufficient = False

    def __bool__(self) -> bool:
        """Slime takes what is not of its own class for a yes or a no."""
        return self.keep


def _filter_output(*, keep: bool, reason: str | None) -> Any:
    for trainer in ("slime", "miles"):
        try:
            types = import_module(f"{trainer}.rollout.filter_hub.base_types")
        except ImportError:
            continue
        return types.DynamicFilterOutput(keep=keep, reason=reason)
    return FilterOutput(keep=keep, reason=reason)


def _has_failed(sample: Any) -> bool:
    reward = getattr(sample, "reward", 0.0)
    told = (reward, getattr(sample, "metadata", None))
    return reward is None or any(bool(one.get(FAILED)) for one in told if isinstance(one, dict))


def _broken(sample: Any) -> Failure | None:
    """Why a sample, or one of a trajectory's fragments, is no answer of the policy."""
    for one in sample if isinstance(sample, list) else [sample]:
        status = _status(one)
        if status in ("aborted", "failed"):
            why = f"the generation ended as {status}"
            return Failure(code="rollout_failed", message=why, retryable=True, at="client")
    return None


def _status(sample: Any) -> object:
    """How a sample's generation ended, in slime's word."""
    status = getattr(sample, "status", None)
    return getattr(status, "value", status)


def _told(sample: Any, found: Scored, with_key: bool) -> Reward:
    """The reward of a sample, which is marked: a mark may be there from an earlier try."""
    failed = isinstance(found, Failure)
    metadata = _metadata(sample)
    metadata[FAILED] = failed
    metadata.pop(ERROR, None)
    if isinstance(found, Failure):
        metadata[ERROR] = found.code
        return {"score": None, **PLACEHOLDERS} if with_key else None
    score, beside = found
    return {"score": score, **beside} if with_key else score


def _metadata(sample: Any) -> dict[str, Any]:
    """The sample's metadata; an empty one is made where there is none."""
    if not isinstance(getattr(sample, "metadata", None), dict):
        sample.metadata = {}
    found: dict[str, Any] = sample.metadata
    return found


def _with_key(args: Any) -> bool:
    """Whether rewards are objects. Raises ConfigError where slime would look for another name."""
    keys = [getattr(args, name, None) for name in ("reward_key", "eval_reward_key")]
    # The other names hold placeholders beside a failure.
    if any(key and key != "score" for key in keys) or (keys[1] and not keys[0]):
        raise ConfigError("reward_key: --reward-key score, and no other in an evaluation")
    return bool(keys[0])
