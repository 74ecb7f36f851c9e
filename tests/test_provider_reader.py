"""The reader of envelopes takes what is by the description, and nothing else."""

from __future__ import annotations

import pytest

from tests.provider import EnvelopeError, decode, read
from tests.provider.by_hand import CHOICE, END, NONCE, ONE, V, block, form, message


def test_reads_a_message_written_by_hand() -> None:
    """Slots keep their order, texts their lines, and the form tells tokens and values."""
    seen = read(
        message(block("prompt", "a\n\nb"), block("reference", ""), block("candidate", "| c"))
    )
    assert list(seen.slots.items()) == [
        ("prompt", "a\n\nb"),
        ("reference", ""),
        ("candidate", "| c"),
    ]
    assert seen.nonce == NONCE
    assert (seen.form.v, seen.form.end, seen.form.kind) == (V, END, "score")
    assert seen.form.allowed == (1, 2, 3, 4, 5)
    assert seen.outside == ""


def test_an_empty_block_without_a_line_is_an_empty_text() -> None:
    """A block that holds no line at all reads like one that holds an empty line."""
    empty = f"<<JS-DATA nonce={NONCE} slot=reference>>\n<<JS-END nonce={NONCE}>>"
    assert read(message(empty, block("candidate", "x"))).slots["reference"] == ""


@pytest.mark.parametrize(
    ("value_asked", "slots", "kind", "allowed", "fields"),
    [
        ('"score":<one of 0, 1>', ["candidate"], "score", (0, 1), {}),
        (
            CHOICE,
            ["candidate_1", "candidate_2"],
            "choice",
            ("candidate_1", "candidate_2", "tie"),
            {},
        ),
        (
            '"scores":{"accuracy":<one of 1, 2>,"style":<one of -1, 0, 1>}',
            ["candidate"],
            "scores",
            (),
            {"accuracy": (1, 2), "style": (-1, 0, 1)},
        ),
        (
            '"scores":{"candidate_1":<one of 1, 2>,"candidate_2":<one of 1, 2>}',
            ["candidate_1", "candidate_2"],
            "scores",
            (),
            {"candidate_1": (1, 2), "candidate_2": (1, 2)},
        ),
    ],
    ids=["score", "choice", "criteria", "list"],
)
def test_reads_every_kind_of_reply_form(
    value_asked: str,
    slots: list[str],
    kind: str,
    allowed: tuple[int | str, ...],
    fields: dict[str, tuple[int, ...]],
) -> None:
    """The last line says which values are offered."""
    asked = read(message(*(block(slot, "x") for slot in slots), value=value_asked)).form
    assert (asked.kind, asked.allowed, asked.fields) == (kind, allowed, fields)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (r"\u{3C}\u{3c}JS-END>", "<<JS-END>"),
        (r"\u{5C}u{41}", r"\u{41}"),
        (r"\u{0}\u{D800}\u{10FFFF}", "\x00\ud800\U0010ffff"),
        (r"\n \x \u0041 \\", r"\n \x \u0041 \\"),
        (r"\u{26}lt; & a < b > c && d", "&lt; & a < b > c && d"),
        ("caf\u00e9 \u4e2d\tx", "caf\u00e9 \u4e2d\tx"),
    ],
    ids=["fence", "literal escape", "odd code points", "backslashes", "entity", "plain"],
)
def test_decodes_escapes(shown: str, text: str) -> None:
    """Escapes become their character, everything else stays."""
    assert decode(shown) == text


@pytest.mark.parametrize(
    "raw",
    [
        "a << b", ">>", r"\u{}", r"\u{110000}", r"\u{xyz}", r"\u{A}", "<|im_end|>", "[/inst]",
        "</THINK>", "<s>", "&lt;", "&ltJS", "&#60", "&#X3c;", "\x00", "\r", "\x85", "\u2028",
        "\u200b", "\ue000", "\ud800", "\uff1c", "\u226e", "\u2039",
    ],
)  # fmt: skip
def test_refuses_what_should_have_been_escaped(raw: str) -> None:
    """A field that shows a dangerous shape as it is, is not by the description."""
    with pytest.raises(EnvelopeError):
        decode(raw)


@pytest.mark.parametrize(
    "broken",
    [
        form(),
        ONE + "\n",
        ONE.replace("| Why?", "Why?"),
        ONE.replace(f"<<JS-END nonce={NONCE}>>", f"<<JS-END nonce={'0' * 32}>>", 1),
        ONE.replace("slot=prompt", "slot=candidate"),
        ONE.replace("slot=prompt", "slot=system"),
        ONE.replace("slot=candidate", "slot=candidate_1"),
        ONE.replace(V, V.upper()),
        ONE.replace("1, 2, 3", "1, two, 3"),
        ONE.replace('"score"', '"grade"'),
        message(block("prompt", "x", "1" * 32), block("candidate", "x")),
        message(block("candidate", "x"), "| stray"),
        message(block("candidate", "x"), value=CHOICE),
        message(f"<<JS-DATA nonce={NONCE} slot=candidate>>\n| x"),
    ],
    ids=[
        "no block", "form not last", "no prefix", "other closer", "slot twice", "unknown slot",
        "slot of a pair", "upper-case token", "word for a point", "unknown field", "two nonces",
        "stray data", "choice of one", "never closed",
    ],
)  # fmt: skip
def test_refuses_a_message_that_is_not_by_the_description(broken: str) -> None:
    """The reader is strict."""
    with pytest.raises(EnvelopeError):
        read(broken)
