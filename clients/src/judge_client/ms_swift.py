"""A reward function for ms-swift, in a file that ``--external_plugins`` names.

    from swift.rewards import orms
    from judge_client.ms_swift import make_orm

    orms["judge"] = make_orm(rubric="helpfulness")

ms-swift counts a sample without a score as 0 (``nansum``), so there is no safe way to leave one
out: what failed is judged again until the time is up, and then the call raises. ms-swift itself is
not imported.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, cast

from judge_client import shared
from judge_client.errors import ConfigError, JudgingFailed
from judge_client.hold import hold
from judge_client.loop_thread import LOOP
from judge_client.requests import Request, failed_all
from judge_client.results import Failure
from judge_client.rollouts import shares_of
from judge_client.settings import Settings
from judge_client.swift_samples import Sample, assess, gather, groups, rank, samples_of

log = logging.getLogger("judge_client.ms_swift")
DEFAULT_TIMEOUT_S = 300.0
SETTINGS = (
    "url", "api_key", "rubric", "timeout_s", "family", "policy_model", "purpose", "mode",
    "group_size", "across_ranks", "reference_column", "on_fail",
)  # fmt: skip


def make_orm(
    url: str | None = None,
    *,
    name: str = "judge",
    rubric: str | None = None,
    mode: Literal["each", "group"] = "each",
    group_size: int | None = None,
    across_ranks: Literal["no", "gather"] = "no",
    reference_column: str | None = None,
    on_fail: Literal["raise", "none"] = "raise",
    timeout_s: float | str | None = None,
    api_key: str | None = None,
    family: str | Sequence[str] | None = None,
    policy_model: str | None = None,
    purpose: str | None = None,
) -> type[JudgeORM]:
    """The class to put into ``orms``, with these settings; ``name`` is the metric's name. Raises
    ConfigError at once for a setting that cannot be right.
    """
    told = {
        "url": url, "api_key": api_key, "rubric": rubric, "timeout_s": timeout_s,
        "family": family, "policy_model": policy_model, "purpose": purpose, "mode": mode,
        "group_size": group_size, "across_ranks": across_ranks,
        "reference_column": reference_column, "on_fail": on_fail,
    }  # fmt: skip
    made = _made(name, told)
    made.check()
    return made


class JudgeORM:
    """Scores a batch of completions in [0, 1]; a batch that could not be judged raises.

    ``mode="each"`` assesses every completion, ``mode="group"`` ranks the completions of one
    ``prompt_id`` against each other, ``group_size`` at a time (``num_generations`` unless given).
    Where groups are split over processes, ``across_ranks="gather"`` puts them together.

    ``reference_column`` names the column of the data that holds the reference. ``timeout_s`` is how
    long a batch is held. ``on_fail="none"`` gives ``None`` for a sample without a verdict, which
    only ``--scale_rewards gdpo`` leaves out; with anything else it is a mistake.

    Settings are keyword arguments, else attributes of the class, else the environment. Picklable,
    and right in threads and in every event loop.
    """

    url: ClassVar[str | None] = None
    api_key: ClassVar[str | None] = None
    rubric: ClassVar[str | None] = None
    timeout_s: ClassVar[float | str | None] = None
    family: ClassVar[str | Sequence[str] | None] = None
    policy_model: ClassVar[str | None] = None
    purpose: ClassVar[str | None] = None
    mode: ClassVar[Literal["each", "group"]] = "each"
    group_size: ClassVar[int | None] = None
    across_ranks: ClassVar[Literal["no", "gather"]] = "no"
    reference_column: ClassVar[str | None] = None
    on_fail: ClassVar[Literal["raise", "none"]] = "raise"
    _is_made: ClassVar[bool] = False

    def __init__(self, args: Any = None, **given: Any) -> None:
        for setting, value in given.items():
            if setting not in SETTINGS:
                raise TypeError(f"{type(self).__name__} has no setting {setting!r}")
            setattr(self, setting, value)
        self.check(self)
        self._settings = _settings_of(self)
        self._size = self.group_size or _whole(getattr(args, "num_generations", None))
        if self.on_fail == "none" and getattr(args, "scale_rewards", None) != "gdpo":
            raise ConfigError(
                'on_fail: "none" is for --scale_rewards gdpo; otherwise ms-swift would count a '
                "sample without a verdict as 0"
            )

    @classmethod
    def check(cls, told: Any = None) -> None:
        """Raises ConfigError when a setting, of the class or of ``told``, cannot be right."""
        told = cls if told is None else told
        shared.one_of("mode", told.mode, "each", "group")
        shared.one_of("across_ranks", told.across_ranks, "no", "gather")
        shared.one_of("on_fail", told.on_fail, "raise", "none")
        size = told.group_size
        if size is not None and not 2 <= (_whole(size) or 0) <= 64:
            raise ConfigError("group_size: a group has 2 to 64 members")
        _settings_of(told)

    def __reduce__(self) -> tuple[Any, ...]:
        """What ``make_orm`` made is made anew, for its class is nowhere to be imported from."""
        if not self._is_made:
            return object.__new__, (type(self),), self.__dict__
        told = {setting: getattr(self, setting) for setting in SETTINGS}
        return _unpickled, (type(self).__name__, told, self._size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings!r})"

    def __call__(
        self, completions: Sequence[Any], messages: Any = None, **columns: Any
    ) -> list[float | None]:
        """The scores, in order. Raises JudgingFailed, and RequestRefused for mistakes."""
        samples = samples_of(completions, messages, columns, self.reference_column)
        if self.mode == "each":
            requests: list[Request[Any]] = [assess(sample) for sample in samples]
            outcomes = [shares_of(result, 1)[0] for result in self._held(requests)]
        else:
            outcomes = self._grouped(samples)
        failures = [found for found in outcomes if isinstance(found, Failure)]
        if failures:
            codes = sorted({failure.code for failure in failures})
            log.warning("no verdict for %d of %d: %s", len(failures), len(outcomes), codes)
            if self.on_fail == "raise":
                raise JudgingFailed(failures[0])
        return [None if isinstance(found, Failure) else found for found in outcomes]

    def _held(self, requests: Sequence[Request[Any]]) -> list[Any]:
        client = shared.client_of(self._settings)
        held = hold(client, requests, give_up=self.on_fail == "raise")
        return LOOP.run(held, failed_all(requests))

    def _grouped(self, samples: Sequence[Sample]) -> list[float | Failure]:
        everybody, start = gather(samples) if self.across_ranks == "gather" else (samples, 0)
        own = range(start, start + len(samples))
        # A group that is split over processes is asked for by each of them, and judged once.
        found = [g for g in groups(everybody, self._size) if set(g) & set(own)]
        results = self._held([rank([everybody[at] for at in members]) for members in found])
        shares: dict[int, float | Failure] = {}
        for members, result in zip(found, results, strict=True):
            shares |= zip(members, shares_of(result, len(members)), strict=True)
        return [shares[at] for at in own]


def _settings_of(told: Any) -> Settings:
    return shared.load(
        default_timeout_s=DEFAULT_TIMEOUT_S, url=told.url, api_key=told.api_key,
        rubric=told.rubric, timeout_s=told.timeout_s, family=told.family,
        policy_model=told.policy_model, purpose=told.purpose,
    )  # fmt: skip


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _made(name: str, told: Mapping[str, Any]) -> type[JudgeORM]:
    attributes = {**told, "_is_made": True, "__doc__": JudgeORM.__doc__}
    return cast("type[JudgeORM]", type(shared.metric_name(name), (JudgeORM,), attributes))


def _unpickled(name: str, told: Mapping[str, Any], size: int | None) -> JudgeORM:
    orm = object.__new__(_made(name, told))
    orm._settings = _settings_of(orm)
    orm._size = size
    return orm
