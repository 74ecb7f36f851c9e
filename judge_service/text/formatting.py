"""Makes a copy of an answer without the formatting that sways judges: markup and emoji.

Only decoration goes. Code (fenced or inline), LaTeX, links and addresses, lists, line structure and
every word stay as they are; a sign that might mean something (a star in a product, an underscore in
a name, a ``#`` in front of a word) is left alone.
"""

from __future__ import annotations

import re

import regex

from judge_service.injection.code_spans import code_spans

# What is kept as it is, besides code. Each alternative stops at the next opener of its kind, so
# that unclosed ones cost no second pass.
_KEPT = re.compile(
    r"\$\$[^$]{1,4000}\$\$"
    r"|\$(?=[^\s$])[^$\n]{0,400}?[^\s$\\]\$(?!\d)"
    r"|\\\((?:[^\\]|\\(?![()]))*\\\)"
    r"|\\\[(?:[^\\]|\\(?![\[\]]))*\\\]"
    r"|\\begin\{[^{}\n]{1,30}\}(?:[^\\]|\\(?!begin\{|end\{))*\\end\{[^{}\n]{1,30}\}"
    r"|\b(?:https?|ftp|file|mailto)://?[^\s<>]{1,2000}"
    r"|\]\([^()\s]{1,2000}(?:\s\"[^\"\n]{0,200}\")?\)"
)

# A mark opens behind a space, a bracket, a quote or a letter of a script without spaces, and
# closes in front of anything but a letter or digit.
_OPEN = r"(?<![^\s(\[{\"'“‘«—–:;,/|>\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{P}])(?<![\\*_~/])"
_SHUT = r"(?![A-Za-z0-9*_~])"
_ITALIC = regex.compile(
    rf"{_OPEN}\*(?=[\p{{L}}\p{{N}}\"“'(«])([^*\n]{{1,400}}+)(?<![\s\\])\*{_SHUT}"
)
_STRONG = regex.compile(rf"{_OPEN}(\*{{2,3}})(?=[^\s*])([^*\n]{{1,1000}}+)(?<![\s\\])\1{_SHUT}")
_UNDER = regex.compile(rf"{_OPEN}(_{{1,3}})(?=\p{{L}})([^_\n]{{1,400}}+)(?<![\s\\])\1(?![\w_])")
_STRIKE = regex.compile(r"(?<!~)~~(?=[^\s~])([^~\n]{1,400}+)(?<!\s)~~(?!~)")
_ONE_WORD = re.compile(r"\w+")

_RULE = re.compile(
    r"[ \t]{0,3}(?:(?:-[ \t]{0,3}){3,}|(?:\*[ \t]{0,3}){3,}|(?:_[ \t]{0,3}){3,}|={3,})[ \t]*"
)
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(?=\S)")
_HEADING_END = re.compile(r"[ \t]+#{1,6}[ \t]*$")
_QUOTE = re.compile(r"[ \t]{0,3}>(?:[ \t]?>){0,8}(?:[ \t]|$)")
_TABLE_SIGNS = frozenset("|:- \t")

_EMOJI_ONE = (
    r"(?:\p{Regional_Indicator}{2}|\U0001F3F4[\U000E0020-\U000E007E]{1,16}\U000E007F"
    r"|[0-9#*]\uFE0F?\u20E3"
    r"|(?:\p{Emoji_Presentation}|[[\U0001F000-\U0001FAFF]--[\U0001F130-\U0001F149]]"
    r"|[\u231A-\u23FF\u25B6\u25C0\u2600-\u27BF\u2B50\u2B55\u2763\u2764\u303D\u3297\u3299]\uFE0F)"
    r"[\uFE0F\uFE0E]?\p{Emoji_Modifier}?)"
)
_EMOJI = regex.compile(
    rf"(?:{_EMOJI_ONE}(?:\u200D{_EMOJI_ONE}|\u200D[\u2600-\u27BF]\uFE0F?)*+)++[ \t]?", regex.V1
)
_SELECTORS = re.compile("[\ufe0e\ufe0f]")

_TAGS = "b|strong|i|em|u|s|strike|mark|small|big|center|font|h[1-6]"
_TAG = re.compile(rf"</?({_TAGS})(?:\s[^<>\n]{{0,200}})?>", re.IGNORECASE)
_CLOSING = re.compile(rf"</({_TAGS})\s{{0,4}}>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s{0,4}/?>", re.IGNORECASE)
_RULE_TAG = re.compile(r"<hr(?:\s[^<>\n]{0,100})?/?>", re.IGNORECASE)
_DOCUMENT = re.compile(
    r"<(?:!doctype|html|head|body|script|style|table|form|input|template|svg|div|ul|ol|section)\b",
    re.IGNORECASE,
)
_RUNS = re.compile(r"([!?！？。，,、~～♪☆★])\1{2,}|[!?！？]{4,}")
_DOTS = re.compile(r"\.{4,}")


def normalize_formatting(text: str) -> str:
    """Return ``text`` without Markdown decoration, formatting tags, emoji and runs of marks."""
    keeper = _Keeper()
    text = _without_tags(keeper.reduced(text))
    text = _without_marks(_lines(_without_emoji(text)))
    text = _DOTS.sub("...", _RUNS.sub(_folded, text))
    return keeper.restored(text)


class _Keeper:
    """Swaps each piece that must stay for one character, and back."""

    _MARK = "\ufdd0"  # a noncharacter: no text has a use for it

    def __init__(self) -> None:
        self._kept: list[str] = []

    def reduced(self, text: str) -> str:
        """Return ``text`` with code, LaTeX and addresses swapped out."""
        text = text.replace(self._MARK, "")
        parts: list[str] = []
        position = 0
        for start, end in code_spans(text):
            parts += [_KEPT.sub(self._keep, text[position:start]), self._MARK]
            self._kept.append(text[start:end])
            position = end
        return "".join((*parts, _KEPT.sub(self._keep, text[position:])))

    def restored(self, text: str) -> str:
        """Return ``text`` with the pieces back in their places."""
        first, *rest = text.split(self._MARK)
        return first + "".join(kept + piece for kept, piece in zip(self._kept, rest, strict=True))

    def _keep(self, match: re.Match[str]) -> str:
        self._kept.append(match[0])
        return self._MARK


def _without_tags(text: str) -> str:
    if "<" not in text or _DOCUMENT.search(text):
        return text  # markup that is the answer itself
    closed = {name.lower() for name in _CLOSING.findall(text)}
    text = _RULE_TAG.sub("\n", _BREAK.sub("\n", text))
    return _TAG.sub(lambda match: "" if match[1].lower() in closed else match[0], text)


def _without_emoji(text: str) -> str:
    return text if text.isascii() else _SELECTORS.sub("", _EMOJI.sub(_no_emoji, text))


def _no_emoji(match: regex.Match[str]) -> str:
    before = match.string[match.start() - 1] if match.start() else "\n"
    return "" if before.isspace() or not match[0][-1].isspace() else " "


def _lines(text: str) -> str:
    """Headings, quote marks, rules, tables and blank lines, line by line."""
    shown: list[str] = []
    in_table = False
    lines = text.split("\n")
    for index, line in enumerate(lines):
        in_table = "|" in line and (in_table or _is_table_rule(lines[index + 1 : index + 2]))
        if in_table:
            if not _is_table_rule([line]):
                shown.append(_row(line))
            continue
        if quote := _QUOTE.match(line):
            line = line[quote.end() :]
        if _RULE.fullmatch(line):
            line = ""
        elif heading := _HEADING.match(line):
            line = _HEADING_END.sub("", line[heading.end() :])
        line = line.rstrip()
        if line or (shown and shown[-1]):
            shown.append(line)
    return "\n".join(shown).strip("\n")


def _is_table_rule(lines: list[str]) -> bool:
    return any("|" in line and "-" in line and _TABLE_SIGNS.issuperset(line) for line in lines)


def _row(line: str) -> str:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return "; ".join(cell for cell in cells if cell)


def _without_marks(text: str) -> str:
    if "*" in text:
        text = _STRONG.sub(r"\2", _ITALIC.sub(r"\1", text))
    if "_" in text:
        text = _UNDER.sub(_unmarked, text)
    return _STRIKE.sub(r"\1", text) if "~~" in text else text


def _unmarked(match: regex.Match[str]) -> str:
    """Underscores around one word may be part of a name, as in ``__init__``."""
    a_name = match[1] != "_" and _ONE_WORD.fullmatch(match[2])
    return match[0] if a_name else match[2]


def _folded(match: re.Match[str]) -> str:
    return match[1] or "".join(dict.fromkeys(match[0]))
