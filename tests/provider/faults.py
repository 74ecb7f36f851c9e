"""What goes wrong around a judge: the provider's errors, its limits, and the network."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Literal

from .behaviours import Behaviour, Text, honest
from .replies import Mode, Reply, Usage, error, html_page, json_reply, to_json, verdict
from .seen import Seen

Dialect = Literal["openai", "vllm", "anthropic"]
"""Whose error bodies are spoken: OpenAI's, a vLLM server's, or a gateway in Anthropic's form."""


def always(reply: Reply) -> Behaviour:
    """The same reply to everything."""
    return lambda _: reply


# Endings without a verdict, as the protocol tells them.


def empty() -> Behaviour:
    """An empty content that claims to be finished."""
    return always(Reply(content="", usage=Usage(completion=0)))


def no_content() -> Behaviour:
    """A null content that claims to be finished."""
    return always(Reply(content=None, usage=Usage(completion=0)))


def out_of_tokens_while_thinking() -> Behaviour:
    """Hidden reasoning used the whole budget: no content at all."""
    usage = Usage(completion=256, reasoning=256)
    thoughts = "Let me weigh this up once more. On the one hand"
    return always(Reply(finish_reason="length", usage=usage, reasoning_content=thoughts))


def refuses_to_judge() -> Behaviour:
    """The protocol's own refusal field."""
    return always(Reply(refusal="I cannot help with judging this text."))


def content_filtered(text: Text | None = None) -> Behaviour:
    """Stopped by the provider's filter, perhaps after some words."""
    return lambda seen: Reply(content=text and text(seen), finish_reason="content_filter")


def content_filtered_400() -> Behaviour:
    """A filter that refuses the prompt with a status, as Azure's does."""
    message = "The prompt triggered the content management policy of this deployment."
    return always(error(400, message, code="content_filter", param="prompt"))


def cut(text: Text) -> Behaviour:
    """Whatever was written until the token limit."""
    return lambda seen: Reply(content=text(seen), finish_reason="length")


def cut_after_verdict() -> Behaviour:
    """A complete verdict, and still cut: more was to come."""
    return cut(lambda seen: verdict(seen, seen.honest()) + "\nOn second thoughts")


# Statuses.


def status_error(status: int, dialect: Dialect = "openai") -> Behaviour:
    """A plain error with this status; 500 and above look like the server's own fault."""
    kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error"}
    kind = kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")
    codes = {401: "invalid_api_key", 404: "model_not_found"}
    return always(_speak(dialect, status, f"request failed ({status})", kind, codes.get(status)))


def rate_limited(retry_after: str | None = None, dialect: Dialect = "openai") -> Behaviour:
    """429 for going too fast; ``retry_after`` is the header's value in seconds."""
    reply = _speak(
        dialect, 429, "Rate limit reached for requests", "rate_limit_error", "rate_limit_exceeded"
    )
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return always(Reply(status=429, body=reply.body, headers=headers))


def rate_limited_until(seconds: float) -> Behaviour:
    """429 whose Retry-After is a date, ``seconds`` from the moment of the reply."""

    def reply(_: Seen) -> Reply:
        date = formatdate(time.time() + seconds, usegmt=True)
        return error(
            429, "Rate limit reached", kind="rate_limit_error", headers={"retry-after": date}
        )

    return reply


def quota_exhausted() -> Behaviour:
    """429 because the account has no money left; waiting does not help."""
    message = "You exceeded your current quota, please check your plan and billing details."
    return always(error(429, message, kind="insufficient_quota", code="insufficient_quota"))


def context_too_long(dialect: Dialect = "openai") -> Behaviour:
    """400 because the prompt does not fit the model."""
    message = (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in "
        "9001 tokens. Please reduce the length of the messages."
    )
    if dialect == "anthropic":
        message = "prompt is too long: 9001 tokens > 8192 maximum"
    kind = "BadRequestError" if dialect == "vllm" else "invalid_request_error"
    code = "context_length_exceeded" if dialect == "openai" else None
    return always(_speak(dialect, 400, message, kind, code, "messages"))


def unavailable(status: int = 503) -> Behaviour:
    """An HTML error page of a proxy, with its status; with 200 it only looks healthy."""
    return always(html_page(status))


def no_choices() -> Behaviour:
    """A completion without choices."""
    body = {"id": "chatcmpl-fake", "object": "chat.completion", "created": 1, "choices": []}
    return lambda seen: json_reply(200, {**body, "model": seen.model})


def odd_body(body: bytes, content_type: str = "application/json") -> Behaviour:
    """200 with a body that is not the protocol: cut JSON, a list, nothing, binary."""
    return always(Reply(body=body, content_type=content_type))


def _speak(
    dialect: Dialect,
    status: int,
    message: str,
    kind: str,
    code: str | None = None,
    param: str | None = None,
) -> Reply:
    if dialect == "anthropic":
        inner = {"type": kind, "message": message}
        return json_reply(status, {"type": "error", "error": inner, "request_id": "req_fake"})
    if dialect == "vllm":
        inner_vllm = {"message": message, "type": kind, "param": param, "code": status}
        return json_reply(status, {"error": inner_vllm})
    return error(status, message, kind=kind, code=code, param=param)


# Parameters a provider does not know.


def refuses(
    parameter: str,
    dialect: Dialect = "openai",
    then: Behaviour | None = None,
    only: Callable[[object], bool] = lambda _: True,
) -> Behaviour:
    """400 as long as the request carries ``parameter`` (with a value that ``only`` names).

    Otherwise ``then``, by default honest.
    """

    def reply(seen: Seen) -> Reply:
        if parameter in seen.body and only(seen.body[parameter]):
            return _refusal(parameter, dialect)
        return (then or honest())(seen)

    return reply


def refuses_json_schema(dialect: Dialect = "openai") -> Behaviour:
    """Knows ``response_format`` but not its type ``json_schema``."""
    return refuses(
        "response_format",
        dialect,
        only=lambda value: isinstance(value, dict) and value.get("type") == "json_schema",
    )


def refuses_max_tokens() -> Behaviour:
    """A reasoning model that wants ``max_completion_tokens`` instead."""
    return refuses("max_tokens")


def _refusal(parameter: str, dialect: Dialect) -> Reply:
    if dialect == "anthropic":
        message = f"{parameter}: Extra inputs are not permitted"
        return _speak(dialect, 400, message, "invalid_request_error")
    if dialect == "vllm":
        message = (
            f"1 validation error: {{'type': 'extra_forbidden', 'loc': ('body', '{parameter}'), "
            f"'msg': 'Extra inputs are not permitted'}}"
        )
        return _speak(dialect, 400, message, "BadRequestError")
    message = f"Unsupported parameter: '{parameter}' is not supported with this model."
    code = "unsupported_parameter"
    if parameter == "max_tokens":
        message += " Use 'max_completion_tokens' instead."
    elif parameter == "temperature":
        code = "unsupported_value"
        message = (
            "Unsupported value: 'temperature' does not support 0 with this model. "
            "Only the default (1) value is supported."
        )
    elif parameter == "response_format":
        code = "invalid_value"
        message = "Invalid parameter: 'response_format' is not supported with this model."
    elif parameter == "logprobs":
        message = "You are not allowed to request logprobs from this model."
    return _speak("openai", 400, message, "invalid_request_error", code, parameter)


# The network.


def network(mode: Mode, *, interval: float = 0.05, size: int = 10 * 1024 * 1024) -> Behaviour:
    """An honest verdict that travels in one of the ways of :data:`Mode`."""
    status = 307 if mode == "redirect" else 200
    return lambda seen: Reply(
        content=verdict(seen, seen.honest()),
        status=status,
        mode=mode,
        interval=interval,
        size=size,
    )


def hang() -> Behaviour:
    """Takes the request and never says anything."""
    return network("hang")


def redirected(location: str | None = None) -> Behaviour:
    """A redirect to ``location``, by default to the fake's other origin."""
    headers = {} if location is None else {"location": location}
    return always(Reply(status=307, mode="redirect", body=b"", headers=headers))


def long_winded(size: int = 10 * 1024 * 1024, *, verdict_first: bool = True) -> Behaviour:
    """A proper completion whose content is ``size`` characters beside the verdict."""

    def reply(seen: Seen) -> Reply:
        filler = "la " * (size // 3)
        text = verdict(seen, seen.honest())
        return Reply(content=f"{text}\n{filler}" if verdict_first else f"{filler}\n{text}")

    return reply


def verdict_as_tool_call() -> Behaviour:
    """Answers with a call of a tool nobody offered instead of content."""

    def reply(seen: Seen) -> Reply:
        function = {"name": "submit_score", "arguments": to_json({"score": 5})}
        calls = [{"id": "call_1", "type": "function", "function": function}]
        return Reply(finish_reason="tool_calls", message={"tool_calls": calls})

    return reply
