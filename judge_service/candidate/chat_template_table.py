"""The table of chat templates: how each says who speaks and where a turn ends.

To know one more, add a line here and run ``make client-copies``; nothing else needs to change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Template:
    """``header`` opens a turn (its group ``role`` says whose), ``end`` closes one; ``padding`` are
    characters around what is said that belong to the template.
    """

    name: str
    header: re.Pattern[str]
    end: re.Pattern[str]
    padding: str = ""


def _template(name: str, header: str, end: str, padding: str = "") -> Template:
    return Template(name, re.compile(header), re.compile(end), padding)


_WORD = r"(?P<role>[A-Za-z_][\w .-]{0,31})"

TEMPLATES = (
    _template(
        "ChatML, Qwen, Phi-4",
        rf"<\|im_start\|>{_WORD}(?:\r?\n|<\|im_sep\|>|\Z)",
        r"<\|im_end\|>\n?|<\|endoftext\|>\n?",
    ),
    _template(
        "Kimi",
        rf"<\|im_(?:system|user|assistant)\|>{_WORD}<\|im_middle\|>",
        r"<\|im_end\|>",
    ),
    _template(
        "Llama 3",
        rf"<\|start_header_id\|>{_WORD}<\|end_header_id\|>\n{{0,2}}",
        r"<\|e(?:ot|om)_id\|>|<\|end_of_text\|>",
    ),
    _template(
        "Llama 4",
        rf"<\|header_start\|>{_WORD}<\|header_end\|>\n{{0,2}}",
        r"<\|e(?:ot|om)\|>|<\|end_of_text\|>",
    ),
    _template("Gemma", rf"<start_of_turn>{_WORD}(?:\n|\Z)", r"<end_of_turn>\n?|<eos>"),
    _template("Gemma 4", rf"<\|turn>{_WORD}(?:\n|\Z)", r"<turn\|>\n?|<eos>"),
    _template(
        "DeepSeek",
        r"<｜(?P<role>User|Assistant|System)｜>",
        r"<｜end▁of▁sentence｜>|<｜begin▁of▁sentence｜>",
    ),
    _template(
        "Phi, GLM, Zephyr",
        r"<\|(?P<role>system|developer|user|assistant|observation|tool)\|>\n?",
        r"<\|end\|>\n?|<\|endoftext\|>\n?|</s>\s*\Z",
    ),
    _template(
        "gpt-oss",
        r"<\|start\|>(?P<role>[a-z]\w{0,31})(?:[^<>\n]{0,100}(?:<\|channel\|>[^<>\n]{0,100})?"
        r"(?:<\|constrain\|>[^<>\n]{0,40})?<\|message\|>|\Z)",
        r"<\|(?:end|return|call)\|>",
    ),
    _template(
        "Granite",
        rf"<\|start_of_role\|>{_WORD}(?:\{{[^<>\n]{{0,200}}\}})?<\|end_of_role\|>",
        r"<\|end_of_text\|>\n?",
    ),
    _template(
        "Command R",
        r"(?:<\|START_OF_TURN_TOKEN\|>)<\|(?P<role>SYSTEM|USER|CHATBOT)_TOKEN\|>",
        r"<\|END_OF_TURN_TOKEN\|>",
    ),
    _template(
        "EXAONE",
        r"\[\|(?P<role>system|user|assistant|tool)\|\]",
        r"\[\|endofturn\|\]\n?",
        "\n ",
    ),
    _template(
        "Llama 2, Mistral",
        r"(?P<role>\[/?INST\]|\[SYSTEM_PROMPT\]|\[AVAILABLE_TOOLS\]|\[TOOL_RESULTS\])",
        r"</s>\s*(?:<s>\s*)?\Z|\[/(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS)\]",
        " \n",
    ),
)

ROLES = {
    "model": "assistant", "chatbot": "assistant", "ai": "assistant", "bot": "assistant",
    "gpt": "assistant", "human": "user", "ipython": "tool", "observation": "tool",
    "function": "tool", "environment": "tool", "[inst]": "user", "[/inst]": "assistant",
    "[system_prompt]": "system", "[available_tools]": "system", "[tool_results]": "tool",
}  # fmt: skip
"""What templates call a role, and what it is."""

BEGINNINGS = (
    r"\A(?:\s*(?:<\|begin_of_text\|>|<｜begin▁of▁sentence｜>|<s>|<bos>"
    r"|<\|endoftext\|>|<\|startoftext\|>|\[gMASK\]|<sop>|\[BOS\]|<BOS_TOKEN>|<pad>|\[PAD\]"
    r"|<\|(?:finetune_right_)?pad(?:_id)?\|>|<｜▁pad▁｜>)(?:\s*(?=<|\[))?)+"
)
"""What stands before the first turn and says nothing."""

TRAILING = (
    "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>",
    "<|eot|>", "<|eom|>", "<|end|>", "<|return|>", "<|call|>", "<|user|>", "<|observation|>",
    "<|assistant|>", "<|end_of_turn|>", "<|END_OF_TURN_TOKEN|>", "<|END_RESPONSE|>", "<|pad|>",
    "<|finetune_right_pad_id|>", "<|finetune_right_pad|>", "<|fim_pad|>", "<|vision_pad|>",
    "<|dummy_0|>", "<|PAD_TOKEN|>", "<PAD>", "<pad>", "[PAD]", "<eos>", "<EOS_TOKEN>", "</s>",
    "<unk>", "<end_of_turn>", "<start_of_turn>", "<turn|>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>",
    "<｜User｜>", "[|endofturn|]", "[EOS]", "[e~[", "<|role_end|>", "<|eos|>", "<|assistant_end|>",
    "<|end_of_sentence|>", "<seed:eos>", "<seed:pad>", "<｜hy_place▁holder▁no▁2｜>",
    "<｜hy_▁pad▁｜>", "<extra_id_1>",
)  # fmt: skip
"""What a response ends with that is no part of it: ends of turns, padding, the next turn's head."""
