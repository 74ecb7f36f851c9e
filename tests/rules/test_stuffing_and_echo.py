"""Words put in to be counted, and prompts handed back."""

from __future__ import annotations

import random

import pytest

from .support import check, passes, rule

KEYWORDS = ["accuracy", "clarity", "helpfulness", "depth", "relevance"]
DRAWN = random.Random(3).choices(KEYWORDS, k=120)  # noqa: S311 - a test's order of words
QUESTION = "What is the capital of France, and how many people live there?"
CODE = "def f(x):\n    if x < 3:\n        return 1\n    return f(x - 1) + f(x - 2)\n" * 5

STUFFED = {
    "one word": "accuracy " * 50,
    "in turn": ", ".join(KEYWORDS * 50),
    "at random": " ".join(DRAWN),
    "a word a line": "\n".join(DRAWN),
    "after an answer": "Paris is the capital.\n" + ", ".join(DRAWN),
    "chinese": "准确 清晰 有用 深度 " * 40,
}
PLAIN = {
    "prose": "The river rises in the hills and runs for ninety miles through farmland, past two"
    " old mills and a bridge of stone, until it meets the tide below the town where boats wait.",
    "asserts": "\n".join(f"assert add({n}, {n + 1}) == {2 * n + 1}" for n in range(60)),
    "html": "".join(f"<tr><td>{n}</td><td>{n * n}</td></tr>" for n in range(60)),
    "kinds of one thing": "\n".join(f"- {kind * 3} tea" for kind in "abcdefghijklmnopqrstuvwxyz"),
    "table": "\n".join(f"| feature {n} | Yes | No |" for n in range(40)),
    "short": "tea tea tea",
}


@pytest.mark.parametrize("text", STUFFED.values(), ids=STUFFED.keys())
def test_stuffed_keywords_fail(text: str) -> None:
    """A few content words that make up most of a text are stuffing."""
    assert not passes(rule("keyword_stuffing"), text, prompt=QUESTION)


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN.keys())
def test_ordinary_texts_are_not_stuffed(text: str) -> None:
    """Code, tables and lists of kinds use some words often."""
    assert passes(rule("keyword_stuffing"), text)


def test_labels_that_the_prompt_offers_are_not_stuffing() -> None:
    """A hundred labels out of two are what was asked for."""
    labels = ", ".join(["positive", "negative", "positive"] * 34)
    assert passes(rule("keyword_stuffing"), labels, prompt="Label as positive or negative: …")
    assert not passes(rule("keyword_stuffing"), labels, prompt=QUESTION)


def test_named_keywords_are_counted_everywhere() -> None:
    """With a list, only its words count, hidden or not, in code too."""
    made = rule("keyword_stuffing", keywords=["very accurate", "helpful"], limit=0.3)
    assert not passes(made, "```\n" + "very accu\u200brate; is the " * 20 + "\n```")
    assert passes(made, PLAIN["prose"] + " It is helpful.")
    found = check(made, "helpful " * 10 + PLAIN["prose"])
    assert found.passed
    assert 0.0 < found.score < 1.0


@pytest.mark.parametrize(
    "text",
    [
        QUESTION,
        QUESTION.upper(),
        f"{QUESTION} {QUESTION}",
        f"Question: {QUESTION}\nAnswer:",
        f"Sure! {QUESTION}",
        f"> {QUESTION}",
        QUESTION.replace(" ", "  ").rstrip("?"),
    ],
)
def test_the_prompt_handed_back_fails(text: str) -> None:
    """Once, twice, quoted or labelled: nothing was answered."""
    assert not passes(rule("prompt_echo"), text, prompt=QUESTION)


@pytest.mark.parametrize(
    "text",
    [
        "Paris",
        f"{QUESTION} Paris",
        f"Q: {QUESTION} A: Paris, 2 million",
        f"{QUESTION}\n\n42",
        "The capital of France is Paris.",
        "Quelle est la capitale de la France, et combien de gens y vivent ?",
        "",
    ],
)
def test_an_answer_beside_the_prompt_passes(text: str) -> None:
    """A quotation followed by an answer, and a translation, are answers."""
    assert passes(rule("prompt_echo"), text, prompt=QUESTION)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (f"Fix the bug in this code:\n{CODE}", CODE.replace("<", "<=")),
        (f"{CODE}\nFix the bug above.", CODE),
        ("War and Peace was written by Leo Tolstoy. Who wrote it?", "Leo Tolstoy"),
        ("Correct the sentence: she go to school every day", "she go to school every day"),
        ("Hello!", "Hello!"),
        ("", "anything at all"),
    ],
    ids=["code-edit", "code-first", "extract", "correction", "greeting", "no-prompt"],
)
def test_repeating_part_of_the_prompt_passes(prompt: str, text: str) -> None:
    """Edits and extracts repeat the material, not the instruction."""
    assert passes(rule("prompt_echo"), text, prompt=prompt)


def test_an_echo_without_spaces_between_words_fails() -> None:
    """Chinese and Japanese prompts are compared by character."""
    assert not passes(rule("prompt_echo"), "法国的首都是哪里？", prompt="法国的首都是哪里？")
    assert passes(rule("prompt_echo"), "法国的首都是巴黎。", prompt="法国的首都是哪里？")
