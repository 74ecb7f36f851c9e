"""Takes a model's reasoning out of its answer, so that only the answer is judged.

What is removed is what a serving stack would hide from a reader as well:

* a closed block (``<think>…</think>`` and its relatives), wherever it stands;
* everything from an opener that never closes: the reasoning was cut off before an answer;
* everything up to the *first* closer without an opener: many chat templates write the opener into
  the prompt. The first, not the last: with the last, a policy could hide any part of a visible
  answer from the judge by writing one more closer behind it;
* every channel but ``final`` and ``commentary`` of a harmony transcript.

Tags that an answer writes *about* stay: in code, in quotes, or as a word of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from judge_service.injection.code_spans import Span, code_spans, inside

_NAMES = r"think|thinking|thought|thoughts|reasoning|reflection|scratchpad|seed:think"
_TAG = re.compile(
    rf"<\s{{0,2}}(?P<shut>/)?\s{{0,2}}(?P<name>{_NAMES})(?:\s[^<>\n]{{0,80}})?\s{{0,2}}>"
    r"|(?P<square>\[(?P<shut2>/)?THINK\])"
    r"|<\|(?P<edge>begin|end|START|END)_(?:of_)?(?P<name2>thought|thinking|THINKING)\|>"
    r"|◁(?P<shut3>/)?think▷",
    re.IGNORECASE,
)
# Models that frame their reasoning in bars frame the solution as well.
_SOLUTION_EDGE = re.compile(r"\A<\|begin_of_solution\|>\s*|\s{0,99}<\|end_of_solution\|>\s{0,99}\Z")
_CHANNEL = re.compile(
    r"<\|channel\|>\s{0,4}(?P<name>\w{1,20})[^<\n]{0,120}"
    r"(?:<\|constrain\|>[^<\n]{0,40})?<\|message\|>"
)
_MESSAGE_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_SHOWN_CHANNELS = ("final", "commentary")
_BARE_FINAL = "assistantfinal"  # what is left of the markers when special tokens are dropped
_BARE_ANALYSIS = re.compile(r"\s{0,9}analysis(?=[A-Z\W])")

# A tag behind one of these words is spoken of: "between <think> and </think>".
_MENTIONS = re.compile(
    r"(?:^|[\s(])(?:the|an?|with|and|or|to|token|tags?|closing|opening|like|by|then|between|until|"
    r"before|after|of|emits?|writes?|write|outputs?|in|from|as|called|named|its|end|start)[ ]$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[ ][a-z(]|[.,;:!?)](?:\s|$)")
_SPACES = re.compile(r"\s*")
_LOOK_AHEAD = 64  # tags; nesting beyond it is not followed, so that time stays linear
_QUOTES = frozenset("\"'`“”‘’«»")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tag:
    kind: str
    opens: bool
    start: int
    end: int


def strip_reasoning(text: str) -> str:
    """Return ``text`` without reasoning; the same string when there is none.

    The result is empty when the text is nothing but reasoning.
    """
    if "<|channel|>" in text or _BARE_ANALYSIS.match(text):
        shown = _shown_channels(text)
        if shown is not None:
            return shown
    tags = _tags(text)
    if not tags:
        return text
    removed = _removed(text, tags)
    if not removed:
        return text
    return _SOLUTION_EDGE.sub("", _without(text, removed))


def _tags(text: str) -> list[_Tag]:
    if not any(sign in text for sign in "<[◁"):
        return []
    tags = []
    for match in _TAG.finditer(text):
        shut = match["shut"] or match["shut2"] or match["shut3"]
        edge = (match["edge"] or "").lower()
        if match["square"]:
            kind = "square"
        elif edge:
            kind = "bars"
        else:
            kind = {"reasoning": "reasoning", "reflection": "reflection"}.get(
                (match["name"] or "").lower(), "think"
            )
        opens = edge in ("begin", "start") if edge else not shut
        tags.append(_Tag(kind=kind, opens=opens, start=match.start(), end=match.end()))
    return tags


def _removed(text: str, tags: Sequence[_Tag]) -> list[Span]:
    """The spans to take out, in order, read from the left as a reader of the stream would."""
    code = code_spans(text)
    closed_code = code_spans(text, unclosed=False)
    spans: list[Span] = []
    position = 0
    for index, tag in enumerate(tags):
        if tag.start < position:
            continue
        if spans and not tag.opens and tag.start == _after_spaces(text, position):
            spans[-1] = (spans[-1][0], tag.end)  # one closer too many, right behind a block
            position = tag.end
        elif _mentioned(text, tag):
            continue
        elif tag.opens and not inside(code, tag.start):
            end = _block_end(text, tags, index)
            if end > tag.end:
                spans.append((tag.start, end))
                position = end
        elif not tag.opens and not spans and not inside(closed_code, tag.start):
            spans.append((0, tag.end))  # no block before it: the opener was in the prompt
            position = tag.end
    return spans


def _after_spaces(text: str, position: int) -> int:
    match = _SPACES.match(text, position, position + 100)
    return match.end() if match else position


def _block_end(text: str, tags: Sequence[_Tag], index: int) -> int:
    """Where the block that opens at ``tags[index]`` ends; 0 when it is no block.

    Blocks may nest; when they do not add up, the first closer counts. The code around a closer
    does not matter here, because reasoning is full of unfinished code.
    """
    opener = tags[index]
    first = 0
    depth = 1
    for tag in tags[index + 1 : index + 1 + _LOOK_AHEAD]:
        if tag.kind != opener.kind or _mentioned(text, tag):
            continue
        if tag.opens:
            depth += 1
            continue
        first = first or tag.end
        depth -= 1
        if depth == 0:
            return tag.end
    if first:
        return first
    line = text[max(0, opener.start - 80) : opener.start].rpartition("\n")[2]
    return 0 if line.strip() else len(text)


def _mentioned(text: str, tag: _Tag) -> bool:
    before = text[max(0, tag.start - 24) : tag.start]
    if before[-1:] in _QUOTES and text[tag.end : tag.end + 1] in _QUOTES:
        return True
    return bool(_MENTIONS.search(before) and _GOES_ON.match(text, tag.end))


def _without(text: str, spans: Sequence[Span]) -> str:
    parts: list[str] = []
    position = 0
    for start, end in (*spans, (len(text), len(text))):
        part = text[position:start]
        if position and (not parts or parts[-1][-1:].isspace()):
            part = part.lstrip(" \t") if parts else part.lstrip()
        if part:
            parts.append(part)
        position = end
    shown = "".join(parts)
    return shown.rstrip() if spans[-1][1] == len(text) else shown


def _shown_channels(text: str) -> str | None:
    """The channels of a harmony transcript that a user sees; None when it is none."""
    if _BARE_ANALYSIS.match(text) and "<|channel|>" not in text:
        _, marker, shown = text.partition(_BARE_FINAL)
        return shown.lstrip() if marker else None
    code = code_spans(text)
    channels = [match for match in _CHANNEL.finditer(text) if not inside(code, match.start())]
    if not channels:
        return None
    before = text[: channels[0].start()].removesuffix("<|start|>assistant")
    parts = [] if "<|end|>" in before else [before]
    for match in channels:
        if match["name"].lower() in _SHOWN_CHANNELS:
            end = _MESSAGE_END.search(text, match.end())
            parts.append(text[match.end() : end.start() if end else len(text)])
    return "\n".join(part for part in parts if part.strip()).strip()
