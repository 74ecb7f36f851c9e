"""The forms of a text: without reasoning, without decoration, and as an identity."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_service.text.formatting import normalize_formatting
from judge_service.text.identity_key import identity_key
from judge_service.text.reasoning import strip_reasoning

STRIPPED = {
    "block": ("<think>\nLet me see.\n</think>\n\nIt is 4.", "It is 4."),
    "empty block": ("<think>\n\n</think>\n\nIt is 4.", "It is 4."),
    "thinking": ("<thinking>hm</thinking>It is 4.", "It is 4."),
    "reasoning": ("<reasoning>\nr\n</reasoning>\n<answer>4</answer>", "<answer>4</answer>"),
    "capitals and attributes": ('<THINK effort="high">hm</Think >It is 4.', "It is 4."),
    "square tags": ("[THINK]hm[/THINK]It is 4.", "It is 4."),
    "bars": (
        "<|begin_of_thought|>hm<|end_of_thought|>\n\n"
        "<|begin_of_solution|>It is 4.<|end_of_solution|>",
        "It is 4.",
    ),
    "triangles": ("◁think▷hm◁/think▷It is 4.", "It is 4."),
    "channels": (
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant"
        "<|channel|>final<|message|>It is 4.<|return|>",
        "It is 4.",
    ),
    "channels, opened in the prompt": (
        "hm<|end|><|start|>assistant<|channel|>final<|message|>It is 4.",
        "It is 4.",
    ),
    "channels, cut off": ("<|channel|>analysis<|message|>hm", ""),
    "channels without markers": (
        "analysisThe user asks for 2+2.assistantfinalIt is 4.",
        "It is 4.",
    ),
    "never closed": ("<think>Let me see. It might be", ""),
    "never closed, square": (" [THINK]Let me", ""),
    "cut off in a second block": ("It is 4.\n<think>Or is it", "It is 4."),
    "opener in the prompt": ("Let me see.\n</think>\n\nIt is 4.", "It is 4."),
    "opener in the prompt, one line": ("Let me see. </think> It is 4.", "It is 4."),
    "only a closer at the end": ("Let me see.\n</think>", ""),
    "in the middle": ("One.\n<think>hm</think>\nTwo.", "One.\n\nTwo."),
    "in a line": ("One. <think>hm</think> Two.", "One. Two."),
    "two blocks": ("<think>a</think>One. <think>b</think>Two.", "One. Two."),
    "nested": ("<think>a <think>b</think> c</think>It is 4.", "It is 4."),
    "closed too often": ("<think>a</think></think>\n</think>It is 4.", "It is 4."),
    "tag spoken of inside": ("<think>do I need <think>?\n</think>It is 4.", "It is 4."),
    "unfinished code inside": ("<think>```py\nx = 1\n</think>\nUse ```x```.", "Use ```x```."),
    "code inside quotes a closer": ("<think>the `</think>` tag\n</think>It is 4.", "It is 4."),
}


@pytest.mark.parametrize(("text", "answer"), STRIPPED.values(), ids=STRIPPED.keys())
def test_reasoning_is_taken_out(text: str, answer: str) -> None:
    """What is left is what the policy's user would read."""
    assert strip_reasoning(text) == answer
    assert strip_reasoning(answer) == answer


def test_a_second_closer_does_not_hide_what_stands_before_it() -> None:
    """A lone closer ends the reasoning once: text behind the first one is always judged."""
    text = "Let me see.\n</think>\nA shown and wrong answer.\n</think>\nA good answer."
    assert strip_reasoning(text).startswith("A shown and wrong answer.")


UNTOUCHED = {
    "plain": "It is 4.\n\n  Indented.  \n",
    "empty": "",
    "inline code": "End the block with `</think>`; it starts with `<think>`.",
    "fence": "The template is:\n```xml\n<think>\n…\n</think>\n```\nThat is all.",
    "tilde fence": "~~~\n<thinking>\n~~~\n",
    "unfinished fence": "```\n<think>\nexample",
    "in quotes": 'It emits "<think>" first and "</think>" last.',
    "as words": "Reasoning stands between <think> and </think> tags.",
    "only an opener, in a line": "I put <think> in front.",
    "other tags": "<thinker>x</thinker> a < b > c",
    "the word": "analysis of the data: assistants are final",
    "markers in code": "Harmony writes `<|channel|>final<|message|>` there.",
}


@pytest.mark.parametrize("text", UNTOUCHED.values(), ids=UNTOUCHED.keys())
def test_an_ordinary_answer_keeps_every_character(text: str) -> None:
    """Tags that an answer writes about are part of the answer."""
    assert strip_reasoning(text) == text


NORMALIZED = {
    "heading": ("# Title\n\n## Sub ##\ntext", "Title\n\nSub\ntext"),
    "bold": ("a **bold** word, __two words__", "a bold word, two words"),
    "italics": ("an *important* and _central_ point", "an important and central point"),
    "both": ("***both*** and **a *b* c**", "both and a b c"),
    "across scripts": ("这是**重要**的。", "这是重要的。"),
    "strike": ("~~old~~ new", "old new"),
    "quotation": ("> one\n> > two\nthree", "one\ntwo\nthree"),
    "rules": ("a\n\n---\n\nb\n***\nc\n=====", "a\n\nb\n\nc"),
    "table": ("| a | b |\n|---|:-:|\n| 1 | **2** |\nend", "a; b\n1; 2\nend"),
    "emoji": ("Great 🎉 job!👏🏽", "Great job!"),
    "emoji sequences": ("a 👨‍👩‍👧 b 🇫🇷 c 🏴󠁧󠁢󠁥󠁮󠁧󠁿 d ❤️‍🔥 e", "a b c d e"),
    "keycaps and signs": ("1️⃣ first ✅ second ☀️", "first second"),
    "emoji bullets": ("🚀 Fast\n💡 Bright", "Fast\nBright"),
    "blank lines": ("a\n\n \n\n\nb", "a\n\nb"),
    "marks": ("Wow!!!! Why???? No?!?!?! 好！！！！ wait.....", "Wow! Why? No?! 好！ wait..."),
    "tags": ("<b>bold</b> <font color='red'>red</font> <h2>T</h2>", "bold red T"),
    "breaks": ("a<br>b<br/>c", "a\nb\nc"),
    "code in bold": ("**use `a*b`**", "use `a*b`"),
}


@pytest.mark.parametrize(("text", "plain"), NORMALIZED.values(), ids=NORMALIZED.keys())
def test_decoration_goes(text: str, plain: str) -> None:
    """The words and their order stay; how they are dressed up does not."""
    assert normalize_formatting(text) == plain


KEPT = {
    "fence": "```python\n# note\n\n\n\nx = a**b  # **k** 🎉 !!!!\n```",
    "inline code": "Use `**kwargs` and `__init__` and `# x`.",
    "stars": "2*3*4 and a ** b and 2**3**4",
    "arguments": "call f(*args, **kwargs) with *args",
    "globs": "*.py, *.txt and src/*/test*/x",
    "pointers": "char *a, *b; int **c",
    "names": "snake_case_name, __init__, _private and MAX_SIZE_1",
    "include": "#include <vector>\n#hashtag #1",
    "comparison": "5 > 3 and x >= y and a -> b",
    "generics": "vector<s>, Map<b> and List<i>",
    "inequality": "a < b and c > d",
    "dollars": "$a_1 * b_2 * c$ costs $5 and $10",
    "latex": r"\(x_1 * y_1 * z\) and \[ a*b*c \] and $$ a_b_c *d* $$",
    "environment": "\\begin{align} a &= *b* \\\\ c &= _d_ \\end{align}",
    "address": "https://x.test/_a_/*b*/c_d and [link](http://x.test/a_b_c)",
    "list": "- one\n- two\n  - three\n1. four\n* five",
    "markup as answer": "<!DOCTYPE html>\n<html><body><b>x</b></body></html>",
    "script": "H<sub>2</sub>O and x<sup>2</sup>",
    "Chinese": "你好，世界。「引用」——结束……",
    "signs": "© ™ → ✓ ± ½ № § ° ♯ ∀x",
    "punctuation": "Really?! n!! Wait... yes.",
    "pipes": "a | b is a pipe, and |x| is 3",
    "indentation": "def f():\n    return 1",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT.keys())
def test_what_may_carry_meaning_stays(text: str) -> None:
    """Code, maths, names, addresses and lists are not decoration."""
    assert normalize_formatting(text) == text


PARTS = (
    "<think>", "</think>", "```", "`", "\n", "**", "*", "_", "|", "---", "> ", "# ", " a", "😀",
    "$", "<|channel|>final<|message|>", "[THINK]", "\\(", "<b>", "</b>", "!", "\ufdd0", "\ud800",
)  # fmt: skip


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_no_text_is_too_odd(text: str) -> None:
    """Every form of every text is a string, and forms keep to what was there."""
    for form in (strip_reasoning, normalize_formatting, identity_key):
        assert set(form(text)) <= set(text) | set(" \n;")


FORMS: dict[str, Callable[[str], str]] = {
    "strip_reasoning": strip_reasoning,
    "normalize_formatting": normalize_formatting,
    "identity_key": identity_key,
}
UNITS = (
    "**a ", "*a ", "_a ", "`", "``` \n", "<think>", "</think> x", "<think>a</think>", "$a ",
    "\\(a", "\\[", "\\begin{a}", "|a|\n|-|\n", "| ", "[THINK] the <think> ", "# ", "> ", " ",
    "\n", "😀 ", "😀\u200d", "a\u0316\u0301", "http://", "](", "<b>", "!?", "[a](b)",
    " \t", "```py\n", "-  ", "~~",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_time_grows_in_step_with_length(form: Callable[[str], str]) -> None:
    """Eight times the text takes about eight times as long, whatever the text is made of."""

    def seconds(text: str) -> float:
        started = time.process_time()
        form(text)
        return time.process_time() - started

    for unit in UNITS:
        short = unit * (8_192 // len(unit))
        base = max(min(seconds(short) for _ in range(3)), 0.004)
        # Eightfold work; a quadratic form would take 64 times as long.
        assert min(seconds(short * 8) for _ in range(3)) < 8 * base * 6, unit
