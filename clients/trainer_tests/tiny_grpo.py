"""Two GRPO steps of a tiny model, built in code, with rewards from a stand-in for the service.

Run as a script under torchrun it does so on two processes and prints what each one got.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

STEPS = 2
GROUP = 4


@dataclass(frozen=True)
class Trained:
    """What a training left."""

    moved: bool
    finite: bool
    posts: int
    rewards: list[list[float | None]]
    logs: list[dict[str, Any]]


def train(script: Callable[[Any], Any], batch: int = GROUP, **settings: Any) -> Trained:
    """Train for two steps; ``script`` answers the reward's batches."""
    import torch
    from datasets import Dataset
    from judge_client.trl import JudgeReward
    from trl import GRPOConfig, GRPOTrainer

    from tests.clients.stand_in import StandIn

    torch.manual_seed(0)
    tokenizer, model = tiny()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    seen: list[list[float | None]] = []

    class Watched(JudgeReward):
        """The reward function, with its answers kept."""

        def __call__(self, *args: Any, **columns: Any) -> list[float | None]:
            seen.append(super().__call__(*args, **columns))
            return seen[-1]

    with StandIn() as service, tempfile.TemporaryDirectory() as folder:
        service.script = script
        reward = Watched(service.url, rubric="r", name="judge_tiny", budget_s=20, **settings)
        config = GRPOConfig(
            output_dir=folder, num_generations=GROUP, per_device_train_batch_size=batch,
            max_steps=STEPS, max_completion_length=6, learning_rate=1e-2, beta=0.0, use_cpu=True,
            bf16=False, report_to=[], logging_steps=1, save_strategy="no", disable_tqdm=True,
        )  # fmt: skip
        data = Dataset.from_dict({"prompt": ["w1 w2", "w3 w4"] * GROUP})
        trainer = GRPOTrainer(
            model=model, reward_funcs=[reward], args=config, train_dataset=data,
            processing_class=tokenizer,
        )  # fmt: skip
        trainer.train()
        after = model.state_dict()
        return Trained(
            moved=any(not torch.equal(before[name], after[name]) for name in before),
            finite=all(bool(torch.isfinite(value).all()) for value in after.values()),
            posts=len(service.requests),
            rewards=seen,
            logs=trainer.state.log_history,
        )


def tiny() -> tuple[Any, Any]:
    """A tokenizer of 32 words and a model of a few thousand parameters."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["<pad>", "<eos>", "<unk>", *(f"w{n}" for n in range(29))]
    plain = Tokenizer(models.WordLevel({w: n for n, w in enumerate(words)}, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
        pad_token_id=0, eos_token_id=1, bos_token_id=1,
    )  # fmt: skip
    return tokenizer, LlamaForCausalLM(config)


def by_place(got: Any) -> Any:
    """A ranking in which the place in the group is the reward."""
    from tests.clients.stand_in import SUCCESS, Told

    sizes = [len(item["candidates"]) for item in got.body["items"]]
    made = [{**SUCCESS, "rewards": [place / size for place in range(size)]} for size in sizes]
    return Told(body={"results": made})


def main() -> None:
    """Half of each group on each of two processes."""
    import conftest  # noqa: F401 - the paths

    done = train(by_place, batch=2, mode="group", group_size=GROUP, across_ranks="gather")
    told = {"rank": int(os.environ["RANK"]), "rewards": done.rewards}
    sys.stdout.write("\n" + json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
