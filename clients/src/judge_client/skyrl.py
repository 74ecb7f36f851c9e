"""An environment for SkyRL: one turn, whose reward a judge gives.

    from skyrl_gym.envs import register

    register(
        id="judge",
        entry_point="judge_client.skyrl:JudgeEnv",
        kwargs={"rubric": "helpfulness"},
    )

SkyRL has no word for a reward that is missing: the turn is held until it is judged, and when the
time is up it raises. SkyRL runs the turns of ``max_env_workers`` environments at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

from judge_client import shared
from judge_client.errors import ConfigError, InvalidRequest, JudgingFailed
from judge_client.hold import hold
from judge_client.loop_thread import LOOP
from judge_client.requests import failed_all
from judge_client.results import Assessed
from judge_client.rollouts import assess_of, metrics_of
from judge_client.rows import row_of
from judge_client.trainer_numbers import NAMES

try:
    from skyrl_gym.envs.base_text_env import BaseTextEnv
except ImportError as missing:
    raise ImportError(
        f"judge_client.skyrl needs SkyRL's environments: pip install skyrl-gym ({missing})"
    ) from missing

DEFAULT_TIMEOUT_S = 300.0
SETTINGS = ("url", "api_key", "rubric", "timeout_s", "family", "policy_model", "purpose")


class JudgeEnv(BaseTextEnv):
    """Assesses the policy's only turn; the reference is ``extras["reward_spec"]["ground_truth"]``,
    where there is one.

    Settings come from ``env_config`` (``environment.skyrl_gym.<id>`` in SkyRL's configuration),
    from the ``kwargs`` of ``register``, from class attributes, else from the environment.
    ``timeout_s`` is how long a turn is held.
    """

    url: ClassVar[str | None] = None
    api_key: ClassVar[str | None] = None
    rubric: ClassVar[str | None] = None
    timeout_s: ClassVar[float | str | None] = None
    family: ClassVar[str | tuple[str, ...] | None] = None
    policy_model: ClassVar[str | None] = None
    purpose: ClassVar[str | None] = None

    def __init__(self, env_config: Any = None, extras: Any = None, **given: Any) -> None:
        super().__init__()
        told = {**given, **_told(env_config)}
        unknown = sorted(set(told) - set(SETTINGS))
        if unknown:
            raise ConfigError(f"{unknown[0]}: no setting of {type(self).__name__}")
        settings = {name: told.get(name, getattr(self, name)) for name in SETTINGS}
        self._settings = shared.load(default_timeout_s=DEFAULT_TIMEOUT_S, **settings)
        self._reference = _reference(extras)
        self._prompt: Any = None
        self._metrics = dict.fromkeys(NAMES, 0.0)

    def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
        """Take note of the prompt."""
        self._prompt = prompt
        return prompt, {}

    def step(self, action: str) -> Any:
        """The end of the episode, with a reward in [0, 1].

        Raises JudgingFailed when the time is up, and RequestRefused for mistakes.
        """
        if self._prompt is None:
            raise InvalidRequest("prompt: step was called before init", field="prompt")
        self.turns += 1
        request = assess_of(row_of(self._prompt, action, self._reference))
        client = shared.client_of(self._settings)
        (result,) = LOOP.run(hold(client, [request], give_up=True), failed_all([request]))
        self._metrics = metrics_of(result)
        if not isinstance(result, Assessed):
            raise JudgingFailed(result.error)
        return {
            "observations": [],
            "reward": result.reward,
            "done": True,
            "metadata": dict(self._metrics),
        }

    def get_metrics(self) -> dict[str, Any]:
        """The same names for every episode; the class averages them."""
        return dict(self._metrics)


def _told(config: Any) -> dict[str, Any]:
    """The settings in a configuration of any kind: a mapping (OmegaConf's too), a dataclass."""
    if config is None:
        return {}
    if is_dataclass(config) and not isinstance(config, type):
        found = {field.name: getattr(config, field.name) for field in fields(config)}
    elif isinstance(config, Mapping) or hasattr(config, "items"):
        found = dict(config.items())
    else:
        raise ConfigError("env_config: no mapping of settings")
    return {name: _listed(value) for name, value in found.items() if value is not None}


def _listed(value: Any) -> Any:
    """OmegaConf's lists are no lists."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _reference(extras: Any) -> object:
    spec = extras.get("reward_spec") if isinstance(extras, Mapping) else None
    return spec.get("ground_truth") if isinstance(spec, Mapping) else None
