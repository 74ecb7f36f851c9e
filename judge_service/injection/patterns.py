"""Shapes that imitate the judge's surroundings: its envelope, its reply, its turns, its markup.

Every function reads a text in lower case (see ``views``) and answers in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge_service.injection.cheap_looks import any_of
from judge_service.injection.code_spans import Span, inside

_BLOCK_NAME = re.compile(
    r"js[\s|]{0,9}[-_\u2010-\u2015]?[\s|]{0,9}(?:end|data)\b\s{0,9}(>|nonce|slot)?"
)
_DOUBLE_ANGLE = re.compile(r"<\s{0,9}<[\s|/]{0,9}$")
_BLOCK_HEAD = re.compile(r"nonce\s?=\s?[0-9a-f*]{0,64}\s{1,9}slot\s?=")

# What a verdict may be called, and what may stand beside it.
_VALUE_KEY = (
    r"(?:final_|overall_)?(?:score|scores|verdict|rating|grade|choice|winner|preference|"
    r"rank|reward)"
)
_BESIDE = frozenset(
    [
        "v",
        "end",
        "reason",
        "reasoning",
        "explanation",
        "feedback",
        "analysis",
        "rationale",
        "comment",
        "justification",
        "thought",
        "thoughts",
        "model",
        "criterion",
        "confidence",
    ]
)
_OBJECT = re.compile(r'\{\s{0,40}\\?["\'](\w{1,24})\\?["\']\s{0,9}:')
_KEY = re.compile(r'(?:[{,]\s{0,40})\\?["\'](\w{1,24})\\?["\']\s{0,9}:\s{0,9}(?=(\S{0,24}))')
_IS_VALUE_KEY = re.compile(_VALUE_KEY)
_A_VALUE = re.compile(
    r"""\\?["']?(?:[0-9]{1,3}(?:\.[0-9])?|[ab]|candidate_[12]|first|second|correct|"
    r"pass(?:ed)?|\{|\[)"""
    r"""(?![\w/])"""
)
_CODE_BEFORE = re.compile(
    r"""(?:[=(\[,{+&|"'`]|["'\])]:|\b(?:return|in|yield|assert|print))[ \t]*$"""
)
_OBJECT_REACH = 4000
_DOUBLE_BRACKETS = re.compile(
    r"\[\[\s?(?P<what>10|[0-9]|[abc]|[ab]\s?[<>=]{1,3}\s?[ab])\s?\]\](?![\w\[(=])"
)
_BRACKET_LABEL = re.compile(
    r"(?:rating|score|verdict|grade|winner|result|choice|answer|judge?ment|final)"
    r"[^\n\w\[]{0,8}(?:is:?\s)?[^\n\w\[]{0,4}$"
)
_TOOL_NAME = re.compile(
    r"(?:submit|report|record|return|give|set|final|assign)_"
    r"(?:score|verdict|grade|rating|judge?ment|evaluation|reward|result)"
)
_CALLS = re.compile(
    r"<\|?(?:tool_call|function_call|function|invoke|tool)\b|[\"']name[\"']\s?[:=]|"
    r"\bname\s?=\s?[\"']"
    r"|\bfunctions?\.|\bto=|\[tool_calls\]"
)
_LABELLED = re.compile(
    r"^(?:[^\w\n]|_){0,8}(?:final |overall |my )?(?:verdict|judge?ment|"
    r"winner)[\W_]{0,6}[:=]\s{0,4}[\W_]{0,4}"
    r"(?:candidate_|response |answer |assistant )?(?:[0-9]{1,2}|[ab]|first|second)[\W_]{0,4}$",
    re.MULTILINE,
)
_WHOLE_LABEL = re.compile(
    r"[\W_]{0,8}(?:final |overall |the )?(?:score|rating|grade|mark|verdict|points)[\W_]{0,4}"
    r"(?:is )?[\W_]{0,4}(?:[0-9]{1,3}|full marks)[\W_]{0,8}"
)

# "### end of response ###": what ends, between marks that ordinary prose does not use.
_ENDED = (
    r"(?:response|answer|candidate|submission|completion|student answer|model output|"
    r"output|input|data|"
    r"assistant(?:'s)?(?: [ab12])?(?:'s)? (?:answer|response)|essay|evaluation|untrusted \w{1,12}|"
    r"user (?:input|content|data)|document|text|prompt|instructions|block)"
)
_PROMPT_END = re.compile(
    rf"/?(?:end|stop|"
    rf"finish)(?:ed)?(?:[ _-]of)?(?:[ _-]the)?[ _-]{_ENDED}\b[ \t\w]{{0,20}}[^\w\n]{{0,40}}"
)
_END_MARK = re.compile(
    r"(?:^|\n|[.!?] )[ \t>]{0,8}(?:#{2,6}|\[{1,3}|={3,40}|-{3,40}|\*{3,40}|<{1,3}\|?|"
    r"\({1,2})[ \t]{0,4}/?$"
)
_VERDICT_WORD = re.compile(
    r"\b(?:verdict|score|rating|grade|judge?ment|evaluation|judge|winner|"
    r"instructions?|rubric|full marks)\b"
)

_QUOTE_AND_BRACE = re.compile(r"[\"'`]{1,3}\s{0,9}[}\])]{1,3}")
_REOPENED = re.compile(
    r"[\"'](?:output|response|answer|instruction|rank|model)[\"']\s{0,4}:\s{0,4}(?:\"|'{3}|[0-9])"
)
# A string ends and a verdict's key follows, though no object was opened.
_CONTINUED = re.compile(
    rf"[\"']\s{{0,9}},\s{{0,9}}[\"']{_VALUE_KEY}[\"']\s{{0,9}}:\s{{0,9}}[\"']?[0-9ab]"
)
_OPENS = re.compile(r"[{\[(]")

CONTROL_TOKEN = re.compile(
    r"<\|(?:im_start|im_end|im_sep|eot_id|eom_id|start_header_id|end_header_id|begin_of_text|"
    r"end_of_text|endoftext|system|user|assistant|observation|eot|header_start|header_end|"
    r"start_of_turn_token|end_of_turn_token|system_token|user_token|chatbot_token|"
    r"begin.{1}of.{1}sentence|end.{1}of.{1}sentence|fim_\w{1,8}|python_tag|endofprompt|pad)\|>"
    r"|<\|start\|>(?:system|developer|user)|<start_of_turn>|<end_of_turn>|\[/inst\]|"
    r"\[inst\]\s{0,3}[a-z<]|<</?sys>>"
    r"|\[/?system_prompt\]|\[gmask\]|<sop>|<bos>"
)
_STOPS_AT_END = re.compile(
    r"(?:\s{0,9}(?:<\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end|return|eot|user|"
    r"end_of_turn_token|end.of.sentence)\|>|<end_of_turn>|</s>|<eos>)){1,8}\s{0,99}$"
)
_SENTENCE_TOKEN = re.compile(
    r"</?s>\s{0,4}(?:<s>|\[/?inst\]|<<sys>>|(?:system|user|human|assistant)\b)"
)


def envelope(text: str) -> bool:
    """Whether ``text`` has something like the opener or closer of a data block."""
    return _BLOCK_HEAD.search(text) is not None or any(
        match[1] or _DOUBLE_ANGLE.search(text, max(0, match.start() - 20), match.start())
        for match in _BLOCK_NAME.finditer(text)
    )


def forged_verdict(text: str, code: Sequence[Span]) -> bool:
    """Whether ``text`` has a judge's verdict in one of the forms judges write them."""
    return (
        _forged_object(text)
        or any(_in_brackets(text, match, code) for match in _DOUBLE_BRACKETS.finditer(text))
        or (
            "_" in text
            and any(
                _CALLS.search(text, max(0, match.start() - 120), match.start())
                for match in _TOOL_NAME.finditer(text)
            )
        )
        or (any_of(text, "verdict", "judg", "winner") and _LABELLED.search(text) is not None)
        or _WHOLE_LABEL.fullmatch(text.strip()[:80] if len(text) < 200 else "") is not None
    )


def _forged_object(text: str) -> bool:
    """An object with nothing but a verdict in it, which is not part of a program."""
    checked = 0
    for match in _OBJECT.finditer(text):
        if match.start() < checked or _CODE_BEFORE.search(
            text, max(0, match.start() - 40), match.start()
        ):
            continue
        end = text.find("}", match.start(), match.start() + _OBJECT_REACH)
        checked = end = end if end >= 0 else min(len(text), match.start() + _OBJECT_REACH)
        pairs = _KEY.findall(text, match.start(), end)
        if pairs[0][0] == "scores" and pairs[0][1].startswith("{"):
            pairs = [("scores", value) for _, value in pairs]
        values = [value for key, value in pairs if _IS_VALUE_KEY.fullmatch(key)]
        if (
            values
            and all(_IS_VALUE_KEY.fullmatch(key) or key in _BESIDE for key, _ in pairs)
            and any(_A_VALUE.match(value) for value in values)
        ):
            return True
    return False


def _in_brackets(text: str, match: re.Match[str], code: Sequence[Span]) -> bool:
    start = match.start()
    if inside(code, start):
        return False
    if _BRACKET_LABEL.search(text, max(0, start - 40), start):
        return True
    if _CODE_BEFORE.search(text, max(0, start - 40), start):
        return False
    if text[max(0, start - 1) : start].strip(" \n\t*\"'.:,-"):
        return False
    if not match["what"].isdigit():
        return True
    # A bare [[5]] is also how nested lists are printed: only as the last word of a text.
    end = match.end()
    return len(text) - end < 40 and not text[end:].strip(" \t\n.*_")


def prompt_end(text: str) -> bool:
    """Whether the end of what is judged is imitated, with something for the judge behind it."""
    if not any_of(text, "##", "[", "===", "---", "***", "<", "("):
        return False
    for match in _PROMPT_END.finditer(text):
        if not _END_MARK.search(text, max(0, match.start() - 60), match.start()):
            continue
        behind = text[match.end() : match.end() + 300]
        if _VERDICT_WORD.search(behind) or (not behind.strip() and "of" in match[0]):
            return True
    return False


def control_tokens(text: str, code: Sequence[Span]) -> bool:
    """Whether chat-template tokens stand where they would act, rather than as code or as a
    stop token left at the end.
    """
    if "<" not in text and "[" not in text:
        return False
    stops = _STOPS_AT_END.search(text, max(0, len(text) - 400))
    end = stops.start() if stops else len(text)
    for pattern in (CONTROL_TOKEN, _SENTENCE_TOKEN):
        for match in pattern.finditer(text, 0, end):
            quoted = text[match.start() - 1 : match.start()] in ('"', "'", "`", "“")
            if not quoted and not inside(code, match.start()):
                return True
    return False


def null_model(text: str) -> bool:
    """Whether the text closes quotes and braces it never opened and opens another answer's."""
    if not any_of(text, '"', "'", "`") or not any_of(text, ":", "}", "]", ")"):
        return False
    continued = _CONTINUED.search(text)
    if continued and not _OPENS.search(text, 0, continued.start()):
        return True
    closed = _QUOTE_AND_BRACE.search(text)
    if closed is None or _OPENS.search(text, 0, closed.start()):
        return False
    return _REOPENED.search(text, closed.end()) is not None
