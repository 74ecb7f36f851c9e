"""What the probe tries as openings, the rule against openings stops."""

from __future__ import annotations

import pytest

from judge_service.probing.empty import FOREIGN_OPENINGS, OPENINGS, REFUSALS
from tests.rules.support import passes, rule


@pytest.mark.parametrize("text", [*OPENINGS, *FOREIGN_OPENINGS])
def test_every_opening_of_the_probe_is_only_an_opening(text: str) -> None:
    """On a rubric with the rule none of them reaches a judge."""
    assert not passes(rule("opener_only"), text)


@pytest.mark.parametrize("text", REFUSALS)
def test_every_refusal_of_the_probe_is_a_refusal(text: str) -> None:
    """The same for refusals of what can be done."""
    assert not passes(rule("refusal"), text)
