"""GRPO steps on one machine: a tiny model, built here, is rewarded by judge_service.

Nothing is downloaded. The model has a few thousand parameters and a few dozen words, so it learns
nothing worth having; what it shows is that rewards arrive, and what a failure does.
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

import torch
from datasets import Dataset
from judge_client.trl import JudgeReward
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

QUESTIONS = [
    "what is the capital of France",
    "what is the capital of Italy",
    "how many legs has a cat",
    "how many legs has a dog",
]
ANSWERS = ["Paris", "Rome", "four", "four"]
MORE_WORDS = ["it", "answer", "yes", "no", "because", "and", "city", "animal", "not", "I", "know"]


def main() -> None:
    """Train for some steps and print what each was worth."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--group", type=int, default=4, help="completions of a prompt")
    parser.add_argument("--rubric", default="quick-look")
    given = parser.parse_args()

    torch.manual_seed(0)
    tokenizer, model = tiny()
    # The service's address comes from JUDGE_SERVICE_URL, or is this machine's port 8080.
    reward = JudgeReward(
        rubric=given.rubric, name="judge", reference_column="solution", budget_s=100
    )
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder,
            num_generations=given.group,
            per_device_train_batch_size=given.group,
            max_steps=given.steps,
            max_completion_length=8,
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
        trainer.train()
    for log in trainer.state.log_history[: given.steps]:
        print(
            f"step {log['step']}: reward {log['rewards/judge/mean']:.3f} "
            f"± {log['rewards/judge/std']:.3f}, without a verdict {log['judge/judge_failed']:.0%}"
        )


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
