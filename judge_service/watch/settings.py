"""The ``[watch]`` table of ``judges.toml``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    StrictInt,
    StringConstraints,
    ValidationError,
    model_validator,
)

from judge_service.errors import ConfigError
from judge_service.judges.judge import Bench
from judge_service.rubric.library import explain, read_toml

TABLE = "watch"
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Share = Annotated[float, Strict(), Field(gt=0.0, le=1.0)]
Money = Annotated[float, Strict(), Field(gt=0.0, allow_inf_nan=False)]
Requests = Annotated[StrictInt, Field(ge=1, le=1_000_000)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class SentinelSettings(_Table):
    """``[watch.sentinel]``: items of gold sets among live traffic, which cost money.

    ``gold`` names files of ``anchors/gold``, with a rubric where the name does not say which one
    (``"mine,helpfulness"``). One of ``share`` (of live verdicts) and ``per_hour`` (of the whole
    service) is given. ``baseline`` items are asked before charts begin.
    """

    gold: Annotated[tuple[Name, ...], Field(min_length=1)]
    daily_cost_usd: Money
    share: Share | None = None
    per_hour: Annotated[float, Strict(), Field(gt=0.0, le=3600.0)] | None = None
    daily_requests: Requests = 500
    baseline: Annotated[StrictInt, Field(ge=10, le=10_000)] = 50

    @model_validator(mode="after")
    def _one_rate(self) -> SentinelSettings:
        if (self.share is None) == (self.per_hour is None):
            raise ValueError("give exactly one of share and per_hour")
        return self


class ShadowSettings(_Table):
    """``[watch.shadow]``: another family asked what was asked, which costs money.

    Of ``judges`` the first is asked that shares no family with those that answered nor with the
    candidates. ``share`` is of requests.
    """

    judges: Annotated[tuple[Name, ...], Field(min_length=1)]
    share: Share
    daily_cost_usd: Money
    daily_requests: Requests = 500
    max_concurrency: Annotated[StrictInt, Field(ge=1, le=64)] = 2
    baseline: Annotated[StrictInt, Field(ge=10, le=10_000)] = 100


class WatchSettings(_Table):
    """``[watch]``: charts of what passes anyway, which cost nothing.

    The first ``baseline`` observations say what is usual; ``shift`` is what is looked for, in
    standard deviations of one observation; ``run_length`` is how many observations pass on average
    until a statistic raises a false alarm.
    """

    enabled: StrictBool = True
    baseline: Annotated[StrictInt, Field(ge=50, le=100_000)] = 500
    run_length: Annotated[StrictInt, Field(ge=500, le=10_000_000)] = 20_000
    shift: Annotated[float, Strict(), Field(ge=0.25, le=3.0)] = 0.5
    sentinel: SentinelSettings | None = None
    shadow: ShadowSettings | None = None

    @model_validator(mode="after")
    def _nothing_ignored(self) -> WatchSettings:
        asked = [name for name in ("sentinel", "shadow") if getattr(self, name) is not None]
        if asked and not self.enabled:
            raise ValueError(f"{asked[0]}: does nothing with enabled = false")
        return self


def load_watch(file: Path) -> WatchSettings:
    """The table of a judges file; the defaults where it has none. Raises ConfigError."""
    table = read_toml(file).get(TABLE)
    if table is None:
        return WatchSettings()
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: {TABLE}: is not a table")
    try:
        return WatchSettings.model_validate(table)
    except ValidationError as error:
        faults = (f"{file}: {TABLE}: {fault}" for fault in explain(error))
        raise ConfigError("\n".join(faults)) from None


def judge_faults(settings: WatchSettings, bench: Bench) -> list[str]:
    """What of the table can never be, given the judges: one sentence each."""
    if settings.shadow is None:
        return []
    found = []
    for judge_id in settings.shadow.judges:
        if judge_id not in bench:
            known = ", ".join(bench)
            found.append(
                f"{TABLE}: shadow.judges: there is no judge {judge_id[:80]!r}; configured: {known}"
            )
    if found:
        return found
    shadows = [bench[judge] for judge in settings.shadow.judges]
    pool = bench.rotation()
    if all(judge.families & shadow.families for judge in pool for shadow in shadows):
        found.append(
            f"{TABLE}: shadow.judges: none is of another family than the judges in rotation"
        )
    return found
