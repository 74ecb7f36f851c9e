"""A preference model for Tinker's cookbook.

    from judge_client.tinker import JudgePreferenceModel

    builder = PairwisePreferenceGroupBuilder(
        convo_prefix=conversation, policy_renderer=renderer, num_envs=4,
        tournament_pattern=TournamentPattern.ALL_PAIRS_ONE_WAY,
        preference_model=JudgePreferenceModel(rubric="pairwise-writing"),
    )

The service asks both orders itself, so one way is enough. A pair that could not be judged raises:
train with the rollout strategy ``RetryOnFailure``, which skips such a group. The cookbook itself is
not imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from judge_client import shared
from judge_client.errors import JudgingFailed
from judge_client.requests import Compare
from judge_client.results import Compared, Failure
from judge_client.rollouts import candidate_of
from judge_client.rows import Row, row_of

DEFAULT_TIMEOUT_S = 120.0


class JudgePreferenceModel:
    """Compares two completions: 1.0 where B is preferred, -1.0 where A is, 0.0 for a tie.

    Raises JudgingFailed where there is no verdict, never a number. A pair whose two orders disagree
    (``inconsistent``) was judged and is nobody's win: 0.0, which neither gains by;
    ``on_inconsistent="raise"`` makes it a failure.

    Picklable, and right in every event loop.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        rubric: str | None = None,
        on_inconsistent: Literal["zero", "raise"] = "zero",
        timeout_s: float | str | None = None,
        api_key: str | None = None,
        family: str | Sequence[str] | None = None,
        policy_model: str | None = None,
        purpose: str | None = None,
    ) -> None:
        shared.one_of("on_inconsistent", on_inconsistent, "zero", "raise")
        self.settings = shared.load(
            default_timeout_s=DEFAULT_TIMEOUT_S, url=url, api_key=api_key, rubric=rubric,
            timeout_s=timeout_s, family=family, policy_model=policy_model, purpose=purpose,
        )  # fmt: skip
        self._on_inconsistent = on_inconsistent

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings!r})"

    async def __call__(self, comparison: Any) -> float:
        """The preference for B in [-1, 1]. Raises JudgingFailed, and RequestRefused for mistakes.

        ``comparison`` has ``prompt_conversation``, ``completion_A`` and ``completion_B``.
        """
        first = _row(comparison, "completion_A")
        second = _row(comparison, "completion_B")
        request = Compare(
            prompt=first.prompt or "", first=candidate_of(first), second=candidate_of(second)
        )
        result = await shared.client_of(self.settings).ask(request)
        if not isinstance(result, Compared):
            raise JudgingFailed(result.error)
        if result.preference is None:
            return self._nobodys()
        return 1.0 - 2.0 * result.preference

    def _nobodys(self) -> float:
        if self._on_inconsistent == "zero":
            return 0.0
        raise JudgingFailed(
            Failure(
                code="inconsistent", message="the two orders of the pair disagree", retryable=False
            )
        )


def _row(comparison: Any, name: str) -> Row:
    asked, said = comparison.prompt_conversation, getattr(comparison, name)
    return row_of(asked, said, places=("prompt_conversation", name, "reference"))
