"""The client for code with an event loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar

from judge_client import settings
from judge_client.again import last_word, may_help, waited
from judge_client.batch import Batch
from judge_client.candidate import CandidateLike
from judge_client.errors import ConfigError
from judge_client.pace import Deadline
from judge_client.requests import Assess, Compare, Join, Rank, Request, Written
from judge_client.results import (
    AssessOutcome,
    CompareOutcome,
    Failure,
    JoinOutcome,
    RankOutcome,
)
from judge_client.settings import Purpose, Settings
from judge_client.together import together
from judge_client.transport import Transport

R = TypeVar("R")
Prompt = str | Sequence[Mapping[str, Any]]


class AsyncJudgeClient:
    """Asks a judge_service. Settings come from the arguments, else from the environment
    (``JUDGE_SERVICE_URL`` and so on), else the service is the local one.

    Every call ends in a result within ``timeout_s``, retries included: a success, or a failed
    outcome that has no reward, also when the service cannot be reached. Only mistakes raise:
    ConfigError here, RequestRefused from a call.

    ``retry_failed`` says how often an outcome that failed and may be asked again is asked again,
    while there is time: 0, because the service has already retried.

    One instance may be used from many tasks, loops and threads, pickled, and carried into forked
    and spawned processes; each loop has its own connections, closed when the loop ends or by
    ``aclose``.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        api_key: str | None = None,
        rubric: str | None = None,
        timeout_s: float | str | None = None,
        family: str | Sequence[str] | None = None,
        policy_model: str | None = None,
        purpose: str | None = None,
        retry_failed: int = 0,
    ) -> None:
        loaded = settings.load(
            url=url, api_key=api_key, rubric=rubric, timeout_s=timeout_s, family=family,
            policy_model=policy_model, purpose=purpose,
        )  # fmt: skip
        self._start(loaded, retry_failed)

    @classmethod
    def from_settings(cls, loaded: Settings, retry_failed: int = 0) -> AsyncJudgeClient:
        """A client with settings that are there already."""
        client = cls.__new__(cls)
        client._start(loaded, retry_failed)
        return client

    def _start(self, loaded: Settings, retry_failed: object) -> None:
        if isinstance(retry_failed, bool) or not isinstance(retry_failed, int) or retry_failed < 0:
            raise ConfigError("retry_failed: not a number of times")
        self.settings = loaded
        self.retry_failed = retry_failed
        self._transport = Transport(loaded)

    def __getstate__(self) -> tuple[Settings, int]:
        """What a pickle holds: the settings, not the connections."""
        return self.settings, self.retry_failed

    def __setstate__(self, state: tuple[Settings, int]) -> None:
        """Start anew in another process."""
        self._start(*state)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings!r})"

    async def __aenter__(self) -> AsyncJudgeClient:
        """Nothing is connected to yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close this loop's connections."""
        await self.aclose()

    async def aclose(self) -> None:
        """Close this loop's connections; a later call opens new ones."""
        await self._transport.close()

    # One request.

    async def assess(
        self,
        prompt: Prompt,
        candidate: CandidateLike,
        *,
        rubric: str | None = None,
        reference: str | None = None,
        judges: Sequence[str] | None = None,
        panel_size: int | None = None,
        purpose: Purpose | None = None,
        metadata: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> AssessOutcome:
        """Assess one candidate: its reward in [0, 1], or why there is none."""
        request = Assess(
            prompt=prompt, candidate=candidate, rubric=rubric, reference=reference, judges=judges,
            panel_size=panel_size, purpose=purpose, metadata=metadata,
        )  # fmt: skip
        return await self.ask(request, timeout_s=timeout_s)

    async def compare(
        self,
        prompt: Prompt,
        first: CandidateLike,
        second: CandidateLike,
        *,
        rubric: str | None = None,
        reference: str | None = None,
        judges: Sequence[str] | None = None,
        panel_size: int | None = None,
        purpose: Purpose | None = None,
        metadata: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> CompareOutcome:
        """Compare two candidates in both orders."""
        request = Compare(
            prompt=prompt, first=first, second=second, rubric=rubric, reference=reference,
            judges=judges, panel_size=panel_size, purpose=purpose, metadata=metadata,
        )  # fmt: skip
        return await self.ask(request, timeout_s=timeout_s)

    async def rank(
        self,
        prompt: Prompt,
        candidates: Sequence[CandidateLike],
        *,
        strategy: Literal["auto", "assess", "pairwise", "listwise"] = "auto",
        max_calls: int | None = None,
        rubric: str | None = None,
        reference: str | None = None,
        judges: Sequence[str] | None = None,
        panel_size: int | None = None,
        purpose: Purpose | None = None,
        metadata: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> RankOutcome:
        """Rank a group of 2 to 64 candidates: a reward for each, in the order given."""
        request = Rank(
            prompt=prompt, candidates=candidates, strategy=strategy, max_calls=max_calls,
            rubric=rubric, reference=reference, judges=judges, panel_size=panel_size,
            purpose=purpose, metadata=metadata,
        )  # fmt: skip
        return await self.ask(request, timeout_s=timeout_s)

    async def join(
        self,
        group: str,
        size: int,
        member: str,
        prompt: Prompt,
        candidate: CandidateLike,
        *,
        deadline_s: float | None = None,
        partial: Literal["fail"] | Mapping[str, int] = "fail",
        run: str | None = None,
        rubric: str | None = None,
        reference: str | None = None,
        purpose: Purpose | None = None,
        metadata: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
    ) -> JoinOutcome:
        """Hand in one member of a group whose other members come by other calls, and wait for the
        member's own reward. ``deadline_s`` bounds the wait for the others (half of ``timeout_s``
        unless given), ``timeout_s`` is the whole time (``deadline_s`` and the client's own).
        """
        if timeout_s is None:
            timeout_s = self.settings.timeout_s + (deadline_s or 0.0)
        request = Join(
            group=group, size=size, member=member, prompt=prompt, candidate=candidate,
            deadline_s=deadline_s, partial=partial, run=run, rubric=rubric,
            reference=reference, purpose=purpose, metadata=metadata,
        )  # fmt: skip
        return await self.ask(request, timeout_s=timeout_s)

    async def ask(self, request: Request[R], *, timeout_s: float | None = None) -> R:
        """The result of any request. Raises RequestRefused."""
        seconds = self._seconds(timeout_s)
        deadline = Deadline(seconds)
        made = request.written(self.settings, timeout_s=seconds)
        if not isinstance(made, Written):
            return made
        result = await self._once(request, made.body, deadline)
        for retry in range(self.retry_failed):
            if not may_help(result) or not await waited(retry, [result], deadline):
                break
            result = last_word(result, await self._once(request, made.body, deadline))
        return result

    async def _once(self, request: Request[R], body: bytes, deadline: Deadline) -> R:
        answer = await self._transport.post(request.path, body, deadline)
        return request.failed(answer) if isinstance(answer, Failure) else request.read(answer)

    # Many requests.

    async def assess_many(
        self, requests: Sequence[Assess], *, timeout_s: float | None = None
    ) -> list[AssessOutcome]:
        """Assess many candidates in one POST (several above 1,024), in order."""
        return await self.bulk(requests, timeout_s=timeout_s)

    async def compare_many(
        self, requests: Sequence[Compare], *, timeout_s: float | None = None
    ) -> list[CompareOutcome]:
        """Compare many pairs in one POST (several above 1,024), in order."""
        return await self.bulk(requests, timeout_s=timeout_s)

    async def rank_many(
        self, requests: Sequence[Rank], *, timeout_s: float | None = None
    ) -> list[RankOutcome]:
        """Rank many groups in one POST (several above 1,024), in order."""
        return await self.bulk(requests, timeout_s=timeout_s)

    async def join_many(
        self, requests: Sequence[Join], *, timeout_s: float | None = None
    ) -> list[JoinOutcome]:
        """Hand in several members, of one group or of many, by calls that go on at once; in order.

        ``timeout_s`` is the whole time of them all. Raises RequestRefused when one of them is a
        mistake.
        """
        return await together(self.ask(request, timeout_s=timeout_s) for request in requests)

    async def bulk(
        self, requests: Sequence[Request[R]], *, timeout_s: float | None = None
    ) -> list[R]:
        """The results of requests of any kind but ``Join``, in order, each with its own status.

        Raises RequestRefused when one of them is a mistake; then none is judged.
        """
        deadline = Deadline(self._seconds(timeout_s))
        batch = Batch(requests, self.settings)
        return await batch.run(self._transport, deadline, self.retry_failed)

    # Looking.

    async def rubric(self, rubric: str | None = None, *, timeout_s: float = 5.0) -> Any:
        """What the service shows of a rubric (a dict), or a Failure when it cannot be asked.

        Raises RequestRefused: NotFound where there is no such rubric, AccessDenied without a key.
        """
        wanted = settings.load(rubric=rubric or self.settings.rubric, environ={}).rubric
        if wanted is None:
            raise ConfigError("rubric: none given")
        return await self._transport.get(f"/v1/rubrics/{wanted}", timeout_s)

    def _seconds(self, timeout_s: float | None) -> float:
        if timeout_s is None:
            return self.settings.timeout_s
        return settings.check_timeout("timeout_s", timeout_s)
