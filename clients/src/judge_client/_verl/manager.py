"""A reward manager for groups: verl shows it one sample at a time, and the service gathers them."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Literal

from judge_client._verl import configured
from judge_client._verl.asking import DEFAULT_TIMEOUT_S, scored
from judge_client.errors import InvalidRequest
from judge_client.requests import Assess, Join
from judge_client.results import AssessOutcome, JoinFailed, JoinOutcome
from judge_client.settings import Purpose
from judge_client.shared import client_of, load, yes_or_no
from judge_client.trainer_input import prompt_of, reference_of, wait_of, words_of
from judge_client.values import plain

try:
    from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase
except ImportError as missing:
    raise ImportError(
        "judge_client.verl.JudgeGroupRewardManager needs verl, 0.7.1 or newer: "
        f"pip install verl ({missing})"
    ) from missing

log = logging.getLogger("judge_client.verl")


class JudgeGroupRewardManager(RewardManagerBase):
    """Ranks the rollouts of a prompt against each other, also over several reward workers.

    Settings stand under ``reward.judge`` in the trainer's configuration, else as class attributes,
    else in the environment. ``group_size`` is ``actor_rollout_ref.rollout.n`` unless given.
    ``deadline_s`` is how long a group may take to come together, from its first rollout on, and
    ``timeout_s`` how long judging may take after that. ``partial`` is what becomes of a group that
    is not complete by then: ``"fail"``, or ``{"at_least": n}``.

    A group's rewards say nothing across prompts, so samples of a validation are assessed one by
    one, on ``val_rubric`` and for ``val_purpose`` (``"validate"`` asks judges that do not train)
    where they are given: those whose ``extra_info["split"]`` is another than ``train_split``, and
    those without ``uid``.
    """

    url: ClassVar[str | None] = None
    api_key: ClassVar[str | None] = None
    rubric: ClassVar[str | None] = None
    timeout_s: ClassVar[float | str | None] = None
    family: ClassVar[str | tuple[str, ...] | None] = None
    policy_model: ClassVar[str | None] = None
    purpose: ClassVar[Purpose | None] = None
    group_size: ClassVar[int | None] = None
    deadline_s: ClassVar[float] = 300.0
    partial: ClassVar[Literal["fail"] | Mapping[str, int]] = "fail"
    run: ClassVar[str | None] = None
    val_rubric: ClassVar[str | None] = None
    val_purpose: ClassVar[Purpose | None] = None
    train_split: ClassVar[str] = "train"
    use_ground_truth: ClassVar[bool] = True

    def __init__(
        self, config: Any, tokenizer: Any, compute_score: Any = None, **of_the_trainer: Any
    ) -> None:
        super().__init__(config, tokenizer, compute_score)
        for name, value in configured.told(config, _SETTINGS).items():
            setattr(self, name, value)
        self._settings = load(
            url=self.url, api_key=self.api_key, rubric=self.rubric, timeout_s=self.timeout_s,
            family=words_of(self.family), policy_model=self.policy_model, purpose=self.purpose,
            default_timeout_s=DEFAULT_TIMEOUT_S,
        )  # fmt: skip
        yes_or_no("use_ground_truth", self.use_ground_truth)
        # Checked now, not by the first sample of a validation.
        load(
            rubric=self.val_rubric or self._settings.rubric,
            purpose=self.val_purpose or self._settings.purpose,
            default_timeout_s=DEFAULT_TIMEOUT_S,
        )
        rollouts = configured.section(config, "actor_rollout_ref", "rollout", "n")
        self._size = configured.group_size(self.group_size, rollouts)
        self._partial = configured.partial(self.partial, self._size)
        self._wait_s = wait_of(self.deadline_s, "deadline_s", self._settings.timeout_s)

    async def run_single(self, data: Any) -> dict[str, Any]:
        """The reward of one sample, held until its group is judged.

        Raises JudgeUnavailable where there is no verdict, RequestRefused for mistakes.
        """
        # Of a trajectory in several sequences the last has the reward, as with verl's own managers.
        item = data[-1:][0]
        text = await asyncio.get_running_loop().run_in_executor(None, self._response, item)
        found = scored(await self._judged(item.non_tensor_batch, text))
        return {"reward_score": found["score"], "reward_extra_info": found}

    async def _judged(self, row: Mapping[str, Any], text: str) -> AssessOutcome | JoinOutcome:
        client = client_of(self._settings)
        if row.get("raw_prompt") is None:
            raise InvalidRequest("raw_prompt: the sample has none", field="raw_prompt")
        prompt = prompt_of(row["raw_prompt"], "raw_prompt")
        reference = self._reference(row)
        if self._stands_alone(row):
            alone = Assess(
                prompt=prompt, candidate=text, reference=reference, rubric=self.val_rubric,
                purpose=self.val_purpose,
            )  # fmt: skip
            return await client.ask(alone)
        member = Join(
            prompt=prompt, candidate=text, reference=reference, group=str(row["uid"]),
            size=self._size, member=_member(row), deadline_s=self._wait_s, partial=self._partial,
            run=self.run,
        )  # fmt: skip
        result = await client.ask(member, timeout_s=self._wait_s + self._settings.timeout_s)
        if isinstance(result, JoinFailed) and result.error.code == "cohort_incomplete":
            _hint()
        return result

    def _response(self, item: Any) -> str:
        ids = item.batch["responses"]
        length = int(item.batch["attention_mask"][-ids.shape[-1] :].sum())
        text: str = plain(self.tokenizer.decode(ids[:length], skip_special_tokens=True))
        return text

    def _reference(self, row: Mapping[str, Any]) -> str | None:
        told = row.get("reward_model")
        if not self.use_ground_truth or not isinstance(told, Mapping):
            return None
        return reference_of(told.get("ground_truth"))

    def _stands_alone(self, row: Mapping[str, Any]) -> bool:
        """Whether a sample has no group: verl does not tell a validation, but its data does."""
        told = row.get("extra_info")
        split = told.get("split") if isinstance(told, Mapping) else None
        return row.get("uid") is None or split not in (None, self.train_split)


@lru_cache(maxsize=1)
def _hint() -> None:
    """Tell, once, what a group that is never complete often is."""
    log.warning(
        "a group was not complete in time; if these are samples of a validation, let the rows' "
        "extra_info['split'] say so, or set trainer.test_freq=-1 trainer.val_before_train=False"
    )


def _member(row: Mapping[str, Any]) -> str:
    """The rollout's own name in its group: equal texts are members of their own."""
    session = row.get("session_id")
    return uuid.uuid4().hex if session is None else f"session {session}"


_SETTINGS = set(JudgeGroupRewardManager.__annotations__)
