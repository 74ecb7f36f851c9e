"""Under which key a verdict is kept: everything that could move it, and nothing else.

Weights, rules, nonces, tokens, times, timeouts and retries are no part of it. Every field goes in
with its length, so that no two questions run together into one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

from judge_service.deadline import Deadline
from judge_service.envelope.envelope import Question
from judge_service.judges.judge import JudgeSpec
from judge_service.reply.reply import ChoiceForm, ReplyForm, ScoreForm
from judge_service.text.size import LONG
from judge_service.types import Message

KEY_VERSION = 1
PREFIX = f"jv:{KEY_VERSION}:"
_SAMPLING = {
    "temperature", "max_output_tokens", "reasoning_effort", "extra", "reply", "schema_constants",
}  # fmt: skip


def verdict_key(
    judge: JudgeSpec, question: Question, *, tenant: str | None, embedded: bool = False
) -> str:
    """``jv:<version>:<64 hex>``. ``tenant`` is None where all tenants share their verdicts.

    An ``embedded`` judge listens on another port each time; its address is no part of the key.
    """
    key_of = _begun(
        "shared" if tenant is None else f"tenant {tenant}",
        judge.model,
        "embedded" if embedded else f"at {judge.api_base}",
        _sampling(judge),
        question.system,
        str(len(question.slots)),
    )
    fields: list[str] = []
    for name, value in question.slots:
        if isinstance(value, str):
            fields += (name, "text", value)
        else:
            fields += (name, "messages", _canonical([_message(message) for message in value]))
    fields.append(_form(question.form))
    return key_of(fields)


@lru_cache(maxsize=256)
def _begun(*first: str) -> Callable[[Iterable[str]], str]:
    """The keys of many questions, which begin with the same fields: given the others, the key."""
    begun = hashlib.sha256(_framed(first))

    def key_of(others: Iterable[str]) -> str:
        digest = begun.copy()
        digest.update(_framed(others))
        return PREFIX + digest.hexdigest()

    return key_of


def _framed(fields: Iterable[str]) -> bytes:
    """Each with its length, so that no two lists of fields come to the same bytes."""
    data = [field.encode("utf-8", "surrogatepass") for field in fields]
    return b"".join([b"%d:%b" % (len(one), one) for one in data])


async def key_in_time(
    judge: JudgeSpec, question: Question, deadline: Deadline, *, tenant: str | None, embedded: bool
) -> str:
    """``verdict_key``; that of a long question is made in a thread. Raises DeadlineExceeded."""
    make = partial(verdict_key, judge, question, tenant=tenant, embedded=embedded)
    if question.chars < LONG:
        return make()
    return await deadline.in_thread(make, "it was being looked whether the verdict is known")


def _sampling(judge: JudgeSpec) -> str:
    """The judge's part; judges are few, frozen and live as long as the service."""
    known = _JUDGES.get(judge.id)
    if known is not None and known[0] is judge:
        return known[1]
    text = _canonical(judge.model_dump(mode="json", include=_SAMPLING) | judge.probed())
    if len(_JUDGES) >= _MAX_JUDGES:
        _JUDGES.clear()
    _JUDGES[judge.id] = judge, text
    return text


_JUDGES: dict[str, tuple[JudgeSpec, str]] = {}
_MAX_JUDGES = 256


def _message(message: Message) -> list[Any]:
    calls = [[call.name, call.id, call.arguments] for call in message.tool_calls]
    return [message.role, message.name, message.tool_call_id, message.text, calls]


@lru_cache(maxsize=256)
def _form(form: ReplyForm) -> str:
    if isinstance(form, ScoreForm):
        return _canonical(["score", form.allowed])
    if isinstance(form, ChoiceForm):
        return _canonical(["choice", form.allowed])
    return _canonical(["scores", form.allowed])


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
