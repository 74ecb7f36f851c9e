"""The final answer against the reference: as text, number or letter."""

from __future__ import annotations

import pytest

from judge_service.rules import RuleNeedsReference

from .support import passes, rule


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("Paris", "paris"),
        (" **PARIS.** ", "Paris"),
        ("Pa\u200bris", "Paris"),
        ("ｐａｒｉｓ", "Paris"),
        (r"a long way to \boxed{\text{yes}}", "Yes"),
        ("<think>x</think><answer>New  York</answer>", "new york"),
        ("北京。", "北京"),
        ("%", "%"),
    ],
)
def test_equal_texts(text: str, reference: str) -> None:
    """Case, width, spaces and outer punctuation do not matter."""
    assert passes(rule("matches_reference"), text, reference=reference)


@pytest.mark.parametrize(
    ("text", "reference"),
    [("Lyon", "Paris"), ("The answer is Paris", "Paris"), ("", "x"), ("+", "-")],
)
def test_different_texts(text: str, reference: str) -> None:
    """Containing the reference is not being it."""
    assert not passes(rule("matches_reference"), text, reference=reference)


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("I have 3 apples and 4 pears, so 7", "7"),
        ("The answer is 42, which I computed in 3 steps.", "42"),
        ("**Answer:** 6 × 7 = 42", "42"),
        ("so\n#### 1,234", "1234"),
        (r"\boxed{x = 5}", "5"),
        (r"\boxed{-\frac{3}{4}}", "-0.75"),
        (r"\frac12", "1/2"),
        (r"\boxed{1{,}234}", "1,234"),
        ("1 1/2", "1.5"),
        ("1½", "1.5"),
        ("50%", "0.5"),
        (r"50\%", "50"),
        ("0.5", "50%"),
        ("1.2 × 10³", "1200"),
        (r"1.2 \times 10^{3}", "1.2e3"),
        ("2^{10}", "1024"),
        ("\u22125", "-5"),
        ("٤٢", "42"),
        ("\U00011f54\U00011f52", "42"),
        ("3,14", "3.14"),
        ("1.234,56", "1234.56"),
        ("12\u202f345", "12345"),
        ("0.3333333333", "1/3"),
        ("答案是42", "42"),
        ("12345678901234567890", "12345678901234567890"),
        (r"\boxed{\sqrt{2}}", r"\sqrt{2}"),
        ("1,000 km", "1000"),
    ],
)
def test_equal_numbers(text: str, reference: str) -> None:
    """The final number is read the way people write numbers."""
    assert passes(rule("matches_reference", mode="number"), text, reference=reference)


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("41", "42"),
        ("42 or 43", "42"),
        ("12345678901234567891", "12345678901234567890"),
        (r"\boxed{\sqrt{2}}", "2"),
        (r"\boxed{1, 2}", "2"),
        (r"\boxed{}", "5"),
        ("1/0", "0"),
        ("H2O", "2"),
        ("0.001", "0"),
        ("five", "5"),
        ("", "5"),
        ("1e999999", "1e99"),
    ],
)
def test_different_numbers(text: str, reference: str) -> None:
    """Several numbers in a box, roots and hedges are not the reference."""
    assert not passes(rule("matches_reference", mode="number"), text, reference=reference)


@pytest.mark.parametrize(
    "text",
    [
        "the answer is not 5",
        "The answer isn't 5",
        "The answer is definitely not 5.",
        "It isn’t 5.",
        "It cannot be 5",
        "x does not equal 5",
        "5 is wrong",
        "**5** is not the answer.",
        "x ≠ 5",
        r"x \neq 5",
        "x != 5",
        "<answer>not 5</answer>",
        "It is 7, not 5.",
    ],
)
def test_a_number_that_is_denied_is_not_the_answer(text: str) -> None:
    """Naming the reference to say that it is not so is no right answer."""
    assert not passes(rule("matches_reference", mode="number"), text, reference="5")


@pytest.mark.parametrize(
    "text",
    [
        "It is 5, not 7.",
        "5 instead of 7",
        "The answer is not 7 but 5.",
        "The answer is not 7.\n\nAnswer: 5",
        "7 is incorrect; 5 is correct",
        "x is not negative, so x = 5",
        "x is not 0, so the answer is 5",
        "There are 5 values where x is not 0.",
        "not only 3 but 5",
        "I was not sure, but 5",
        "I can't find any other. So: 5",
        "The answer is 5, which is not wrong",
        r"\boxed{5}, not 6",
        "5 is not too large",
        "Why not? 5",
    ],
)
def test_other_denials_do_not_touch_the_number(text: str) -> None:
    """A right answer that says "not" of something else, or denies another number, is right."""
    assert passes(rule("matches_reference", mode="number"), text, reference="5")


def test_tolerance_is_relative() -> None:
    """Decimals within it are equal; integers are compared exactly."""
    made = rule("matches_reference", mode="number", tolerance=0.01)
    assert passes(made, "3.15", reference="3.14159")
    assert not passes(made, "3.2", reference="3.14159")
    assert not passes(made, "1001", reference="1000")


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("B", "B"),
        ("(b)", "B"),
        ("**B.** Paris", "B"),
        ("B) Paris", "(B) Paris"),
        ("The answer is (B).", "B"),
        ("Answer: B because it rains", "B"),
        ("First I thought Answer: A. But the answer is **D**.", "D"),
        (r"\boxed{\text{B}}", "B"),
        ("<answer>B</answer>", "B"),
        ("Some reasoning.\n\nB", "B"),
        ("B\n\nBecause it rains.", "B"),
        ("答案：B", "B"),
        ("Ｂ", "B"),
        ("Option B is right", "B"),
        ("The answer is A and C", "A, C"),
        ("A, B", "AB"),
        ("AB", "A, B"),
        ("The answer is ACD.", "A, C and D"),
        (r"\boxed{\text{AC}}", "AC"),
        ("Both hold, so\nAB", "AB"),
        ("B) is not a mammal", "B"),
        ("Answer: B) is wrong about whales", "B"),
    ],
)
def test_the_same_choice(text: str, reference: str) -> None:
    """The letter is found where people put it."""
    assert passes(rule("matches_reference", mode="multiple_choice"), text, reference=reference)


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("A", "B"),
        ("A or B", "B"),
        ("The answer is A or B", "A"),
        ("The answer is a dog", "A"),
        ("A dog ran.", "A"),
        ("I think so", "I"),
        (r"\boxed{A, B}", "A"),
        ("ABCD", "A"),
        ("Better", "B"),
        ("ABC", "AB"),
        ("A", "AB"),
        ("Answer: B is wrong", "B"),
        ("The answer is not B", "B"),
        ("", "A"),
    ],
)
def test_another_choice_or_none(text: str, reference: str) -> None:
    """Hedges, articles and words that start with the letter choose nothing."""
    made = rule("matches_reference", mode="multiple_choice")
    assert not passes(made, text, reference=reference)


@pytest.mark.parametrize(
    ("mode", "reference"),
    [
        ("exact", None),
        ("number", ""),
        ("multiple_choice", "\u200b"),
        ("multiple_choice", "no letter"),
        ("multiple_choice", "BAD"),
    ],
)
def test_a_missing_reference_is_the_callers_mistake(mode: str, reference: str | None) -> None:
    """There is nothing to compare with, so there is no score."""
    with pytest.raises(RuleNeedsReference, match="matches_reference"):
        passes(rule("matches_reference", mode=mode), "42", reference=reference)
