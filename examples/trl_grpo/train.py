"""GRPO steps on one machine: a tiny model, built here, is rewarded by judge_service.

Nothing is downloaded. The model has a few thousand parameters and a few dozen words, so it learns
nothing worth having; what it shows is that rewards arrive and move the weights, and that an outage
of the judge does not.
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

import torch
from datasets import Dataset
from judge_client.trl import JudgeReward
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    PrinterCallback,
)
from trl import GRPOConfig, GRPOTrainer

QUESTIONS = [
    "what is the capital of France",
    "what is the capital of Italy",
    "how many legs has a cat",
    "how many legs has a dog",
]
ANSWERS = ["Paris", "Rome", "four", "four"]
MORE_WORDS = ["it", "answer", "yes", "no", "because", "and", "city", "animal", "not", "I", "know"]


NOBODY = "http://127.0.0.1:9"


def main() -> None:
    """Train for some steps with the judge, then for one without, and print what became of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--group", type=int, default=4, help="completions of a prompt")
    parser.add_argument("--rubric", default="one-word")
    given = parser.parse_args()

    torch.manual_seed(0)
    tokenizer, model = tiny()
    # The service's address comes from JUDGE_SERVICE_URL, or is this machine's port 8080.
    reward = JudgeReward(
        rubric=given.rubric, name="judge", reference_column="solution", timeout_s=100
    )
    train(model, tokenizer, reward, given.steps, given.group)
    print("now the judge is away")
    away = JudgeReward(NOBODY, rubric=given.rubric, name="judge", timeout_s=1)
    train(model, tokenizer, away, 1, given.group)


def train(model: Any, tokenizer: Any, reward: JudgeReward, steps: int, group: int) -> None:
    """Take some steps, and print what each was worth and whether the weights are others now."""
    before = [weights.detach().clone() for weights in model.parameters()]
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder,
            num_generations=group,
            per_device_train_batch_size=group,
            max_steps=steps,
            max_completion_length=6,
            learning_rate=1e-2,
            use_cpu=True,
            bf16=False,
            report_to=[],
            logging_steps=1,
            save_strategy="no",
            disable_tqdm=True,
        )
        data = Dataset.from_dict({"prompt": QUESTIONS, "solution": ANSWERS})
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=[reward],
            args=config,
            train_dataset=data,
            processing_class=tokenizer,
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    for log in trainer.state.log_history[:steps]:
        mean, spread = log["rewards/judge/mean"], log["rewards/judge/std"]
        lost = log["judge/judge_failed"]
        told = "none" if lost == 1 else f"{mean:.3f} ± {spread:.3f}"
        print(f"step {log['step']}: reward {told}, without a verdict {lost:.0%}")
    after = [weights.detach() for weights in model.parameters()]
    same = all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    print("the weights are", "the same to the last bit" if same else "others now")


def tiny() -> tuple[Any, Any]:
    """A tokenizer of whole words and a model of a few thousand parameters."""
    known = [word for text in [*QUESTIONS, *ANSWERS, *MORE_WORDS] for word in text.split()]
    words = ["<pad>", "<eos>", "<unk>", *dict.fromkeys(known)]
    plain = Tokenizer(models.WordLevel({w: n for n, w in enumerate(words)}, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=1,
    )
    return tokenizer, LlamaForCausalLM(config)


if __name__ == "__main__":
    main()
