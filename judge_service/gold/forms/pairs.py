"""Pairs with one objective or human label each: LLMBar, JudgeBench, RewardBench, PandaLM."""

from __future__ import annotations

import re
from typing import Any

from judge_service.gold.forms.form import (
    Options,
    Unusable,
    candidate,
    digest_name,
    messages_of,
    shuffled,
    text_of,
)
from judge_service.gold.forms.rows import Row
from judge_service.gold.item import GoldItem
from judge_service.outcome import Choice
from judge_service.types import Message, Prompt

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
    """``prompt, chosen, rejected``: texts, conversations, or lists of texts (version 2). Each of
    the longer list meets one of the other, in turn, so that none is lost. Which place the chosen
    one has is drawn from the id.
    """
    prompt = _prompt(row.get("prompt"))
    chosen, rejected = _answers(row, "chosen", prompt), _answers(row, "rejected", prompt)
    name = _name(row) if row.get("id") in (None, "") else str(row["id"])
    subset = row.get("subset")
    items = []
    pairs = max(len(chosen), len(rejected))
    for number in range(pairs):
        key = name if pairs == 1 else f"{name}/{number + 1}"
        good, bad = number % len(chosen), number % len(rejected)
        shown, choice = shuffled(
            key,
            candidate(chosen[good], _model(row, "chosen_model", good)),
            candidate(rejected[bad], _model(row, "rejected_model", bad)),
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
        prompt="\n\n".join(part for part in (text_of(row, "instruction"), _input(row)) if part),
        candidates=(
            candidate(text_of(row, "response1"), first),
            candidate(text_of(row, "response2"), second),
        ),
        choices=tuple(_numbered(vote) for vote in votes),
    )


def _input(row: Row) -> str:
    """What the instruction is about; many rows have none."""
    return "" if row.get("input") is None else text_of(row, "input")


def _numbered(label: object) -> Choice:
    choice = None if isinstance(label, bool) else _NUMBERED.get(str(label).removesuffix(".0"))
    if choice is None:
        raise Unusable(f"label {label!r} is none of 0, 1 and 2")
    return choice


def _prompt(value: Any) -> Prompt:
    if isinstance(value, str):
        return value
    if value is None:
        raise Unusable("no field prompt")
    return messages_of(value, "prompt")


def _answers(row: Row, name: str, prompt: Prompt) -> list[str | tuple[Message, ...]]:
    """The answers of a field; of a conversation what follows the prompt."""
    value = row.get(name)
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return list(value)
    if not isinstance(value, list) or not value:
        raise Unusable(f"no answers in {name}")
    turns = messages_of(value, name)
    asked = (Message(role="user", text=prompt),) if isinstance(prompt, str) else prompt
    answer = turns[len(asked) :] if turns[: len(asked)] == asked else turns
    if not answer or answer[-1].role != "assistant":
        raise Unusable(f"{name} does not end with an answer")
    return [answer]


def _model(row: Row, name: str, place: int) -> object:
    value = row.get(name, row.get("models"))
    if isinstance(value, list):
        return value[place] if place < len(value) and name in row else None
    return value


def _name(row: Row) -> str:
    """A name for a row without one, made of what it says."""
    return digest_name(repr(sorted(row.items(), key=lambda e: e[0])))
