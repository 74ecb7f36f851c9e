"""Whether a candidate alone is too long for a judge: the rule ``fits_judge``.

Without the judge's own tokenizer the number of tokens is only known within bounds. Before a call
the lower bound decides, so that nothing that might fit is turned away; after the provider has said
that the request is too long, the upper bound tells whose length it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from judge_service.asking.ask import Asker
from judge_service.candidate.exhibit import Exhibit, prompt_text
from judge_service.case import Case
from judge_service.envelope.envelope import Question
from judge_service.errors import ContextTooLong, JudgingError
from judge_service.judges.judge import JudgeSpec
from judge_service.judging.selection import Selection
from judge_service.rules import RuleResult
from judge_service.text.data_block import render_messages

MIN_CHARS_TO_CHECK = 4_000
SMALLEST_WINDOW = 4_096
"""What any judge takes, in tokens, where neither the spec nor a provider says more."""
_CHARS_PER_TOKEN_AT_MOST = 8
_WIDE = re.compile("[^\0-\u2e80]+")
# "198393 + 20000 > 200000", "9001 tokens > 8192 maximum", "model with 32768 maximum context", and
# the usual "maximum context length is 8192 tokens".
_WINDOWS = (
    re.compile(r"> (\d{3,8})\b"),
    re.compile(r"\b(\d{3,8}) maximum", re.IGNORECASE),
    re.compile(r"(?:context|maximum|limit|window)\D{0,60}?(\d{3,8})", re.IGNORECASE),
)


def fewest_tokens(text: str) -> int:
    """A number of tokens that ``text`` has at least, for any common tokenizer."""
    wide = 0 if text.isascii() else len(text) - len(_WIDE.sub("", text))
    return (len(text) - wide) // _CHARS_PER_TOKEN_AT_MOST + wide // 3


def most_tokens(text: str) -> int:
    """A number of tokens that ordinary ``text`` hardly exceeds."""
    return len(text.encode("utf-8", "surrogatepass")) // 2 + 1


def window_in(message: str) -> int | None:
    """The context window that a provider's error message names, in tokens."""
    found = next((match for form in _WINDOWS if (match := form.search(message))), None)
    return int(found.group(1)) if found else None


def too_long_before(window: int, candidate: str) -> bool:
    """Before the call: the candidate alone surely exceeds the window."""
    return len(candidate) >= MIN_CHARS_TO_CHECK and fewest_tokens(candidate) > window


def too_long_after(window: int, candidate: str, rest: str) -> bool:
    """After the refusal: all but the candidate surely fits, so it was the candidate."""
    return (
        len(candidate) >= MIN_CHARS_TO_CHECK
        and most_tokens(rest) < window
        and most_tokens(candidate) + most_tokens(rest) > window
    )


def does_not_fit(window: int | None, judge: str) -> RuleResult:
    """The failed rule; ``window`` is None where nobody says how much the judge takes."""
    limit = "what" if window is None else f"the {window:,} tokens"
    return RuleResult(
        rule="fits_judge",
        hard=True,
        weight=0.0,
        passed=False,
        score=0.0,
        detail=f"the candidate alone is longer than {limit} judge {judge!r} takes",
    )


async def check_before(
    case: Case, asker: Asker, selection: Selection, shown: Exhibit
) -> RuleResult | None:
    """The failed rule when a candidate surely does not fit one of the chosen judges, while prompt
    and reference do, and what was said before it.

    Raises ContextTooLong when it fits none of them, the rest may not either, and nobody else would
    be asked: it is not the candidate's fault alone, and there can be no verdict.
    """
    candidate = shown.shown_text
    if len(candidate) < MIN_CHARS_TO_CHECK:
        return None
    request = case.request
    rest = prompt_text(request.prompt) + (request.reference or "") + prompt_text(shown.context)
    unsure = []
    for judge in selection.panel:
        window = asker.capability(judge).window or await asker.backend.context_window(judge)
        if window is None or not too_long_before(window, candidate):
            continue
        if most_tokens(rest) < window:
            return does_not_fit(window, judge.id)
        unsure.append(judge.id)
    if len(unsure) == len(selection.panel) and case.rubric.judging.fallback == "none":
        raise ContextTooLong(
            f"the candidate is longer than judge {unsure[0]!r} takes, and its prompt may be, too"
        )
    return None


async def check_after(
    asker: Asker,
    candidate: str,
    question: Question,
    refusals: Iterable[tuple[JudgeSpec, JudgingError]],
    *,
    slot: str = "candidate",
) -> RuleResult | None:
    """The failed rule when a judge found the request too long and it was the length of ``slot``.

    Most providers name their window in the refusal; it is remembered for the next request.
    """
    rest = question.system + "".join(
        value if isinstance(value, str) else render_messages(value)
        for name, value in question.slots
        if name != slot
    )
    for judge, error in refusals:
        if not isinstance(error, ContextTooLong):
            continue
        capability = asker.capability(judge)
        capability.window = window_in(str(error)) or capability.window
        window = capability.window or await asker.backend.context_window(judge)
        if too_long_after(window or SMALLEST_WINDOW, candidate, rest):
            return does_not_fit(window, judge.id)
    return None
