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
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal

from judge_client import settings, shared
from judge_client.async_client import AsyncJudgeClient
from judge_client.errors import ConfigError, InvalidRequest, JudgingFailed
from judge_client.hold import hold
from judge_client.loop_thread import LOOP
from judge_client.requests import Request, failed_all
from judge_client.results import Failure, Outcome
from judge_client.rows import Row, batch_of, gathered, groups, rows_of, split
from judge_client.settings import Purpose, check_timeout
from judge_client.shared import one_of
from judge_client.trainer_input import wait_of
from judge_client.trl_ranks import Meeting, all_of, is_evaluation, this_run
from judge_client.trl_rewards import assess, by_place, rank
from judge_client.trl_trainers import counted_as_zero, on_failed_of, trl_version
from judge_client.values import listed

log = logging.getLogger("judge_client.trl")
DEFAULT_TIMEOUT_S = 120.0
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


class JudgeReward:
    """Scores a batch of completions in [0, 1], ``None`` where there is no verdict.

    ``mode="each"`` assesses every completion, ``mode="group"`` ranks the completions of one prompt
    against each other, for which ``group_size`` is the trainer's ``num_generations``; a group that
    could not be judged is ``None`` for each of its members. Where a trainer splits groups over
    processes, ``across_ranks="gather"`` puts them together (with accelerate), and ``"server"`` lets
    the service do it: members of a group that is not whole here wait for the others, ``deadline_s``
    at most (half of ``timeout_s`` unless given), and have no reward where one does not come. The
    processes of a training meet under ``run``, by default a name of what launched them: give one
    where several trainings on one machine were started without torchrun or accelerate.

    A completion that stands alone, as in an evaluation, is assessed, on ``eval_rubric`` where the
    rubric itself only compares. ``split_column`` names the column that tells an evaluation: a batch
    in which it says something else than ``train`` is assessed one by one. Without it a batch is one
    if its prompts cannot be a part of groups, which a single prompt on each process always can.

    ``reference_column`` names the column of the data that holds the reference. ``timeout_s`` bounds
    a call, retries included. ``on_failed="raise"`` asks again for a sample without a verdict until
    that time is up, and then stops training; it is the default where a trainer would count ``None``
    as 0. ``on_unavailable="raise"`` stops only when the service gave no answer at all. An exception
    must reach all processes of a training, which is sure only where all ask the same service.

    ``name`` is the metric's name (``rewards/<name>/mean``): one for each reward of a training.
    ``purpose`` is what the verdicts are for (``train`` or ``validate``), hence who may give them.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        rubric: str | None = None,
        name: str = "judge",
        reference_column: str | None = None,
        timeout_s: float | None = None,
        mode: Literal["each", "group"] = "each",
        group_size: int | None = None,
        across_ranks: Literal["no", "gather", "server"] = "no",
        deadline_s: float | None = None,
        run: str | None = None,
        eval_rubric: str | None = None,
        split_column: str | None = None,
        on_failed: Literal["none", "raise"] | None = None,
        on_unavailable: Literal["none", "raise"] = "none",
        api_key: str | None = None,
        family: str | Sequence[str] | None = None,
        policy_model: str | None = None,
        purpose: Purpose | None = None,
    ) -> None:
        one_of("mode", mode, "each", "group")
        one_of("across_ranks", across_ranks, "no", "gather", "server")
        one_of("on_failed", on_failed, None, "none", "raise")
        one_of("on_unavailable", on_unavailable, "none", "raise")
        if mode == "group" and (not isinstance(group_size, int) or not 2 <= group_size <= 64):
            raise ConfigError(
                "group_size: a group needs it, the trainer's num_generations (2 to 64)"
            )
        self.__name__ = shared.metric_name(name, _NAME.fullmatch)
        loaded = shared.load(
            url=url, api_key=api_key, rubric=rubric, timeout_s=timeout_s, family=family,
            policy_model=policy_model, purpose=purpose, default_timeout_s=DEFAULT_TIMEOUT_S,
        )  # fmt: skip
        self._client = AsyncJudgeClient.from_settings(loaded)
        self._eval_rubric = settings.load(rubric=eval_rubric, environ={}).rubric
        self._split_column = split_column
        self._reference_column = reference_column
        self._group_size = group_size if mode == "group" else None
        self._across_ranks = across_ranks
        self._deadline_s = deadline_s
        if deadline_s is not None:
            waits = check_timeout("deadline_s", deadline_s)
            wait_of(deadline_s, "deadline_s", loaded.timeout_s - waits)
        self._run = run or this_run()
        self._calls = 0
        self._on_unavailable = on_unavailable
        self._on_failed = on_failed
        self._has_warned = False
        self._by_version = on_failed_of(trl_version()) if on_failed is None else on_failed

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
        said = batch_of(completions, "completions")
        references = self._references(columns, len(said))
        rows = rows_of(prompts, said, references, self._reference_column)
        # All processes of a training make the same calls.
        self._calls += 1
        must = self._must_judge()
        if self._group_size is None:
            outcomes = self._each(rows, must)
        elif self._is_told_evaluation(columns, len(rows)):
            outcomes = self._alone(rows, must)
        elif self._across_ranks == "server":
            outcomes = self._met(rows, self._group_size, must)
        else:
            outcomes = self._grouped(rows, self._group_size, must)
        rewards = [None if isinstance(found, Failure) else found for found in outcomes]
        failures = [found for found in outcomes if isinstance(found, Failure)]
        _tell(self.__name__, outcomes, columns)
        if failures and (must or self._has_nothing(outcomes)):
            raise JudgingFailed(failures[0])
        return rewards

    def _must_judge(self) -> bool:
        """Whether a sample without a verdict is to be an exception for the trainer that asks."""
        if self._on_failed is not None:
            return self._on_failed == "raise"
        trainer = counted_as_zero()
        if trainer is not None and not self._has_warned:
            self._has_warned = True
            log.warning(
                "%s: %s counts a sample without reward as 0; one that is not judged in %g s raises",
                self.__name__, trainer, self._client.settings.timeout_s,
            )  # fmt: skip
        return trainer is not None or self._by_version == "raise"

    def _has_nothing(self, outcomes: Sequence[float | Failure]) -> bool:
        """Whether the service gave no answer at all, where that is to be an exception."""
        return self._on_unavailable == "raise" and all(
            isinstance(found, Failure) and found.at == "client" for found in outcomes
        )

    def _references(self, columns: Mapping[str, Any], count: int) -> Sequence[Any]:
        if self._reference_column is None:
            return [None] * count
        return _column("reference_column", self._reference_column, columns, count)

    def _is_told_evaluation(self, columns: Mapping[str, Any], count: int) -> bool:
        if self._split_column is None:
            return False
        told = _column("split_column", self._split_column, columns, count)
        return any(one != "train" for one in told)

    def _each(self, rows: Sequence[Row], must: bool) -> list[float | Failure]:
        results = self._asked([assess(row) for row in rows], must)
        return by_place([[at] for at in range(len(rows))], results, range(len(rows)))

    def _alone(self, rows: Sequence[Row], must: bool) -> list[float | Failure]:
        """The rewards of an evaluation."""
        results = self._asked([assess(row, self._eval_rubric) for row in rows], must)
        return by_place([[at] for at in range(len(rows))], results, range(len(rows)))

    def _met(self, rows: Sequence[Row], size: int, must: bool) -> list[float | Failure]:
        """The rewards where the service puts split groups together."""
        if is_evaluation(rows, size):
            return self._alone(rows, must)
        whole, apart = split(rows, size)
        meeting = Meeting(
            run=self._run, name=self.__name__, call=self._calls, size=size,
            deadline_s=self._deadline_s,
        )  # fmt: skip
        ranked = [rank([rows[at] for at in members]) for members in whole]
        joined = [meeting.member(rows[at]) for at in apart]

        async def both() -> list[Outcome]:
            return await all_of([self._ask(ranked, must), self._client.join_many(joined)])

        outcomes = LOOP.run(both(), failed_all([*ranked, *joined]))
        return by_place([*whole, *([at] for at in apart)], outcomes, range(len(rows)))

    def _grouped(self, rows: Sequence[Row], size: int, must: bool) -> list[float | Failure]:
        everybody, start = gathered(rows) if self._across_ranks == "gather" else (list(rows), 0)
        own = range(start, start + len(rows))
        # A group that is split over processes is asked for by each of them, and judged once.
        found = [members for members in groups(everybody, size) if set(members) & set(own)]
        asked = [rank([everybody[at] for at in members], self._eval_rubric) for members in found]
        return by_place(found, self._asked(asked, must), own)

    def _asked(self, requests: Sequence[Request[Any]], must: bool) -> list[Outcome]:
        return LOOP.run(self._ask(requests, must), failed_all(requests))

    def _ask(
        self, requests: Sequence[Request[Any]], must: bool
    ) -> Coroutine[Any, Any, list[Outcome]]:
        """The outcomes in order; where they must be there, asked for until the time is up."""
        if must:
            return hold(self._client, requests, give_up=True)
        return self._client.bulk(requests)


def _tell(name: str, outcomes: Sequence[float | Failure], columns: Mapping[str, Any]) -> None:
    """Log the same names every time, on every process: trainers gather them."""
    failures = [found for found in outcomes if isinstance(found, Failure)]
    if failures:
        codes = sorted({failure.code for failure in failures})
        log.warning("%s: no verdict for %d of %d: %s", name, len(failures), len(outcomes), codes)
        if "cohort_incomplete" in codes:
            log.warning(
                "%s: no other process handed in the rest of a group; where this is an evaluation, "
                "let a column of the data say so (split_column)", name,
            )  # fmt: skip
    log_metric: Callable[[str, float], None] | None = columns.get("log_metric")
    if callable(log_metric):
        log_metric(f"{name}/judge_failed", len(failures) / max(1, len(outcomes)))
    log_extra: Callable[[str, list[str]], None] | None = columns.get("log_extra")
    if callable(log_extra):
        told = [found.code if isinstance(found, Failure) else "" for found in outcomes]
        log_extra(f"{name}_error", told)


def _column(setting: str, name: str, columns: Mapping[str, Any], count: int) -> Sequence[Any]:
    found = listed(columns.get(name))
    if not isinstance(found, list) or len(found) != count:
        raise InvalidRequest(f"{setting}: the data has no column {name!r}", field=setting)
    return found
