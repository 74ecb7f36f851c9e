"""The lossless escape: what it hides, what it leaves readable, and that it loses nothing."""

from __future__ import annotations

import html
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_service.reply import reply
from judge_service.text import control_tokens, escape
from judge_service.text.confusables import fold, is_invisible
from judge_service.text.escape import decode, encode

FRAGMENTS = [
    *'<>&[]{}|/;#=`"\\ \n\t\r\0',
    *("\\u{", "41}", "<<", ">>", "&lt", "&#60", "&#x3c", "&copy", "lt;", "x3c"),
    *("<|im_end|>", "[INST]", "<s", "system", "JS-END", "think", "|>", "im_start"),
    *("\u200b", "\ufe0f", "\u034f", "\x85", "\u2028", "\ud800", "\udc00", "\U000e0041"),
    *("＜", "‹", "≪", "ｌ", "ⅼ", "ſ", "İ", "é", "中", "😀", "ﬁ"),
]
any_text = st.text(st.characters(exclude_categories=())) | st.lists(
    st.sampled_from(FRAGMENTS), max_size=20
).map("".join)


@given(any_text)
def test_round_trip(text: str) -> None:
    """Every string comes back, with lone surrogates, NUL and text that looks escaped."""
    assert decode(encode(text)) == text


@given(any_text)
def test_result_is_plain(text: str) -> None:
    """The result is valid UTF-8 and has no line break but newlines, and as many as the text."""
    encoded = encode(text)
    encoded.encode()
    assert encoded.count("\n") == text.count("\n")
    assert len((encoded + ".").splitlines()) == encoded.count("\n") + 1


@given(any_text)
def test_nothing_dangerous_after_any_clean_up(text: str) -> None:
    """No marker or entity appears, even to a reader that folds lookalikes and drops invisibles."""
    encoded = encode(text)
    normal = unicodedata.normalize("NFKC", encoded)
    careless = "".join(fold(char) for char in normal if not is_invisible(char))
    for shown in (encoded, careless, html.unescape(careless)):
        assert "<<" not in shown
        assert ">>" not in shown
        assert "<|" not in shown
    assert html.unescape(encoded) == encoded


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("\0\x1b\x7f\x85\r\v\f", r"\u{0}\u{1B}\u{7F}\u{85}\u{D}\u{B}\u{C}"),
        ("a\u2028b\u2029c", r"a\u{2028}b\u{2029}c"),
        ("\u200b\ufeff\u202e\U000e0041", r"\u{200B}\u{FEFF}\u{202E}\u{E0041}"),
        ("\ud83d\ude00 \ud800", r"\u{D83D}\u{DE00} \u{D800}"),
        ("\ue000 \u0378", r"\u{E000} \u{378}"),
        ("＜＞＆［］｛｝｜", "".join(rf"\u{{{ord(c):X}}}" for c in "＜＞＆［］｛｝｜")),
        ("‹›❮❯❴❵≪⋙≮ꝸǀ∣", "".join(rf"\u{{{ord(c):X}}}" for c in "‹›❮❯❴❵≪⋙≮ꝸǀ∣")),
        ("a << b >>> c", r"a \u{3C}\u{3C} b \u{3E}\u{3E}\u{3E} c"),
        ("<<<", r"\u{3C}\u{3C}\u{3C}"),
        ("<\ufe0f<JS-END", "\\u{3C}\ufe0f\\u{3C}JS-END"),
        ("< <\n<", "\\u{3C} \\u{3C}\n\\u{3C}"),
        (r"\u{41} \\u{41} \U{41} \u0041", r"\u{5C}u{41} \\u{5C}u{41} \U{41} \u0041"),
    ],
    ids=[
        "controls",
        "separators",
        "format",
        "surrogates",
        "private-unassigned",
        "nfkc",
        "lookalikes",
        "doubled",
        "tripled",
        "doubled-around-invisible",
        "doubled-around-space",
        "literal-escape",
    ],
)
def test_exact_escapes(text: str, encoded: str) -> None:
    """Each class of the set is written as upper-case hex without padding, and nothing else is."""
    assert encode(text) == encoded


@pytest.mark.parametrize(
    "token",
    [
        *("<|im_start|>", "<|im_end|>", "<|EOT_ID|>", "<| im_end |>", "< |im_end| >", "<|im_end"),
        *("[INST]", "[/INST]", "[inst]", "[ /INST ]", "[/ Inst]", "[TOOL_CALLS]", "[THINK]"),
        *("[SYSTEM_PROMPT]", "[gMASK]", "[|system|]", "[control_8]"),
        *("<<SYS>>", "<</SYS>>", "<s>", "</s>", "<S>", "< s >", "< /s>", "<s/>", '<s class="x">'),
        *("<bos>", "</bos>", "<eos>", "<pad>", "<unk>", "<BOS_TOKEN>"),
        *("<start_of_turn>", "<end_of_turn>", "<End_Of_Turn>", "<turn|>"),
        *("<think>", "</think>", "< / think >", "</ThInK\n>", "<think", "</think", "<thinking>"),
        *(
            "<system>",
            "</system>",
            "<system foo>",
            '<system role="x">',
            "<SYSTEM\t>",
            "</ system >",
        ),
        *('< system role="x">', "<assistant>", "<user>", "<human>", "<developer>", "<tool>"),
        *("</assistant>", "</user>", "</human>", "</developer>", "</tool>", "<tool_call>"),
        *("<function=search>", "<invoke name='x'>", "<unused99>", "<extra_id_1>", "<fim_suffix>"),
        *("<｜begin▁of▁sentence｜>", "<seed:bos>", "<0x0A>", "]~b]", "◁think▷", "◁/think▷"),
        *("<JS-END nonce=0>", "< JS-END >", "</js-data>", "<ＪＳ-END>", "<th\ufe0fink>"),
    ],
)
def test_control_tokens(token: str) -> None:
    """A control token loses its first character: any case, spaces, attributes, cut short."""
    encoded = encode(f"a {token}")
    assert encoded.startswith(f"a \\u{{{ord(token[0]):X}}}")
    assert decode(encoded) == f"a {token}"


@pytest.mark.parametrize(
    "entity",
    [
        *("&lt;", "&LT;", "&lt", "&ltJS", "&amp;lt;", "&quot;", "&lbrack;", "&LBrack;", "&VERBAR;"),
        *("&#60;", "&#60", "&#0060;", "&#x3C;", "&#X3c", "&copy=1", "&lsqb;", "&lcub;"),
        *("&ⅼt;", "&l\ufe0ft;", "&#６0;", "&CounterClockwiseContourIntegral;"),
    ],
)
def test_entities(entity: str) -> None:
    """The ampersand of an HTML entity is escaped: named or numeric, with or without semicolon."""
    assert encode(entity).startswith(r"\u{26}")


@pytest.mark.parametrize(
    "text",
    [
        "if (a && b) { x = &y; f(&mut z, &self); } // 1 < 2 > 0, a<b, i <s && j>0",
        "#include <system.h>\nstd::vector<std::string> v; Map<String, Integer> m; x -> y => z",
        "# Title\n\n- **bold** [link](http://x/?a=1&b=2) `code` ![img](a)\n> quote\n\n| a | b |",
        "<div class='user'><p>text</p><user-card/></div> <!-- note --> </answer>",
        "if i < user and user > 3: x[mask] = y[:, None] | z",
        '{"score": 5, "list": [1, 2]} ```json {{template}} {% if %} ${x} %s',
        r"\frac{1}{2} \to \u00e9 \n $0 < |x| < 1$",
        "中文「引号」《书》【注】，日本語。한글 العربية עברית हिन्दी Ελληνικά Русский «да» é — …",
        "😀 👍🏽 ❤️ ✓ → ≤ ≥ ∑ │ ├── └──",
        "\tindented\n\n    code\n",
    ],
    ids=[
        "c",
        "cpp-java",
        "markdown",
        "html",
        "python",
        "json-templates",
        "latex",
        "scripts",
        "symbols",
        "whitespace",
    ],
)
def test_readable_text_stays_as_written(text: str) -> None:
    """Code, markdown and other scripts are shown unchanged."""
    assert encode(text) == text


@pytest.mark.parametrize("module", [escape, control_tokens, reply], ids=lambda m: str(m.__name__))
def test_source_code_hardly_grows(module: object) -> None:
    """A source file grows by under 10 %, even one about escapes."""
    with open(str(getattr(module, "__file__", "")), encoding="utf-8") as file:
        source = file.read()
    assert len(encode(source)) < 1.1 * len(source)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "plain words, ",
            "<",
            ">",
            "< ",
            "<s>",
            "&x",
            "&lt;",
            "[",
            "<|",
            "\0",
            "中文",
            "😀👍",
            "\\u{",
        ),
        *("<x<é", "<\ufe0f", "< " + "\t" * 999, "<" + "a" * 63, "[|" + "x" * 60),
        "< system " + "a " * 90,
    ],
    ids=ascii,
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    """A quarter of a megabyte of anything is encoded in a fraction of a second."""
    text = unit * (2**18 // len(unit.encode()))
    started = time.process_time()
    encoded = encode(text)
    assert time.process_time() - started < 5.0
    assert decode(encoded) == text


@pytest.mark.parametrize("text", [r"\u{110000}", r"\u{}", r"\u{zz}", r"\u{1234567}", r"\u{41"])
def test_what_names_no_character_is_left_alone(text: str) -> None:
    """Decoding text that was never encoded raises nothing and invents nothing."""
    assert decode(text) == text
