"""What the tests of the backends share."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any, Protocol

from judge_service.adapters.backend_router import BackendRouter
from judge_service.adapters.litellm_backend import load_litellm
from judge_service.api.answers import ErrorCode
from judge_service.asking.backend import ChatCall, ChatReply
from judge_service.judges.judge import JudgeSpec
from tests.harness import RunningService
from tests.provider import Behaviour, FakeProvider, by_hand

GOOD = 4
KEY_VARIABLE, KEY = "A_JUDGES_KEY", "quite-a-secret-key-0123456789"
LEAK = "sk-a-key-of-somebody-else-0123456789"
CODES = frozenset(ErrorCode.__args__)  # type: ignore[attr-defined]
JUDGES = ("main", "keyed", "stepper", "worded", "warm", "renamed", "budget", "both", "thinker",
          "text", "object", "extra", "stubborn", "effort", "routed", "plain", "lengthy",
          "lacking", "priced")  # fmt: skip


def assess(service: RunningService, judge: str = "main", **more: Any) -> Any:
    """An assessment by one judge."""
    return service.assess(judges=[judge], **more)


class Call(Protocol):
    """One call of the backend itself, without the layers above it."""

    def __call__(
        self, provider: FakeProvider, script: Behaviour, timeout_s: float = 5.0
    ) -> ChatReply:
        """Let the provider behave like ``script`` and ask it once."""


def caller(direct: bool) -> Call:
    """Calls one backend or the other."""

    def call(provider: FakeProvider, script: Behaviour, timeout_s: float = 5.0) -> ChatReply:
        provider.behave("judge-a", script)
        judge = JudgeSpec(
            id="judge-a", model="openai/judge-a", family="alpha", api_base=provider.base_url
        )
        one = ChatCall(judge=judge, system="You judge.", user=by_hand.ONE, timeout_s=timeout_s)
        return ask(one, direct=direct)

    return call


def ask(one: ChatCall, *, direct: bool, keys: dict[str, str] | None = None) -> ChatReply:
    """The reply to one call, directly or through LiteLLM."""

    async def complete() -> ChatReply:
        backend = BackendRouter(keys, direct=lambda _: direct)
        try:
            return await backend.complete(one)
        finally:
            await backend.aclose()

    return asyncio.run(complete())


def exceptions() -> dict[str, type[Exception]]:
    """Every exception class of LiteLLM, by name."""
    litellm = load_litellm()
    return {
        name: found
        for name, found in inspect.getmembers(litellm.exceptions, inspect.isclass)
        if issubclass(found, Exception)
        and not issubclass(found, Warning)
        and found.__module__.startswith(("litellm", "openai"))
    }
