"""slime's remote reward model: one response in, its reward out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.state import ServiceDep, TrainerDep
from judge_service.api.trainers.call import Call, Item, call_of, failed, read
from judge_service.api.trainers.judging import answered
from judge_service.api.trainers.openrlhf import plain_item
from judge_service.api.trainers.page import documented, responses
from judge_service.api.trainers.query import Trainer
from judge_service.api.trainers.scored import Scored
from judge_service.api.trainers.texts import (
    bounded,
    messages_of,
    object_of,
    reference_of,
    text_of,
)
from judge_service.candidate.chat_template import responded
from judge_service.candidate.chat_turns import clean_response
from judge_service.types import Prompt

TRAINER = Trainer(name="slime", budget_s=110.0, max_budget_s=110.0, numbers=True)
EXAMPLE: dict[str, Any] = {
    "prompt": [{"role": "user", "content": "How do I keep basil alive?"}],
    "response": "Give it six hours of light and pinch off the tips.",
    "label": None,
}
router = APIRouter()


@router.post(
    "/slime/{rubric}",
    summary="slime: --rm-type remote_rm --rm-url",
    responses=responses({"score": 0.75, "judge_failed": 0.0}),
    openapi_extra=documented(TRAINER, EXAMPLE),
)
async def remote_rm(
    request: Request, rubric: str, service: ServiceDep, caller: TrainerDep
) -> Response:
    """Judge a response; hold the request while its judges cannot be reached.

    The answer is an object with the reward as ``score`` beside numbers, or the number alone. What
    could not be judged in time is HTTP 503, or an object with ``judge_failed`` 1.0.
    """
    call = call_of(request, service, caller, TRAINER, rubric)
    item = await read(call, lambda data: item_of(data, call))

    def answer(found: Sequence[Scored]) -> Response:
        (one,) = found
        if one.failure is not None and not call.options.drop:
            raise failed(one.failure)
        # The placeholder of a failure: the trainer's filter reads judge_failed.
        score = 0.0 if one.reward is None else one.reward
        return FiniteJSONResponse(score if call.options.number else {"score": score, **one.numbers})

    return await answered(call, [item], answer)


def item_of(data: Any, call: Call) -> Item:
    """The response of a body. Raises Problem 422."""
    body = object_of(data, "body")
    label = body.get("label")
    prompt, response = _exchange(body.get("prompt"), text_of(body.get("response"), "response"))
    return plain_item(prompt, response, reference_of(label, call.rubric, "label"), label, call)


def _exchange(prompt: Any, response: str) -> tuple[Prompt, str]:
    if isinstance(prompt, str):
        made = responded(bounded(prompt, "prompt"), response)
        return made.prompt, made.response
    return messages_of(prompt, "prompt"), clean_response(response)
