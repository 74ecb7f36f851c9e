"""Ten questions to a reward function, answered from the files: yes, no, or cannot tell.

What the files do not say is not guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from judge_service.gold.folder import GoldFile, gold_for
from judge_service.judges.judge import Bench
from judge_service.judging.metrics import assess_metrics, compare_metrics
from judge_service.rubric.rubric import Criterion, Rubric
from judge_service.text.counted import count_of

Reply = Literal["yes", "no", "cannot tell"]

QUESTIONS = (
    "Does one sentence explain what is rewarded?",
    "Is there a known right answer that can be checked?",
    "Are the cheapest ways to cheat defended against?",
    "Could people label each criterion on its own?",
    "Do the weights sum to one, on scales that align?",
    "Is it defined what empty, overlong and late mean?",
    "Is validation independent of the training signal?",
    "Does scoring take under a third of rollout time?",
    "Do the names of the metrics stay the same?",
    "Is there a gold set against regressions?",
)
MAX_WORDS = 40
MAX_CHARS = 320
GOLD_ITEMS = 50
_SENTENCE_END = re.compile(r"[.!?…](?=[\s\"”’)]*(?:\s[^\sa-z]|$))|[。！？]")
_DEFENCES = {
    "a stock opening": ("opener_only",),
    "a refusal": ("refusal",),
    "repetition": ("repetition",),
    "an echo of the prompt": ("prompt_echo",),
}
_LENGTH_RULES = ("max_chars", "max_words")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The answer to one question. ``failure`` marks a no that must not stand."""

    number: int
    answer: Reply
    reason: str
    failure: bool = False

    @property
    def question(self) -> str:
        """The question's wording."""
        return QUESTIONS[self.number - 1]


def checklist(rubric: Rubric, bench: Bench | None, gold: Sequence[GoldFile]) -> list[Answered]:
    """The ten answers for one rubric; ``bench`` is None when no judges are configured."""
    return [
        _one_sentence(rubric),
        _ground_truth(rubric),
        _cheating(rubric),
        _labelling(rubric),
        _weights(rubric),
        _boundaries(rubric),
        _independence(bench),
        _speed(rubric),
        _metrics(rubric),
        _gold(rubric, list(gold)),
    ]


def _yes(number: int, reason: str) -> Answered:
    return Answered(number=number, answer="yes", reason=reason)


def _no(number: int, reason: str, *, failure: bool = False) -> Answered:
    return Answered(number=number, answer="no", reason=reason, failure=failure)


def _unknown(number: int, reason: str) -> Answered:
    return Answered(number=number, answer="cannot tell", reason=reason)


def _one_sentence(rubric: Rubric) -> Answered:
    text = rubric.description.strip()
    words, ends = len(text.split()), len(_SENTENCE_END.findall(text))
    if ends > 1:
        return _no(1, f"the description has {ends} sentences")
    if words > MAX_WORDS or len(text) > MAX_CHARS:
        return _no(1, f"the description is too long for one plain sentence: {words} words")
    return _yes(1, f"the description is one sentence of {words} words")


def _ground_truth(rubric: Rubric) -> Answered:
    if _has(rubric, "matches_reference"):
        return _yes(2, "the rule matches_reference compares with a reference, without a judge")
    reference = rubric.judging.reference
    if reference == "required":
        return _yes(2, "every request brings a reference; a judge compares with it, no rule does")
    if reference == "optional":
        return _unknown(2, "a reference may be given; whether your requests bring one is theirs")
    return _no(2, "references are forbidden: what is rewarded is a judge's opinion")


def _cheating(rubric: Rubric) -> Answered:
    missing = [what for what, rules in _DEFENCES.items() if not _has(rubric, *rules)]
    if not _bounded(rubric):
        missing.append("length without end")
    if missing:
        return _no(3, f"no rule against: {', '.join(missing)}; an empty answer is always 0")
    return _yes(3, "empty, stock opening, refusal, repetition, echo and length are all answered")


def _labelling(rubric: Rubric) -> Answered:
    twice = [q for q, n in Counter(c.question for c in rubric.criteria).items() if n > 1]
    if twice:
        return _no(4, "two criteria ask the same question")
    if rubric.kind == "compare":
        return _yes(4, "each criterion is one question about a pair; the judge's choice is one")
    alike = [c.name for c in rubric.criteria if _points_alike(c)]
    if alike:
        return _no(4, f"points with the same meaning in: {', '.join(alike)}")
    missing = [
        f"{c.name} ({', '.join(map(str, ends))})"
        for c in rubric.criteria
        if (ends := _ends_without_anchor(rubric, c))
    ]
    if missing:
        return _no(4, f"points are described, but these ends have no anchor: {'; '.join(missing)}")
    return _yes(4, "every point is described, every scale has anchors at both ends")


def _points_alike(criterion: Criterion) -> bool:
    meanings = [point.means.casefold() for point in criterion.scale or ()]
    return len(set(meanings)) < len(meanings)


def _ends_without_anchor(rubric: Rubric, criterion: Criterion) -> list[int]:
    anchored = {a.point for a in rubric.anchors if a.criterion == criterion.name}
    values = criterion.points.values
    return [point for point in (values[0], values[-1]) if point not in anchored]


def _weights(rubric: Rubric) -> Answered:
    shares = f"rule {rubric.weights.rule:g} + model {rubric.weights.model:g}"
    if rubric.kind == "compare":
        return _yes(5, f"{shares}; the criteria go into one choice, there are no scales to align")
    weights = " + ".join(f"{c.weight:g}" for c in rubric.criteria)
    note = "; with aggregate min the criteria's weights do not matter" if (
        rubric.aggregate == "min"
    ) else ""  # fmt: skip
    return _yes(5, f"{shares}, criteria {weights}; each scale runs evenly from 0 to 1{note}")


def _boundaries(rubric: Rubric) -> Answered:
    if not _bounded(rubric):
        return _no(
            6,
            "no upper length: neither [length] nor a max_chars or max_words rule, so longer and "
            "longer answers cost nothing",
            failure=True,
        )
    cut = "" if _has(rubric, "finished") else "; an answer that was cut off is judged as it is"
    bounds = [rule.rule for rule in rubric.rules if rule.rule in _LENGTH_RULES]
    bounds += ["[length]"] if rubric.length is not None else []
    return _yes(
        6,
        f"empty is 0, length ends by {' and '.join(dict.fromkeys(bounds))}, a timeout is a failed "
        f"outcome without reward{cut}",
    )


def _independence(bench: Bench | None) -> Answered:
    if bench is None:
        return _unknown(7, "no judges are configured (--judges)")
    train = [j for j in bench.values() if j.purpose == "train"]
    validate = [j for j in bench.values() if j.purpose == "validate"]
    for judge in train:
        for other in validate:
            if judge.model == other.model:
                return _no(7, f"{judge.id} and {other.id} are the same judge, {judge.model}, for "
                           "training and validation", failure=True)  # fmt: skip
            if judge.families & other.families:
                shared = "+".join(sorted(judge.families & other.families))
                return _no(7, f"{judge.id} (train) and {other.id} (validate) are both of the "
                           f"family {shared}", failure=True)  # fmt: skip
    if not validate:
        return _unknown(7, 'no judge has purpose = "validate"; what validates is not in the files')
    if not train:
        return _unknown(7, 'every judge has purpose = "validate"; what trains is not in the files')
    names = ", ".join(j.id for j in validate)
    return _yes(7, f"validation has judges of other families: {names}")


def _speed(rubric: Rubric) -> Answered:
    calls = rubric.judging.panel_size
    if rubric.kind == "compare":
        calls *= 2
    elif rubric.judging.ask == "each":
        calls *= len(rubric.criteria)
    at_once = count_of(calls, "judge call")
    return _unknown(8, f"{at_once} at once per request; compare latency_ms with your rollout time")


def _metrics(rubric: Rubric) -> Answered:
    if rubric.kind == "compare":
        mass = 0.0 if rubric.judging.score == "expected" else None
        keys = compare_metrics(None, (), lengths=(0, 0), short_circuited=False, mass=mass)
    else:
        keys = assess_metrics(
            rubric, None, {}, (), chars=0, model_score=None, short_circuited=False
        )
    return _yes(9, f"fixed by the rubric, whatever happens: {', '.join(keys)}")


def _gold(rubric: Rubric, files: list[GoldFile]) -> Answered:
    found = gold_for(rubric, files)
    if found is None:
        return _no(10, f"no anchors/gold/{rubric.id}.jsonl, nor another gold set for its criteria")
    few = f"; {GOLD_ITEMS} or more tell more" if found.items < GOLD_ITEMS else ""
    return _yes(10, f"gold/{found.name}.jsonl, {found.items} items{few}")


def _has(rubric: Rubric, *names: str) -> bool:
    return any(rule.rule in names for rule in rubric.rules)


def _bounded(rubric: Rubric) -> bool:
    return rubric.length is not None or _has(rubric, *_LENGTH_RULES)
