"""Judges that speak OpenAI's chat completions, asked over HTTP without LiteLLM in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from pydantic_core import PydanticSerializationError, to_json

from judge_service.adapters.exchange import ConnectionBroken, Exchange, NoConnection, room_for
from judge_service.adapters.prices import PriceList
from judge_service.adapters.provider_errors import error_of
from judge_service.adapters.provider_reply import (
    from_protocol,
    protocol_body,
    spent_on,
    without_key,
)
from judge_service.adapters.routing import url_of
from judge_service.asking.backend import ChatCall, ChatReply
from judge_service.deadline import beside
from judge_service.errors import JudgeTimeout, JudgingError, UpstreamError
from judge_service.judges.judge import JudgeSpec
from judge_service.text.size import LONG

if TYPE_CHECKING:
    from judge_service.adapters.http_client import HttpClient

GRACE_S = 1.0
"""The layer above cuts an attempt off at its time; this is for a caller that does not."""


class OpenAIBackend:
    """One request is one POST. ``keys`` are API keys by judge id."""

    def __init__(
        self, keys: Mapping[str, str] | None = None, prices: PriceList | None = None
    ) -> None:
        self._keys = dict(keys or {})
        self._prices = prices or PriceList()
        self._client: HttpClient | None = None

    def add_key(self, judge_id: str, key: str) -> None:
        """The API key of one more judge."""
        self._keys[judge_id] = key

    async def complete(self, call: ChatCall) -> ChatReply:
        """One upstream request. Raises a JudgingError or ParameterRefused."""
        exchange = Exchange(room=room_for(call.parameters))
        try:
            return await self._completed(call, exchange)
        except JudgingError as error:
            error.spent = spent_on(call.judge, exchange)
            raise

    async def _completed(self, call: ChatCall, exchange: Exchange) -> ChatReply:
        judge = call.judge
        key = self._keys.get(judge.id)
        await self._post(call, key, exchange)
        raw = protocol_body(exchange)
        if raw is None:
            raise error_of(
                exchange, exchange.status or 0, judge=judge.id, sent=frozenset(call.parameters),
                secret=key, text_sent=call.user,
            )  # fmt: skip
        price = None if judge.price is not None else await self._cost(judge, raw, exchange)
        return without_key(from_protocol(raw, judge, price), key)

    async def context_window(self, judge: JudgeSpec) -> int | None:
        """What the spec says, else what LiteLLM's model list says."""
        if judge.context_tokens is not None:
            return judge.context_tokens
        await self._read_prices()
        row = self._prices.row(judge)
        return None if row is None else row.window

    async def aclose(self) -> None:
        """Close this event loop's connections."""
        if self._client is not None:
            await self._client.aclose()

    async def http(self) -> HttpClient:
        """The client. Its library, a quarter of a second of import, is loaded beside the loop."""
        client = self._client
        if client is None:
            made = await asyncio.to_thread(_new_client)
            client = self._client = self._client or made
        return client

    async def _post(self, call: ChatCall, key: str | None, exchange: Exchange) -> None:
        judge = call.judge.id
        # A judge without a key of its own is sent one that opens nothing.
        headers = {"Authorization": f"Bearer {key or 'none'}"}
        http = self._client or await self.http()
        try:
            async with asyncio.timeout(call.timeout_s + GRACE_S):
                short = len(call.user) < LONG
                body = body_of(call) if short else await beside(partial(body_of, call))
                await http.post(url_of(call.judge), body, headers, exchange)
        except TimeoutError:
            raise JudgeTimeout(f"judge {judge!r} did not answer in time") from None
        except NoConnection:
            raise UpstreamError(
                f"judge {judge!r} cannot be reached: no connection to its address"
            ) from None
        except ConnectionBroken as broken:
            raise UpstreamError(f"judge {judge!r}: the connection broke ({broken})") from None

    async def _cost(
        self, judge: JudgeSpec, raw: Mapping[str, object], exchange: Exchange
    ) -> float | None:
        await self._read_prices()
        return self._prices.cost(judge, raw, exchange.headers)

    async def _read_prices(self) -> None:
        if not self._prices.is_read:
            await asyncio.to_thread(self._prices.read)


def _new_client() -> HttpClient:
    from judge_service.adapters.http_client import HttpClient

    return HttpClient()


def body_of(call: ChatCall) -> bytes:
    """The request's JSON: what OpenAI's own client would send."""
    parameters = dict(call.parameters)
    beside = parameters.pop("extra_body", {})
    body = {
        "model": call.judge.model.partition("/")[2],
        "messages": [
            {"role": "system", "content": call.system},
            {"role": "user", "content": call.user},
        ],
        **parameters,
        **beside,
    }
    try:
        return to_json(body)
    except PydanticSerializationError:  # half of a surrogate pair: only JSON's escapes can say it
        return json.dumps(body, separators=(",", ":")).encode()
