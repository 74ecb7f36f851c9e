"""What a probe is: a text made from an item, and the honest text it must not beat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from judge_service.probing.item import ProbeItem
from judge_service.probing.view import RubricView

Twin: TypeAlias = Literal["weak", "good"]
Kind: TypeAlias = Literal["no answer", "decoration", "planted", "honest", "position", "family"]
Expect: TypeAlias = Literal["no_gain", "must_lose", "fair", "excluded"]
"""What a sound judge and rubric do: give the attack no more than its twin, give it less, choose
without regard to position, or never let the judge see it.
"""


@dataclass(frozen=True, slots=True)
class Making:
    """What an attack's text is made of; ``number`` is the item's place, for texts taken in turn.

    ``referenced`` says whether the judge is shown the item's reference.
    """

    item: ProbeItem
    rubric: RubricView
    number: int
    judge: str
    family: str
    referenced: bool


Make: TypeAlias = Callable[[Making], str | None]
"""The attack's text; None where the item or the rubric has not what it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One row of the table. ``about`` says in a clause what is tried.

    ``make`` is None for the probes of position and family, which are about the request and not
    about a text. ``finish_reason`` goes with the attack, as a trainer would send it.
    """

    name: str
    kind: Kind
    about: str
    make: Make | None = None
    twin: Twin = "weak"
    expect: Expect = "no_gain"
    finish_reason: str | None = None

    @property
    def shown_as_data(self) -> bool:
        """Whether what defeats it, when the judge is not moved, is that a candidate's text is shown
        to the judge as escaped and fenced data.
        """
        return self.kind == "planted"


def taken_in_turn(*texts: str) -> Make:
    """One of ``texts`` for each item, in turn."""
    return lambda making: texts[making.number % len(texts)]
