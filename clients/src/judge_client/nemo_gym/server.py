"""The resources server: Gym's contract on one side, the client on the other."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping
from typing import Any, Literal

from judge_client.encoding import encode
from judge_client.errors import ConfigError
from judge_client.hold import hold
from judge_client.nemo_gym.items import (
    candidate_of_row,
    prompt_of_row,
    reference_of_row,
    rollout_error,
)
from judge_client.requests import Assess, Join
from judge_client.results import (
    Assessed,
    AssessFailed,
    AssessOutcome,
    Failure,
    Joined,
    JoinOutcome,
)
from judge_client.settings import Settings
from judge_client.shared import client_of, load
from judge_client.trainer_input import wait_of, words_of
from judge_client.trainer_numbers import PLACEHOLDERS, numbers

try:
    from nemo_gym.base_resources_server import (
        BaseResourcesServerConfig,
        BaseVerifyRequest,
        BaseVerifyResponse,
        SimpleResourcesServer,
    )
    from pydantic import ConfigDict, PrivateAttr
except ImportError as missing:
    raise ImportError(
        f"judge_client.nemo_gym needs NeMo Gym, 0.4 or newer: pip install nemo-gym ({missing})"
    ) from missing

DEFAULT_TIMEOUT_S = 120.0
MAX_GROUP = 64
FAILURE_CLASS, FAILURE_ERROR = "_ng_failure_class", "_ng_failure_judge_error"
BROKEN = "rollout_failed"
_PARTIAL = re.compile(r"judge>=(\d{1,2})")


class JudgeResourcesServerConfig(BaseResourcesServerConfig):
    """Beside Gym's own fields: where the judge is and what it is asked. What is not given comes
    from the environment. ``timeout_s`` (120) is how long a rollout is tried to be judged.

    ``num_rollouts_per_prompt`` above 1 ranks that many rollouts of a task against each other:
    ``cohort_deadline_s`` is how long they may take to come together, and ``partial_cohort`` what
    becomes of those that did not, ``fail`` or ``judge>=2``.
    """

    judge_url: str | None = None
    api_key: str | None = None
    rubric: str | None = None
    timeout_s: float | None = None
    family: str | list[str] | None = None
    policy_model: str | None = None
    purpose: str | None = None
    use_reference: bool = True
    num_rollouts_per_prompt: int = 1
    cohort_deadline_s: float = 300.0
    partial_cohort: str = "fail"
    run: str | None = None


class JudgeVerifyRequest(BaseVerifyRequest):
    """A rollout, and whatever else the row has."""

    model_config = ConfigDict(extra="allow")


class JudgeVerifyResponse(BaseVerifyResponse):
    """The request's fields, the reward and the numbers beside it, or the marks of a failure."""

    model_config = ConfigDict(extra="allow")

    reward_components: dict[str, float]
    mask_sample: bool


class JudgeResourcesServer(SimpleResourcesServer):
    """Verifies rollouts by a judge. The same rollout posted again gets the same answer."""

    config: JudgeResourcesServerConfig
    _settings: Settings = PrivateAttr()
    _partial: Literal["fail"] | dict[str, int] = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Check the settings. Raises ConfigError."""
        super().model_post_init(context)
        given = self.config
        self._settings = load(
            url=given.judge_url, api_key=given.api_key, rubric=given.rubric,
            timeout_s=given.timeout_s, family=words_of(given.family),
            policy_model=given.policy_model, purpose=given.purpose,
            default_timeout_s=DEFAULT_TIMEOUT_S,
        )  # fmt: skip
        if not 1 <= given.num_rollouts_per_prompt <= MAX_GROUP:
            raise ConfigError(f"num_rollouts_per_prompt: from 1 to {MAX_GROUP}")
        in_groups = given.num_rollouts_per_prompt > 1
        judging_s = self._settings.timeout_s if in_groups else DEFAULT_TIMEOUT_S
        wait_of(given.cohort_deadline_s, "cohort_deadline_s", judging_s)
        self._partial = _partial_of(given.partial_cohort, given.num_rollouts_per_prompt)

    async def verify(self, body: JudgeVerifyRequest) -> JudgeVerifyResponse:
        """The rollout with its reward in [0, 1], or with the marks of a failure.

        Raises RequestRefused for mistakes, which Gym answers with HTTP 500.
        """
        row: dict[str, Any] = body.model_dump(mode="json")
        return JudgeVerifyResponse(**_answer(row, await self._judged(row)))

    async def _judged(self, row: Mapping[str, Any]) -> AssessOutcome | JoinOutcome:
        broken = rollout_error(row)
        if broken is not None:
            failure = Failure(code=BROKEN, message=broken, retryable=False, at="client")
            return AssessFailed(error=failure)
        settings = self._settings
        prompt = prompt_of_row(row)
        says_who = not settings.family and settings.policy_model is None
        candidate = candidate_of_row(row, says_who=says_who)
        reference = reference_of_row(row) if self.config.use_reference else None
        client = client_of(settings)
        if self.config.num_rollouts_per_prompt == 1:
            request = Assess(prompt=prompt, candidate=candidate, reference=reference)
            return (await hold(client, [request], give_up=True))[0]
        group, member = _place(row, prompt, reference)
        wait_s = self.config.cohort_deadline_s
        joining = Join(
            prompt=prompt, candidate=candidate, reference=reference, group=group, member=member,
            size=self.config.num_rollouts_per_prompt, deadline_s=wait_s, partial=self._partial,
            run=self.config.run,
        )  # fmt: skip
        return await client.ask(joining, timeout_s=wait_s + settings.timeout_s)


def _partial_of(given: str, size: int) -> Literal["fail"] | dict[str, int]:
    if given == "fail":
        return "fail"
    told = _PARTIAL.fullmatch(given.replace(" ", ""))
    least = int(told[1]) if told else 0
    if not 2 <= least <= size:
        raise ConfigError(f"partial_cohort: fail, or judge>=n with n from 2 to {size}")
    return {"at_least": least}


def _place(row: Mapping[str, Any], prompt: Any, reference: str | None) -> tuple[str, str]:
    """The rollout's group, and its own name there: as Gym numbers them, else by what was asked."""
    task, rollout = row.get("_ng_task_index"), row.get("_ng_rollout_index")
    if not _is_index(task) or not _is_index(rollout):
        asked = encode({"prompt": prompt, "reference": reference})
        return f"prompt {hashlib.sha256(asked).hexdigest()}", uuid.uuid4().hex
    # The numbers begin anew with every collection; a response has a name of its own.
    return f"task {task}", f"rollout {rollout} {str(row['response'].get('id'))[:128]}"


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _answer(row: Mapping[str, Any], result: AssessOutcome | JoinOutcome) -> dict[str, Any]:
    """The row, and what became of it."""
    # A rollout that is verified again brings along what was said of it before.
    again = row.get(FAILURE_CLASS) is not None
    marks = (FAILURE_CLASS, FAILURE_ERROR)
    kept = {name: value for name, value in row.items() if name not in marks}
    told: dict[str, Any] = {}
    if isinstance(result, (Assessed, Joined)):
        reward, beside = result.reward, numbers(result, result.reward)
        masked = bool(row.get("mask_sample")) and not again
    else:
        # Gym's answer must have a number here; the marks say that it is none.
        reward, beside, masked = 0.0, dict(PLACEHOLDERS), True
        told[FAILURE_CLASS] = BROKEN if result.error.code == BROKEN else "judge_failed"
        told[FAILURE_ERROR] = f"{result.error.code}: {result.error.message}"
    return {
        **kept, **beside, **told, "reward": reward, "reward_components": {"judge": reward},
        "mask_sample": masked,
    }  # fmt: skip
