"""``GET /v1/bias``: what the judges' recent pairs show of their biases."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import FiniteFloat
from starlette.responses import Response

from judge_service.api.answers import Answer, ProblemAnswer
from judge_service.api.json_response import FiniteJSONResponse
from judge_service.api.state import CallerDep, ServiceDep
from judge_service.history import WINDOW, BiasFigures
from judge_service.interval import wilson
from judge_service.judge import JudgeSpec

router = APIRouter(prefix="/v1", tags=["looking"])


class ShareAnswer(Answer):
    """A share of ``n`` cases with its 95 % interval (Wilson)."""

    value: FiniteFloat
    ci95: tuple[FiniteFloat, FiniteFloat]
    n: int


class PositionAnswer(Answer):
    """Shares of pairs; null before the first. ``first_position_share`` is the share of single
    orders with a winner that the answer shown first won: 0.5 without a bias, whatever the answers
    are.
    """

    consistent: ShareAnswer | None
    ties: ShareAnswer | None
    primacy: ShareAnswer | None
    recency: ShareAnswer | None
    first_position_share: ShareAnswer | None


class LengthAnswer(Answer):
    """Of consistent wins between answers of different length, how many the longer one had."""

    longer_won_share: ShareAnswer | None


class JudgeBiasAnswer(Answer):
    """One judge's figures over its last ``pairs`` pairs."""

    judge: str
    family: str
    pairs: int
    position: PositionAnswer
    length: LengthAnswer


class BiasAnswer(Answer):
    """``window`` is how many pairs of a judge are looked at, at most."""

    window: int
    judges: list[JudgeBiasAnswer]


@router.get(
    "/bias",
    summary="Live bias figures of the judges",
    responses={
        200: {"model": BiasAnswer},
        401: {"model": ProblemAnswer, "description": "No valid key"},
        403: {"model": ProblemAnswer, "description": "The key may not do this"},
    },
)
async def bias(service: ServiceDep, _: CallerDep) -> Response:
    """Position and length, per judge, over recent pairs that this process had judged."""
    history = service.engine.history
    judges = [_judge(j, history.figures(j.id)) for j in service.engine.bench.values()]
    return FiniteJSONResponse(BiasAnswer(window=WINDOW, judges=judges).model_dump(mode="json"))


def _judge(judge: JudgeSpec, found: BiasFigures) -> JudgeBiasAnswer:
    def of_pairs(count: int) -> ShareAnswer | None:
        return _share(count / found.pairs, found.pairs) if found.pairs else None

    return JudgeBiasAnswer(
        judge=judge.id,
        family=judge.family_label,
        pairs=found.pairs,
        position=PositionAnswer(
            consistent=of_pairs(found.consistent),
            ties=of_pairs(found.ties),
            primacy=of_pairs(found.primacy),
            recency=of_pairs(found.recency),
            # The two orders of one pair are no independent cases; the interval counts pairs.
            first_position_share=_share(
                found.first_position_share, found.orders_decided, found.orders_decided / 2
            ),
        ),
        length=LengthAnswer(longer_won_share=_share(found.longer_won_share, found.lengths_decided)),
    )


def _share(value: float | None, n: int, independent: float | None = None) -> ShareAnswer | None:
    if value is None:
        return None
    return ShareAnswer(
        value=value, ci95=wilson(value, n if independent is None else independent), n=n
    )
