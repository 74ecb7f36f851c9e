"""``Idempotency-Key``: one key belongs to one request, however often that is sent.

A repeated request is judged again; verdicts that are there already come from the cache, so it costs
nothing and says the same, and what failed is tried anew.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Callable
from typing import Any

from starlette.requests import Request

from judge_service.access.key_ring import Caller
from judge_service.api.body import LONG_BODY_BYTES
from judge_service.api.problems import Problem
from judge_service.service import Service

HEADER = "Idempotency-Key"
KEPT_S = 86_400.0
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


async def check_idempotency(
    request: Request,
    service: Service,
    caller: Caller,
    data: Any,
    *,
    check: Callable[[], object] | None = None,
) -> None:
    """Refuse a key that its tenant has already sent with another body or to another path.

    ``data`` is the decoded body. ``check`` looks for the mistakes that were not looked for yet: a
    request that is refused takes no key. Without the header, or when the store cannot say, nothing
    is checked. Raises Problem 409 or 422, and what ``check`` raises.
    """
    keys = [key.strip(" \t") for key in request.headers.getlist(HEADER)]
    if not keys:
        return
    if check is not None:
        check()
    if len(keys) > 1 or not _KEY.fullmatch(keys[0]):
        raise Problem(
            422,
            "invalid_request",
            f"{HEADER} is one word of 1 to 255 visible ASCII characters",
            field=HEADER,
        )
    secret = service.secret.derived("idempotency")[0]
    name = f"ji:{_mac(secret, [caller.tenant, keys[0]]).hex()}"
    asked = [request.scope["path"], data]
    if _is_long(request):
        value = await asyncio.to_thread(_mac, secret, asked)
    else:
        value = _mac(secret, asked)
    if await service.store.put_new(name, value, KEPT_S) is not False:
        return
    known = await service.store.get(name)
    # What has another length was not written here.
    if known is not None and len(known) == len(value) and not hmac.compare_digest(known, value):
        raise Problem(
            409,
            "idempotency_mismatch",
            f"this {HEADER} was sent with another request before",
            field=HEADER,
        )


def _is_long(request: Request) -> bool:
    length = request.headers.get("content-length", "")
    return not length.isdecimal() or int(length[:20]) > LONG_BODY_BYTES


def _mac(secret: bytes, value: Any) -> bytes:
    """Tells values apart; nothing of them can be read from it."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hmac.new(secret, text.encode("ascii"), hashlib.sha256).digest()
