"""What became of one item in one run, as it is kept in a file of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from judge_service.outcome import Choice, Order, PairOutcome
from judge_service.usage import Usage

Status = Literal["judged", "failed", "short_circuited"]
_STATUSES: tuple[Status, ...] = ("judged", "failed", "short_circuited")
_OUTCOMES: tuple[PairOutcome, ...] = ("first", "second", "tie", "inconsistent")
MAX_REASON_CHARS = 4_000


class NotAJudgement(ValueError):
    """Values that no judgement can be made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One item in one run. ``judged`` has ``points`` or an ``outcome``, ``failed`` an ``error``.

    ``score`` is what the judge alone makes of a candidate, in [0, 1], and ``reward`` what a trainer
    would get; a short-circuited one has the reward only, a failed one neither. ``chars`` are the
    lengths of the candidates as judged.
    """

    item: str
    digest: str
    status: Status
    points: Mapping[str, int] = field(default_factory=dict)
    outcome: PairOutcome | None = None
    orders: Mapping[Order, Choice | None] = field(default_factory=dict)
    reward: float | None = None
    score: float | None = None
    chars: tuple[int, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    served: tuple[str, ...] = ()
    error: str | None = None
    retryable: bool = False
    cached: bool = False
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)

    def wire(self) -> dict[str, Any]:
        """JSON-ready values; ``judgement_of`` reads them back."""
        data = asdict(self)
        data["chars"], data["served"] = list(self.chars), list(self.served)
        return data


def judgement_of(data: Mapping[str, Any]) -> Judgement:
    """A judgement from its JSON values. Raises NotAJudgement."""
    try:
        fields = {n: data[n] for n in Judgement.__dataclass_fields__}
        fields["chars"] = tuple(int(n) for n in fields["chars"])
        fields["served"] = tuple(str(name) for name in fields["served"])
        fields["usage"] = Usage(**fields["usage"])
        made = Judgement(**fields)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NotAJudgement(f"not a judgement: {error}") from None
    _check(made)
    return made


def _check(made: Judgement) -> None:
    points: list[object] = list(made.points.values())
    whole = all(isinstance(p, int) and not isinstance(p, bool) for p in points)
    labelled = bool(made.points) != (made.outcome is not None)
    if (
        made.status not in _STATUSES
        or not whole
        or (made.outcome is not None and made.outcome not in _OUTCOMES)
        or (made.status == "judged" and not labelled)
        or (made.status == "failed" and made.reward is not None)
        or (made.status == "failed") != (made.error is not None)
    ):
        raise NotAJudgement(f"not a judgement: status {str(made.status)[:40]!r} with its values")
