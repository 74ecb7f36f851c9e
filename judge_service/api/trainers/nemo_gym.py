"""NeMo Gym's verification: a rollout in, the same rollout with its reward out."""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.state import ServiceDep, TrainerDep
from judge_service.api.trainers.call import Call, Item, call_of, hash_of, read
from judge_service.api.trainers.judging import answered
from judge_service.api.trainers.nemo_items import messages_of_items
from judge_service.api.trainers.page import documented, responses
from judge_service.api.trainers.query import Trainer
from judge_service.api.trainers.scored import Failure, Scored, no_numbers
from judge_service.api.trainers.texts import (
    bounded,
    first_there,
    object_of,
    reference_of,
    wrong,
)
from judge_service.candidate.message_schema import MAX_TEXT_BYTES, is_long
from judge_service.request import MAX_TIMEOUT_S
from judge_service.types import Candidate, Message, Prompt

TRAINER = Trainer(name="nemo-gym", budget_s=170.0, max_budget_s=MAX_TIMEOUT_S)
REFERENCES = ("reference", "ground_truth", "expected_answer", "answer", "label")
FAILURE_CLASS, FAILURE_ERROR = "_ng_failure_class", "_ng_failure_judge_error"
BROKEN = "rollout_failed"
"""The class of a rollout that its own model did not finish."""
MAX_RESPONSE_BYTES = 4 * MAX_TEXT_BYTES
"""How long all texts of one rollout may be together."""
EXAMPLE: dict[str, Any] = {
    "responses_create_params": {"input": [{"role": "user", "content": "What is 6 times 7?"}]},
    "response": {"output": [{"type": "message", "role": "assistant",
                             "content": [{"type": "output_text", "text": "42"}]}]},
    "verifier_metadata": {"expected_answer": "42"},
}  # fmt: skip
ANSWER = {**EXAMPLE, "reward": 1.0, "reward_components": {"rule": 0.0, "model": 1.0}}
router = APIRouter()


@router.post(
    "/nemo-gym/{rubric}/verify",
    summary="NeMo Gym: a resources server's /verify",
    responses=responses(ANSWER),
    openapi_extra=documented(TRAINER, EXAMPLE),
)
async def verify(
    request: Request, rubric: str, service: ServiceDep, caller: TrainerDep
) -> Response:
    """Judge a rollout; hold the request while its judges cannot be reached.

    The request comes back with ``reward`` and ``reward_components``. What could not be judged in
    time, or was never finished by the policy's model, has a failure class and is masked; its reward
    is a placeholder.
    """
    call = call_of(request, service, caller, TRAINER, rubric)
    body, item = await read(call, lambda data: item_of(data, call))
    broken = rollout_error(body["response"])
    if broken is not None:
        failure = Failure(code=BROKEN, message=broken, retryable=False)
        numbers = no_numbers(call.rubric, group=call.grouped) | {"judge_failed": 1.0}
        return FiniteJSONResponse(answer_of(body, Scored(failure=failure, numbers=numbers)))
    return await answered(call, [item], lambda found: FiniteJSONResponse(answer_of(body, found[0])))


def answer_of(body: dict[str, Any], found: Scored) -> dict[str, Any]:
    """The request's fields, and what became of it."""
    # A rollout that is verified again brings along what was said of it before.
    again = body.get(FAILURE_CLASS) is not None
    old = (FAILURE_CLASS, FAILURE_ERROR)
    answer = {name: value for name, value in body.items() if name not in old}
    masked = bool(answer.get("mask_sample")) and not again
    reward = 0.0 if found.reward is None else found.reward
    answer |= {
        "reward": reward,
        "reward_components": components(reward, found.rule_part),
        "mask_sample": masked or found.failure is not None,
        "judge_failed": found.numbers["judge_failed"],
        # Under names of their own: the request's fields come back as they are.
        **{f"judge/{name}": value for name, value in found.numbers.items()},
    }
    if found.failure is not None:
        broken = found.failure.code == BROKEN
        answer[FAILURE_CLASS] = BROKEN if broken else "judge_failed"
        answer[FAILURE_ERROR] = f"{found.failure.code}: {found.failure.message}"
    return answer


def rollout_error(response: dict[str, Any]) -> str | None:
    """Why the policy's model gave no response, where the response says so: such a rollout was
    never finished, and is no candidate.
    """
    error, status = response.get("error"), response.get("status")
    if error is None and status not in ("failed", "cancelled"):
        return None
    told = error.get("message") if isinstance(error, dict) else error
    return f"the policy's model gave no response: {str(told or status)[:200]}"


def components(reward: float, rule_part: float) -> dict[str, float]:
    """Two parts whose sum is the reward to the last bit: what rules gave, and the rest."""
    rule = min(rule_part, reward)
    model = reward - rule
    for _ in range(4):
        if rule + model == reward:
            return {"rule": rule, "model": model}
        model = math.nextafter(model, math.inf if rule + model < reward else -math.inf)
    return {"rule": 0.0, "model": reward}


def item_of(data: Any, call: Call) -> tuple[dict[str, Any], Item]:
    """The body and its rollout. Raises Problem 422."""
    body = object_of(data, "body")
    asked = object_of(body.get("responses_create_params"), "responses_create_params")
    response = object_of(body.get("response"), "response")
    messages = messages_of_items(response.get("output"), "response.output")
    label = first_there((body.get("verifier_metadata"), body), REFERENCES)
    long = _long(messages)
    return body, Item(
        prompt=_prompt(asked),
        candidate=Candidate(
            text=None if long is None else "",
            messages=messages if long is None else None,
            policy_model=call.options.policy_model or _model(response) or _model(asked),
            families=call.options.families,
            finish_reason=_finish_reason(response),
        ),
        reference=reference_of(label, call.rubric, "verifier_metadata"),
        text_hash=hash_of(messages),
        long=long,
        **_place(body, label),
    )


def _prompt(asked: dict[str, Any]) -> Prompt:
    field = "responses_create_params.input"
    given = asked.get("input")
    if isinstance(given, str):
        shown: Prompt = bounded(given, field)
    else:
        shown = messages_of_items(given, field)
        if not shown:
            raise wrong(field, "must not be empty")
        for number, message in enumerate(shown):
            bounded(message.text, f"{field}[{number}]")
    instructions = asked.get("instructions")
    if isinstance(instructions, str) and instructions.strip():
        bounded(instructions, "responses_create_params.instructions")
        rest = (Message(role="user", text=shown),) if isinstance(shown, str) else shown
        shown = (Message(role="system", text=instructions), *rest)
    return shown


def _long(messages: tuple[Message, ...]) -> int | None:
    """How many characters a rollout has that is too long to be looked at."""
    texts = [message.text for message in messages]
    texts += [call.arguments for message in messages for call in message.tool_calls]
    if any(map(is_long, texts)) or sum(len(t.encode()) for t in texts) > MAX_RESPONSE_BYTES:
        return sum(map(len, texts))
    return None


def _place(body: dict[str, Any], label: Any) -> dict[str, Any]:
    """The rollout's group and its place in it, where the trainer numbers them."""
    task, rollout = body.get("_ng_task_index"), body.get("_ng_rollout_index")
    if _is_index(task) and _is_index(rollout):
        return {"group": hash_of(label, task), "member": f"rollout {rollout}"}
    return {"group": hash_of(label)}


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _model(told: dict[str, Any]) -> str | None:
    model = told.get("model")
    return model if isinstance(model, str) and 1 <= len(model) <= 512 else None


def _finish_reason(response: dict[str, Any]) -> str | None:
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if response.get("status") == "incomplete" and reason == "max_output_tokens":
        return "length"
    return None
