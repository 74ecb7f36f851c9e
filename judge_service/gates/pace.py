"""What a judge's recent calls were like: how fast they came out, how long and how many tokens."""

from __future__ import annotations

from collections import deque

REMEMBERED = 64
WEIGHT = 0.1
"""Of the newest value in a running mean."""
COMPLETION_TOKENS = 256
"""Expected of a judge that has not answered yet."""
CHARS_PER_TOKEN = 4
LONG_AT_LEAST_S = 1.0
LONG_UNKNOWN_S = 5.0
"""The same for a judge that has not answered yet: nobody knows how long it usually takes."""
LONG_FACTOR = 2.0
SHORTEST_S, LONGEST_S = 0.1, 60.0


class Pace:
    """Running figures of one judge."""

    def __init__(self) -> None:
        self._ends: deque[float] = deque(maxlen=REMEMBERED)
        self._seconds: float | None = None
        self._tokens = float(COMPLETION_TOKENS)

    def ended(self, at: float) -> None:
        """A call ended at this instant of the gate's clock."""
        self._ends.append(at)

    def answered(self, seconds: float) -> None:
        """A call was answered after so long."""
        mean = seconds if self._seconds is None else self._seconds
        self._seconds = mean + WEIGHT * (seconds - mean)

    def completed(self, tokens: int) -> None:
        """A reply had so many tokens."""
        self._tokens += WEIGHT * (tokens - self._tokens)

    def tokens_of(self, chars: int) -> int:
        """An estimate of what a call with a prompt of so many characters costs, in tokens."""
        return chars // CHARS_PER_TOKEN + round(self._tokens)

    def is_long(self, seconds: float) -> bool:
        """Whether an answer that is not there after so long tells of trouble."""
        if self._seconds is None:
            return seconds >= LONG_UNKNOWN_S
        return seconds >= max(LONG_AT_LEAST_S, LONG_FACTOR * self._seconds)

    def queue_s(self, waiting: int, now: float) -> float:
        """Seconds until so many calls will have gone, by the recent throughput."""
        span = now - self._ends[0] if self._ends else 0.0
        if span <= 0.0:
            return 1.0
        return min(LONGEST_S, max(SHORTEST_S, waiting * span / len(self._ends)))
