"""The processor time of a fresh assessment through the whole service, beside LiteLLM's bare call.

``python -m benchmarks.speed.assess_cpu`` asks the service and a bare loop of
``litellm.acompletion`` in turns, against one provider that answers after 50 ms.
"""

from __future__ import annotations

import argparse
import itertools

from benchmarks.faults.stage import upstream
from benchmarks.speed.rounds import in_turns
from benchmarks.speed.row import Row
from benchmarks.speed.stand import IN_FLIGHT, LATENCY_S, assess, bare, cost_of, service

GOAL = 0.25
CHARS = 1000
"""Of a candidate; the bare call's message is as long as the service's, about."""


def measure(*, requests: int = 400, rounds: int = 5) -> Row:
    """The row: medians over ``rounds`` of ``requests``, after one to warm up."""
    numbers = itertools.count(1)
    with upstream() as provider:
        provider.control(latency_s=LATENCY_S)
        with service(provider.url) as ours, bare(provider.url, CHARS + 500) as calls:

            def assessed() -> float:
                return cost_of(ours, [assess(next(numbers), chars=CHARS) for _ in range(requests)])

            costs = in_turns(rounds, "assess_cpu", service=assessed, bare=lambda: calls(requests))
    ratio = costs.ratio("service", "bare")
    return Row(
        name="CPU per uncached assess through the HTTP service, OpenAI-compatible judge",
        against="a bare loop of litellm.acompletion",
        goal=f"<= {GOAL:.2f} x",
        value=ratio,
        unit="x",
        met=ratio <= GOAL,
        detail=f"{costs}\n{rounds} rounds of {requests}, {IN_FLIGHT} in flight",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=400, help="in each round")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(measure(requests=given.requests, rounds=given.rounds))
