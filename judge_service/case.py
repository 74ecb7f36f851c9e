"""One request on its way: what the stages of a judgement share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from judge_service.asking.ask import Answer
from judge_service.candidate.identity import prompt_identity
from judge_service.case_trace import Trace
from judge_service.deadline import Deadline
from judge_service.events import (
    Event,
    FamilyExcluded,
    Observer,
    ServedUnverified,
    nobody,
)
from judge_service.flags import Flag
from judge_service.judges.judge import Bench, JudgeSpec
from judge_service.request import Request
from judge_service.rubric.rubric import Rubric
from judge_service.usage import Ledger


@dataclass(slots=True, kw_only=True)
class Case:
    """Collects usage, flags and the judges that answered while a request is worked on.

    An ``admitted`` one has been let in together with others; a full queue does not turn it away.
    """

    request: Request
    rubric: Rubric
    bench: Bench
    deadline: Deadline
    ledger: Ledger = field(default_factory=Ledger)
    flags: list[Flag] = field(default_factory=list)
    answered: dict[str, JudgeSpec] = field(default_factory=dict)
    observer: Observer = nobody
    started: float = field(default_factory=time.monotonic)
    admitted: bool = False
    trace: Trace = field(default_factory=Trace)
    _prompt_hash: bytes = b""

    @property
    def prompt_hash(self) -> bytes:
        """The same for the same prompt."""
        if not self._prompt_hash:
            self._prompt_hash = prompt_identity(self.request.prompt)
        return self._prompt_hash

    def flag(self, flag: Flag) -> None:
        """Add a flag once."""
        if flag not in self.flags:
            self.flags.append(flag)

    def selecting(self, event: Event) -> None:
        """Take note of who is left out, and tell of it; an ``Observer``."""
        if isinstance(event, FamilyExcluded):
            self.trace.left_out.append(event.judge)
        self.observer(event)

    def note(self, answer: Answer) -> None:
        """Take note of who answered, and of what has to be said about it."""
        judge = answer.judge
        self.answered[judge.id] = judge
        if answer.kept is None:
            self.trace.unkept = True
        else:
            key, record = answer.kept
            self.trace.kept[key] = record
        if judge.id in self.bench.trial:
            self.flag(Flag("trial_judge", f"{judge.id}: a small local model for trying things out"))
        if answer.unverified:
            if not answer.cached:
                self.observer(ServedUnverified(judge.id))
            served = answer.model_served or "no name"
            self.flag(
                Flag(
                    "served_model_unverified",
                    f"{judge.id}: {served[:128]!r} tells no family",
                )
            )

    def fingerprint(self) -> str:
        """Rubric and specs of the judges that answered."""
        return self.bench.fingerprint(self.rubric.rubric_hash, self.answered)
