"""What is usual, shared by all processes of the service: baselines, and the names of models.

What one process has learnt is so for all, so that a new replica does not learn from traffic that
has shifted already. It is kept as long as anybody watches by it: whoever does renews it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from judge_service.storage.signed import Signer
from judge_service.storage.store import Store
from judge_service.watch.baseline import baseline_of
from judge_service.watch.desk import Desk
from judge_service.watch.names import subject_of
from judge_service.watch.resets import Resets

PREFIX = "jw:2:usual:"
KEPT_S = 30 * 86_400.0


@dataclass(slots=True)
class Usual:
    """Puts what was learnt here into the store, and takes from it what others have learnt."""

    store: Store
    signer: Signer
    desk: Desk
    resets: Resets

    async def share(self) -> None:
        """Both ways, for what is or has just been learnt."""
        learning = []
        for name, chart in self.desk.learnt:
            if chart.baseline is None:
                learning.append(name)
            else:
                known = chart.baseline
                await self._put(name, [known.mean, known.sd, known.n])
        self.desk.learnt = [(n, chart) for n, chart in self.desk.learnt if chart.baseline is None]
        for name, told in (await self._found(learning)).items():
            with suppress(ValueError, TypeError):  # another version's: it goes on learning
                self.desk.adopt(name, baseline_of(told))

    async def share_names(self) -> None:
        """The same for the names of models: of judges without any, before the first reply."""
        served, learning = self.desk.served, []
        for judge in self.desk.bench:
            names = served.learnt(judge)
            if names is None:
                learning.append(judge)
            elif judge not in self.desk.names_shared:
                await self._put(self._name(judge), names)
                self.desk.names_shared.add(judge)
        found = await self._found([self._name(judge) for judge in learning])
        for judge in learning:
            names = found.get(self._name(judge))
            if isinstance(names, list):
                served.adopt(judge, [str(name) for name in names], self.desk.wall())
                self.desk.names_shared.add(judge)

    def _name(self, judge: str) -> str:
        return self.desk.served_name(judge)

    async def renew(self) -> None:
        """Keep what is watched by here for as long again; what others have learnt goes first."""
        mine = {
            name: [chart.baseline.mean, chart.baseline.sd, chart.baseline.n]
            for name, chart in self.desk.named_charts()
            if chart.baseline is not None
        }
        names = {
            self._name(judge): names
            for judge in self.desk.bench
            if (names := self.desk.served.learnt(judge)) is not None
        }
        every: dict[str, Any] = {**mine, **names}
        kept = await self._found(every)
        for name, told in every.items():
            key = PREFIX + name
            await self.store.put(key, self._signed(key, kept.get(name, told)), KEPT_S)

    async def _put(self, name: str, told: Any) -> None:
        """Unless it is there and counts."""
        key = PREFIX + name
        body = self._signed(key, told)
        if await self.store.put_new(key, body, KEPT_S) is False and not await self._found([name]):
            await self.store.put(key, body, KEPT_S)

    def _signed(self, key: str, told: Any) -> bytes:
        body = json.dumps([self.resets.seen, told], allow_nan=False).encode()
        return self.signer.sign(key, body)

    async def _found(self, names: Iterable[str]) -> dict[str, Any]:
        """What is kept under these names and was not reset since."""
        keys = {PREFIX + name: name for name in names}
        data = await self.store.find(*keys) if keys else {}
        found = {}
        for key, value in (data or {}).items():
            body = self.signer.check(key, value)
            with suppress(ValueError, TypeError):  # another version's: as if there were none
                as_of, told = json.loads(body or b"")
                if not self.resets.are_void(int(as_of), *subject_of(keys[key])):
                    found[keys[key]] = told
        return found
