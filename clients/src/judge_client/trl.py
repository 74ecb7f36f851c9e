"""A reward function for TRL's GRPO trainers, and so for Unsloth and Axolotl.

    from judge_client.trl import JudgeReward

    helpful = JudgeReward(rubric="helpfulness", name="judge_helpfulness")
    trainer = GRPOTrainer(model=model, reward_funcs=[helpful], train_dataset=data, args=args)

One POST for each call. A sample without a verdict is ``None``, which TRL leaves out of its group's
baseline from 1.6 on; before that it would count as 0, so an older TRL gets an exception instead.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from typing import Any, Literal

from judge_client.async_client import AsyncJudgeClient
from judge_client.candidate import Candidate
from judge_client.errors import ConfigError, InvalidRequest, JudgingFailed
from judge_client.loop_thread import LOOP
from judge_client.requests import Assess, Rank, Request
from judge_client.results import Assessed, Failed, Failure, Joined, Outcome, Ranked
from judge_client.settings import check_timeout
from judge_client.trainer_input import wait_of
from judge_client.trl_ranks import Meeting, ask, this_run
from judge_client.trl_rows import Row, gathered, groups, rows_of, split

log = logging.getLogger("judge_client.trl")
NONE_SINCE = (1, 6)
DEFAULT_BUDGET_S = 120.0
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


class JudgeReward:
    """Scores a batch of completions in [0, 1], ``None`` where there is no verdict.

    ``mode="each"`` assesses every completion, ``mode="group"`` ranks the completions of one prompt
    against each other, for which ``group_size`` is the trainer's ``num_generations``; a group that
    could not be judged is ``None`` for each of its members. Where a trainer splits groups over
    processes, ``across_ranks="gather"`` puts them together (with accelerate), and ``"server"`` lets
    the service do it: members of a group that is not whole here wait for the others, ``deadline_s``
    at most (half of ``budget_s`` unless given), and have no reward where one does not come. The
    processes of a training meet under ``run``, by default a name of what launched them: give one
    where several trainings on one machine were started without torchrun or accelerate.

    ``reference_column`` names the column of the data that holds the reference. ``budget_s`` bounds
    a call, retries included. ``on_failed="raise"`` stops training at a sample without a verdict,
    ``on_unavailable="raise"`` only when the service gave no answer at all; an exception must reach
    all processes of a training, which is sure only where all of them ask the same service.

    ``name`` is the metric's name (``rewards/<name>/mean``): one for each reward of a training.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        rubric: str | None = None,
        name: str = "judge",
        reference_column: str | None = None,
        budget_s: float = DEFAULT_BUDGET_S,
        mode: Literal["each", "group"] = "each",
        group_size: int | None = None,
        across_ranks: Literal["no", "gather", "server"] = "no",
        deadline_s: float | None = None,
        run: str | None = None,
        on_failed: Literal["none", "raise"] | None = None,
        on_unavailable: Literal["none", "raise"] = "none",
        api_key: str | None = None,
        family: str | Sequence[str] | None = None,
        policy_model: str | None = None,
    ) -> None:
        _one_of("mode", mode, "each", "group")
        _one_of("across_ranks", across_ranks, "no", "gather", "server")
        _one_of("on_failed", on_failed, None, "none", "raise")
        _one_of("on_unavailable", on_unavailable, "none", "raise")
        if not _NAME.fullmatch(name):
            raise ConfigError("name: not the name of a metric")
        if mode == "group" and (not isinstance(group_size, int) or not 2 <= group_size <= 64):
            raise ConfigError(
                "group_size: a group needs it, the trainer's num_generations (2 to 64)"
            )
        self.__name__ = name
        self._client = AsyncJudgeClient(
            url, api_key=api_key, rubric=rubric, timeout_s=budget_s, family=family,
            policy_model=policy_model,
        )  # fmt: skip
        if self._client.settings.rubric is None:
            raise ConfigError("rubric: give one, or set JUDGE_SERVICE_RUBRIC")
        self._reference_column = reference_column
        self._group_size = group_size if mode == "group" else None
        self._across_ranks = across_ranks
        self._deadline_s = deadline_s
        if deadline_s is not None:
            waits = check_timeout("deadline_s", deadline_s)
            wait_of(deadline_s, "deadline_s", self._client.settings.timeout_s - waits)
        self._run = run or this_run()
        self._calls = 0
        self._on_unavailable = on_unavailable
        self._on_failed = on_failed if on_failed is not None else _on_failed_of(_trl_version())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__name__!r}, {self._client.settings!r})"

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Any = None,
        **columns: Any,
    ) -> list[float | None]:
        """The rewards, in order. Raises RequestRefused for mistakes, and what ``on_…`` says."""
        rows = rows_of(prompts, completions, self._references(columns, len(completions)))
        # All processes of a training make the same calls.
        self._calls += 1
        if self._group_size is None:
            outcomes = self._each(rows)
        elif self._across_ranks == "server":
            outcomes = self._met(rows, self._group_size)
        else:
            outcomes = self._grouped(rows, self._group_size)
        rewards = [None if isinstance(found, Failure) else found for found in outcomes]
        failures = [found for found in outcomes if isinstance(found, Failure)]
        _tell(self.__name__, outcomes, columns)
        if failures and (self._on_failed == "raise" or self._has_nothing(outcomes)):
            raise JudgingFailed(failures[0])
        return rewards

    def _has_nothing(self, outcomes: Sequence[float | Failure]) -> bool:
        """Whether the service gave no answer at all, where that is to be an exception."""
        return self._on_unavailable == "raise" and all(
            isinstance(found, Failure) and found.at == "client" for found in outcomes
        )

    def _references(self, columns: Mapping[str, Any], count: int) -> Sequence[Any]:
        if self._reference_column is None:
            return [None] * count
        found = columns.get(self._reference_column)
        if not isinstance(found, (list, tuple)) or len(found) != count:
            raise InvalidRequest(
                f"reference_column: the data has no column {self._reference_column!r}",
                field="reference_column",
            )
        return found

    def _each(self, rows: Sequence[Row]) -> list[float | Failure]:
        results = LOOP.run(self._client.assess_many([_assess(row) for row in rows]))
        return [r.reward if isinstance(r, Assessed) else r.error for r in results]

    def _met(self, rows: Sequence[Row], size: int) -> list[float | Failure]:
        """The rewards where the service puts split groups together."""
        whole, apart = split(rows, size)
        meeting = Meeting(
            run=self._run, name=self.__name__, call=self._calls, size=size,
            deadline_s=self._deadline_s,
        )  # fmt: skip
        asked = [_rank([rows[at] for at in members]) for members in whole]
        members = [meeting.member(rows[at]) for at in apart]
        outcomes = LOOP.run(ask(self._client, asked, members))
        return _by_place([*whole, *([at] for at in apart)], outcomes, range(len(rows)))

    def _grouped(self, rows: Sequence[Row], size: int) -> list[float | Failure]:
        everybody, start = gathered(rows) if self._across_ranks == "gather" else (list(rows), 0)
        own = range(start, start + len(rows))
        # A group that is split over processes is asked for by each of them, and judged once.
        found = [members for members in groups(everybody, size) if set(members) & set(own)]
        asked: list[Request[Any]] = [_rank([everybody[at] for at in members]) for members in found]
        results = LOOP.run(self._client.bulk(asked))
        return _by_place(found, results, own)


def _assess(row: Row) -> Assess:
    candidate = Candidate(text=row.text, messages=row.turns)
    return Assess(prompt=row.prompt, candidate=candidate, reference=row.reference)


def _rank(rows: Sequence[Row]) -> Request[Any]:
    """A ranking; of one alone, as in an evaluation, an assessment."""
    if len(rows) == 1:
        return _assess(rows[0])
    return Rank(
        prompt=rows[0].prompt,
        candidates=[Candidate(text=row.text, messages=row.turns) for row in rows],
        reference=rows[0].reference,
    )


def _by_place(
    groups: Sequence[Sequence[int]], results: Sequence[Outcome], wanted: Iterable[int]
) -> list[float | Failure]:
    """What the rows at the ``wanted`` places got, each as a member of its group."""
    rewards: dict[int, float | Failure] = {}
    for members, result in zip(groups, results, strict=True):
        rewards |= zip(members, _shares(result, len(members)), strict=True)
    return [rewards[at] for at in wanted]


def _shares(result: Outcome, size: int) -> list[float | Failure]:
    if isinstance(result, Ranked):
        return list(result.rewards)
    if isinstance(result, (Assessed, Joined)):
        return [result.reward]
    if isinstance(result, Failed):
        return [result.error] * size
    raise TypeError("neither a ranking, nor an assessment, nor a share")


def _tell(name: str, outcomes: Sequence[float | Failure], columns: Mapping[str, Any]) -> None:
    """Log the same names every time, on every process: trainers gather them."""
    failures = [found for found in outcomes if isinstance(found, Failure)]
    if failures:
        codes = sorted({failure.code for failure in failures})
        log.warning("%s: no verdict for %d of %d: %s", name, len(failures), len(outcomes), codes)
    log_metric: Callable[[str, float], None] | None = columns.get("log_metric")
    if callable(log_metric):
        log_metric(f"{name}/judge_failed", len(failures) / max(1, len(outcomes)))
    log_extra: Callable[[str, list[str]], None] | None = columns.get("log_extra")
    if callable(log_extra):
        told = [found.code if isinstance(found, Failure) else "" for found in outcomes]
        log_extra(f"{name}_error", told)


def _one_of(name: str, value: object, *allowed: object) -> None:
    if value not in allowed:
        raise ConfigError(f"{name}: one of {', '.join(map(repr, allowed))}")


def _trl_version() -> str | None:
    try:
        return metadata.version("trl")
    except metadata.PackageNotFoundError:
        return None


def _on_failed_of(version: str | None) -> Literal["none", "raise"]:
    """What a sample without a verdict is to this TRL."""
    numbers = re.match(r"(\d+)\.(\d+)", version or "")
    if numbers is None or (int(numbers[1]), int(numbers[2])) >= NONE_SINCE:
        return "none"
    warnings.warn(
        f"TRL {version} counts a sample without reward as 0; a sample that was not judged will "
        'raise. Use TRL 1.6 or newer, or on_failed="none" beside another reward function.',
        stacklevel=3,
    )
    return "raise"
