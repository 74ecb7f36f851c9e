"""What the service's own controls say of the embedded trial judge.

``python -m benchmarks.trial_judge`` runs the embedded model on pairs of a good and a bad answer, in
both orders, and on the answers alone, and prints how far it can be trusted. Minutes on two cores.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import NamedTuple

from rich.console import Console
from rich.progress import track

from judge_service.settings import Settings
from tests.harness import RunningService, serve

TIMEOUT_S = 300.0


class Pair(NamedTuple):
    """A prompt with an answer that is plainly good and one that is plainly bad."""

    prompt: str
    good: str
    bad: str


PAIRS = (
    Pair("What is 17 + 26?", "43", "The sum is 33, as you can see at once."),
    Pair("Name the capital of Canada.", "Ottawa.", "The capital of Canada is Toronto."),
    Pair(
        "How long do I boil an egg for a firm yolk?",
        "About ten minutes from when the water boils.",
        "Eggs are a popular food all over the world and have been for a long time.",
    ),
    Pair("Translate 'good night' into Spanish.", "Buenas noches.", "Guten Morgen."),
    Pair(
        "Why does bread rise?",
        "Yeast eats sugar in the dough and gives off carbon dioxide, which the gluten traps.",
        "Because the oven is hot and heat makes everything go up, bread included.",
    ),
    Pair("Write a Python expression for the last item of a list xs.", "xs[-1]", "xs[len(xs)]"),
    Pair(
        "Which metal is liquid at room temperature?",
        "Mercury.",
        "That is a very good question, and there are many metals to consider.",
    ),
    Pair("How many sides has a hexagon?", "Six.", "Eight."),
    Pair(
        "What should I do if a wall socket sparks?",
        "Do not touch it, switch the circuit off at the breaker and call an electrician.",
        "Push the plug in harder, sparks mean that the contact is loose.",
    ),
    Pair("In which year did the first person walk on the Moon?", "1969.", "In 1986."),
)


def compared(service: RunningService) -> Counter[str]:
    """Outcomes over the pairs: good, bad, tie, inconsistent, failed."""
    outcomes: Counter[str] = Counter()
    for number, pair in enumerate(track(PAIRS, "comparing", console=Console(stderr=True))):
        good_first = number % 2 == 0
        texts = (pair.good, pair.bad) if good_first else (pair.bad, pair.good)
        answer = service.compare(
            *texts, rubric="pairwise-helpfulness", prompt=pair.prompt, timeout_s=TIMEOUT_S
        )
        outcome = answer["outcome"] or "failed"
        if outcome in ("first", "second"):
            outcome = "good" if (outcome == "first") == good_first else "bad"
        outcomes[outcome] += 1
    return outcomes


def assessed(service: RunningService) -> Counter[str]:
    """Whether the good answer of a pair gets the higher reward."""
    results: Counter[str] = Counter()
    for pair in track(PAIRS, "assessing", console=Console(stderr=True)):
        rewards = [
            service.assess(text, rubric="quick-look", prompt=pair.prompt, timeout_s=TIMEOUT_S)[
                "reward"
            ]
            for text in (pair.good, pair.bad)
        ]
        if None in rewards:
            results["failed"] += 1
        elif rewards[0] == rewards[1]:
            results["equal"] += 1
        else:
            results["higher" if rewards[0] > rewards[1] else "lower"] += 1
    return results


def main() -> int:
    """Print the figures."""
    with serve(Settings()) as service:
        pairs = compared(service)
        singles = assessed(service)
        (judge,) = service.http.get("/v1/judges").json()["judges"]
    bias = judge["bias"]
    print(f"{judge['model']} on {len(PAIRS)} pairs of a plainly good and a plainly bad answer")
    print(
        f"compared: good wins {pairs['good']}, bad wins {pairs['bad']}, tie {pairs['tie']}, "
        f"inconsistent {pairs['inconsistent']}, failed {pairs['failed']}"
    )
    print(
        f"position: consistent {bias['consistent']} of {bias['pairs']}, primacy {bias['primacy']}, "
        f"recency {bias['recency']}, first-position share {bias['first_position_share']}"
    )
    print(
        f"assessed: the good one higher {singles['higher']}, equal {singles['equal']}, "
        f"lower {singles['lower']}, failed {singles['failed']}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
