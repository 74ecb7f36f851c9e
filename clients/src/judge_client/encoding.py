"""From a body to bytes: strict JSON, and one clear error for what cannot be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from judge_client.errors import InvalidRequest


def encode(body: Mapping[str, Any]) -> bytes:
    """The JSON of ``body`` in UTF-8. Raises InvalidRequest, which names the field at fault."""
    try:
        return _encoded(body)
    except (ValueError, TypeError, RecursionError):
        for name, value in body.items():
            _blame(name, value)
        raise InvalidRequest("the request is not JSON") from None


def _encoded(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _blame(name: str, value: object) -> None:
    try:
        _encoded(value)
    except UnicodeEncodeError:
        raise InvalidRequest(f"{name}: a text holds half of a surrogate pair", field=name) from None
    except RecursionError:
        raise InvalidRequest(f"{name}: nested too deeply", field=name) from None
    except (ValueError, TypeError) as wrong:
        # "Out of range float values", "Object of type X is not JSON serializable": types, no texts.
        raise InvalidRequest(f"{name}: {str(wrong)[:120]}", field=name) from None
