"""JSON answers that never hold NaN or infinity."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import JSONResponse

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_HALF_A_PAIR = "surrogates not allowed"
"""What Python's UTF-8 codec says of one; the serializer tells its errors by their texts alone."""


class FiniteJSONResponse(JSONResponse):
    """UTF-8 JSON. A value that is not finite raises instead of being sent."""

    def render(self, content: Any) -> bytes:
        """Encode; half of a surrogate pair (from a judge's own text) becomes a question mark."""
        return finite_json(content)


def finite_json(content: Any) -> bytes:
    """The same for a part of an answer. Raises ValueError for what is not finite, and
    PydanticSerializationError, which is one, for what is no JSON at all.
    """
    try:
        body = to_json(content)
    except PydanticSerializationError as error:
        if _HALF_A_PAIR not in str(error):
            raise
    else:
        if b"NaN" not in body and b"Infinity" not in body:
            return body
    # Slower: a question mark for half of a pair, an error for a number that is not finite.
    return _ENCODER.encode(content).encode("utf-8", "replace")
