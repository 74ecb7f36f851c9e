"""Settings of a processor: class attributes, constructor arguments, environment."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from judge_client import settings
from judge_client.async_client import AsyncJudgeClient
from judge_client.errors import ConfigError
from judge_client.results import Failure
from judge_client.shared import yes_or_no
from judge_client.trainer_input import reference_of

DEFAULT_TIMEOUT_S = 90.0
"""Below the 120 seconds that a reward component is usually given."""
SETUP_CHECK_S = 3.0


class Configured:
    """What every processor may be told, in its class or as keyword arguments of its constructor.

    What is told neither way comes from the environment (``JUDGE_SERVICE_URL``, ``_API_KEY``,
    ``_RUBRIC``, ``_TIMEOUT_S``, ``_FAMILY``, ``_POLICY_MODEL``, ``_PURPOSE``).
    """

    url: ClassVar[str | None] = None
    api_key: ClassVar[str | None] = None
    rubric: ClassVar[str | None] = None
    timeout_s: ClassVar[float | None] = None
    """The whole time of a judgement, retries included; keep it below the component's timeout."""
    family: ClassVar[str | tuple[str, ...] | None] = None
    policy_model: ClassVar[str | None] = None
    purpose: ClassVar[str | None] = None
    """``"validate"`` asks the judges that are kept for validation."""
    reference_key: ClassVar[str | None] = "solution"
    """Where in ``rollout_extra`` the reference is, when there is no ``ground_truth``."""
    use_reference: ClassVar[bool] = True
    """False for rubrics that take none, whatever the data has."""
    rollout_error_marker: ClassVar[str | None] = "ROLLOUT_ERROR:"
    """How an agent's turn begins when its rollout failed; None looks for no such turn."""
    check_rubric: ClassVar[bool] = True
    """Ask the service at start whether the rubric is there; an unreachable one is no error."""
    default_timeout_s: ClassVar[float] = DEFAULT_TIMEOUT_S

    _judge: AsyncJudgeClient | None = None

    def configure(self, given: dict[str, Any]) -> None:
        """Take constructor arguments. Raises TypeError for one that is no setting."""
        for name, value in given.items():
            if name not in self._settings():
                raise TypeError(f"{type(self).__name__} has no setting {name!r}")
            setattr(self, name, value)

    @classmethod
    def _settings(cls) -> set[str]:
        """The names of all class attributes that are settings, a subclass's own included."""
        ours = [base for base in cls.__mro__ if issubclass(base, Configured)]
        found = {name: value for base in reversed(ours) for name, value in vars(base).items()}
        return {n for n, value in found.items() if not n.startswith("_") and not callable(value)}

    @property
    def _client(self) -> AsyncJudgeClient:
        """The client, made when first needed. Raises ConfigError."""
        if self._judge is None:
            self._judge = AsyncJudgeClient.from_settings(
                settings.load(
                    url=self.url, api_key=self.api_key, rubric=self.rubric,
                    timeout_s=self.timeout_s, family=self.family, policy_model=self.policy_model,
                    purpose=self.purpose, default_timeout_s=self.default_timeout_s,
                )
            )  # fmt: skip
        return self._judge

    def _rubrics(self) -> list[str]:
        """The rubrics in use. Raises ConfigError when there is none."""
        rubric = self._client.settings.rubric
        if rubric is None:
            raise ConfigError("rubric: set JUDGE_SERVICE_RUBRIC, or the class attribute rubric")
        return [rubric]

    async def setup(self) -> None:
        """Check the settings. Raises what the server must not start with: ConfigError, and
        RequestRefused for an unknown rubric or a wrong key. An unreachable service is waited for
        when it is needed.
        """
        self._check()
        for rubric in self._rubrics():
            if not self.check_rubric:
                continue
            shown = await self._client.rubric(rubric, timeout_s=SETUP_CHECK_S)
            if not isinstance(shown, Failure):
                self._learn(rubric, shown)

    def _check(self) -> None:
        """Raises ConfigError for a setting that no judgement could be right with."""
        for name in ("reference_key", "rollout_error_marker"):
            value = getattr(self, name)
            # An empty marker would open every turn.
            if value is not None and (not isinstance(value, str) or not value):
                raise ConfigError(f"{name}: a text, or None")
        for name in ("use_reference", "check_rubric"):
            yes_or_no(name, getattr(self, name))

    def _learn(self, rubric: str, shown: dict[str, Any]) -> None:
        """Take note of what the service shows of a rubric. Raises ConfigError for one that will
        not do.
        """

    def _reference(self, ground_truth: object, extra: object) -> str | None:
        """The reference: ``ground_truth``, else what ``rollout_extra`` has, else none. A blank
        text and a table's missing value (NaN) are none.
        """
        if not self.use_reference:
            return None
        found = reference_of(ground_truth)
        if found is None and self.reference_key is not None and isinstance(extra, dict):
            found = reference_of(extra.get(self.reference_key))
        return found


def is_share(value: object) -> bool:
    """Whether ``value`` is a number in [0, 1], NumPy's included; NaN is none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return 0 <= float(value) <= 1
    except OverflowError:
        return False
