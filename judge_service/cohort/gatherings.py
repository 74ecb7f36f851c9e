"""The gatherings of one process: in the store, where all replicas meet, and in its own memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from judge_service.cohort.board import Board
from judge_service.cohort.gathering import Gathering
from judge_service.cohort.leader import Leader
from judge_service.cohort.placing import GONE_KEPT_S, Placing
from judge_service.cohort.presence import Presence
from judge_service.cohort.request import JoinRequest
from judge_service.cohort.watch import Watch
from judge_service.engine import Engine
from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.secret import ServiceSecret
from judge_service.storage.signed import Signer
from judge_service.storage.store import Store

KEPT_S = 900.0
"""How long an outcome is kept for members that ask again, in seconds."""
ALONE_S = 10.0
"""How long members wait without the store before they look for it again, in seconds."""
MAX_ALONE = 1_000


class Gatherings:
    """Without the store only members of this process can find each other: those who wait here
    already, and those who come. ``wall`` is the clock that replicas share, in seconds.
    """

    def __init__(
        self,
        engine: Engine,
        store: Store,
        secret: ServiceSecret,
        *,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._engine = engine
        self._stores: dict[bool, Store] = {False: store, True: MemoryStore()}
        self._signer = Signer(secret, "cohort")
        self._wall = wall
        self._open: dict[tuple[str, bool], Gathering] = {}
        self._alone_until: dict[str, float] = {}
        self.presence = Presence(store, self._signer)

    @contextmanager
    def of(self, request: JoinRequest, common: str, *, alone: bool) -> Iterator[Gathering]:
        """Where members of the same group wait, which have ``common`` in common: with the
        store, or ``alone`` in this process.
        """
        board = self._board(request, common, alone=alone)
        key = (board.name, alone)
        found = self._open.get(key)
        if found is None or found.lost:
            found = self._open[key] = self._made(board, request, alone=alone)
        found.users += 1
        try:
            yield found
        finally:
            found.users -= 1
            if found.users == 0 and self._open.get(key) is found:
                del self._open[key]

    def is_alone(self, request: JoinRequest, common: str) -> bool:
        """Whether members of this group have lost the store."""
        return self._wall() < self._alone_until.get(
            self._board(request, common, alone=False).name, 0.0
        )

    def stay(self, request: JoinRequest, common: str) -> None:
        """Members of this group have lost the store, and look for it no more for a while."""
        now = self._wall()
        if len(self._alone_until) >= MAX_ALONE:
            self._alone_until = {k: until for k, until in self._alone_until.items() if until > now}
        name = self._board(request, common, alone=False).name
        until = now + min(ALONE_S, request.deadline_s)
        self._alone_until[name] = max(until, self._alone_until.get(name, 0.0))

    def _board(self, request: JoinRequest, common: str, *, alone: bool) -> Board:
        scope = (request.tenant, request.run, request.group)
        return Board(self._stores[alone], self._signer, scope, common, ttl_s=_ttl_s(request))

    def _made(self, board: Board, request: JoinRequest, *, alone: bool) -> Gathering:
        placing = Placing(board, self.presence, self._wall, _ttl_s(request))
        leader = Leader(self._engine, board, self.presence, self._wall)
        until = self._alone_until.get(board.name) if alone else None
        watch = Watch(self._engine, board, placing, leader, self._wall, until)
        return Gathering(placing, watch, self._wall)


def _ttl_s(request: JoinRequest) -> float:
    kept_s = GONE_KEPT_S if request.held else KEPT_S
    return kept_s + request.deadline_s + request.timeout_s
