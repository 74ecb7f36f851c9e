"""verl's configuration, a tokenizer of a few words, and batches of rollouts, all made in code."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hydra import compose, initialize_config_module
from omegaconf import DictConfig
from tensordict import TensorDict
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl import DataProto

WORDS = ["<pad>", "<eos>", "<unk>", "good", "bad", "fail", *(str(n / 100) for n in range(101))]
_prompts = itertools.count(1)


def save_tokenizer(folder: Path) -> None:
    """A tokenizer where verl loads one from."""
    words = {word: at for at, word in enumerate(WORDS)}
    plain = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    ).save_pretrained(folder)


def configuration(folder: Path, overrides: Sequence[str], rollouts: int = 4) -> DictConfig:
    """What verl's command line makes of overrides."""
    own = [
        f"actor_rollout_ref.model.path={folder}", f"actor_rollout_ref.rollout.n={rollouts}",
        "reward.num_workers=2",
    ]  # fmt: skip
    with initialize_config_module("verl.trainer.config", version_base=None):
        return compose("ppo_trainer", overrides=[*own, *overrides])


def rollouts(texts: Sequence[str], uid: str | None = None, **row: Any) -> DataProto:
    """Rollouts, of one prompt where it is named, as the agent loop hands them to the reward."""
    said = [[WORDS.index(text), 1, *[0] * (at % 2)] for at, text in enumerate(texts)]
    width = max(map(len, said))
    responses = torch.tensor([ids + [0] * (width - len(ids)) for ids in said])
    prompts = torch.full((len(texts), 3), 2)
    mask = torch.cat([torch.ones_like(prompts), (responses != 0).long()], dim=1)
    questions = [f"Question {next(_prompts)}?" for _ in texts]
    if uid is not None:
        questions = [questions[0]] * len(texts)
    columns: dict[str, list[Any]] = {
        "raw_prompt": [[{"role": "user", "content": question}] for question in questions],
        "extra_info": [{"question": question, "index": 0} for question in questions],
        "reward_model": [{"style": "model", "ground_truth": ""} for _ in texts],
        "data_source": ["judge"] * len(texts),
        "__num_turns__": [2] * len(texts),
        "uid": [uid or f"alone {question}" for question in questions],
        "session_id": list(range(len(texts))),
        **{name: [value] * len(texts) for name, value in row.items()},
    }
    batch = {"prompts": prompts, "responses": responses, "attention_mask": mask}
    return DataProto(
        batch=TensorDict(batch, batch_size=len(texts)),
        non_tensor_batch={name: _column(values) for name, values in columns.items()},
    )


def _column(values: list[Any]) -> Any:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made
