"""Flags of an outcome: remarks a caller should see beside a result. They change no number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FlagName = Literal[
    "injection",  # the candidate holds something that addresses or imitates the judge
    "family_unknown",  # no family for a candidate, so no judge could be excluded
    "served_model_unverified",  # an opaque served model name was accepted
    "trial_judge",  # judged by the embedded model, which is for trying things out
    "fallback_judge",  # judged by the second family after the first could not answer
    "split_panel",  # an even panel is divided, and the lower of its middle points counts
    "unjudgeable",  # two families gave no verdict while a control item was judged normally
    "length_bias",  # the winner may have won by length alone
    "no_expectation",  # the rubric wants expected scores, and a point had to do
    "corrected_scale",  # a judge's points count as people's do
    "correction_outdated",  # a correction for another version of the rubric did not count
    "near_duplicate",  # candidates that differ in form only
    "zero_advantage",  # every reward of a group is the same
    "constant_answer",  # the same answer to many different prompts
    "length_correlation",  # a group's rewards follow the length of its answers
    "unsettled_ties",  # equal rewards that pairs were to settle and could not
    "escalated",  # another family decided an inconsistent pair
]
"""The closed set of flag names."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One remark. ``detail`` is a short sentence for people; it never quotes a candidate."""

    flag: FlagName
    detail: str
