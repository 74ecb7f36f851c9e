"""What the tests of panels share: judges of several families, and what comes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.harness import CRITERION
from tests.provider import Behaviour, FakeProvider, behaviours

GOOD = 4
JUDGES = {"ann": "alpha", "abe": "alpha", "bea": "beta", "cleo": "gamma", "dora": "delta"}
"""With their families, in the order they are chosen in: each weighs far more than the next."""
TWO_CRITERIA = CRITERION.replace("weight = 1.0", "weight = 0.5") + CRITERION.replace(
    'name = "quality"\nweight = 1.0', 'name = "clarity"\nweight = 0.5'
)
GARBAGE = behaviours.says("Hm.")
CHOKING = behaviours.chokes_on("PANGOLIN")
PANGOLIN = "The PANGOLIN is an animal."


def behave(provider: FakeProvider, **scripts: Behaviour | Sequence[Behaviour]) -> None:
    """Let judges behave so."""
    for judge, script in scripts.items():
        provider.behave(judge, script)


def asked(provider: FakeProvider) -> list[str]:
    """Who was asked, once each."""
    return sorted({request.model for request in provider.requests})


def flags(answer: Any) -> dict[str, str]:
    """An answer's flags with their details."""
    return {flag["flag"]: flag["detail"] for flag in answer["flags"]}
