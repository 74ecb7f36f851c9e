"""Judges through LiteLLM: the only module that imports it, and only when a judge is needed.

LiteLLM names models, knows providers and prices. Its retries, fallbacks and callbacks are off: one
call here is one upstream request.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import re
import threading
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from judge_service.adapters.exchange import Exchange, room_for
from judge_service.adapters.guarded_transport import EXCHANGE, GuardedTransport
from judge_service.adapters.litellm_errors import translate
from judge_service.adapters.provider_errors import too_large
from judge_service.adapters.provider_reply import protocol_body, reply_from, spent_on, without_key
from judge_service.asking.backend import ChatCall, ChatReply
from judge_service.errors import ConfigError, JudgingError
from judge_service.judges.judge import JudgeSpec

_O_SERIES = re.compile(r"o(?:1(?!-mini|-preview)|[3-9])(?:-|$)")
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
_lock = threading.Lock()
_transport = GuardedTransport()


def load_litellm() -> Any:
    """Import LiteLLM (seconds, once) without network access and with its extras switched off.

    Not for the thread of an event loop.
    """
    with _lock:
        # Otherwise the import fetches a price list over the network.
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        # Nor anything else that no operator asked for.
        os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
        import litellm

        if getattr(litellm, "_judge_service_ready", False):
            return litellm
        # A tokenizer's table of 14 MB, from which it has made the text that it uses.
        vars(litellm.utils).pop("json_data", None)
        from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

        # Its own handlers write to stderr whatever providers said, past every filter of ours.
        for name in _LOGGERS:
            logging.getLogger(name).handlers.clear()
        litellm.suppress_debug_info = True
        litellm.telemetry = False
        litellm.drop_params = False
        litellm.num_retries = None
        # It prepares calls in a thread; one that is cancelled meanwhile is never begun, rightly.
        warnings.filterwarnings("ignore", r"coroutine '\w+\.acompletion' was never awaited")
        # Its list lacks that these take a system message; it would make a user's of ours.
        for name, known in litellm.model_cost.items():
            if _O_SERIES.match(name.rsplit("/", 1)[-1]):
                known.setdefault("supports_system_messages", True)
        # Every client LiteLLM makes asks here for its transport and its proxies.
        AsyncHTTPHandler.create_async_transport = staticmethod(lambda *_, **__: _transport)
        AsyncHTTPHandler.create_httpx_proxy_mounts = staticmethod(lambda *_, **__: {})
        asyncio.run(_first_call(litellm))
        litellm._judge_service_ready = True
        # A full collection over its objects would stall the event loop for a fifth of a second.
        gc.collect()
        gc.freeze()
        return litellm


async def _first_call(litellm: Any) -> None:
    """A call to nobody: LiteLLM imports much of itself only then, a second on the event loop."""
    with contextlib.suppress(Exception):  # nobody is there to answer it
        await litellm.acompletion(
            model="openai/nobody",
            messages=[{"role": "user", "content": "-"}],
            api_base="http://127.0.0.1:1/v1",
            api_key="none",
            timeout=1.0,
            max_retries=0,
            num_retries=0,
        )
    await _transport.aclose()


class LiteLLMBackend:
    """Reaches every judge through ``litellm.acompletion``. ``keys`` are API keys by judge id."""

    def __init__(self, keys: Mapping[str, str] | None = None) -> None:
        self._keys = dict(keys or {})
        self._litellm: Any = None

    async def warm(self) -> None:
        """Import LiteLLM now, in a thread, so that the first request does not wait for it."""
        if self._litellm is None:
            self._litellm = await asyncio.to_thread(load_litellm)

    def add_key(self, judge_id: str, key: str) -> None:
        """The API key of one more judge."""
        self._keys[judge_id] = key

    async def check(self, judges: Iterable[JudgeSpec]) -> None:
        """Raise ConfigError for a model name that LiteLLM knows no provider for."""
        await self.warm()
        for judge in judges:
            try:
                self._litellm.get_llm_provider(model=judge.model, api_base=judge.api_base)
            except Exception:  # noqa: BLE001 - a BadRequestError today, of a request never made
                raise ConfigError(
                    f"judge {judge.id!r}: model: {judge.model!r} names no provider LiteLLM knows; "
                    "put one in front, as in openai/…, anthropic/… or hosted_vllm/…"
                ) from None

    async def complete(self, call: ChatCall) -> ChatReply:
        """One upstream request. Raises a JudgingError or ParameterRefused."""
        await self.warm()
        exchange = Exchange(room=room_for(call.parameters))
        EXCHANGE.set(exchange)
        try:
            return await self._completed(call, exchange)
        except JudgingError as error:
            error.spent = spent_on(call.judge, exchange)
            raise

    async def _completed(self, call: ChatCall, exchange: Exchange) -> ChatReply:
        judge, key = call.judge, self._key(call.judge)
        try:
            response = await self._litellm.acompletion(
                model=judge.model,
                messages=[
                    {"role": "system", "content": call.system},
                    {"role": "user", "content": call.user},
                ],
                api_base=judge.api_base,
                api_key=key,
                timeout=call.timeout_s + 1.0,
                max_retries=0,
                num_retries=0,
                **call.parameters,
            )
        except Exception as error:  # noqa: BLE001 - LiteLLM lets anything through; all is mapped
            # It turns a whole reply away over a field that nobody needs (content in parts, an odd
            # token count); what is needed is read from the reply itself.
            if protocol_body(exchange) is None:
                raise translate(
                    error,
                    exchange,
                    judge=judge.id,
                    sent=frozenset(call.parameters),
                    secret=self._keys.get(judge.id),
                    text_sent=call.user,
                ) from None
            response = None
        if exchange.too_large:
            raise too_large(judge.id, exchange)
        return without_key(reply_from(judge, response, exchange), self._keys.get(judge.id))

    async def context_window(self, judge: JudgeSpec) -> int | None:
        """What the spec says, else what LiteLLM's model list says."""
        if judge.context_tokens is not None:
            return judge.context_tokens
        await self.warm()
        try:
            info = self._litellm.get_model_info(judge.model)
        except Exception:  # noqa: BLE001 - it raises bare Exception for a model it does not know
            return None
        window = info.get("max_input_tokens")
        return window if isinstance(window, int) and window > 0 else None

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        await _transport.aclose()

    def _key(self, judge: JudgeSpec) -> str | None:
        if judge.id in self._keys:
            return self._keys[judge.id]
        # Without a key of its own a judge at a given address must not be sent the key that
        # LiteLLM would find in the environment for the protocol's usual provider.
        return "none" if judge.api_base is not None else None
