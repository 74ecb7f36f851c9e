"""What a worker holds when it is ready and idle, with judges of OpenAI's protocol only.

``python -m benchmarks.speed.memory`` prints it; beside it stands a worker that had to load LiteLLM.
"""

from __future__ import annotations

import argparse
import statistics

from benchmarks.speed.process import LITELLM, OPENAI, start
from benchmarks.speed.row import Row

GOAL_MB = 85.0
LITELLM_GOAL_MB = 250.0
IDLE_S = 3.0
"""Some of what the first request needs is loaded soon after the start."""


def measure(*, rounds: int = 3) -> Row:
    """The row: medians over ``rounds``."""
    direct = statistics.median(start(OPENAI, idle_s=IDLE_S).rss_mb for _ in range(rounds))
    loaded = statistics.median(start(LITELLM, idle_s=IDLE_S).rss_mb for _ in range(rounds))
    return Row(
        name="memory of a worker, idle",
        against="nothing",
        goal=f"<= {GOAL_MB:.0f} MB, with LiteLLM <= {LITELLM_GOAL_MB:.0f} MB",
        value=direct,
        unit="MB",
        met=direct <= GOAL_MB and loaded <= LITELLM_GOAL_MB,
        told=f"{direct:.0f} MB; with LiteLLM {loaded:.0f} MB",
        detail=f"resident; {rounds} rounds",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    print(measure(rounds=parser.parse_args().rounds))
