"""One backend out of two: judges that speak OpenAI's protocol directly, all others over LiteLLM.

LiteLLM, seconds of import and most of the memory, is loaded only when a judge needs it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from judge_service.adapters.openai_backend import OpenAIBackend
from judge_service.adapters.prices import PriceList
from judge_service.adapters.routing import Direct
from judge_service.asking.backend import Backend, ChatCall, ChatReply
from judge_service.judges.judge import JudgeSpec

if TYPE_CHECKING:
    from judge_service.adapters.litellm_backend import LiteLLMBackend

AFTER_START_S = 0.2
"""What is loaded ahead waits so long, or it would hold up the rest of the start."""


class BackendRouter:
    """Sends each judge's calls to the backend that is right for it.

    ``keys`` are API keys by judge id, ``environ`` the process's variables. ``direct`` says which
    judges need no LiteLLM; it is asked in a thread, once for each.
    """

    def __init__(
        self,
        keys: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        *,
        direct: Callable[[JudgeSpec], bool] | None = None,
    ) -> None:
        self._keys = dict(keys or {})
        prices = PriceList()
        self._direct = direct or Direct(prices, environ or {})
        self._openai = OpenAIBackend(self._keys, prices)
        self._litellm: LiteLLMBackend | None = None
        self._known: dict[str, tuple[JudgeSpec, Backend]] = {}
        self._ahead: asyncio.Task[None] | None = None

    def add_key(self, judge_id: str, key: str) -> None:
        """The API key of one more judge."""
        self._keys[judge_id] = key
        self._openai.add_key(judge_id, key)
        if self._litellm is not None:
            self._litellm.add_key(judge_id, key)

    async def check(self, judges: Iterable[JudgeSpec]) -> None:
        """Get ready for ``judges``; LiteLLM is loaded if one of them needs it.

        Raises ConfigError for a model name that nobody knows how to reach.
        """
        translated = [judge for judge in judges if await self._of(judge) is not self._openai]
        if translated:
            await self._through_litellm().check(translated)

    def load_ahead(self) -> None:
        """Load what the first request would wait for: soon, beside the loop."""
        if any(backend is self._openai for _, backend in self._known.values()):
            self._ahead = asyncio.create_task(self._load())

    async def _load(self) -> None:
        await asyncio.sleep(AFTER_START_S)
        await self._openai.http()

    async def complete(self, call: ChatCall) -> ChatReply:
        """One upstream request. Raises a JudgingError or ParameterRefused."""
        return await (await self._of(call.judge)).complete(call)

    async def context_window(self, judge: JudgeSpec) -> int | None:
        """What the spec says, else what LiteLLM's model list says."""
        return await (await self._of(judge)).context_window(judge)

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        if self._ahead is not None:
            self._ahead.cancel()
        await self._openai.aclose()
        if self._litellm is not None:
            await self._litellm.aclose()

    async def _of(self, judge: JudgeSpec) -> Backend:
        known = self._known.get(judge.id)
        if known is not None and known[0] is judge:
            return known[1]
        direct = await asyncio.to_thread(self._direct, judge)
        backend: Backend = self._openai if direct else self._through_litellm()
        self._known[judge.id] = (judge, backend)
        return backend

    def _through_litellm(self) -> LiteLLMBackend:
        if self._litellm is None:
            from judge_service.adapters.litellm_backend import LiteLLMBackend

            self._litellm = LiteLLMBackend(self._keys)
        return self._litellm
