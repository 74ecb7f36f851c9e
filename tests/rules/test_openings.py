"""Stock openings, lone punctuation and empty forms are no answer; short answers are."""

from __future__ import annotations

import pytest

from judge_service.types import ToolCall

from .support import passes, rule

OPENINGS = [
    *[".", ",", ":", ";", "…", "...", "。", "—", "?", "- ", "**", "---", "####", "```\n```"],
    *["Thought process:", "Let's solve this problem step by step.", "Solution", "Solution:\n\n \n"],
    *["Let’s think step by step:", "Sure, here is", "Certainly! Here's the answer:", "Answer:"],
    *[
        "**Solution:**",
        "# Solution",
        "> Answer",
        "1. Solution",
        "S\u200bolution",
        "ＳＯＬＵＴＩＯＮ",
    ],
    *[
        "Okay, let me think step by step.",
        "Thought process: Let's solve this step by step. Solution:",
    ],
    *[
        "Sure! Here is a complete and detailed answer to your question:",
        "To answer this, let us first think about what is being asked.",
        "Here's a step-by-step solution to the problem:",
        "Certainly! Let me provide you with a clear, concise explanation.",
        "To solve this problem, we first need to carefully analyze the given information.",
        "Let's first look at the question. Here is the full solution:",
        "I'll now give a comprehensive answer. Solution:",
        "In order to respond to your question properly, we must start by understanding it.",
    ],
    *[
        "Let us solve this problem step by step.",
        "We will solve this problem step-by-step:",
        "We'll work through it step by step.",
        "First, let's break down the problem.",
        "First, let us break the problem down.",
        "To begin with, let us analyze the question carefully.",
        "Let's walk through this problem one step at a time.",
        "Let us think step by step about this problem.",
        "Let's carefully work through this.",
        "Okay, let me begin by analyzing the given problem carefully.",
        "I'm going to think step by step.",
    ],
    *["解", "解：", "かいせつ", "答案：", "让我们一步一步地思考。", "풀이:", "คำตอบ:", "Lời giải:"],
    *["Respuesta", "Réponse :", "Lösung:", "Soluzione", "Resposta:", "Antwoord:", "Odpowiedź:"],
    *["Решение", "Відповідь:", "الحل:", "उत्तर:", "Çözüm:", "Jawaban:", "Λύση", "תשובה:", "Svar:"],
]
EMPTY_FORMS = [
    *["<answer></answer>", "<answer> \u200b</answer>", r"\boxed{}", r"$\boxed{ }$", "<answer/>"],
    *[r"The final answer is \boxed{}", r"\[ \boxed{\text{}} \]", "Answer: <answer></answer>"],
    *["```python\n```", "<think></think>\n<answer>...</answer>", "Here is the code:\n```\n```"],
]
ANSWERS = [
    *["42", "Yes", "No", "B", "是", "否", "x", "7", "C++", "OK", "-1", "None", "👍", "+", "<", "%"],
    *["[]", "{}", "∞", r"\boxed{7}", "<answer>42</answer>", r"\pi", "<br>", "はい", "네", "Paris"],
    *["The answer is 4.", "Sure, here is the capital: Paris", "答案是42", "解は3です", "Hello"],
    *[
        "Here is the answer: 42",
        "Here is a detailed answer to your question: Paris.",
        "To answer this, we need to look at the moon.",
        "The answer is complete",
        "A complete and detailed answer",
        "To solve it",
        "Look at it carefully",
        "Here is the key",
    ],
    *[
        "Let us pray.",
        "Let's work out.",
        "Let's break up.",
        "Let's think about dinner.",
        "Let's go to the park together.",
        "Let's break down the walls.",
        "Let's solve the housing crisis step by step.",
        "We will do it step by step.",
        "We will solve it together.",
        "We start by adding 2.",
        "Let us solve 2x = 4: x = 2.",
        "Let me start by saying thanks.",
        "I will answer you tomorrow.",
        "To begin with, no.",
    ],
    *["Step 1: add the numbers.", "```python\nprint(1)\n```", "Solution: x = 3", "i", "e"],
]


@pytest.mark.parametrize("text", OPENINGS)
def test_a_stock_opening_alone_fails(text: str) -> None:
    """An opening in any language, case, width or markup is stopped."""
    assert not passes(rule("opener_only"), text)


@pytest.mark.parametrize("text", EMPTY_FORMS)
def test_an_empty_form_fails(text: str) -> None:
    """The right tags, boxes or fences around nothing are nothing."""
    assert not passes(rule("opener_only"), text)


@pytest.mark.parametrize("text", ANSWERS)
def test_a_short_answer_passes(text: str) -> None:
    """An answer of one word or symbol is an answer."""
    assert passes(rule("opener_only"), text)


def test_an_answer_that_is_the_reference_passes() -> None:
    """Where the right answer is the word "Solution", it may be given."""
    assert passes(rule("opener_only"), "Solution", reference="solution")
    assert not passes(rule("opener_only"), "Solution", reference="Paris")


def test_an_opening_with_a_tool_call_passes() -> None:
    """An agent may announce what it does next."""
    call = ToolCall(name="search")
    assert passes(rule("opener_only"), "Let me see:", tool_calls=(call,))
