"""Judges through LiteLLM: the only module that imports it, and only when a judge is needed.

LiteLLM names models, knows providers and prices. Its retries, fallbacks and callbacks are off: one
call here is one upstream request.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import re
import threading
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from judge_service.adapters.guarded_transport import EXCHANGE, Exchange, GuardedTransport
from judge_service.adapters.litellm_errors import translate
from judge_service.backend import ChatCall, ChatReply
from judge_service.errors import ConfigError, UpstreamProtocolError
from judge_service.judge import JudgeSpec
from judge_service.usage import Usage

_OK = 200
MAX_COUNT = 10**9
"""A provider that counts more tokens than this for one call does not count."""
_O_SERIES = re.compile(r"o(?:1(?!-mini|-preview)|[3-9])(?:-|$)")
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
        from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

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
    with contextlib.suppress(Exception):
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
        exchange = Exchange()
        EXCHANGE.set(exchange)
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
            if _protocol_body(exchange) is None:
                raise translate(
                    error, exchange, judge=judge.id, sent=frozenset(call.parameters), secret=key
                ) from None
            response = None
        if exchange.too_large:
            raise UpstreamProtocolError(f"judge {judge.id!r}: the reply is larger than 64 KiB")
        return self._reply(judge, response, exchange)

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

    def _reply(self, judge: JudgeSpec, response: Any, exchange: Exchange) -> ChatReply:
        raw = _protocol_body(exchange)
        if raw is not None:
            return _from_protocol(raw, judge, response)
        choices = response.choices or []
        if not choices:
            raise UpstreamProtocolError(f"judge {judge.id!r}: a reply without choices")
        message = choices[0].message
        used = response.get("usage")
        usage = {} if used is None else used.model_dump()
        return ChatReply(
            content=message.content,
            finish_reason=_own_end(exchange) or choices[0].finish_reason,
            model=_served_name(exchange),
            usage=_usage(judge, usage, response),
            reasoning_tokens=_detail(usage, "completion_tokens_details", "reasoning_tokens"),
        )


def _protocol_body(exchange: Exchange) -> dict[str, Any] | None:
    """The body where it is a chat completion of OpenAI's protocol: LiteLLM drops fields of it."""
    if exchange.status != _OK or exchange.too_large:
        return None
    data = _json(exchange)
    return data if isinstance(data, dict) and isinstance(data.get("choices"), list) else None


def _json(exchange: Exchange) -> Any:
    try:
        return json.loads(exchange.body)
    except (ValueError, RecursionError):
        return None


def _served_name(exchange: Exchange) -> str | None:
    """The name in the provider's own body; where there is none LiteLLM repeats the one asked for,
    which proves nothing.
    """
    data = _json(exchange)
    name = (data.get("model") or data.get("modelVersion")) if isinstance(data, dict) else None
    return name if isinstance(name, str) else None


def _own_end(exchange: Exchange) -> str | None:
    """How the reply ended in the provider's own word: LiteLLM calls every tool call complete, also
    one that was cut off, and a refusal a filter's work.
    """
    data = _json(exchange)
    if not isinstance(data, dict):
        return None
    candidates = data.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    told = [data.get(name) for name in ("stop_reason", "stopReason", "done_reason")]
    told += [first.get("finishReason")] if isinstance(first, dict) else []
    return next((word for word in told if isinstance(word, str) and word), None)


def _from_protocol(raw: dict[str, Any], judge: JudgeSpec, response: Any) -> ChatReply:
    choice = raw["choices"][0] if raw["choices"] else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise UpstreamProtocolError(f"judge {judge.id!r}: a reply without choices")
    finish = choice.get("finish_reason")
    if finish is not None and not isinstance(finish, str):
        raise UpstreamProtocolError(f"judge {judge.id!r}: a finish_reason that is no word")
    told = raw.get("usage")
    usage: dict[str, Any] = told if isinstance(told, dict) else {}
    model = raw.get("model")
    return ChatReply(
        content=_content(message.get("content"), judge) or _tool_text(message),
        refusal=_refusal(message),
        finish_reason=finish,
        model=model if isinstance(model, str) and model else None,
        usage=_usage(judge, usage, response),
        reasoning_tokens=_detail(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def _content(value: Any, judge: JudgeSpec) -> str | None:
    """Content is a string, null or, with some gateways, a list of text parts."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [part.get("text") for part in value if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    raise UpstreamProtocolError(f"judge {judge.id!r}: a content that is no text")


def _tool_text(message: Mapping[str, Any]) -> str | None:
    """The arguments of a single tool call: for some providers LiteLLM asks for JSON that way."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or len(calls) != 1 or not isinstance(calls[0], dict):
        return None
    function = calls[0].get("function")
    text = function.get("arguments") if isinstance(function, dict) else None
    return text if isinstance(text, str) else None


def _refusal(message: Mapping[str, Any]) -> str | None:
    """A refusal has a field of its own or, where content comes in parts, a part of its own."""
    content = message.get("content")
    parts = (
        [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    )
    told = [message.get("refusal"), *(part.get("refusal") for part in parts)]
    return next((text for text in told if isinstance(text, str) and text), None)


def _usage(judge: JudgeSpec, usage: Mapping[str, Any], response: Any) -> Usage:
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    cost = _cost(judge, prompt, completion, response)
    return Usage(
        upstream_requests=1,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=_detail(usage, "prompt_tokens_details", "cached_tokens"),
        cost_usd=cost,
        unknown_cost_calls=0 if cost is not None else 1,
    )


def _cost(judge: JudgeSpec, prompt: int, completion: int, response: Any) -> float | None:
    """USD of one request; None when the price or the tokens are not known."""
    if judge.price is not None and judge.price.free:
        return 0.0
    if prompt == 0 and completion == 0:
        return None
    if judge.price is not None:
        return (prompt * judge.price.input + completion * judge.price.output) / 1e6
    cost = getattr(response, "_hidden_params", {}).get("response_cost")
    return float(cost) if isinstance(cost, (int, float)) and cost > 0 else None


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 <= value <= MAX_COUNT else 0


def _detail(usage: Mapping[str, Any], group: str, name: str) -> int:
    details = usage.get(group)
    return _count(details, name) if isinstance(details, Mapping) else 0
