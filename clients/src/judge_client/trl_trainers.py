"""What a sample without a reward is to the trainer that asks: left out, or counted as 0.

TRL's GRPO and RLOO leave it out from 1.6 on. Trainers that make their advantages themselves may add
up what is there, so that a missing reward counts as 0, the worst there is; they are known by name.
"""

from __future__ import annotations

import re
import sys
import warnings
from importlib import metadata
from types import FrameType
from typing import Literal

NONE_SINCE = (1, 6)
COUNTS_AS_ZERO = {
    "axolotl.core.trainers.grpo.async_trainer": "Axolotl's asynchronous GRPO",
    "axolotl.core.trainers.grpo.fast_async_trainer": "Axolotl's asynchronous GRPO",
    "axolotl.core.trainers.grpo.trainer": "Axolotl's sequence-parallel GRPO",
    "trl.experimental.online_dpo.online_dpo_trainer": "TRL's online DPO",
    "trl.experimental.sdpo.sdpo_trainer": "TRL's SDPO",
    "unsloth_zoo.mlx.grpo": "Unsloth's GRPO on MLX",
}
"""The modules whose functions stand on the stack when such a trainer asks for rewards."""


def counted_as_zero() -> str | None:
    """The trainer that asks and would count ``None`` as 0, where it is one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        found = COUNTS_AS_ZERO.get(frame.f_globals.get("__name__", ""))
        if found is not None:
            return found
        frame = frame.f_back
    return None


def trl_version() -> str | None:
    """The installed TRL."""
    try:
        return metadata.version("trl")
    except metadata.PackageNotFoundError:
        return None


def on_failed_of(version: str | None) -> Literal["none", "raise"]:
    """What a sample without a verdict is to this TRL. Warns of one that knows no missing reward."""
    numbers = re.match(r"(\d+)\.(\d+)", version or "")
    if numbers is None or (int(numbers[1]), int(numbers[2])) >= NONE_SINCE:
        return "none"
    warnings.warn(
        f"TRL {version} counts a sample without reward as 0; a sample that was not judged will "
        'raise. Use TRL 1.6 or newer, or on_failed="none" beside another reward function.',
        stacklevel=3,
    )
    return "raise"
