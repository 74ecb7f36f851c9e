"""The client for code without an event loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar

from judge_client.async_client import AsyncJudgeClient, Prompt
from judge_client.candidate import CandidateLike
from judge_client.loop_thread import LOOP
from judge_client.requests import Assess, Compare, Join, Rank, Request, failed_all
from judge_client.results import (
    AssessFailed,
    AssessOutcome,
    CompareFailed,
    CompareOutcome,
    Failure,
    JoinFailed,
    JoinOutcome,
    RankFailed,
    RankOutcome,
)
from judge_client.settings import Purpose, Settings

R = TypeVar("R")


class JudgeClient:
    """Asks a judge_service; the synchronous form of AsyncJudgeClient, with the same settings,
    results, deadlines and retries.

    One instance may be used from many threads, pickled, and carried into forked and spawned
    processes. The requests run on one background thread of the process.
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
        self._inner = AsyncJudgeClient(
            url, api_key=api_key, rubric=rubric, timeout_s=timeout_s, family=family,
            policy_model=policy_model, purpose=purpose, retry_failed=retry_failed,
        )  # fmt: skip

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._inner.settings

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings!r})"

    def __enter__(self) -> JudgeClient:
        """Nothing is connected to yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        LOOP.run(self._inner.aclose(), _nothing)

    # One request.

    def assess(
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
        return LOOP.run(
            self._inner.assess(
                prompt, candidate, rubric=rubric, reference=reference, judges=judges,
                panel_size=panel_size, purpose=purpose, metadata=metadata, timeout_s=timeout_s,
            ),
            lambda failure: AssessFailed(error=failure),
        )  # fmt: skip

    def compare(
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
        return LOOP.run(
            self._inner.compare(
                prompt, first, second, rubric=rubric, reference=reference, judges=judges,
                panel_size=panel_size, purpose=purpose, metadata=metadata, timeout_s=timeout_s,
            ),
            lambda failure: CompareFailed(error=failure),
        )  # fmt: skip

    def rank(
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
        return LOOP.run(
            self._inner.rank(
                prompt, candidates, strategy=strategy, max_calls=max_calls, rubric=rubric,
                reference=reference, judges=judges, panel_size=panel_size, purpose=purpose,
                metadata=metadata,
                timeout_s=timeout_s,
            ),
            lambda failure: RankFailed(error=failure),
        )  # fmt: skip

    def join(
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
        return LOOP.run(
            self._inner.join(
                group, size, member, prompt, candidate, deadline_s=deadline_s, partial=partial,
                run=run, rubric=rubric, reference=reference, purpose=purpose, metadata=metadata,
                timeout_s=timeout_s,
            ),
            lambda failure: JoinFailed(error=failure),
        )  # fmt: skip

    def ask(self, request: Request[R], *, timeout_s: float | None = None) -> R:
        """The result of any request. Raises RequestRefused."""
        return LOOP.run(self._inner.ask(request, timeout_s=timeout_s), request.failed)

    # Many requests.

    def assess_many(
        self, requests: Sequence[Assess], *, timeout_s: float | None = None
    ) -> list[AssessOutcome]:
        """Assess many candidates in one POST (several above 1,024), in order."""
        return LOOP.run(
            self._inner.assess_many(requests, timeout_s=timeout_s), failed_all(requests)
        )

    def compare_many(
        self, requests: Sequence[Compare], *, timeout_s: float | None = None
    ) -> list[CompareOutcome]:
        """Compare many pairs in one POST (several above 1,024), in order."""
        return LOOP.run(
            self._inner.compare_many(requests, timeout_s=timeout_s), failed_all(requests)
        )

    def rank_many(
        self, requests: Sequence[Rank], *, timeout_s: float | None = None
    ) -> list[RankOutcome]:
        """Rank many groups in one POST (several above 1,024), in order."""
        return LOOP.run(self._inner.rank_many(requests, timeout_s=timeout_s), failed_all(requests))

    def join_many(
        self, requests: Sequence[Join], *, timeout_s: float | None = None
    ) -> list[JoinOutcome]:
        """Hand in several members, of one group or of many, by calls that go on at once; in order.

        ``timeout_s`` is the whole time of them all. Raises RequestRefused when one of them is a
        mistake.
        """
        return LOOP.run(self._inner.join_many(requests, timeout_s=timeout_s), failed_all(requests))

    def bulk(self, requests: Sequence[Request[R]], *, timeout_s: float | None = None) -> list[R]:
        """The results of requests of any kind but ``Join``, in order, each with its own status.

        Raises RequestRefused when one of them is a mistake; then none is judged.
        """
        return LOOP.run(self._inner.bulk(requests, timeout_s=timeout_s), failed_all(requests))

    # Looking.

    def rubric(self, rubric: str | None = None, *, timeout_s: float = 5.0) -> Any:
        """What the service shows of a rubric (a dict), or a Failure when it cannot be asked.

        Raises RequestRefused: NotFound where there is no such rubric, AccessDenied without a key.
        """
        return LOOP.run(self._inner.rubric(rubric, timeout_s=timeout_s), lambda failure: failure)


def _nothing(failure: Failure) -> None:
    """What closing comes to where no loop is there: nothing was open."""
