"""Chat templates: the client reads those that the service reads, and reads them the same."""

from __future__ import annotations

import random

import pytest
from judge_client import chat_template_table as ours
from judge_client.chat_text import exchange, without_end

from judge_service.candidate import chat_template_table as theirs
from judge_service.candidate.chat_template import clean_response, responded

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


def rows(table: tuple[object, ...]) -> list[tuple[str, str, str, str]]:
    """A table as texts. Possessive quantifiers are of Python 3.11, and the client's is 3.10."""
    told = [(t.name, t.header.pattern, t.end.pattern, t.padding) for t in table]  # type: ignore[attr-defined]
    return [(name, head, end.replace("*+", "*"), padding) for name, head, end, padding in told]


def test_the_tables_are_the_same() -> None:
    """A template that one of the two knows is known to the other."""
    assert rows(ours.TEMPLATES) == rows(theirs.TEMPLATES)
    assert ours.ROLES == theirs.ROLES
    assert theirs.BEGINNINGS.replace("*+", "*") == ours.BEGINNINGS
    assert ours.TRAILING == theirs.TRAILING


@pytest.mark.parametrize(("prompt", "response"), EXCHANGES.values(), ids=EXCHANGES)
def test_a_template_is_no_part_of_what_is_said(prompt: str, response: str) -> None:
    """The judge and the rules see who said what, and the answer alone."""
    turns, said = exchange(prompt, response)

    assert turns == SAID
    assert said.strip() == "72"


PIECES = [
    *(part for pair in EXCHANGES.values() for part in pair), *theirs.TRAILING, "<think>\n",
    "<think>\n\n</think>\n\n", " ", "\n", "x", "<s>", "</s>", "[INST]", "[/INST] ", "<|start|>",
    "<|image_pad|>", "<<SYS>>", "<pad>", "<bos>", "<|user|>", "<|im_start|>tool\n",
    "<|im_start|>a b\n", "<start_of_turn>model\n", "<|channel|>final<|message|>",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_texts_are_read_as_the_service_reads_them(seed: int) -> None:
    """Whatever is put together of templates' pieces, turn for turn."""
    pick = random.Random(seed)  # noqa: S311 - repeatable on purpose
    for _ in range(100):
        prompt = "".join(pick.choices(PIECES, k=pick.randrange(1, 6)))
        response = "".join(pick.choices(PIECES, k=pick.randrange(4)))
        wanted = responded(prompt, response)
        told = wanted.prompt
        turns = (
            told if isinstance(told, str) else [{"role": m.role, "content": m.text} for m in told]
        )

        assert exchange(prompt, response) == (turns, wanted.response)
        assert without_end(response) == clean_response(response)


@pytest.mark.parametrize("unit", ["</s> ", "<s> ", "</s>" + " " * 64, "<pad>", "[INST]", "<|pad|>"])
def test_hostile_texts_take_no_time(unit: str) -> None:
    """A megabyte of what a template's end may be is read in seconds."""
    text = f"<s>[INST] Q [/INST]{unit * (1024 * 1024 // len(unit))}x"
    assert exchange(text, text)[1] is not None
    spaces = f"<s>[INST] Q [/INST]</s>{' ' * 1024 * 1024}x"
    assert exchange(spaces, spaces)[1] is not None
