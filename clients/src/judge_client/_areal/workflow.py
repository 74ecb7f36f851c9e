"""The workflow: one answer to one prompt, and its reward."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judge_client.candidate import Candidate
from judge_client.errors import ConfigError
from judge_client.requests import Assess
from judge_client.results import Assessed
from judge_client.shared import client_of, load
from judge_client.trainer_input import prompt_of, reference_of, words_of
from judge_client.values import plain

try:
    from areal import workflow_context
    from areal.api import ModelRequest, RolloutWorkflow
    from areal.utils import stats_tracker
    from areal.utils.dynamic_import import import_from_string
    from areal.utils.hf_utils import apply_chat_template, load_hf_tokenizer
except ImportError as missing:
    raise ImportError(
        f"judge_client.areal needs AReaL, 1.0 or newer: pip install areal ({missing})"
    ) from missing

log = logging.getLogger("judge_client.areal")
DEFAULT_TIMEOUT_S = 120.0
InputIds = Callable[[Any, Any, bool], list[int]]
Extract = Callable[[Mapping[str, Any]], Any]


class JudgeRLVRWorkflow(RolloutWorkflow):
    """Generates one answer to a row's prompt and has it judged, as AReaL's ``RLVRWorkflow`` does
    with a reward function; the arguments that both have mean the same. ``reference_key`` names the
    reference in a row (None for rubrics that take none).

    Where there is no verdict within ``timeout_s`` (120), the trajectory is None, which AReaL
    rejects; the others of its group go on without it.
    """

    def __init__(
        self,
        gconfig: Any,
        tokenizer: Any,
        enable_thinking: bool = False,
        get_input_ids_fn: InputIds | str | None = None,
        data_extract_prompt_fn: Extract | str | None = None,
        *,
        url: str | None = None,
        rubric: str | None = None,
        reference_key: str | None = "answer",
        timeout_s: float | str | None = None,
        api_key: str | None = None,
        family: str | Sequence[str] | None = None,
        policy_model: str | None = None,
        purpose: str | None = None,
    ) -> None:
        self._settings = load(
            url=url, api_key=api_key, rubric=rubric, timeout_s=timeout_s, family=words_of(family),
            policy_model=policy_model, purpose=purpose, default_timeout_s=DEFAULT_TIMEOUT_S,
        )  # fmt: skip
        if reference_key is not None and not isinstance(reference_key, str):
            raise ConfigError("reference_key: not the name of a column")
        if isinstance(tokenizer, str):
            tokenizer = load_hf_tokenizer(tokenizer)
        self.tokenizer = tokenizer
        self.gconfig = gconfig.new_with_stop_and_pad_token_ids(tokenizer)
        self._enable_thinking = enable_thinking
        self._input_ids: InputIds = _function(get_input_ids_fn) or _templated
        self._extract: Extract = _function(data_extract_prompt_fn) or _messages
        self._reference_key = reference_key

    async def arun_episode(self, engine: Any, data: Mapping[str, Any]) -> dict[str, Any] | None:
        """The trajectory, tensors of a batch of one, or None without a verdict.

        Raises RequestRefused for mistakes.
        """
        prompt = self._extract(data)
        request = ModelRequest(
            rid=uuid.uuid4().hex,
            input_ids=self._input_ids(prompt, self.tokenizer, self._enable_thinking),
            gconfig=self.gconfig.new(n_samples=1),
            tokenizer=self.tokenizer,
        )
        response = await engine.agenerate(request)
        reward = await self._reward(prompt, response, data)
        if reward is None:
            return None
        return _trajectory(response, reward)

    async def _reward(self, prompt: Any, response: Any, data: Mapping[str, Any]) -> float | None:
        text = self.tokenizer.decode(response.output_tokens, skip_special_tokens=True)
        was_cut = response.stop_reason == "length"
        key = self._reference_key
        asked = Assess(
            prompt=prompt_of(prompt),
            candidate=Candidate(text=plain(text), finish_reason="length" if was_cut else None),
            reference=None if key is None else reference_of(data.get(key)),
        )
        result = await client_of(self._settings).ask(asked)
        stats = stats_tracker.get(workflow_context.stat_scope())
        if isinstance(result, Assessed):
            stats.scalar(reward=result.reward, judge_failed=0.0)
            return result.reward
        stats.scalar(judge_failed=1.0)
        log.warning("no verdict: %s: %s", result.error.code, result.error.message)
        return None


def _trajectory(response: Any, reward: float) -> dict[str, Any]:
    import torch

    asked, said = response.input_len, response.output_len
    columns = {
        "input_ids": (response.input_tokens + response.output_tokens, torch.int32),
        "loss_mask": ([0] * asked + [1] * said, torch.int32),
        "logprobs": ([0.0] * asked + response.output_logprobs, torch.float32),
        "versions": ([-1] * asked + response.output_versions, torch.int32),
        "attention_mask": ([True] * (asked + said), torch.bool),
    }
    made = {name: torch.tensor([row], dtype=kind) for name, (row, kind) in columns.items()}
    return {**made, "rewards": torch.tensor([reward], dtype=torch.float32)}


def _templated(messages: Any, tokenizer: Any, enable_thinking: bool) -> list[int]:
    ids: list[int] = apply_chat_template(
        tokenizer, messages, tokenize=True, add_generation_prompt=True,
        enable_thinking=enable_thinking,
    )  # fmt: skip
    return ids


def _messages(data: Mapping[str, Any]) -> Any:
    return data["messages"]


def _function(given: Any) -> Any:
    """A function, or the one at an import path."""
    return import_from_string(given) if isinstance(given, str) else given
