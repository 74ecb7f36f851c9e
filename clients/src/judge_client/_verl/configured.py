"""Settings out of verl's configuration, which is an OmegaConf tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from judge_client.errors import ConfigError

MAX_GROUP = 64
Partial = Literal["fail"] | dict[str, int]


def section(config: Any, *path: str) -> Any:
    """What stands at a path of mappings or objects, None where it ends before."""
    for name in path:
        config = config.get(name) if isinstance(config, Mapping) else getattr(config, name, None)
    return config


def told(config: Any, known: set[str]) -> dict[str, Any]:
    """The settings under ``reward.judge``. Raises ConfigError for one that is none."""
    given = section(config, "reward", "judge")
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ConfigError("reward.judge: not a mapping of settings")
    for name in given:
        if name not in known:
            raise ConfigError(f"reward.judge: no setting {str(name)[:40]!r}")
    return {str(name): value for name, value in given.items() if value is not None}


def group_size(given: object, rollouts: object) -> int:
    """How many rollouts a group has: what is told, which must be what the trainer samples.

    Raises ConfigError.
    """
    if given is not None and rollouts is not None and given != rollouts:
        raise ConfigError(
            f"group_size: {given!r}, but actor_rollout_ref.rollout.n is {rollouts!r}: such a group "
            "never comes together"
        )
    size = given if given is not None else rollouts
    if isinstance(size, bool) or not isinstance(size, int) or not 2 <= size <= MAX_GROUP:
        raise ConfigError(
            f"group_size: a group needs the trainer's rollout.n, from 2 to {MAX_GROUP}: {size!r}"
        )
    return size


def partial(given: object, size: int) -> Partial:
    """What becomes of an incomplete group. Raises ConfigError."""
    if given == "fail":
        return "fail"
    least = given.get("at_least") if isinstance(given, Mapping) and len(given) == 1 else None
    if isinstance(least, bool) or not isinstance(least, int) or not 2 <= least <= size:
        raise ConfigError(f'partial: "fail", or {{"at_least": n}} with n from 2 to {size}')
    return {"at_least": least}
