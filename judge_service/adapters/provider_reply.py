"""What a provider answered, read from its own body where that is OpenAI's protocol.

LiteLLM drops fields of the protocol and turns whole replies away over fields nobody needs, so its
object is used only where the body is of another protocol.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from judge_service.adapters.exchange import MAX_REPLY_BYTES, Exchange
from judge_service.asking.backend import ChatReply
from judge_service.errors import UpstreamProtocolError
from judge_service.judges.judge import JudgeSpec
from judge_service.text.parts import is_reasoning
from judge_service.usage import Usage

_DONE = range(200, 300)
MIN_KEY_CHARS = 12
"""A shorter key is a placeholder, a word that may stand in any text."""
CACHED_NAMES = ("prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens")
"""What providers of OpenAI's protocol call the tokens from their prompt cache that do not use its
``prompt_tokens_details``: DeepSeek, gateways in front of Anthropic, Moonshot.
"""
MAX_COUNT = 10**9
"""A provider that counts more tokens than this for one call does not count."""
MAX_FINGERPRINT_CHARS = 256


def reply_from(judge: JudgeSpec, response: Any, exchange: Exchange) -> ChatReply:
    """The reply of one request: ``exchange`` is what came over the wire, ``response`` LiteLLM's
    object, None where it made none. Raises UpstreamProtocolError.
    """
    raw = protocol_body(exchange)
    if raw is not None:
        return from_protocol(raw, judge, _list_price(response))
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
        usage=_usage(judge, usage, _list_price(response)),
        reasoning_tokens=_detail(usage, "completion_tokens_details", "reasoning_tokens"),
        logprobs=_logprobs(_as_mapping(choices[0])),
    )


def _as_mapping(choice: Any) -> Mapping[str, Any]:
    """What LiteLLM made of a provider's own log probabilities, in the form of OpenAI's."""
    told: Any = getattr(choice, "logprobs", None)
    return {"logprobs": told.model_dump() if hasattr(told, "model_dump") else told}


def _logprobs(choice: Mapping[str, Any]) -> tuple[object, ...]:
    """The entries of the tokens, where there are any."""
    told = choice.get("logprobs")
    entries = told.get("content") if isinstance(told, dict) else None
    return tuple(entries) if isinstance(entries, list) else ()


def protocol_body(exchange: Exchange) -> dict[str, Any] | None:
    """The body where it is a chat completion of OpenAI's protocol: LiteLLM drops fields of it."""
    if exchange.status not in _DONE or exchange.too_large:
        return None
    data = _json(exchange)
    return data if isinstance(data, dict) and isinstance(data.get("choices"), list) else None


def _json(exchange: Exchange) -> Any:
    try:
        return from_json(exchange.body)
    except ValueError:
        # What it refuses, half a surrogate pair for one, the standard library may take.
        pass
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


def from_protocol(raw: dict[str, Any], judge: JudgeSpec, list_price: float | None) -> ChatReply:
    """The reply in a body that ``protocol_body`` found. ``list_price`` is what a price list says
    the request cost, in USD, None where none does. Raises UpstreamProtocolError.
    """
    choice = _first_choice(raw["choices"], judge)
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise UpstreamProtocolError(f"judge {judge.id!r}: a reply without choices")
    finish = choice.get("finish_reason")
    if finish is not None and not isinstance(finish, str):
        raise UpstreamProtocolError(f"judge {judge.id!r}: a finish_reason that is no word")
    told = raw.get("usage")
    usage: dict[str, Any] = told if isinstance(told, dict) else {}
    model = raw.get("model")
    content = _content(message.get("content"), judge) or _tool_text(message)
    if content is not None and len(content) > MAX_REPLY_BYTES:
        # Room for log probabilities is room for nothing else.
        raise UpstreamProtocolError(f"judge {judge.id!r}: the reply is larger than 64 KiB")
    return ChatReply(
        content=content,
        refusal=_refusal(message),
        finish_reason=finish,
        model=model if isinstance(model, str) and model else None,
        system_fingerprint=_fingerprint(raw.get("system_fingerprint")),
        usage=_usage(judge, usage, list_price),
        reasoning_tokens=_detail(usage, "completion_tokens_details", "reasoning_tokens"),
        logprobs=_logprobs(choice),
    )


def _first_choice(choices: Sequence[Any], judge: JudgeSpec) -> Any:
    """The choice with index 0, wherever it stands: one was asked for. Without one the only choice,
    or the first of several that say the same; None without any. Raises UpstreamProtocolError.
    """
    if len(choices) == 1:
        return choices[0]
    among = [one for one in choices if isinstance(one, dict) and one.get("index") == 0] or choices
    if any(_said_in(one) != _said_in(among[0]) for one in among):
        raise UpstreamProtocolError(
            f"judge {judge.id!r}: {len(choices)} choices that differ, where one was asked for"
        )
    return among[0] if among else None


def _said_in(choice: Any) -> tuple[Any, Any]:
    """What tells one choice from another: the message, and how it ended."""
    if not isinstance(choice, dict):
        return choice, None
    return choice.get("message"), choice.get("finish_reason")


def _fingerprint(value: Any) -> str | None:
    return value[:MAX_FINGERPRINT_CHARS] if isinstance(value, str) and value else None


def _content(value: Any, judge: JudgeSpec) -> str | None:
    """Content is a string, null or, with some gateways, a list of text parts."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        said = [part for part in value if isinstance(part, dict) and not is_reasoning(part)]
        return "".join(part["text"] for part in said if isinstance(part.get("text"), str))
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
    told = [message.get("refusal")]
    content = message.get("content")
    if isinstance(content, list):
        told += [part.get("refusal") for part in content if isinstance(part, dict)]
    for text in told:
        if isinstance(text, str) and text:
            return text
    return None


def without_key(reply: ChatReply, key: str | None) -> ChatReply:
    """The reply without the key it was asked with, which some gateways repeat."""
    if key is None or len(key) < MIN_KEY_CHARS:
        return reply
    texts = {
        name: value.replace(key, "[redacted]")
        for name in ("content", "refusal", "finish_reason", "model")
        if (value := getattr(reply, name)) is not None and key in value
    }
    return dataclasses.replace(reply, **texts) if texts else reply


def counted(usage: Mapping[str, Any]) -> tuple[int, int, int]:
    """Prompt, completion and cached tokens of a usage object; what makes no sense is 0."""
    return (
        _count(usage, "prompt_tokens") or 0,
        _count(usage, "completion_tokens") or 0,
        _cached(usage),
    )


def _cached(usage: Mapping[str, Any]) -> int:
    """Prompt tokens from the provider's own cache, whichever of its names for them it uses."""
    if told := _detail(usage, "prompt_tokens_details", "cached_tokens"):
        return told
    for name in CACHED_NAMES:
        if name in usage and (count := _count(usage, name)):
            return count
    return 0


def _usage(judge: JudgeSpec, usage: Mapping[str, Any], list_price: float | None) -> Usage:
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if prompt is None or completion is None:
        cost = _unknown_cost(judge)
    else:
        cost = _cost(judge, prompt, completion, list_price)
    return Usage(
        upstream_requests=1,
        prompt_tokens=prompt or 0,
        completion_tokens=completion or 0,
        cached_tokens=_cached(usage),
        cost_usd=cost,
        unknown_cost_calls=0 if cost is not None else 1,
    )


def spent_on(judge: JudgeSpec, exchange: Exchange) -> Usage | None:
    """What a request cost that brought no reply to read: as its body says where that can be read,
    else unknown once a reply had begun; None for one that was refused or never answered.
    """
    if not exchange.begun:
        return None
    data = None if exchange.too_large else _json(exchange)
    usage = data.get("usage") if isinstance(data, dict) else None
    return _usage(judge, usage if isinstance(usage, dict) else {}, None)


def _unknown_cost(judge: JudgeSpec) -> float | None:
    return 0.0 if judge.price is not None and judge.price.free else None


def _cost(judge: JudgeSpec, prompt: int, completion: int, list_price: float | None) -> float | None:
    """USD of one request; None when the price or the tokens are not known."""
    if judge.price is not None and judge.price.free:
        return 0.0
    if prompt == 0 and completion == 0:
        return None
    if judge.price is not None:
        return (prompt * judge.price.input + completion * judge.price.output) / 1e6
    return list_price if list_price is not None and list_price > 0 else None


def _list_price(response: Any) -> float | None:
    """What LiteLLM says the request cost."""
    cost = getattr(response, "_hidden_params", {}).get("response_cost")
    return float(cost) if isinstance(cost, (int, float)) else None


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens; None where none is told, or none that can be."""
    value = usage.get(name)
    plausible = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT
    return value if plausible else None


def _detail(usage: Mapping[str, Any], group: str, name: str) -> int:
    details = usage.get(group)
    return (_count(details, name) or 0) if isinstance(details, dict) else 0
