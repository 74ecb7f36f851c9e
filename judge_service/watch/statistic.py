"""The statistics under watch: a closed set of names, each with what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Name: TypeAlias = Literal[
    "score_mean", "length_correlation", "rule_gap", "rule_correlation", "position_share",
    "failed_share", "failed_length", "failed_difficulty", "failed_prompts", "served_model",
    "sentinel_shift", "sentinel_agreement", "shadow_shift", "shadow_agreement",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """``text`` says what moved; ``means`` what that may be. ``least_sd`` is the least deviation of
    single observations that is believed (``Baseline``).
    """

    text: str
    means: str
    least_sd: float = 0.05


STATISTICS: Final[dict[Name, Statistic]] = {
    "score_mean": Statistic(
        text="mean score",
        means="the policy has moved, or the judge has; sentinels and drift runs tell which",
    ),
    "length_correlation": Statistic(
        text="correlation of score and length",
        means="the judge, or what the policy has found out about it, follows length",
        least_sd=0.25,
    ),
    "rule_gap": Statistic(
        text="model score less rule score",
        means="up: the judge is pleased by what the rules are not; a sign of judge collusion",
    ),
    "rule_correlation": Statistic(
        text="correlation of rule score and model score",
        means="down: judge and rules no longer see the same; a sign of judge collusion",
        least_sd=0.25,
    ),
    "position_share": Statistic(
        text="share of wins of the answer shown first",
        means="the judge's position bias has changed",
        least_sd=0.1,
    ),
    "failed_share": Statistic(
        text="failed share", means="samples are dropped or retried; see the causes"
    ),
    "failed_length": Statistic(
        text="length of failed candidates among judged ones",
        means="failures are not a random part of the data: what is dropped shifts what is trained "
        "on",
    ),
    "failed_difficulty": Statistic(
        text="scores of other answers to the prompts of failed ones",
        means="down: hard prompts fail, and training data becomes easier",
    ),
    "failed_prompts": Statistic(
        text="failures by prompt", means="the same prompts fail again and again"
    ),
    "served_model": Statistic(
        text="served model", means="the provider serves another model or snapshot"
    ),
    "sentinel_shift": Statistic(
        text="points on sentinels against the judge's own first ones",
        means="the judge has changed: the items are the same",
        least_sd=0.1,
    ),
    "sentinel_agreement": Statistic(
        text="agreement with people on sentinels",
        means="the judge has changed: the items are the same",
        least_sd=0.1,
    ),
    "shadow_shift": Statistic(
        text="the judge's points less the shadow's",
        means="one of the two has changed, or the policy has found what only one of them likes",
    ),
    "shadow_agreement": Statistic(
        text="agreement with the shadow",
        means="one of the two has changed, or the policy has found what only one of them likes",
        least_sd=0.1,
    ),
}
