"""Groups that are split over the processes of a training, put together by the service."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import uuid
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from judge_client.async_client import AsyncJudgeClient
from judge_client.candidate import Candidate
from judge_client.requests import Join, Request
from judge_client.results import Outcome
from judge_client.together import together
from judge_client.trl_rows import Row

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


async def ask(
    client: AsyncJudgeClient, whole: Sequence[Request[Any]], apart: Sequence[Join]
) -> list[Outcome]:
    """The outcomes of groups that are here, then of members of groups that are not. They are asked
    for at once, for other processes wait for these members.
    """
    work: list[Coroutine[Any, Any, Sequence[Outcome]]]
    work = [client.bulk(whole), client.join_many(apart)]
    return [outcome for outcomes in await together(work) for outcome in outcomes]


def this_run() -> str:
    """A name that the processes of one training share, by what launched them.

    Two trainings have the same only on one machine, and only where nothing launched them.
    """
    address, port = os.environ.get("MASTER_ADDR", ""), os.environ.get("MASTER_PORT", "")
    # A loopback address names no machine.
    where = socket.gethostname() if address in _HERE else address
    return f"{where}:{port}:{os.environ.get('TORCHELASTIC_RUN_ID', '')}"[:512]
