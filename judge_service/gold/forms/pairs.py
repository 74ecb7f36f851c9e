"""Pairs with one objective or human label each: LLMBar, JudgeBench, RewardBench, PandaLM."""

from __future__ import annotations

import re
from typing import Any

from judge_service.gold.forms.form import Options, Unusable, candidate, shuffled, text_of
from judge_service.gold.forms.rows import Row
from judge_service.gold.item import GoldItem
from judge_service.outcome import Choice

_NUMBERED: dict[str, Choice] = {"0": "tie", "1": "first", "2": "second"}
_JUDGEBENCH: dict[str, Choice] = {"A>B": "first", "B>A": "second", "A=B": "tie", "B=A": "tie"}
_ANNOTATOR = re.compile(r"annotator_?[0-9]+")


def llmbar(row: Row, _: Options) -> GoldItem:
    """``input, output_1, output_2, label`` (1 or 2)."""
    label = _numbered(row.get("label", row.get("gold")))
    name = [str(row[key]) for key in ("subset", "idx", "id") if key in row]
    return GoldItem(
        id="/".join(name) or _name(row),
        prompt=text_of(row, "input", "instruction"),
        candidates=(candidate(text_of(row, "output_1")), candidate(text_of(row, "output_2"))),
        choices=(label,),
    )


def judgebench(row: Row, _: Options) -> GoldItem:
    """``pair_id, question, response_A, response_B, label`` (``A>B`` or ``B>A``)."""
    label = _JUDGEBENCH.get(str(row.get("label", "")).replace(" ", ""))
    if label is None:
        raise Unusable(f"label {row.get('label')!r} is none of {', '.join(_JUDGEBENCH)}")
    model = row.get("response_model")
    return GoldItem(
        id=text_of(row, "pair_id", "id"),
        prompt=text_of(row, "question"),
        candidates=(
            candidate(text_of(row, "response_A"), model),
            candidate(text_of(row, "response_B"), model),
        ),
        choices=(label,),
    )


def rewardbench(row: Row, _: Options) -> list[GoldItem]:
    """``prompt, chosen, rejected``: texts, or lists of them (version 2), the first chosen one
    against each rejected one. Which place the chosen one has is drawn from the id.
    """
    prompt = _prompt(row.get("prompt"))
    chosen, rejected = _answers(row, "chosen"), _answers(row, "rejected")
    name = str(row.get("id") or _name(row))
    subset = row.get("subset")
    items = []
    for number, worse in enumerate(rejected, start=1):
        key = name if len(rejected) == 1 else f"{name}/{number}"
        shown, choice = shuffled(
            key,
            candidate(chosen[0], _model(row, "chosen_model", 0)),
            candidate(worse, _model(row, "rejected_model", number - 1)),
        )
        items.append(
            GoldItem(
                id=f"{subset}/{key}" if isinstance(subset, str) else key,
                prompt=prompt,
                candidates=shown,
                choices=(choice,),
            )
        )
    return items


def pandalm(row: Row, _: Options) -> GoldItem:
    """``instruction, input, response1, response2`` and annotators with 0 (tie), 1 or 2."""
    votes = row.get("human")
    if votes is None:
        votes = [row[key] for key in sorted(row) if _ANNOTATOR.fullmatch(key)]
    if not isinstance(votes, list) or not votes:
        raise Unusable("no annotators")
    models = str(row.get("models", row.get("cmp_key", ""))).split("_")
    first, second = models if len(models) == 2 else (None, None)
    return GoldItem(
        id=text_of(row, "idx", "id"),
        prompt="\n\n".join(
            part for part in (text_of(row, "instruction"), str(row.get("input") or "")) if part
        ),
        candidates=(
            candidate(text_of(row, "response1"), first),
            candidate(text_of(row, "response2"), second),
        ),
        choices=tuple(_numbered(vote) for vote in votes),
    )


def _numbered(label: object) -> Choice:
    choice = None if isinstance(label, bool) else _NUMBERED.get(str(label).removesuffix(".0"))
    if choice is None:
        raise Unusable(f"label {label!r} is none of 0, 1 and 2")
    return choice


def _prompt(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(m, dict) for m in value):
        return "\n\n".join(str(m.get("content", "")) for m in value)
    raise Unusable("no field prompt")


def _answers(row: Row, name: str) -> list[str]:
    value = row.get(name)
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return value
    if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        # A conversation: what counts is its last turn.
        return [str(value[-1].get("content", ""))]
    raise Unusable(f"no answers in {name}")


def _model(row: Row, name: str, place: int) -> object:
    value = row.get(name, row.get("models"))
    if isinstance(value, list):
        return value[place] if place < len(value) and name in row else None
    return value


def _name(row: Row) -> str:
    """A name for a row without one, made of what it says."""
    from hashlib import sha256

    return sha256(repr(sorted(row.items(), key=lambda e: e[0])).encode()).hexdigest()[:12]
