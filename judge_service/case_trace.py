"""What a judgement leaves behind: what has to be known to tell whether it would come out again."""

from __future__ import annotations

from dataclasses import dataclass, field

from judge_service.candidate.answer_history import Sighting
from judge_service.events import Judged


@dataclass(slots=True, kw_only=True)
class Trace:
    """Grows while a request is worked on; ``past_of`` reads it.

    ``kept`` are the records that verdicts were read from, by key, and ``unkept`` says that one was
    not read from a record. ``missed`` says that a judge was asked and gave no verdict, ``left_out``
    are the judges that were excluded for their family. ``sighting`` is what is remembered of the
    answer that was looked at last (of an assessment's only one), ``event`` what was told of the
    outcome.
    """

    kept: dict[str, bytes] = field(default_factory=dict)
    unkept: bool = False
    missed: bool = False
    left_out: list[str] = field(default_factory=list)
    sighting: Sighting | None = None
    event: Judged | None = None
