"""Decides what to answer: which behaviour is due, what it sees, and what went wrong with that."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .behaviours import Behaviour, honest
from .envelope_reader import EnvelopeError, read
from .replies import Reply, error
from .seen import Oracle, OracleError, Seen, table_oracle
from .wire import HttpRequest


@dataclass(slots=True, kw_only=True)
class Recorded:
    """One request as it came in and what became of it; times are ``time.monotonic()``.

    ``hung_up_at`` is set when the client left before the reply was complete, ``complete`` when all
    of it was sent (both a moment after the client may have seen it). ``problem`` says why the fake
    could not play its part (an envelope it cannot read, an oracle without an entry).
    """

    model: str
    n: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float
    seen: Seen | None = None
    problem: str | None = None
    status: int | None = None
    complete: bool = False
    finished_at: float | None = None
    hung_up_at: float | None = None


class Script:
    """Behaviours used in turn, one per request; the last one repeats."""

    def __init__(self, script: Behaviour | Sequence[Behaviour]) -> None:
        """One behaviour, or at least one in a sequence."""
        self._behaviours = (script,) if callable(script) else tuple(script)
        if not self._behaviours:
            raise ValueError("a script needs a behaviour")
        self._used = 0

    def next(self) -> Behaviour:
        """The behaviour for the next request."""
        at = min(self._used, len(self._behaviours) - 1)
        self._used += 1
        return self._behaviours[at]


class Desk:
    """The scripted judges by model name. Used from the test's thread and the server's."""

    def __init__(self, plain: str | None) -> None:
        """``plain`` is the content answered to a request without an envelope, if any."""
        self._plain = plain
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._scripts: dict[str, Script] = {}
        self._default = Script(honest())
        self._oracle: Oracle | None = None

    @property
    def models(self) -> list[str]:
        """The models that have a script of their own."""
        return sorted(self._scripts)

    def behave(self, model: str | None, script: Behaviour | Sequence[Behaviour]) -> None:
        """Set the script of a model, or of every model without one."""
        with self._lock:
            if model is None:
                self._default = Script(script)
            else:
                self._scripts[model] = Script(script)

    def oracle(self, scores: Mapping[str, int] | Oracle, default: int | None) -> None:
        """Set where honest scores come from."""
        self._oracle = table_oracle(scores, default) if isinstance(scores, Mapping) else scores

    def reset(self) -> None:
        """Forget counts and scripts; the oracle stays."""
        with self._lock:
            self._counts.clear()
            self._scripts.clear()
            self._default = Script(honest())

    def record(self, request: HttpRequest, at: float) -> Recorded:
        """Note a request; its body is empty when it was no JSON object."""
        try:
            body = json.loads(request.body)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            body = {}
        model = str(body.get("model", ""))
        with self._lock:
            self._counts[model] += 1
            return Recorded(
                model=model,
                n=self._counts[model],
                method=request.method,
                path=request.path,
                headers=request.headers,
                body=body,
                at=at,
            )

    def reply(self, record: Recorded) -> Reply:
        """What to answer; trouble is noted in ``record.problem`` and answered with a 400."""
        if record.method != "POST" or not record.path.endswith("/chat/completions"):
            return self._trouble(record, f"{record.method} {record.path} is not served", 404)
        try:
            system, user = _messages(record.body)
            if self._plain is not None and "JS-DATA" not in user:
                return Reply(content=self._plain)
            record.seen = self._look(record, system, user)
            with self._lock:
                behaviour = self._scripts.get(record.model, self._default).next()
            return behaviour(record.seen)
        except (EnvelopeError, OracleError) as problem:
            return self._trouble(record, str(problem), 400)
        except Exception as mistake:  # noqa: BLE001 - a behaviour's bug must surface in the test
            return self._trouble(record, f"a behaviour raised {mistake!r}", 400)

    def _look(self, record: Recorded, system: str, user: str) -> Seen:
        return Seen(
            model=record.model,
            n=record.n,
            body=record.body,
            headers=record.headers,
            system=system,
            user=user,
            envelope=read(user),
            oracle=self._oracle,
        )

    @staticmethod
    def _trouble(record: Recorded, problem: str, status: int) -> Reply:
        record.problem = f"{record.model} #{record.n}: {problem}"
        return error(status, f"fake provider: {problem}", code="fake_provider")


def _messages(body: Mapping[str, Any]) -> tuple[str, str]:
    """The system and the user message, which are all the messages there are."""
    if body.get("stream"):
        raise EnvelopeError("streaming is not served")
    messages = body.get("messages")
    if not isinstance(messages, list) or len(messages) != 2:
        raise EnvelopeError("not exactly two messages")
    roles = [message.get("role") for message in messages]
    texts = [message.get("content") for message in messages]
    if roles[0] not in ("system", "developer") or roles[1] != "user":
        raise EnvelopeError(f"the roles are {roles}")
    if not all(isinstance(text, str) for text in texts):
        raise EnvelopeError("the content of a message is no string")
    return texts[0], texts[1]
