"""The processor time of a fresh comparison, beside the same service with LiteLLM's own call.

``python -m benchmarks.speed.compare_cpu`` asks two services in turns, against one provider that
answers after 50 ms. They differ in one thing: how they call their judges.
"""

from __future__ import annotations

import argparse
import itertools

from benchmarks.faults.stage import Service, upstream
from benchmarks.speed.rounds import in_turns
from benchmarks.speed.row import Row
from benchmarks.speed.stand import IN_FLIGHT, LATENCY_S, compare, cost_of, service

GOAL = 0.20


def measure(*, requests: int = 200, rounds: int = 5) -> Row:
    """The row: medians over ``rounds`` of ``requests``, after one to warm up."""
    numbers = itertools.count(1)

    def compared(by: Service) -> float:
        return cost_of(by, [compare(next(numbers)) for _ in range(requests)])

    with upstream() as provider:
        provider.control(latency_s=LATENCY_S)
        with service(provider.url) as direct, service(provider.url, "litellm") as translated:
            costs = in_turns(
                rounds,
                "compare_cpu",
                direct=lambda: compared(direct),
                litellm=lambda: compared(translated),
            )
    ratio = costs.ratio("direct", "litellm")
    return Row(
        name="CPU per uncached compare (two orders) through the HTTP service",
        against="the same service with every judge on litellm.acompletion",
        goal=f"<= {GOAL:.2f} x",
        value=ratio,
        unit="x",
        met=ratio <= GOAL,
        detail=f"{costs}\n{rounds} rounds of {requests}, {IN_FLIGHT} in flight",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=200, help="in each round")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(measure(requests=given.requests, rounds=given.rounds))
