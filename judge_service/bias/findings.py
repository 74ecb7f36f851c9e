"""What the intervals of a report show, in sentences: only what lies beyond chance is said."""

from __future__ import annotations

from collections.abc import Mapping

from judge_service.bias.figure import Figure, Said

CONSISTENT_ENOUGH = 0.8
"""Below this, with its whole interval, position consistency is worth a sentence."""
STABLE_ENOUGH = 0.9

_AROUND: tuple[tuple[str, str, float, str, str], ...] = (
    (
        "position", "first_position_share", 0.5,
        "prefers the answer shown first: it won {v:.0%} of the single orders",
        "prefers the answer shown last: the one shown first won {v:.0%} of the single orders",
    ),
    (
        "length", "effect", 0.5,
        "prefers the longer answer: {v:.0%} for one that is longer by a standard deviation",
        "prefers the shorter answer: {v:.0%} for one that is longer by a standard deviation",
    ),
    (
        "length", "point_correlation", 0.0,
        "gives longer answers more points (rho {v:+.2f}); they may deserve them",
        "gives longer answers fewer points (rho {v:+.2f}); they may deserve it",
    ),
    (
        "style", "effect", 0.5,
        "prefers markup at equal length: {v:.0%} for one standard deviation more of it",
        "prefers plain text at equal length: {v:.0%} for one standard deviation more markup",
    ),
    (
        "style", "point_correlation", 0.0,
        "gives marked-up answers more points at equal length (rho {v:+.2f})",
        "gives marked-up answers fewer points at equal length (rho {v:+.2f})",
    ),
    (
        "own_family", "gap", 0.0,
        "prefers its own family ({family}) by {v:.2f} more than other judges do",
        "prefers its own family ({family}) by {v:.2f} against other judges: less than they do",
    ),
    (
        "own_family", "point_gap", 0.0,
        "gives its own family ({family}) {v:.2f} more than other judges do",
        "gives its own family ({family}) {v:.2f} against other judges: less than they do",
    ),
)  # fmt: skip
_AT_LEAST: tuple[tuple[str, str, float, str], ...] = (
    ("position", "consistent", CONSISTENT_ENOUGH, "only {v:.0%} of its pairs survive the swap"),
    ("stability", "choices", STABLE_ENOUGH, "repeats its choice when asked again in {v:.0%} only"),
    ("stability", "points", STABLE_ENOUGH, "repeats its points when asked again in {v:.0%} only"),
)  # fmt: skip


def findings(said: Mapping[str, Mapping[str, Said]], *, own_family_of: str) -> list[str]:
    """A sentence for every figure whose whole 95 % interval lies away from where it should be."""
    found = []
    for section, name, floor, words in _AT_LEAST:
        figure = said[section][name]
        if isinstance(figure, Figure) and figure.below(floor):
            found.append(words.format(v=figure.value))
    for section, name, neutral, above, below in _AROUND:
        figure = said[section][name]
        if not isinstance(figure, Figure):
            continue
        if figure.above(neutral):
            found.append(above.format(v=figure.value, family=own_family_of))
        elif figure.below(neutral):
            found.append(below.format(v=figure.value, family=own_family_of))
    return found
