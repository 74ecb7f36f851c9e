"""Outcomes by length and by prompt, failed ones apart."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from judge_service.watch.homogeneity import BUCKETS

LENGTHS = (256, 1_024, 4_096, 16_384)
"""Upper ends, in characters, of all buckets of length but the last."""
LENGTH_NAMES = ("to 255", "to 1023", "to 4095", "to 16383", "more")


@dataclass(slots=True)
class Tally:
    """Counts of failed and of all other outcomes in buckets."""

    failed_by_length: list[int] = field(default_factory=lambda: [0] * len(LENGTH_NAMES))
    judged_by_length: list[int] = field(default_factory=lambda: [0] * len(LENGTH_NAMES))
    failed_by_prompt: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    judged_by_prompt: list[int] = field(default_factory=lambda: [0] * BUCKETS)

    def add(self, prompt: int, chars: float, *, failed: bool) -> None:
        """Count one outcome; ``prompt`` is the prompt's key."""
        lengths = self.failed_by_length if failed else self.judged_by_length
        lengths[bisect_right(LENGTHS, chars)] += 1
        prompts = self.failed_by_prompt if failed else self.judged_by_prompt
        prompts[prompt % BUCKETS] += 1

    def wire(self) -> dict[str, Any]:
        """JSON: outcomes and failed ones per bucket."""

        def rows(names: list[str], failed: list[int], judged: list[int]) -> list[dict[str, Any]]:
            return [
                {"bucket": name, "outcomes": bad + good, "failed": bad}
                for name, bad, good in zip(names, failed, judged, strict=True)
            ]

        prompts = [f"{n:x}" for n in range(BUCKETS)]
        return {
            "by_length": rows([*LENGTH_NAMES], self.failed_by_length, self.judged_by_length),
            "by_prompt": rows(prompts, self.failed_by_prompt, self.judged_by_prompt),
        }

    def state(self) -> list[list[int]]:
        """What ``restore`` takes."""
        return [
            self.failed_by_length, self.judged_by_length,
            self.failed_by_prompt, self.judged_by_prompt,
        ]  # fmt: skip

    def restore(self, state: Any) -> None:
        """Go on where another process has stopped. Raises ValueError or TypeError."""
        kept = [[int(n) for n in counts] for counts in state]
        if [len(counts) for counts in kept] != [len(counts) for counts in self.state()]:
            raise ValueError("other buckets")
        (
            self.failed_by_length, self.judged_by_length,
            self.failed_by_prompt, self.judged_by_prompt,
        ) = kept  # fmt: skip
