"""One question to one judge: attempts, re-ask, adaptation to the provider, and the verdict.

The only retry layer of the service (tenacity). One verdict costs at most ``MAX_REQUESTS`` upstream
requests, whatever they are spent on.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tenacity import AsyncRetrying, retry_if_exception
from tenacity.stop import stop_never

from judge_service.asking.attempt import CLOCK_S, send
from judge_service.asking.backend import Backend, ChatCall, ChatReply
from judge_service.asking.check import check_reply
from judge_service.asking.retry import (
    BACKOFF_CAP_S,
    BACKOFF_S,
    MAX_REASKS,
    MAX_REQUESTS,
    Attempts,
    Budget,
    as_judging_error,
)
from judge_service.deadline import Deadline
from judge_service.envelope.envelope import Question, render_user
from judge_service.errors import (
    DeadlineExceeded,
    EmptyReply,
    InternalError,
    JudgeServiceError,
    OffScale,
    ParameterRefused,
    Unparsable,
    UnusableReply,
    UpstreamError,
)
from judge_service.events import Attempted, Observer, nobody
from judge_service.gates.gates import Gates
from judge_service.gates.passage import Fate, Passage
from judge_service.judges.capability import Capability
from judge_service.judges.judge import JudgeSpec
from judge_service.judges.served_model import Served
from judge_service.reply.probabilities import option_probabilities
from judge_service.reply.reply import Reading, Tokens, Unreadable, read_reply, redact
from judge_service.text.size import LONG
from judge_service.usage import Ledger, Usage

__all__ = [
    "BACKOFF_CAP_S", "BACKOFF_S", "MAX_REASKS", "MAX_REQUESTS", "Answer", "Asker", "Budget",
    "as_judging_error",
]  # fmt: skip

_UNREADABLE: dict[str, type[UnusableReply]] = {
    kind.code: kind for kind in (EmptyReply, Unparsable, OffScale)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A judge's verdict on one question, with what it took to get it. ``latency_ms`` covers all
    attempts; ``unverified`` says that the served model's name tells no family, ``cached`` that the
    judge was not asked for it anew; ``kept`` is then the key and the record it was read from.
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
    kept: tuple[str, bytes] | None = None


class _Read(NamedTuple):
    """A reply that holds a verdict."""

    reply: ChatReply
    reading: Reading
    reason: str
    served: Served


@dataclass(frozen=True, slots=True)
class _Letter:
    """A question as it is written for one attempt, with that attempt's secrets."""

    question: Question
    tokens: Tokens
    nonce: str
    user: str

    def read(self, judge: JudgeSpec, reply: ChatReply) -> _Read:
        """The verdict in the reply. Raises UnusableReply."""
        served = check_reply(judge, reply)
        try:
            reading = read_reply(reply.content or "", tokens=self.tokens, form=self.question.form)
        except Unreadable as error:
            raise _UNREADABLE[error.code](str(error)) from None
        hidden = (self.nonce, self.tokens.v, self.tokens.end)
        reason = redact(reading.reason, secrets=hidden, system=self.question.system)
        if judge.top_logprobs is not None and reply.logprobs:
            chances = option_probabilities(
                reply.logprobs, reply.content or "", reading, self.question.form
            )
            reading = replace(reading, probabilities=chances)
        return _Read(reply, reading, reason, served)


class Asker:
    """Asks judges through one backend, each past its gate, and remembers what its provider takes.

    ``jitter`` draws the share of the backoff that is waited, in [0, 1).
    """

    def __init__(
        self,
        backend: Backend,
        *,
        gates: Gates | None = None,
        observer: Observer = nobody,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        self.gates = Gates(observer=observer) if gates is None else gates
        self._backend = backend
        self._observer = observer
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
        admitted: bool = False,
    ) -> Answer:
        """Ask until there is a verdict, the budget is spent or the deadline passes.

        ``keep`` requests of the budget are left for another judge, who stands in for one that is
        out of order; ``single`` allows no retry and no re-ask; an ``admitted`` call is not turned
        away by a full queue. What was spent is counted in ``ledger`` whatever happens. Raises
        JudgingError.
        """
        attempts = Attempts(
            gate=self.gates.of(judge),
            deadline=deadline,
            observer=self._observer,
            budget=budget or Budget(),
            keep=keep,
            single=single,
            jitter=self._jitter,
        )
        own = Ledger(ledger)
        started = time.monotonic()
        try:
            read = await self._until_read(question, attempts, own, admitted)
        except BaseException:
            attempts.ended()
            raise
        attempts.succeeded()
        return Answer(
            judge=judge,
            reading=read.reading,
            reason=read.reason,
            model_served=read.reply.model,
            unverified=read.served is Served.UNVERIFIED,
            attempts=attempts.requests,
            latency_ms=(time.monotonic() - started) * 1000.0,
            usage=own.total,
        )

    async def _until_read(
        self, question: Question, attempts: Attempts, ledger: Ledger, admitted: bool
    ) -> _Read:
        first: JudgeServiceError | None = None
        try:
            return await self._attempt(question, attempts, ledger, admitted)
        except JudgeServiceError as error:
            # Only what failed once needs the machinery of trying again, which costs as much as
            # the rest of an attempt.
            first = error

        async def attempt() -> _Read:
            nonlocal first
            if first is not None:
                error, first = first, None
                raise error
            return await self._attempt(question, attempts, ledger, admitted)

        retrying = AsyncRetrying(
            stop=stop_never,
            retry=retry_if_exception(attempts.again),
            wait=lambda _: attempts.wait_s,
            sleep=asyncio.sleep,
            reraise=True,
        )
        read: _Read = await retrying(attempt)
        return read

    def capability(self, judge: JudgeSpec) -> Capability:
        """What is known of the judge's provider."""
        known = self._capabilities.get(judge.id)
        if known is None:
            known = self._capabilities[judge.id] = Capability.of(judge)
        return known

    async def _attempt(
        self, question: Question, attempts: Attempts, ledger: Ledger, admitted: bool
    ) -> _Read:
        gate, deadline = attempts.gate, attempts.deadline
        spare = attempts.keep > 0
        admitted = admitted or attempts.requests > 0
        gate.look(deadline, spare=spare, admitted=admitted)
        tokens = Tokens.fresh()
        nonce = os.urandom(16).hex()
        user = await _rendered(question, tokens, nonce, deadline)
        size = gate.pace.tokens_of(len(question.system) + len(user))
        passage = await gate.enter(tokens=size, deadline=deadline, spare=spare, admitted=admitted)
        letter = _Letter(question, tokens, nonce, user)
        try:
            call = self._call(letter, attempts)
        except BaseException:
            passage.leave(Fate.UNSENT)
            raise
        return await self._asked(letter, call, attempts, passage, ledger)

    def _call(self, letter: _Letter, attempts: Attempts) -> ChatCall:
        judge = attempts.gate.judge
        if attempts.deadline.left() < CLOCK_S:
            raise DeadlineExceeded("the request's time was up before the judge could be asked")
        return ChatCall(
            judge=judge,
            system=letter.question.system,
            user=letter.user,
            parameters=self._parameters(letter, attempts),
            timeout_s=attempts.deadline.patience_s(judge.attempt_timeout_s),
        )

    def _parameters(self, letter: _Letter, attempts: Attempts) -> dict[str, Any]:
        judge = attempts.gate.judge
        schema = letter.question.schema(letter.tokens if judge.schema_constants else None)
        return self.capability(judge).parameters(judge, schema, larger=attempts.larger)

    async def _asked(
        self, letter: _Letter, call: ChatCall, attempts: Attempts, passage: Passage, ledger: Ledger
    ) -> _Read:
        """One upstream request and the verdict in its reply."""
        own = Ledger(ledger)
        code: str | None = InternalError.code
        model = configuration = None

        def read(reply: ChatReply) -> _Read:
            nonlocal model, configuration
            model, configuration = reply.model, reply.system_fingerprint
            self.capability(call.judge).reasons |= reply.reasoning_tokens > 0
            return letter.read(call.judge, reply)

        gate = attempts.gate
        started = time.monotonic()
        attempts.sending()
        try:
            found = await send(self._backend, gate, passage, call, attempts.deadline, own, read)
            code = None
        except ParameterRefused as refusal:
            code = UpstreamError.code
            self._adapt(refusal, letter, call, attempts)
            raise
        except JudgeServiceError as error:
            code = as_judging_error(error).code
            raise
        finally:
            # Nothing is counted of a request that never left, or that the caller gave up.
            if own.total.upstream_requests:
                seconds = time.monotonic() - started
                self._observer(
                    Attempted(call.judge.id, code, seconds, own.total, model, configuration)
                )
        return found

    def _adapt(
        self, refusal: ParameterRefused, letter: _Letter, call: ChatCall, attempts: Attempts
    ) -> None:
        if not refusal.sent:
            attempts.not_sent()
        self.capability(call.judge).learn(refusal.parameters, str(refusal), call.parameters)
        attempts.adapted = self._parameters(letter, attempts) != call.parameters


async def _rendered(question: Question, tokens: Tokens, nonce: str, deadline: Deadline) -> str:
    """The user message. Escaping a long text takes its time, which is taken in a thread."""
    if question.chars < LONG:
        return render_user(question, tokens, nonce)
    return await deadline.in_thread(
        lambda: render_user(question, tokens, nonce), "the question was being written"
    )
