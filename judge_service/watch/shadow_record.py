"""The latest pairs of verdicts by judge, shadow, rubric and criterion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judge_service.statistics.agreement import Label
from judge_service.watch.baseline import number_of
from judge_service.watch.keepsake import Void
from judge_service.watch.shadow_pairs import CHOICES, Pair, ShadowPairs

Key = tuple[str, str, str, str | None]
"""Judge, shadow, rubric, criterion (None for choices)."""
MAX_KEPT = 16
"""Windows that are kept for the next process."""


@dataclass(slots=True)
class ShadowRecord:
    """A ``Keepsake``. ``version`` gives that of a judge, a shadow and a rubric by their ids, None
    where one is gone: pairs of another version say nothing of this one.
    """

    version: Callable[[str, str, str], str | None]
    _pairs: dict[Key, ShadowPairs] = field(default_factory=dict)
    _versions: dict[Key, str] = field(default_factory=dict)

    def add(self, key: Key, categories: Sequence[Label], pair: Pair) -> ShadowPairs:
        """One more pair; the window that it belongs to."""
        version = self.version(*key[:3]) or ""
        found = self._pairs.get(key)
        if found is None or self._versions[key] != version or found.categories != categories:
            found = self._pairs[key] = ShadowPairs(categories=categories)
            self._versions[key] = version
        found.add(pair)
        return found

    def snapshot(self) -> list[tuple[Key, ShadowPairs]]:
        """All windows as they are now."""
        return [
            (key, replace(pairs, pairs=pairs.pairs.copy())) for key, pairs in self._pairs.items()
        ]

    def state(self) -> Any:
        """JSON that ``restore`` takes."""
        kept = list(self._pairs.items())[-MAX_KEPT:]
        return [
            [[*key], self._versions[key], [*one.categories], [[*pair] for pair in one.pairs]]
            for key, one in kept
        ]

    def restore(self, state: Any, void: Void) -> None:
        """Go on where another process has stopped."""
        for (judge, shadow, rubric, criterion), version, categories, pairs in state or ():
            if version != self.version(judge, shadow, rubric) or void(judge, rubric):
                continue
            if not _are_labels(categories):
                raise ValueError("no labels")
            read = [Pair(a, b, number_of(x), number_of(y)) for a, b, x, y in pairs]
            if all(pair.live in categories and pair.shadow in categories for pair in read):
                found = ShadowPairs(categories=tuple(categories))
                found.pairs.extend(read)
                key = (judge, shadow, rubric, criterion)
                self._pairs[key], self._versions[key] = found, version

    def forget(self, judge: str | None, rubric: str | None) -> None:
        """Begin anew. A shadow is a judge as well."""
        for key in list(self._pairs):
            if (judge is None or judge in key[:2]) and rubric in (None, key[2]):
                del self._pairs[key], self._versions[key]


def _are_labels(categories: Any) -> bool:
    return all(isinstance(one, int) for one in categories) or set(categories) <= {*CHOICES}
