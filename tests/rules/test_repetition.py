"""Saying one thing over and over fails; patterns that carry information do not."""

from __future__ import annotations

import pytest

from .support import check, passes, rule

SENTENCE = "The mitochondria is the powerhouse of the cell and it makes energy. "
GOOD = " ".join(f"word{number} thing{number * 7}" for number in range(300))

REPETITIVE = {
    "a sentence 400 times": SENTENCE * 400,
    "a sentence ten times": SENTENCE * 10,
    "a word": "the " * 200,
    "a syllable": "ha" * 300,
    "japanese": "猫が好きです。" * 15,
    "chinese": "我喜欢你。" * 50,
    "thai": "สวัสดีครับ " * 60,
    "korean": "안녕하세요 여러분 " * 60,
    "zero width between": "the\u200b cat\u200b sat " * 200,
    "a letter a line": "a\n" * 500,
    "braces": "}" * 5000,
    "emoji": "😂👍" * 1000,
    "exclamation marks": "!" * 3000,
    "a good answer with a loop at its end": GOOD + SENTENCE * 60,
    "a paragraph five times": (SENTENCE + "It has two membranes, and DNA of its own. ") * 5,
}
INFORMATIVE = {
    "asserts": "\n".join(f"    assert add({n}, {n + 1}) == {2 * n + 1}" for n in range(60)),
    "long asserts": "\n".join(
        f"        self.assertEqual(total_price_with_discount({n}, 0.{n}), {n * 3})"
        for n in range(1, 40)
    ),
    "closing braces": "f() {\n  if (x) {\n    while (y) {\n      z();\n    }\n  }\n}\n"
    + "}\n" * 30,
    "a table": "| Item | A | B |\n|---|---|---|\n"
    + "\n".join(f"| feature {n} | Yes | No |" for n in range(40)),
    "ruled table": "+------+------+\n".join(f"| a{n} | b{n * n} |\n" for n in range(40)),
    "identity matrix": "\n".join(
        " ".join(str(int(row == column)) for column in range(20)) for row in range(20)
    ),
    "zeros": "[" + ", ".join(["0"] * 300) + "]",
    "latex": "\n".join(f"x_{{{n}}} &= y_{{{n}}} + z_{{{n}}} \\\\" for n in range(50)),
    "json records": ",\n".join(
        f'{{"id": {n}, "name": "user{n}", "active": true, "role": "member"}}' for n in range(60)
    ),
    "html table": "".join(f"<tr><td>{n}</td><td>{n * n}</td></tr>" for n in range(60)),
    "counting song": "\n".join(
        f"{n} bottles of beer on the wall, take one down, {n - 1} bottles" for n in range(99, 1, -1)
    ),
    "refrain": "\n".join(
        f"{verse}\nOh the river runs deep and the river runs wide, I wait on the other side."
        for verse in (
            "I walked the road from morning light, with dust upon my shoes and sight.",
            "The mill is closed, the men have gone, the whistle plays a silent song.",
            "My father said the water knows, the names of everyone who goes.",
        )
    ),
    "code before and after": "def area(w, h):\n    return w * h\n" * 2,
    "short": "ha ha ha",
    "rules": "=" * 80 + "\nTitle\n" + "=" * 80,
}


@pytest.mark.parametrize("text", REPETITIVE.values(), ids=REPETITIVE.keys())
def test_repetition_fails(text: str) -> None:
    """In any script, whether the loop is all of the answer or only its end."""
    assert not passes(rule("repetition"), text)


@pytest.mark.parametrize("text", INFORMATIVE.values(), ids=INFORMATIVE.keys())
def test_patterns_pass(text: str) -> None:
    """Code, tables, figures and verses repeat for a reason."""
    assert passes(rule("repetition"), text)


def test_the_score_falls_smoothly() -> None:
    """More copies of half an answer, less score; no copies, full score."""
    scores = [check(rule("repetition"), GOOD + SENTENCE * copies).score for copies in (0, 1)]
    assert scores == [1.0, 1.0]
    middle = check(rule("repetition", free=0.3, limit=0.9), (GOOD + " ") * 2)
    assert middle.passed
    assert 0.0 < middle.score < 1.0
