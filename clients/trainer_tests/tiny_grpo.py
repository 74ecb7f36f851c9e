"""GRPO steps of a tiny model, built in code, with rewards from a stand-in for the service.

Run as a script under torchrun, with the address of a real service, it takes them on two processes
and prints what each one got.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

STEPS = 2
GROUP = 4


@dataclass(frozen=True)
class Trained:
    """What a training left."""

    moved: bool
    finite: bool
    posts: int
    prompts: list[list[str]]
    texts: list[list[str]]
    rewards: list[list[float | None]]
    logs: list[dict[str, Any]]
    weights: str


def train(script: Callable[[Any], Any], batch: int = GROUP, **settings: Any) -> Trained:
    """Train for two steps; ``script`` answers the reward's batches."""
    from tests.clients.stand_in import StandIn

    with StandIn() as service:
        service.script = script
        done = steps(service.url, ["w1 w2", "w3 w4"] * GROUP, STEPS, batch, **settings)
        return replace(done, posts=len(service.requests))


def steps(url: str, prompts: list[str], count: int, batch: int, **settings: Any) -> Trained:
    """Train for ``count`` steps with rewards from ``url``."""
    import torch
    from datasets import Dataset
    from judge_client.trl import JudgeReward
    from trl import GRPOConfig, GRPOTrainer

    torch.manual_seed(0)
    tokenizer, model = tiny()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    seen: list[tuple[list[str], list[str], list[float | None]]] = []

    class Watched(JudgeReward):
        """The reward function, with its answers kept."""

        def __call__(self, prompts: Any, completions: Any, **more: Any) -> list[float | None]:
            rewards = super().__call__(prompts, completions, **more)
            seen.append((list(prompts), list(completions), rewards))
            return rewards

    reward = Watched(url, **{"rubric": "r", "name": "judge_tiny", "timeout_s": 20, **settings})
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder, num_generations=GROUP, per_device_train_batch_size=batch,
            max_steps=count, max_completion_length=6, learning_rate=1e-2, beta=0.0, use_cpu=True,
            bf16=False, report_to=[], logging_steps=1, save_strategy="no", disable_tqdm=True,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=model, reward_funcs=[reward], args=config, processing_class=tokenizer,
            train_dataset=Dataset.from_dict({"prompt": prompts}),
        )  # fmt: skip
        trainer.train()
    after = model.state_dict()
    written = hashlib.sha256()
    for name in sorted(after):
        written.update(after[name].numpy().tobytes())
    return Trained(
        moved=any(not torch.equal(before[name], after[name]) for name in before),
        finite=all(bool(torch.isfinite(value).all()) for value in after.values()),
        posts=0,
        prompts=[prompts for prompts, _, _ in seen],
        texts=[texts for _, texts, _ in seen],
        rewards=[rewards for _, _, rewards in seen],
        logs=trainer.state.log_history,
        weights=written.hexdigest(),
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


FOUR = ["w1 w2", "w3 w4", "w5 w6", "w7 w8"]


def main() -> None:
    """Half of each group on each of two processes: each prompt once, or by its place."""
    import conftest  # noqa: F401 - the paths

    group = {"mode": "group", "group_size": GROUP, "across_ranks": sys.argv[1]}
    if sys.argv[1] == "gather":
        done = train(by_place, batch=2, **group)
    else:
        done = steps(sys.argv[2], FOUR, len(FOUR), batch=2, rubric="pair", family="xi", **group)
    told = {"rank": int(os.environ["RANK"]), **asdict(done)}
    sys.stdout.write("\n" + json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
