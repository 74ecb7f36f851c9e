"""OpenRLHF's remote reward: lists of queries in, lists of rewards out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.state import ServiceDep, TrainerDep
from judge_service.api.trainers.call import Call, Item, call_of, failed, hash_of, read
from judge_service.api.trainers.judging import answered
from judge_service.api.trainers.page import documented, responses
from judge_service.api.trainers.query import Trainer
from judge_service.api.trainers.scored import Scored, no_numbers
from judge_service.api.trainers.texts import (
    bounded,
    object_of,
    reference_of,
    text_of,
    wrong,
)
from judge_service.candidate.chat_template import NoResponse, exchange
from judge_service.candidate.message_schema import is_long
from judge_service.types import Candidate, Prompt

TRAINER = Trainer(name="openrlhf", budget_s=170.0, max_budget_s=170.0)
DROPPED = -1e6
"""A score so low that no mean of a group with it lies in any range of dynamic filtering."""
MAX_ITEMS = 4_096
EXAMPLE: dict[str, Any] = {
    "query": ["<|im_start|>user\nHow do I keep basil alive?<|im_end|>\n<|im_start|>assistant\n"
              "Give it six hours of light and pinch off the tips.<|im_end|>"],
    "prompts": ["<|im_start|>user\nHow do I keep basil alive?<|im_end|>\n<|im_start|>assistant\n"],
    "labels": [None],
}  # fmt: skip
ANSWER = {"rewards": [0.75], "scores": [0.75], "extra_logs": {"judge_failed": [0.0]}}
router = APIRouter()


@router.post(
    "/openrlhf/{rubric}/get_reward",
    summary="OpenRLHF: --reward.remote_url",
    responses=responses(ANSWER),
    openapi_extra=documented(TRAINER, EXAMPLE),
)
async def get_reward(
    request: Request, rubric: str, service: ServiceDep, caller: TrainerDep
) -> Response:
    """Judge each response; hold the request while its judges cannot be reached.

    What could not be judged in time is HTTP 503, or a score that dynamic filtering drops.
    """
    call = call_of(request, service, caller, TRAINER, rubric)
    items = await read(call, lambda data: items_of(data, call))

    def answer(found: Sequence[Scored]) -> Response:
        if not call.options.drop:
            for number, one in enumerate(found):
                if one.failure is not None:
                    raise failed(one.failure, number)
        return FiniteJSONResponse(answer_of(found, names))

    names = no_numbers(call.rubric, group=call.grouped)
    if not items:
        # A trainer that spreads a batch over several addresses may have nothing left for one.
        return FiniteJSONResponse(answer_of([], names))
    return await answered(call, items, answer)


def answer_of(found: Sequence[Scored], names: Iterable[str]) -> dict[str, Any]:
    """Rewards, scores and numbers by their names, each a list as long as the request's."""
    rewards = [0.0 if one.reward is None else one.reward for one in found]
    return {
        # The placeholder of a failure: its score says that it is to be dropped.
        "rewards": rewards,
        "scores": [DROPPED if one.reward is None else one.reward for one in found],
        "extra_logs": {name: [one.numbers[name] for one in found] for name in names},
    }


def items_of(data: Any, call: Call) -> list[Item]:
    """The responses of a body. Raises Problem 422."""
    body = object_of(data, "body")
    queries, prompts = _texts(body, "query"), _texts(body, "prompts")
    labels = body.get("labels")
    labels = [None] * len(queries) if labels is None else labels
    if not isinstance(labels, list):
        raise wrong("labels", "must be a list or null")
    if not len(queries) == len(prompts) == len(labels):
        raise wrong("query", "query, prompts and labels must have the same length")
    if len(queries) > MAX_ITEMS:
        raise wrong("query", f"must have at most {MAX_ITEMS:,} items")
    triples = zip(queries, prompts, labels, strict=True)
    return [_item(*triple, number, call) for number, triple in enumerate(triples)]


def _item(query: str, prompt: str, label: Any, number: int, call: Call) -> Item:
    bounded(prompt, f"prompts[{number}]")
    try:
        made = exchange(query, prompt)
    except NoResponse as error:
        raise wrong(f"query[{number}]", str(error)) from None
    reference = reference_of(label, call.rubric, f"labels[{number}]")
    return plain_item(made.prompt, made.response, reference, label, call)


def plain_item(
    prompt: Prompt, response: str, reference: str | None, label: Any, call: Call
) -> Item:
    """A response that is one text."""
    long = is_long(response)
    return Item(
        prompt=prompt,
        candidate=Candidate(
            text="" if long else response,
            policy_model=call.options.policy_model,
            families=call.options.families,
        ),
        reference=reference,
        text_hash=hash_of(response),
        group=hash_of(label),
        long=len(response) if long else None,
    )


def _texts(body: dict[str, Any], field: str) -> list[str]:
    values = body.get(field)
    if not isinstance(values, list):
        raise wrong(field, "must be a list of texts")
    return [text_of(value, f"{field}[{number}]") for number, value in enumerate(values)]
