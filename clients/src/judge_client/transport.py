"""Sending a body until there is an answer, or until the call's time is up."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from judge_client.answer import Trouble, no_time, read_answer
from judge_client.pace import Deadline, service_time, wait_before
from judge_client.pool import Pools
from judge_client.reading import protocol_failure
from judge_client.results import Failure
from judge_client.settings import Settings

MAX_ANSWER_BYTES = 256 * 1024 * 1024
HELD = "/v1/groups/join"
"""Where answers wait for other requests."""


class Transport:
    """POSTs to one service. Only what was not answered is sent again: a connection that failed, a
    busy service (429, 503), a gateway without its backend (502, 504). The service keeps verdicts,
    so a request whose answer got lost costs nothing twice.
    """

    def __init__(self, settings: Settings) -> None:
        self._url = settings.url
        self._pools = Pools(settings)
        # Members of a group are held until the last one is there, which a limit could keep out.
        self._held = Pools(settings, connections=None)

    async def close(self) -> None:
        """Close the connections of the running loop."""
        await self._pools.close()
        await self._held.close()

    async def get(self, path: str, seconds: float) -> dict[str, Any] | Failure:
        """The answer to one GET, without retries. Raises RequestRefused."""
        found = await self._try("GET", path, None, Deadline(seconds))
        return found.failure if isinstance(found, Trouble) else found

    async def post(self, path: str, body: bytes, deadline: Deadline) -> dict[str, Any] | Failure:
        """The answer to ``body``, or why there is none. Raises RequestRefused."""
        last: Failure | None = None
        retry = 0
        while deadline.left() > 0:
            found = await self._try("POST", path, body, deadline)
            if not isinstance(found, Trouble):
                return found
            if not found.again:
                # What stood in the way before says more than that time ran out.
                spent = found.failure.code == "deadline_exceeded"
                return no_time(last) if spent else found.failure
            last = found.failure
            wait = wait_before(retry, last.retry_after_s)
            retry += 1
            if wait >= deadline.left():
                return last
            await asyncio.sleep(wait)
        return no_time(last)

    async def _try(
        self, method: str, path: str, body: bytes | None, deadline: Deadline
    ) -> dict[str, Any] | Trouble:
        left = deadline.left()
        headers = {"X-Request-Timeout-Ms": str(max(1, int(service_time(left) * 1000)))}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            answer = await asyncio.wait_for(self._exchange(method, path, body, headers), left)
        # Another class than the built-in one before Python 3.11.
        except asyncio.TimeoutError:
            return Trouble(no_time(None), again=False)
        except httpx.TransportError as error:
            why = f"{self._url}: {str(error)[:200] or type(error).__name__}"
            failure = Failure(code="unreachable", message=why, retryable=True, at="client")
            return Trouble(failure, again=True)
        except httpx.HTTPError as error:
            return Trouble(protocol_failure(type(error).__name__), again=False)
        # What a process lacks (descriptors, memory, a proxy's address that was right at set-up)
        # keeps a verdict away like an outage does.
        except Exception as error:  # noqa: BLE001
            why = f"{self._url}: {type(error).__name__} on the way there"
            failure = Failure(code="unreachable", message=why, retryable=True, at="client")
            return Trouble(failure, again=True)
        if answer is None:
            return Trouble(protocol_failure("an answer without end"), again=False)
        return read_answer(*answer)

    async def _exchange(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, httpx.Headers, bytes] | None:
        """Status, headers and body of an answer; None when it is longer than any answer is."""
        pools = self._held if path == HELD else self._pools
        http = await pools.here()
        async with http.stream(
            method, f"{self._url}{path}", content=body, headers=headers
        ) as answer:
            content = bytearray()
            async for chunk in answer.aiter_bytes():
                content += chunk
                if len(content) > MAX_ANSWER_BYTES:
                    return None
            return answer.status_code, answer.headers, bytes(content)
