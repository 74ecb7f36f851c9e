"""The plugin's settings, in an entry of ``judges``."""

from __future__ import annotations

import os
from typing import Any, Literal

from judge_client import shared
from judge_client.errors import ConfigError
from judge_client.settings import Settings

from judge_client_verifiers.framework import Field, JudgeConfig, model_validator

DEFAULT_TIMEOUT_S = 120.0
_THE_SERVICES = {
    "base_url", "headers", "headers_from_env", "timeout", "model", "sampling", "prompt",
}  # fmt: skip
"""What every judge of verifiers has, for judges that ask a model themselves."""


class ServiceJudgeConfig(JudgeConfig):
    """Settings of the plugin; what is not told comes from the environment (``JUDGE_SERVICE_URL``,
    ``_RUBRIC``, ``_TIMEOUT_S``, ``_FAMILY``, ``_POLICY_MODEL``, ``_PURPOSE``).

    The API key is told by the name of an environment variable only, for a configuration is written
    into every trace. Models, sampling and prompts are the service's business: it is a mistake to
    set them here.
    """

    api_key_var: str = "JUDGE_SERVICE_API_KEY"
    service_url: str | None = None
    rubric: str | None = None
    timeout_s: float | None = None
    """The whole time of a judgement, retries included (120); keep it below ``timeout.scoring``."""
    family: str | list[str] | None = None
    policy_model: str | None = None
    """Who wrote what is judged, where no family says so; else the model that the trace names."""
    purpose: Literal["train", "validate"] | None = None
    """What the verdicts are for, hence who may give them."""
    reference_field: str | None = "answer"
    """The field of the task that holds the reference; None where the rubric takes none."""
    group_size: int | None = Field(None, ge=2, le=64)
    """With it the rollouts of one task are ranked against each other: all so many of them must come
    to be scored within half of ``timeout_s``."""
    run: str | None = None
    """Sets the groups of one run apart from another's."""

    @model_validator(mode="after")
    def _check(self) -> ServiceJudgeConfig:
        """A setting that cannot be right ends the start, not the first rollout."""
        for name, field in type(self).model_fields.items():
            default = field.get_default(call_default_factory=True)
            if name in _THE_SERVICES and getattr(self, name) != default:
                raise ValueError(f"{name}: set it in the service; service_url says where it is")
        try:
            self.settings()
        except ConfigError as wrong:
            text = str(wrong)
            raise ValueError(f"service_{text}" if text.startswith("url:") else text) from None
        return self

    def settings(self) -> Settings:
        """The client's settings. Raises ConfigError."""
        key: Any = os.environ.get(self.api_key_var, "").strip() or None
        return shared.load(
            default_timeout_s=DEFAULT_TIMEOUT_S, url=self.service_url, api_key=key,
            rubric=self.rubric, timeout_s=self.timeout_s, family=self.family,
            policy_model=self.policy_model, purpose=self.purpose,
        )  # fmt: skip
