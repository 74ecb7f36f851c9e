"""Chat templates: every one is read, and nothing that is not one takes time."""

from __future__ import annotations

import pytest
from judge_client.chat_text import exchange

EXCHANGES = {
    "ChatML": (
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\n",
        "72<|im_end|>",
    ),
    "Llama 3": (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nQ<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "72<|eot_id|>",
    ),
    "Llama 4": (
        "<|begin_of_text|><|header_start|>system<|header_end|>\n\nS<|eot|>"
        "<|header_start|>user<|header_end|>\n\nQ<|eot|>"
        "<|header_start|>assistant<|header_end|>\n\n",
        "72<|eot|>",
    ),
    "Llama 2": ("<s>[INST] <<SYS>>\nS\n<</SYS>>\n\nQ [/INST]", "72 </s>"),
    "Mistral": ("<s>[SYSTEM_PROMPT]S[/SYSTEM_PROMPT][INST] Q[/INST]", "72</s>"),
    "DeepSeek": ("<｜begin▁of▁sentence｜>S<｜User｜>Q<｜Assistant｜>", "72<｜end▁of▁sentence｜>"),
    "Phi-3": ("<|system|>\nS<|end|>\n<|user|>\nQ<|end|>\n<|assistant|>\n", "72<|end|>"),
    "Phi-4": (
        "<|im_start|>system<|im_sep|>S<|im_end|><|im_start|>user<|im_sep|>Q<|im_end|>"
        "<|im_start|>assistant<|im_sep|>",
        "72<|im_end|>",
    ),
    "GLM": ("[gMASK]<sop><|system|>\nS<|user|>\nQ<|assistant|>\n", "72<|user|>"),
    "Zephyr": ("<|system|>\nS</s>\n<|user|>\nQ</s>\n<|assistant|>\n", "72</s>"),
    "gpt-oss": (
        "<|start|>system<|message|>S<|end|><|start|>user<|message|>Q<|end|><|start|>assistant",
        "72<|return|>",
    ),
    "Granite": (
        "<|start_of_role|>system<|end_of_role|>S<|end_of_text|>\n"
        "<|start_of_role|>user<|end_of_role|>Q<|end_of_text|>\n"
        "<|start_of_role|>assistant<|end_of_role|>",
        "72<|end_of_text|>",
    ),
    "Command R": (
        "<BOS_TOKEN><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>S<|END_OF_TURN_TOKEN|>"
        "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>Q<|END_OF_TURN_TOKEN|>"
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        "72<|END_OF_TURN_TOKEN|>",
    ),
    "EXAONE": ("[|system|]S[|endofturn|]\n[|user|]Q\n[|assistant|]", "72[|endofturn|]"),
    "Kimi": (
        "<|im_system|>system<|im_middle|>S<|im_end|><|im_user|>user<|im_middle|>Q<|im_end|>"
        "<|im_assistant|>assistant<|im_middle|>",
        "72<|im_end|>",
    ),
}
SAID = [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}]


@pytest.mark.parametrize(("prompt", "response"), EXCHANGES.values(), ids=EXCHANGES)
def test_a_template_is_no_part_of_what_is_said(prompt: str, response: str) -> None:
    """The judge and the rules see who said what, and the answer alone."""
    turns, said = exchange(prompt, response)

    assert turns == SAID
    assert said.strip() == "72"


@pytest.mark.parametrize("unit", ["</s> ", "<s> ", "</s>" + " " * 64, "<pad>", "[INST]", "<|pad|>"])
def test_hostile_texts_take_no_time(unit: str) -> None:
    """A megabyte of what a template's end may be is read in seconds."""
    text = f"<s>[INST] Q [/INST]{unit * (1024 * 1024 // len(unit))}x"
    assert exchange(text, text)[1] is not None
    spaces = f"<s>[INST] Q [/INST]</s>{' ' * 1024 * 1024}x"
    assert exchange(spaces, spaces)[1] is not None
