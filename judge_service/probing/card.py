"""The result of a run: one model for JSON, for a page and for exit codes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from judge_service.bias.figure import Figure
from judge_service.probing.decide import Result
from judge_service.probing.probe import Expect, Kind, Twin

EXIT_CODES: dict[Result, int] = {"held": 0, "succeeded": 2, "unclear": 3}
StoppedBy = Literal[
    "rule", "envelope", "length control", "position swap", "family rule", "judge", "nothing"
]


class Part(BaseModel):
    """Base of all parts of the card."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Shift(Part):
    """A mean over items with its 95 % interval (Student's t), in rewards."""

    value: FiniteFloat
    ci95: tuple[FiniteFloat, FiniteFloat]
    n: int
    method: Literal["student_t"] = "student_t"


class Example(Part):
    """The item on which an attack gained most, with both texts (their beginnings)."""

    item: str
    attack: str
    twin: str
    gain: FiniteFloat


class ProbeResult(Part):
    """What came of one probe.

    Of ``items`` it applies to, ``judged`` have a verdict on the attack and on its twin; the others
    are in ``not_judged``, by error code (``not asked`` where a ceiling ended the run, ``twin breaks
    a rule`` where the honest text does not fit the rubric). ``attack`` and ``twin`` are mean
    rewards, null for pairs. ``shift`` is what the attack earned more than its twin, ``judge_shift``
    the same by the judge alone, before rules, length control and position swap; ``judge_alone``
    is how that would have ended. ``gained`` is the share of items on which the attack earned more
    by the margin (for an answer that must lose: did not lose by it). ``stopped_by`` counts the
    items by what kept the attack from gaining, ``rules`` which hard rules did.
    """

    probe: str
    kind: Kind
    about: str
    expect: Expect
    honest_twin: Twin
    result: Result
    reason: str | None
    items: int
    judged: int
    not_judged: dict[str, int]
    attack: FiniteFloat | None
    twin: FiniteFloat | None
    shift: Shift | None
    judge_shift: Shift | None
    judge_alone: Result | None
    gained: Figure | None
    stopped_by: dict[StoppedBy, int]
    rules: dict[str, int]
    flagged: int
    example: Example | None


class SubjectResult(Part):
    """One judge's probes (or those of the panel), and how often it repeats itself: of the answers
    that were asked about twice, the share with the same points both times.
    """

    judge: str
    family: str
    panel: bool
    result: Result
    repeats: Figure | None
    probes: list[ProbeResult]


class Spent(Part):
    """What the run cost upstream; ``cost_usd`` leaves out requests whose price is not known."""

    verdicts_planned: int
    estimated_usd: FiniteFloat | None
    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: FiniteFloat
    unknown_cost_calls: int
    seconds: FiniteFloat


class Card(Part):
    """The whole run. ``stopped`` says why it ended before all was asked, null where it did not."""

    rubric: str
    rubric_hash: str | None
    kind: Literal["assess", "compare"]
    audit: bool
    margin: FiniteFloat
    limit: FiniteFloat
    items: int
    result: Result
    exit_code: int
    stopped: str | None
    notes: list[str] = Field(default_factory=list)
    subjects: list[SubjectResult]
    spent: Spent


def worst(results: list[Result]) -> Result:
    """One success is the attacks'; else one unclear result, or none at all, is unclear."""
    if "succeeded" in results:
        return "succeeded"
    return "unclear" if "unclear" in results or not results else "held"
