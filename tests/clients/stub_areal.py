"""AReaL as far as a workflow sees it: requests, answers, its base class, groups, statistics.

The real ones are met in ``clients/trainer_tests/test_areal.py``.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

MODULES = (
    "areal", "areal.api", "areal.utils", "areal.utils.dynamic_import", "areal.utils.hf_utils",
    "areal.utils.stats_tracker", "areal.workflow_context", "torch",
)  # fmt: skip


class RolloutWorkflow:
    """AReaL's base class."""


@dataclass
class ModelRequest:
    """What an engine is asked."""

    rid: str
    input_ids: list[int]
    gconfig: Any
    tokenizer: Any


@dataclass
class ModelResponse:
    """What an engine answers."""

    input_tokens: list[int]
    output_tokens: list[int]
    stop_reason: str = "stop"

    @property
    def input_len(self) -> int:
        """How much was asked."""
        return len(self.input_tokens)

    @property
    def output_len(self) -> int:
        """How much was said."""
        return len(self.output_tokens)

    @property
    def output_logprobs(self) -> list[float]:
        """One for each token."""
        return [-0.5] * self.output_len

    @property
    def output_versions(self) -> list[int]:
        """One for each token."""
        return [2] * self.output_len


@dataclass
class Config:
    """How to sample."""

    n_samples: int = 4
    stop: tuple[Any, ...] = ()

    def new(self, **changes: Any) -> Config:
        """The same with changes."""
        return Config(**{**vars(self), **changes})

    def new_with_stop_and_pad_token_ids(self, tokenizer: Any) -> Config:
        """The same with the tokenizer's end."""
        return self.new(stop=(tokenizer.end,))


class Characters:
    """A tokenizer whose tokens are characters, and whose end is 0."""

    end = 0

    def decode(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        """The text of ids."""
        return "".join(chr(one) for one in ids if one or not skip_special_tokens)


@dataclass
class Engine:
    """A policy that says what it is told to, in turn."""

    texts: list[str]
    stop_reason: str = "stop"
    requests: list[ModelRequest] = field(default_factory=list)

    async def agenerate(self, request: ModelRequest) -> ModelResponse:
        """Its next answer."""
        text = self.texts[len(self.requests) % len(self.texts)]
        self.requests.append(request)
        said = [ord(char) for char in text] + [0]
        return ModelResponse(request.input_ids, said, self.stop_reason)


@dataclass
class Stats:
    """What a workflow told the statistics."""

    told: list[dict[str, float]] = field(default_factory=list)

    def scalar(self, **values: float) -> None:
        """Take note."""
        self.told.append(values)


async def grouped(workflow: Any, engine: Any, data: dict[str, Any], size: int) -> list[Any]:
    """What AReaL trains on of a group: the trajectories that are there."""
    found = await asyncio.gather(*(workflow.arun_episode(engine, data) for _ in range(size)))
    return [trajectory for trajectory in found if trajectory is not None]


def install(put: Callable[[str, ModuleType], None]) -> Stats:
    """Make the names importable, by ``put`` into ``sys.modules``; returns the statistics."""
    sys.modules.pop("judge_client._areal.workflow", None)
    stats = Stats()
    made = {name: ModuleType(name) for name in MODULES}
    vars(made["areal.api"]).update(ModelRequest=ModelRequest, RolloutWorkflow=RolloutWorkflow)
    vars(made["areal.workflow_context"]).update(stat_scope=lambda: "rollout")
    vars(made["areal.utils.stats_tracker"]).update(get=lambda scope: stats)
    vars(made["areal.utils.dynamic_import"]).update(import_from_string=_imported)
    vars(made["areal.utils.hf_utils"]).update(
        apply_chat_template=_templated, load_hf_tokenizer=lambda name: Characters()
    )
    vars(made["torch"]).update(
        int32="int32", float32="float32", bool="bool",
        tensor=lambda data, dtype: SimpleNamespace(data=data, dtype=dtype),
    )  # fmt: skip
    for name, module in made.items():
        put(name, module)
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(made[parent], own, module)
    return stats


def _imported(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _templated(tokenizer: Any, messages: Any, **more: Any) -> list[int]:
    return [ord(char) for message in messages for char in message["content"]]
