"""verl as far as a reward manager sees it: the base class, samples, and the trainer's loops.

The classes behave as verl 0.9's; the real ones are met in ``clients/trainer_tests/test_verl.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

BASE = "verl.experimental.reward_loop.reward_manager.base"


class RewardManagerBase:
    """verl's: it keeps what it is given."""

    def __init__(self, config: Any, tokenizer: Any, compute_score: Any) -> None:
        self.config = config
        self.tokenizer = tokenizer
        self.compute_score = compute_score


class Ids(list[int]):
    """Token ids, with as much of a tensor as is used."""

    @property
    def shape(self) -> tuple[int]:
        """Its length."""
        return (len(self),)

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        return Ids(found) if isinstance(at, slice) else found

    def sum(self) -> int:
        """The sum."""
        return sum(self)


class Characters:
    """A tokenizer whose tokens are characters, and whose end is 0."""

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        """The text of ids."""
        return "".join(chr(one) for one in ids if one or not skip_special_tokens)


@dataclass(frozen=True)
class Item:
    """One sequence of a DataProto."""

    batch: Mapping[str, Ids]
    non_tensor_batch: Mapping[str, Any]


class Data(list[Item]):
    """A DataProto."""

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        return Data(found) if isinstance(at, slice) else found


def sample(text: str, **row: Any) -> Data:
    """A finished rollout: padded on the right, with its end token."""
    said = [ord(char) for char in text] + [0]
    asked, padding = [1] * 3, [7] * 2
    mask = [1] * (len(asked) + len(said)) + [0] * len(padding)
    return Data([Item({"responses": Ids(said + padding), "attention_mask": Ids(mask)}, row)])


def install(put: Callable[[str, ModuleType], None]) -> None:
    """Make the base class importable, by ``put`` into ``sys.modules``."""
    sys.modules.pop("judge_client._verl.manager", None)
    name = ""
    for part in BASE.split("."):
        name = f"{name}.{part}".strip(".")
        put(name, ModuleType(name))
    vars(sys.modules[BASE])["RewardManagerBase"] = RewardManagerBase


def config(rollouts: int = 4, **judge: Any) -> dict[str, Any]:
    """A trainer's configuration."""
    return {
        "actor_rollout_ref": {"rollout": {"n": rollouts}},
        "reward": {"judge": judge},
    }
