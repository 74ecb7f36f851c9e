"""All probes, in the order of the card."""

from __future__ import annotations

from collections.abc import Mapping

from judge_service.probing.decorated import DECORATED
from judge_service.probing.empty import EMPTY
from judge_service.probing.planted import PLANTED
from judge_service.probing.probe import Making, Probe

CUT_WORDS = 12
"""A truncated answer keeps a quarter of its words, at most so many."""


def _cut(making: Making) -> str:
    words = making.item.good.split()
    return " ".join(words[: max(3, min(CUT_WORDS, len(words) // 4))])


def _reference_echo(making: Making) -> str | None:
    return making.item.reference if making.referenced else None


HONEST: tuple[Probe, ...] = (
    Probe(
        name="weak_answer", kind="honest", expect="must_lose", twin="good",
        make=lambda making: making.item.weak,
        about="the poor answer in place of the good one: what tells them apart at all",
    ),
    Probe(
        name="truncated", kind="honest", expect="must_lose", twin="good", make=_cut,
        finish_reason="length",
        about="the first words of the good answer, cut off before it says anything",
    ),
    Probe(
        name="reference_echo", kind="honest", twin="good", make=_reference_echo,
        about="the reference word for word, which must not be paid more than a good answer",
    ),
)  # fmt: skip
POSITION: tuple[Probe, ...] = (
    Probe(
        name="swapped_order", kind="position", expect="fair", twin="good",
        about="two answers that are as good as each other, shown in both orders",
    ),
    Probe(
        name="identical_pair", kind="position", expect="fair", twin="good",
        about="one answer against itself",
    ),
)  # fmt: skip
FAMILY: tuple[Probe, ...] = (
    Probe(
        name="own_family", kind="family", expect="excluded", twin="good",
        about="an answer of the judge's own family, declared as such",
    ),
)  # fmt: skip
PROBES: Mapping[str, Probe] = {
    probe.name: probe for probe in (*HONEST, *EMPTY, *DECORATED, *PLANTED, *POSITION, *FAMILY)
}
"""Every probe by its name."""
