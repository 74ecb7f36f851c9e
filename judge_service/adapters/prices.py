"""LiteLLM's list of prices and context windows, read as the file it is, without loading LiteLLM.

Only rows whose price is plainly one per input, cached and output token are priced here; a judge
whose row has more to it (off-peak hours, steps by length) is better asked through LiteLLM itself.
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge_service.adapters.provider_reply import counted
from judge_service.judges.judge import JudgeSpec

FILE = "model_prices_and_context_window_backup.json"
LISTED = frozenset({"openai", "dashscope", "deepseek"})
"""The prefixes of a model's name whose prices the list has."""
TIERS = ("priority", "flex")
COST_HEADER = "x-litellm-response-cost"

_INPUT, _OUTPUT = "input_cost_per_token", "output_cost_per_token"
_CACHED, _WRITTEN = "cache_read_input_token_cost", "cache_creation_input_token_cost"
_LONGER = re.compile(r"_above_(\d+)k_tokens")
_NOT_MEANT = re.compile(
    r"_(?:batches|flex|priority|ultrafast|decisions)$|_above_\d+k_tokens|_above_12hr|"
    r"^search_context_cost|^code_interpreter"
)
"""Prices of what a judge is never asked for; tiers and long prompts are looked at by name."""
_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """USD per token. They hold for prompts of up to ``up_to`` tokens."""

    input: float
    cached: float
    output: float
    up_to: float = math.inf
    writing_costs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A model of the list: its rates by tier ("" is the usual one), none where it has no price or
    one that is not ``plain``; ``window`` in tokens.
    """

    plain: bool
    rates: Mapping[str, Rates] = field(default_factory=dict)
    window: int | None = None


class PriceList:
    """Rows by name, read from the installed LiteLLM at first need, which takes some 50 ms.

    Safe to use from several threads.
    """

    def __init__(self, file: Path | None = None) -> None:
        """``file`` is the list to read, by default the one inside LiteLLM."""
        self._file = file
        self._lock = threading.Lock()
        self._rows: dict[str, Row] | None = None

    @property
    def is_read(self) -> bool:
        """Whether asking does no longer read the file."""
        return self._rows is not None

    def read(self) -> None:
        """Read the file, unless that was done."""
        self._all()

    def row(self, judge: JudgeSpec, name: str | None = None) -> Row | None:
        """The row of the judge's model, or of ``name`` with its provider. May read the file."""
        prefix, _, own = judge.model.partition("/")
        if prefix not in LISTED:
            return None
        rows = self._all()
        return next((rows[key] for key in _keys(prefix, name or own) if key in rows), None)

    def cost(
        self, judge: JudgeSpec, raw: Mapping[str, Any], headers: Mapping[str, str]
    ) -> float | None:
        """USD of the request that brought ``raw``, None where no price is known.

        The model that was served decides, where the list has it, else the one that was asked for;
        a LiteLLM proxy says the cost in a header.
        """
        told = _number(headers.get(COST_HEADER))
        if told is not None:
            return told
        served = raw.get("model")
        row = self.row(judge, served) if isinstance(served, str) and served else None
        row = row or self.row(judge)
        usage = raw.get("usage")
        if row is None or not isinstance(usage, dict):
            return None
        tier = raw.get("service_tier")
        return _sum(row.rates.get(tier if tier in TIERS else ""), usage)

    def _all(self) -> dict[str, Row]:
        with self._lock:
            if self._rows is None:
                self._rows = _read(self._file or _installed())
            return self._rows


def _sum(rates: Rates | None, usage: Mapping[str, Any]) -> float | None:
    prompt, completion, cached = counted(usage)
    if rates is None or prompt > rates.up_to:
        return None
    if rates.writing_costs and _writes_cache(usage.get("prompt_tokens_details")):
        return None
    fresh = max(prompt - cached, 0)
    return fresh * rates.input + cached * rates.cached + completion * rates.output


def _writes_cache(details: object) -> bool:
    """Whether tokens were put into the provider's prompt cache at a price of their own."""
    names = ("cache_creation_tokens", "cache_write_tokens")
    return isinstance(details, dict) and any(details.get(name) for name in names)


def _keys(prefix: str, name: str) -> Iterator[str]:
    """The names under which the list may have a model, the closest first."""
    own = name.lower().removeprefix(f"{prefix}/")
    if own.startswith("ft:"):
        own = ":".join(own.split(":")[:2])
    for form in (own, _DATE.sub("", own)):
        yield f"{prefix}/{form}"
        yield form


def _installed() -> Path | None:
    spec = importlib.util.find_spec("litellm")
    folders = (spec.submodule_search_locations or ()) if spec is not None else ()
    return next((Path(folder) / FILE for folder in folders), None)


def _read(file: Path | None) -> dict[str, Row]:
    if file is None or not file.is_file():
        return {}
    data = json.loads(file.read_bytes(), object_hook=_listed)
    return {name.lower(): row for name, row in data.items() if isinstance(row, Row)}


def _listed(entry: dict[str, Any]) -> object:
    """A row as it is read, so that the thousands of others never stand in memory together."""
    provider = entry.get("litellm_provider")
    if provider is None:
        return entry
    return _row(entry) if provider in LISTED else None


def _row(entry: Mapping[str, Any]) -> Row:
    window = entry.get("max_input_tokens")
    priced = [name for name in entry if "cost" in name or "pricing" in name]
    meant = {name for name in priced if not _NOT_MEANT.search(name)}
    plain = meant <= {_INPUT, _OUTPUT, _CACHED, _WRITTEN}
    steps = [int(step[1]) * 1000 for name in priced if (step := _LONGER.search(name))]
    return Row(
        plain=plain,
        rates=_rates(entry, min(steps, default=math.inf)) if plain else {},
        window=window if isinstance(window, int) and window > 0 else None,
    )


def _rates(entry: Mapping[str, Any], up_to: float) -> dict[str, Rates]:
    found = {}
    for tier in ("", *TIERS):
        end = f"_{tier}" if tier else ""
        money = [_number(entry.get(name + end, entry.get(name))) for name in (_INPUT, _OUTPUT)]
        if money[0] is None or money[1] is None:
            continue
        cached = _number(entry.get(_CACHED + end, entry.get(_CACHED)))
        found[tier] = Rates(
            input=money[0],
            output=money[1],
            cached=money[0] if cached is None else cached,
            up_to=up_to,
            writing_costs=_WRITTEN in entry,
        )
    return found


def _number(value: object) -> float | None:
    """A finite number of at least 0, also from a header's text."""
    try:
        number = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number >= 0 else None
