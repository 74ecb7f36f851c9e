"""Decoding a large JSON text in small steps, so that other threads get their turn in between.

The interpreter's own scanner reads a whole list in one step, however long it is. This one, also of
the standard library, is in Python between the values: it counts them, and stops at a limit before
the memory is taken.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json import decoder, scanner
from typing import Any, TypeAlias

Scan: TypeAlias = Callable[[str, int], tuple[Any, int]]


class StepwiseDecoder(json.JSONDecoder):
    """Like its base; calls ``count`` once for each value, which may raise to end it."""

    def __init__(self, *, count: Callable[[], None], **hooks: Any) -> None:
        super().__init__(**hooks)

        def counted(scan: Scan) -> Scan:
            def scan_one(text: str, at: int) -> tuple[Any, int]:
                count()
                return scan(text, at)

            return scan_one

        def parse_array(where: tuple[str, int], scan: Scan) -> Any:
            return decoder.JSONArray(where, counted(scan))  # type: ignore[attr-defined]

        def parse_object(where: tuple[str, int], strict: bool, scan: Scan, *more: Any) -> Any:
            return decoder.JSONObject(  # type: ignore[attr-defined]
                where, strict, counted(scan), *more
            )

        self.parse_array = parse_array
        self.parse_object = parse_object
        self.scan_once = scanner.py_make_scanner(self)  # type: ignore[attr-defined]
