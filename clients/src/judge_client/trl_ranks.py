"""Groups that are split over the processes of a training, put together by the service."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import uuid
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge_client.candidate import Candidate
from judge_client.requests import Join
from judge_client.results import Outcome
from judge_client.rows import Row, same_question
from judge_client.together import together

_HERE = ("", "localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - compared, not bound to


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """Where the members of split groups find each other: in groups of ``size``, in the ``call`` of
    a training's ``run``. ``deadline_s`` bounds the wait for the other processes.
    """

    run: str
    name: str
    call: int
    size: int
    deadline_s: float | None

    def member(self, row: Row) -> Join:
        """One completion, as a member of its prompt's group."""
        asked = [self.name, self.call, row.prompt, row.reference]
        content = json.dumps(asked, sort_keys=True, ensure_ascii=True).encode()
        return Join(
            prompt=row.prompt, candidate=Candidate(text=row.text, messages=row.turns),
            reference=row.reference, run=self.run, group=hashlib.sha256(content).hexdigest(),
            size=self.size, member=uuid.uuid4().hex, deadline_s=self.deadline_s,
        )  # fmt: skip


async def all_of(work: Iterable[Coroutine[Any, Any, Sequence[Outcome]]]) -> list[Outcome]:
    """The outcomes of both at once: of groups that are here, and of members for whose groups other
    processes wait.
    """
    return [outcome for outcomes in await together(work) for outcome in outcomes]


def is_evaluation(rows: Sequence[Row], size: int, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether this cannot be a process's slice of a training's batch, which is made of groups of
    ``size``: every prompt stands alone, and there are so many of them, or the slice begins at such
    a place, that groups would have to begin inside of others.

    The place follows from ``RANK`` and ``WORLD_SIZE``, for slices are of one length.
    """
    count = len(rows)
    if not rows or any(same_question(rows[at], rows[at + 1]) for at in range(count - 1)):
        return False
    if count > 2:
        return True
    try:
        rank, world = int(environ["RANK"]), int(environ["WORLD_SIZE"])
    except (KeyError, ValueError):
        return False
    begin = rank * count
    return world * count % size != 0 or any((begin + at) % size for at in range(1, count))


def this_run() -> str:
    """A name that the processes of one training share, by what launched them.

    Two trainings have the same only on one machine, and only where nothing launched them.
    """
    address, port = os.environ.get("MASTER_ADDR", ""), os.environ.get("MASTER_PORT", "")
    # A loopback address names no machine.
    where = socket.gethostname() if address in _HERE else address
    return f"{where}:{port}:{os.environ.get('TORCHELASTIC_RUN_ID', '')}"[:512]
