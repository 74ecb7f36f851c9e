"""From templated prompts to messages, and from queries to responses."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_service.candidate.chat_template import Exchange, NoResponse, exchange, responded
from judge_service.candidate.chat_turns import clean_response

TEMPLATED = {
    "ChatML": "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n"
    "<|im_start|>assistant\nA<|im_end|>\n<|im_start|>user\nV<|im_end|>\n<|im_start|>assistant\n",
    "Phi-4": "<|im_start|>system<|im_sep|>S<|im_end|><|im_start|>user<|im_sep|>U<|im_end|>"
    "<|im_start|>assistant<|im_sep|>A<|im_end|><|im_start|>user<|im_sep|>V<|im_end|>"
    "<|im_start|>assistant<|im_sep|>",
    "Llama 3": "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nU<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nA<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nV<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "Llama 4": "<|begin_of_text|><|header_start|>system<|header_end|>\n\nS<|eot|>"
    "<|header_start|>user<|header_end|>\n\nU<|eot|><|header_start|>assistant<|header_end|>\n\n"
    "A<|eot|><|header_start|>user<|header_end|>\n\nV<|eot|>"
    "<|header_start|>assistant<|header_end|>\n\n",
    "Llama 2": "<s>[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST] A </s><s>[INST] V [/INST]",
    "Mistral": "<s>[SYSTEM_PROMPT]S[/SYSTEM_PROMPT][INST]U[/INST]A</s>[INST]V[/INST]",
    "Gemma": "<bos><start_of_turn>system\nS<end_of_turn>\n<start_of_turn>user\nU<end_of_turn>\n"
    "<start_of_turn>model\nA<end_of_turn>\n<start_of_turn>user\nV<end_of_turn>\n"
    "<start_of_turn>model\n",
    "DeepSeek": "<｜begin▁of▁sentence｜>S<｜User｜>U<｜Assistant｜>A<｜end▁of▁sentence｜>"
    "<｜User｜>V<｜Assistant｜>",
    "Phi-3": "<|system|>\nS<|end|>\n<|user|>\nU<|end|>\n<|assistant|>\nA<|end|>\n"
    "<|user|>\nV<|end|>\n<|assistant|>\n",
    "Zephyr": "<|system|>\nS</s>\n<|user|>\nU</s>\n<|assistant|>\nA</s>\n<|user|>\nV</s>\n"
    "<|assistant|>\n",
    "GLM": "[gMASK]<sop><|system|>\nS<|user|>\nU<|assistant|>\nA<|user|>\nV<|assistant|>\n",
    "gpt-oss": "<|start|>system<|message|>S<|end|><|start|>user<|message|>U<|end|>"
    "<|start|>assistant<|channel|>final<|message|>A<|end|><|start|>user<|message|>V<|end|>"
    "<|start|>assistant",
    "Granite": "<|start_of_role|>system<|end_of_role|>S<|end_of_text|>\n"
    "<|start_of_role|>user<|end_of_role|>U<|end_of_text|>\n"
    "<|start_of_role|>assistant<|end_of_role|>A<|end_of_text|>\n"
    "<|start_of_role|>user<|end_of_role|>V<|end_of_text|>\n"
    "<|start_of_role|>assistant<|end_of_role|>",
    "Command R": "<BOS_TOKEN><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>S<|END_OF_TURN_TOKEN|>"
    "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>U<|END_OF_TURN_TOKEN|>"
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>A<|END_OF_TURN_TOKEN|>"
    "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>V<|END_OF_TURN_TOKEN|>"
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
}
TURNS = [("system", "S"), ("user", "U"), ("assistant", "A"), ("user", "V")]
ENDS = ["<|im_end|>", "<|eot_id|>", "</s>", "<|endoftext|>", "<end_of_turn>", "<|end|>",
        "<｜end▁of▁sentence｜>", "<|user|>", "<|im_end|>\n<|endoftext|><|endoftext|>",
        "<eos><pad><pad>", "<seed:eos>", "<｜hy_place▁holder▁no▁2｜>", "<|role_end|>",
        "<extra_id_1>"]  # fmt: skip


def turns(made: Exchange) -> list[tuple[str, str]]:
    """The prompt's messages."""
    assert not isinstance(made.prompt, str)
    return [(message.role, message.text) for message in made.prompt]


@pytest.mark.parametrize("template", TEMPLATED)
def test_templates_are_taken_off(template: str) -> None:
    """A prompt becomes the messages it was made of, whatever the model's template."""
    prompt = TEMPLATED[template]
    made = exchange(prompt + "The answer.", prompt)

    assert turns(made) == TURNS
    assert made.response == "The answer."


@pytest.mark.parametrize("end", ENDS)
def test_what_ends_a_response_is_no_part_of_it(end: str) -> None:
    """Ends of turns and padding go, nothing else does."""
    assert clean_response(f"An answer.{end}") == "An answer."
    assert clean_response(f"An answer.{end}\n") == "An answer."
    assert clean_response(f"{end} is a token. ") == f"{end} is a token. "


def test_what_was_struck_out_stays() -> None:
    """The end of a struck-out text is not the end of the response."""
    assert clean_response("It is <s>four</s>") == "It is <s>four</s>"


def test_other_templates_tokens_are_text() -> None:
    """A user who writes about another template's tokens is shown as written."""
    prompt = TEMPLATED["ChatML"].replace("V", "What is [INST] and </s> and <|user|>?")
    assert turns(exchange(prompt + "x", prompt))[-1][1] == "What is [INST] and </s> and <|user|>?"

    plain = "How do I write <|im_start|> in Python?"
    assert exchange(plain + " So.", plain) == Exchange(prompt=plain, response=" So.")


@pytest.mark.parametrize("template", TEMPLATED)
@pytest.mark.parametrize(
    "change",
    [lambda p: "<s>" + p, lambda p: "<|begin_of_text|>" + p, lambda p: p.replace("\n", " "),
     lambda p: "<pad><pad>" + p.replace("<bos>", ""), lambda p: p.replace("<s>", "<s> ")],
)  # fmt: skip
def test_tokenizers_change_spaces_and_tokens(template: str, change: object) -> None:
    """A prompt that comes back with other spaces or other special tokens is found."""
    assert callable(change)
    prompt = TEMPLATED[template]
    made = exchange(change(prompt) + "The answer.<|im_end|>", prompt)

    assert turns(made) == TURNS
    assert made.response == "The answer."


def test_a_prompt_that_lost_its_beginning() -> None:
    """Trainers cut long prompts at the front; headers that the policy writes do not matter."""
    prompt = TEMPLATED["ChatML"].replace("U", "A long question. " * 50)
    answer = "Wrong.<|im_end|>\n<|im_start|>assistant\nRight."
    for cut in (10, 300, 700, len(prompt) - 60):
        assert exchange(prompt[cut:] + answer, prompt).response == answer

    # Cut within a character, so that not even the rest is the same.
    assert exchange("�" + prompt[-90:] + answer, prompt).response.endswith("Right.")
    single = "<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\n"
    assert exchange("�" + single[4:] + answer, single).response == answer


def test_a_prompt_without_its_template() -> None:
    """When only the query has the template, the turn behind the prompt is the response."""
    query = TEMPLATED["ChatML"].replace("V", "A question?") + "An answer.<|im_end|>"
    made = exchange(query, "A question?")

    assert turns(made) == [*TURNS[:3], ("user", "A question?")]
    assert made.response == "An answer."


def test_nothing_says_where_the_response_begins() -> None:
    """That is an error, not a guess."""
    with pytest.raises(NoResponse):
        exchange("Something else altogether.", "A question?")


@pytest.mark.parametrize(
    ("opened", "response", "judged"),
    [
        ("<think>\n", "hm</think>yes", "<think>\nhm</think>yes"),
        ("<think>\n\n</think>\n\n", "yes", "yes"),
        ("</think>", "yes", "yes"),
        ("Sure: ", "yes", "Sure: yes"),
        ("<think>\n", " ", " "),
        ("", "yes", "yes"),
    ],
)
def test_what_the_prompt_began_to_say(opened: str, response: str, judged: str) -> None:
    """A thought or a prefix that the prompt opens belongs to the response, if there is one."""
    made = responded(TEMPLATED["ChatML"] + opened, response)

    assert turns(made) == TURNS
    assert made.response == judged


def test_a_role_that_no_request_may_have_is_the_users() -> None:
    """A message of such a role could not have been sent otherwise."""
    made = responded("<|im_start|>user2\nU<|im_end|>\n<|im_start|>assistant\n", "yes")

    assert turns(made) == [("user", "U")]


def test_images_are_named() -> None:
    """Placeholders of images are one remark."""
    seen = "<|vision_start|><|image_pad|><|image_pad|><|vision_end|>What is it?"
    made = responded(TEMPLATED["ChatML"].replace("V", seen), "A cat.")

    assert turns(made)[-1] == ("user", "(image, not shown)What is it?")


PIECES = ["<|im_start|>", "<|im_end|>", "user\n", "assistant\n", "[INST]", "[/INST]", "</s>", "<s>",
          "<|user|>", "<|assistant|>", "<think>", "</think>", "<start_of_turn>", "model\n", "a b",
          " ", "\n", "<<SYS>>", "<</SYS>>", "<｜User｜>", "<｜Assistant｜>", "é"]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30), st.lists(st.sampled_from(PIECES)))
def test_any_text_is_taken(prompt: list[str], response: list[str]) -> None:
    """No text breaks it, and no word of a response is lost."""
    made = exchange("".join(prompt + response), "".join(prompt))

    assert made.response.endswith(clean_response("".join(response)))


@pytest.mark.parametrize(
    "piece", ["<s>", "</s>", "<|im_end|>", "[INST]", " ", "<|im_start|>a b", "<|user|>", "<<SYS>>"]
)
def test_hostile_texts_take_linear_time(piece: str) -> None:
    """Half a megabyte of tokens is read in a moment."""
    hostile = piece * (500_000 // len(piece))
    began = time.monotonic()
    exchange(hostile + hostile, hostile)
    exchange(TEMPLATED["ChatML"] + hostile, TEMPLATED["ChatML"])

    assert time.monotonic() - began < 10.0
