"""Markdown and emoji, the finish reason, and tool calls."""

from __future__ import annotations

from typing import Any

import pytest

from judge_service.types import ToolCall

from .support import check, passes, rule

CALLS = (ToolCall(name="search"), ToolCall(name="delete"))

PLAIN = {
    "a structured answer": "# Result\n\n- **First**: the river is long and slow.\n"
    "- **Second**: the bridge is made of stone.\n\nBoth were built before the mill was.",
    "bold word": "**Yes**",
    "one emoji": "🎉 Hello there, this is a message with an emoji.",
    "powers and names": "2**3 * 4, a * b, x_1 * y_2 and snake_case_names " * 5,
    "python": "# comment\ndef f(*args, **kwargs):\n    return args[0] ** 2\n" * 5,
    "fenced code": "```c\n/* * * */ int **p; # # #\n" + "*p = **q;\n" * 30 + "```",
    "latex": "\\begin{aligned}\n x_1 &= \\mathbf{y}^* \\\\\n\\end{aligned}\n$a*b*c$ " * 6,
    "table": "| a | b |\n|---|---|\n" + "| some words here | and some more here |\n" * 12,
}
STUFFED = {
    "bold everything": "**so** **many** **bold** **words** " * 30,
    "emoji": "🎉" * 200,
    "headings and emoji": "# **Go** 🚀🚀\n" * 30,
    "hidden in a markdown fence": "```markdown\n" + "# **a**\n" * 60 + "```",
}


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN.keys())
def test_ordinary_formatting_costs_nothing(text: str) -> None:
    """Code and formulas are not markup; a structured answer is welcome."""
    assert check(rule("markup_density"), text).score == 1.0


@pytest.mark.parametrize("text", STUFFED.values(), ids=STUFFED.keys())
def test_stuffed_formatting_fails(text: str) -> None:
    """An answer that is mostly marks scores nothing."""
    found = check(rule("markup_density"), text)
    assert not found.passed
    assert found.score == 0.0


def test_the_score_falls_with_every_mark() -> None:
    """There is no cliff between free and limit."""
    words = "word " * 100
    scores = [check(rule("markup_density"), words + "🎉" * n).score for n in range(30, 160, 10)]
    assert scores == sorted(scores, reverse=True)
    assert len({score for score in scores if 0 < score < 1}) >= 5


@pytest.mark.parametrize(
    ("reason", "passed"),
    [
        ("length", False),
        ("MAX_TOKENS", False),
        ("max-tokens", False),
        ("maxTokens", False),
        ("max_completion_tokens", False),
        ("FinishReason.LENGTH", False),
        ("stop", True),
        ("tool_calls", True),
        ("", True),
        (None, True),
    ],
)
def test_a_cut_off_answer_is_not_finished(reason: str | None, passed: bool) -> None:
    """What the finish reason does not say is not held against the answer."""
    assert passes(rule("finished"), "an answer", finish_reason=reason) is passed


@pytest.mark.parametrize(
    ("parameters", "score"),
    [
        ({"min": 2, "max": 2}, 1.0),
        ({"min": 4}, 0.5),
        ({"max": 1}, 0.5),
        ({"max": 0}, 0.0),
        ({"required": ["search"]}, 1.0),
        ({"required": ["search", "save"]}, 0.5),
        ({"forbidden": ["delete"]}, 0.5),
        ({"forbidden": "save"}, 1.0),
        ({"min": 8, "forbidden": ["delete"]}, 0.25),
    ],
    ids=str,
)
def test_tool_calls_are_counted(parameters: dict[str, Any], score: float) -> None:
    """Too few, too many, missing and forbidden calls fail, with a score by how far."""
    found = check(rule("tool_calls", **parameters), "", tool_calls=CALLS)
    assert found.score == score
    assert found.passed is (score == 1.0)
