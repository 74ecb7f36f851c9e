"""JSON answers that never hold NaN or infinity."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class FiniteJSONResponse(JSONResponse):
    """UTF-8 JSON. A value that is not finite raises instead of being sent."""

    def render(self, content: Any) -> bytes:
        """Encode; half of a surrogate pair (from a judge's own text) becomes a question mark."""
        return _ENCODER.encode(content).encode("utf-8", "replace")
