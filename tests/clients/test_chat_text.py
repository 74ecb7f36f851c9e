"""Templated prompts as messages, and responses without the tokens that end them."""

from __future__ import annotations

import time

import pytest
from judge_client.chat_text import exchange
from judge_client.vendor.chat_turns import clean_response

QWEN = "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\n"
LLAMA = (
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nQ<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n"
)
SAID = [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}]


@pytest.mark.parametrize(
    ("prompt", "end"),
    [
        (QWEN, "<|im_end|>\n"),
        (LLAMA, "<|eot_id|>"),
        ("[gMASK]<sop><|system|>\nS<|user|>\nQ<|assistant|>\n", "<|user|>"),
        ("<｜begin▁of▁sentence｜>S<｜User｜>Q<｜Assistant｜>", "<｜end▁of▁sentence｜>"),
    ],
    ids=["Qwen", "Llama 3", "GLM", "DeepSeek"],
)
def test_templates(prompt: str, end: str) -> None:
    """Who said what, and the answer alone."""
    assert exchange(prompt, f"A{end}") == (SAID, "A")


def test_gemma() -> None:
    """Its assistant is a model."""
    prompt = "<bos><start_of_turn>user\nQ<end_of_turn>\n<start_of_turn>model\n"
    assert exchange(prompt, "A<end_of_turn><eos>") == (SAID[1:], "A")


def test_several_turns() -> None:
    """Earlier answers are turns, and so is what tools said."""
    prompt = "<|user|>\nQ<|assistant|>\nA<|observation|>\nO<|assistant|>\n"

    turns, said = exchange(prompt, "B<|endoftext|><|endoftext|>")

    assert turns == [
        {"role": "user", "content": "Q"},
        {"role": "assistant", "content": "A"},
        {"role": "tool", "content": "O"},
    ]
    assert said == "B"


@pytest.mark.parametrize(
    ("opened", "response", "said"),
    [
        ("<think>\n", "Hm.</think>A", "<think>\nHm.</think>A"),
        ("<think>\n\n</think>\n\n", "A", "A"),
        ("<think>\n", "<|im_end|>", ""),
    ],
    ids=["an open thought", "no thought", "nothing said"],
)
def test_what_the_prompt_begins_to_say(opened: str, response: str, said: str) -> None:
    """An open thought is the response's beginning."""
    assert exchange(QWEN + opened, response) == (SAID, said)


@pytest.mark.parametrize(
    "text",
    ["Q", "", "What does <|im_start|>user\n mean?", "a <|user|> b", "<b>x</b>", "see [INST] Q"],
)
def test_other_texts_stay(text: str) -> None:
    """A text that is in no template is one text."""
    assert exchange(text, text) == (text, text)


@pytest.mark.parametrize(
    ("response", "said"),
    [("A", "A"), ("A\n", "A\n"), ("A</s>", "A"), ("A <|im_end|> \n<|endoftext|>", "A "),
     ("<|im_end|>", ""), ("<|im_end|>A", "<|im_end|>A"), ("", "")],
)  # fmt: skip
def test_the_end_of_a_response(response: str, said: str) -> None:
    """Only tokens at its end are taken off."""
    assert clean_response(response) == said


@pytest.mark.parametrize("unit", ["<|im_start|>user\n", "<|im_end|>", "<s>", "<|im_end|>\n ", "<"])
def test_hostile_texts_take_no_time(unit: str) -> None:
    """A megabyte of tokens is read in about a second at most, and twice of it in twice the time."""
    text = unit * (1024 * 1024 // len(unit))
    began = time.monotonic()
    exchange(text, text)
    assert time.monotonic() - began < 5
