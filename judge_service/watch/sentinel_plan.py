"""Which gold sets are asked about under which rubrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from judge_service.drift.side import Side, kind_of, rubric_of
from judge_service.errors import ConfigError
from judge_service.gold.file import load_gold
from judge_service.gold.item import GoldSet
from judge_service.judges.judge import JudgeSpec
from judge_service.rubric.library import Library
from judge_service.rubric.rubric import Rubric
from judge_service.watch.settings import TABLE, SentinelSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentinels:
    """A gold set with the rubric that it is asked under."""

    gold: GoldSet
    rubric: str

    def side(self, judge: JudgeSpec, rubric: Rubric) -> Side:
        """What is asked, by one judge, under the rubric as it is now."""
        return Side(judge=judge, rubric=rubric, kind=kind_of(self.gold))


def sentinels_of(
    settings: SentinelSettings, folder: Path, library: Library
) -> Mapping[str, Sentinels]:
    """The gold sets by the rubric they belong to. ``folder`` is where gold sets lie.

    Raises ConfigError for a file that is not there or not right, and for a rubric that no set is
    about, or two are.
    """
    found: dict[str, Sentinels] = {}
    for said in settings.gold:
        name, _, rubric_id = (part.strip() for part in said.partition(","))
        file = folder / f"{name}.jsonl"
        where = f"{TABLE}: sentinel.gold: {said!r}"
        if Path(name).name != name or not file.is_file():
            known = ", ".join(sorted(path.stem for path in folder.glob("*.jsonl"))) or "none"
            raise ConfigError(f"{where}: there is no such gold set in {folder}; there are: {known}")
        gold = load_gold(file)
        try:
            rubric = rubric_of(gold, rubric_id or None, library)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from None
        if rubric.id in found:
            other = found[rubric.id].gold.name
            raise ConfigError(f"{where}: {other!r} is asked under rubric {rubric.id!r} already")
        found[rubric.id] = Sentinels(gold=gold, rubric=rubric.id)
    return found
