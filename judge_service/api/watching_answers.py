"""What the service answers about watching: the wire schemas, for the OpenAPI page and tests."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat, StringConstraints

from judge_service.api.answers import Answer
from judge_service.rubric.rubric import ID_PATTERN
from judge_service.watch.statistic import Name

KindWord = Literal["assess", "compare", "rank"]
Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]


class ResetAnswer(Answer):
    """How many alarms went with it, and how many processes begin anew: all that share the store,
    the one that answers at once, the others within seconds. ``note`` says what keeps others from
    it, if anything does.
    """

    alarms: int
    processes: int
    note: str | None


class SeriesAnswer(Answer):
    """What a chart is about; null where it is not about one alone."""

    statistic: Name
    judge: str | None
    rubric: str | None
    kind: KindWord | None


class AlarmAnswer(SeriesAnswer):
    """A chart beyond its limit, in ``processes`` of the service."""

    cause: str | None
    text: str
    means: str
    chart: str
    since: str
    raised_at: str
    baseline: FiniteFloat | str
    baseline_sd: FiniteFloat | None
    baseline_n: int
    current: FiniteFloat | str
    effect: FiniteFloat | None
    effect_name: str | None
    value: FiniteFloat | None
    threshold: FiniteFloat | None
    run_length: FiniteFloat | None
    observations: int
    detail: str | None
    processes: int


class BaselineAnswer(Answer):
    """What is usual."""

    mean: FiniteFloat
    sd: FiniteFloat


class CusumAnswer(Answer):
    """Both sums, and what they must pass; in standard deviations of one observation."""

    up: FiniteFloat
    down: FiniteFloat
    k: FiniteFloat
    threshold: FiniteFloat


class EwmaAnswer(Answer):
    """The average and what it must pass, in the same unit."""

    value: FiniteFloat
    threshold: FiniteFloat


class ChartsAnswer(Answer):
    """Where both charts are, and how many observations they go on for on average until a false
    alarm.
    """

    cusum: CusumAnswer
    ewma: EwmaAnswer
    run_length: FiniteFloat


class ChartAnswer(SeriesAnswer):
    """One statistic: ``baseline`` and the rest are null while it is being learnt."""

    observations: int
    learnt: int
    to_learn: int
    baseline: BaselineAnswer | None
    current: FiniteFloat | None
    charts: ChartsAnswer | None


class BucketAnswer(Answer):
    """Outcomes of one bucket of lengths or of prompts."""

    bucket: str
    outcomes: int
    failed: int


class RanksAnswer(Answer):
    """Where the last failed samples stand among judged ones."""

    failed: int
    rank_biserial: FiniteFloat
    z: FiniteFloat
    p_value: FiniteFloat


class PromptsAnswer(Answer):
    """Pearson's chi-square of failures by prompt, of the last batch of them."""

    statistic: FiniteFloat
    df: int
    p_value: FiniteFloat


class FailuresAnswer(Answer):
    """What failed under one rubric, since the start of the process or of the state it took over."""

    rubric: str
    kind: KindWord
    outcomes: int
    failed: int
    by_cause: dict[str, int]
    by_length: list[BucketAnswer]
    by_prompt: list[BucketAnswer]
    length: RanksAnswer | None
    difficulty: RanksAnswer | None
    prompts: PromptsAnswer | None


class FingerprintAnswer(Answer):
    """A configuration that a provider said it answered with."""

    fingerprint: str
    replies: int
    first_at: str
    last_at: str


class ServedAnswer(Answer):
    """What a judge's provider called its model: ``names`` are usual, ``new`` ones an alarm. The
    latest configurations (``system_fingerprint``), and how often one came that was not seen before.
    """

    judge: str
    replies: int
    names: list[str]
    new: list[str]
    fingerprints: list[FingerprintAnswer]
    fingerprint_changes: int


class BillAnswer(Answer):
    """What one judge was asked in the background, by the process that answers."""

    judge: str
    upstream_requests: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: FiniteFloat | None


class SentinelGoldAnswer(Answer):
    """A gold set and the rubric its items are asked under."""

    gold: str
    rubric: str
    items: int


class SentinelFiguresAnswer(Answer):
    """What sentinels showed of one judge; ``agreement`` with people in [0, 1]."""

    judge: str
    rubric: str
    gold: str
    asked: int
    failed: int
    agreement: FiniteFloat | None


class SentinelAnswer(Answer):
    """Sentinels: rate, ceilings, bill, what was skipped and why, figures."""

    share: FiniteFloat | None
    per_hour: FiniteFloat | None
    gold: list[SentinelGoldAnswer]
    daily_cost_usd: FiniteFloat
    daily_requests: int
    usage: list[BillAnswer]
    skipped: dict[str, int]
    figures: list[SentinelFiguresAnswer]


class EstimateAnswer(Answer):
    """A value with its 95 % interval."""

    value: FiniteFloat
    ci95: Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)] | None


class ShadowFailedAnswer(Answer):
    """Shadowed requests with nothing to compare."""

    judge: str
    shadow: str
    failed: int


class ShadowFiguresAnswer(Answer):
    """A judge beside its shadow, over the latest pairs of verdicts. ``mean_shift`` is the judge's
    mean less the shadow's, in [-1, 1].
    """

    judge: str
    shadow: str
    rubric: str
    criterion: str | None
    n: int
    agreement: EstimateAnswer | None
    kappa: EstimateAnswer | None
    mean_shift: EstimateAnswer | None


class ShadowAnswer(Answer):
    """The shadow: rate, ceilings, bill, what was skipped and why, figures."""

    judges: list[str]
    share: FiniteFloat
    daily_cost_usd: FiniteFloat
    daily_requests: int
    usage: list[BillAnswer]
    skipped: dict[str, int]
    failed: list[ShadowFailedAnswer]
    figures: list[ShadowFiguresAnswer]


class WatchAnswer(Answer):
    """Alarms of all processes that share a store; the rest is that of the one that answers."""

    alarms: list[AlarmAnswer]
    charts: list[ChartAnswer]
    failures: list[FailuresAnswer]
    served: list[ServedAnswer]
    sentinel: SentinelAnswer | None
    shadow: ShadowAnswer | None
    processes: int
    note: str | None
