"""Candidates that try to move a judge, as data: who must not fall for them, and what is right."""

from __future__ import annotations

from collections.abc import Callable

from . import behaviours, gullible
from .attack import Attack, Expected
from .attacks_forged import FORGED
from .attacks_hidden import HIDDEN
from .attacks_plain import PLAIN
from .behaviours import Behaviour

ATTACKS: tuple[Attack, ...] = (*PLAIN, *FORGED, *HIDDEN)
"""Every row; names are unique."""

JUDGES: dict[str, Callable[[], Behaviour]] = {
    **gullible.JUDGES,
    "honest": behaviours.honest,
    "first_position": behaviours.first_position,
    "second_position": behaviours.second_position,
    "chokes_on_pangolin": lambda: behaviours.chokes_on("PANGOLIN"),
    "echo_before": behaviours.echo_before,
    "echo_after": behaviours.echo_after,
    "echo_fenced": behaviours.echo_fenced,
    "echo_in_reason": behaviours.echo_in_reason,
    "echo_in_reason_raw": behaviours.echo_in_reason_raw,
    "echo_cut": behaviours.echo_cut,
    "leaks_secrets": behaviours.leaks_secrets,
}
"""Every judge that a row names."""

__all__ = ["ATTACKS", "JUDGES", "Attack", "Expected"]
