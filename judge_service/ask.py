"""One question to one judge: attempts, re-ask, adaptation to the provider, and the verdict.

The only retry layer of the service (tenacity). One verdict costs at most ``MAX_REQUESTS`` upstream
requests, whatever they are spent on.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from tenacity import AsyncRetrying, retry_if_exception
from tenacity.stop import stop_never

from judge_service.backend import Backend, ChatCall, ChatReply
from judge_service.capability import Capability
from judge_service.deadline import Deadline
from judge_service.envelope import Question, render_user
from judge_service.errors import (
    DeadlineExceeded,
    EmptyReply,
    InternalError,
    JudgeServiceError,
    JudgeTimeout,
    JudgingError,
    OffScale,
    ParameterRefused,
    TransportError,
    TruncatedReply,
    Unparsable,
    UnusableReply,
    UpstreamError,
)
from judge_service.judge import JudgeSpec
from judge_service.reply import Reading, Tokens, Unreadable, read_reply, redact
from judge_service.reply_check import check_reply
from judge_service.served_model import Served
from judge_service.usage import Ledger, Usage

MAX_REQUESTS = 3
"""Upstream requests per verdict: retries, the re-ask, a dropped parameter, a second family."""
MAX_REASKS = 1
BACKOFF_S = 0.1
BACKOFF_CAP_S = 2.0
LONG_QUESTION_CHARS = 20_000
CLOCK_S = 0.001
"""Less than this is no time."""

_UNREADABLE: dict[str, type[UnusableReply]] = {
    kind.code: kind for kind in (EmptyReply, Unparsable, OffScale)
}


@dataclass(slots=True)
class Budget:
    """Upstream requests that are left for one verdict, over all judges asked for it."""

    left: int = MAX_REQUESTS

    def spend(self) -> None:
        """Count one request."""
        self.left -= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A judge's verdict on one question, with what it took to get it. ``latency_ms`` covers all
    attempts; ``unverified`` says that the served model's name tells no family. A ``cached`` one
    was not asked for by this request: no attempts, no usage.
    """

    judge: JudgeSpec
    reading: Reading
    reason: str
    model_served: str | None
    unverified: bool
    attempts: int
    latency_ms: float
    usage: Usage
    cached: bool = False


@dataclass(slots=True)
class _State:
    """What one asking has met so far."""

    budget: Budget
    keep: int
    single: bool
    requests: int = 0
    transport_failures: int = 0
    reasks: int = 0
    larger: bool = False
    adapted: bool = False
    last: BaseException | None = None
    wait_s: float = 0.0
    ledger: Ledger = field(default_factory=Ledger)


class _Read(NamedTuple):
    """A reply that holds a verdict."""

    reply: ChatReply
    reading: Reading
    reason: str
    served: Served


class Asker:
    """Asks judges through one backend and remembers what each provider accepts.

    ``jitter`` draws the share of the backoff that is waited, in [0, 1).
    """

    def __init__(self, backend: Backend, *, jitter: Callable[[], float] | None = None) -> None:
        self._backend = backend
        self._jitter = jitter or secrets.SystemRandom().random
        self._capabilities: dict[str, Capability] = {}

    @property
    def backend(self) -> Backend:
        """The backend the judges are reached through."""
        return self._backend

    async def ask(
        self,
        judge: JudgeSpec,
        question: Question,
        deadline: Deadline,
        ledger: Ledger,
        budget: Budget | None = None,
        *,
        keep: int = 0,
        single: bool = False,
    ) -> Answer:
        """Ask until there is a verdict, the budget is spent or the deadline passes.

        ``keep`` requests of the budget are left for another judge; ``single`` allows no retry and
        no re-ask. What was spent is counted in ``ledger`` whatever happens. Raises JudgingError.
        """
        state = _State(budget or Budget(), keep, single, ledger=Ledger(ledger))
        started = time.monotonic()
        retrying = AsyncRetrying(
            stop=stop_never,
            retry=retry_if_exception(lambda error: self._again(error, state, deadline)),
            wait=lambda _: state.wait_s,
            sleep=asyncio.sleep,
            reraise=True,
        )
        read: _Read = await retrying(self._attempt, judge, question, deadline, state)
        return Answer(
            judge=judge,
            reading=read.reading,
            reason=read.reason,
            model_served=read.reply.model,
            unverified=read.served is Served.UNVERIFIED,
            attempts=state.requests,
            latency_ms=(time.monotonic() - started) * 1000.0,
            usage=state.ledger.total,
        )

    def capability(self, judge: JudgeSpec) -> Capability:
        """What is known of the judge's provider."""
        return self._capabilities.setdefault(judge.id, Capability.of(judge))

    async def _attempt(
        self, judge: JudgeSpec, question: Question, deadline: Deadline, state: _State
    ) -> _Read:
        capability = self.capability(judge)
        tokens = Tokens.fresh()
        nonce = secrets.token_hex(16)
        user = await _rendered(question, tokens, nonce, deadline)
        if deadline.left() <= 0:
            raise DeadlineExceeded("the request's time was up before the judge could be asked")
        schema = question.schema(tokens if judge.schema_constants else None)
        call = ChatCall(
            judge=judge,
            system=question.system,
            user=user,
            parameters=capability.parameters(judge, schema, larger=state.larger),
            timeout_s=deadline.attempt_s(judge.attempt_timeout_s),
        )
        try:
            reply = await self._send(call, deadline, state)
        except ParameterRefused as refusal:
            capability.learn(refusal.parameters, str(refusal), call.parameters)
            again = capability.parameters(judge, schema, larger=state.larger)
            state.adapted = again != call.parameters
            raise
        capability.reasons |= reply.reasoning_tokens > 0
        served = check_reply(judge, reply)
        try:
            reading = read_reply(reply.content or "", tokens=tokens, form=question.form)
        except Unreadable as error:
            raise _UNREADABLE[error.code](str(error)) from None
        hidden = (nonce, tokens.v, tokens.end)
        reason = redact(reading.reason, secrets=hidden, system=question.system)
        return _Read(reply, reading, reason, served)

    async def _send(self, call: ChatCall, deadline: Deadline, state: _State) -> ChatReply:
        """One upstream request, cut off when its time is up even if the backend does not stop."""
        state.requests += 1
        state.budget.spend()
        task = asyncio.ensure_future(self._backend.complete(call))
        until = time.monotonic() + call.timeout_s
        try:
            # An event loop's timer may go off early, by as much as its last round took.
            while not task.done() and (left := until - time.monotonic()) > 0:
                await asyncio.wait({task}, timeout=left)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            task.cancel()
            task.add_done_callback(_ignore)
            state.ledger.add(_unanswered(call.judge))
            if deadline.left() < CLOCK_S:
                raise DeadlineExceeded(
                    f"the request's time was up while judge {call.judge.id!r} was answering"
                )
            raise JudgeTimeout(
                f"judge {call.judge.id!r} did not answer within {call.timeout_s:.3g} s"
            )
        return self._received(task, state)

    def _received(self, task: asyncio.Future[ChatReply], state: _State) -> ChatReply:
        try:
            reply = task.result()
        except ParameterRefused as refusal:
            if refusal.sent:
                state.ledger.add(Usage(upstream_requests=1))
            else:
                state.requests -= 1
                state.budget.left += 1
            raise
        except JudgingError:
            state.ledger.add(Usage(upstream_requests=1))
            raise
        except asyncio.CancelledError:
            raise UpstreamError("the connection to the judge was given up") from None
        state.ledger.add(reply.usage)
        return reply

    def _again(self, error: BaseException, state: _State, deadline: Deadline) -> bool:
        """Whether to send one more request after ``error``; sets how long to wait before it."""
        state.wait_s = 0.0
        if state.budget.left <= state.keep:
            return False
        if isinstance(error, ParameterRefused):
            return state.adapted
        if state.single:
            return False
        if isinstance(error, UnusableReply):
            state.reasks += 1
            state.larger |= isinstance(error, TruncatedReply)
            return state.reasks <= MAX_REASKS
        if not isinstance(error, TransportError) or error.permanent:
            return False
        state.transport_failures += 1
        backoff = min(BACKOFF_CAP_S, BACKOFF_S * 2.0**state.transport_failures)
        state.wait_s = max(error.retry_after_s or 0.0, self._jitter() * backoff)
        return state.wait_s < deadline.left()


async def _rendered(question: Question, tokens: Tokens, nonce: str, deadline: Deadline) -> str:
    """The user message. Escaping a long text takes its time, which is taken in a thread."""
    if question.chars < LONG_QUESTION_CHARS:
        return render_user(question, tokens, nonce)
    return await deadline.in_thread(
        lambda: render_user(question, tokens, nonce), "the question was being written"
    )


def _unanswered(judge: JudgeSpec) -> Usage:
    """A request whose answer nobody waited for: what it costs is known only where nothing costs."""
    if judge.price is not None and judge.price.free:
        return Usage(upstream_requests=1)
    return Usage(upstream_requests=1, cost_usd=None, unknown_cost_calls=1)


def _ignore(task: asyncio.Future[ChatReply]) -> None:
    """Take the result of a request nobody waits for, so that asyncio does not complain of it."""
    if not task.cancelled():
        task.exception()


def as_judging_error(error: JudgeServiceError) -> JudgingError:
    """The outcome's error for what ended an asking. A parameter refused without an alternative is
    the provider's error.
    """
    if isinstance(error, JudgingError):
        return error
    if isinstance(error, ParameterRefused):
        return UpstreamError(f"the provider refuses the request: {str(error)[:300]}")
    return InternalError(str(error))
