"""Loading rubrics and judges to look at them: as much as can be had, with every fault."""

from __future__ import annotations

from pathlib import Path

from judge_service.cli.exits import UserError
from judge_service.errors import ConfigError
from judge_service.judges.judge import Bench, load_bench
from judge_service.rubric.library import Library, load_library, load_rubric, shipped
from judge_service.rubric.rubric import Rubric
from judge_service.settings import DEFAULT_JUDGES_FILE, Settings


def anchors_folder(settings: Settings) -> Path:
    """The folder of anchors, the shipped one unless another is set."""
    return settings.anchors_dir or shipped("anchors")


def load_judges(settings: Settings, faults: list[str]) -> Bench | None:
    """The configured judges; None where there are none, or with what is wrong in ``faults``."""
    file = _judges_file(settings)
    if file is None:
        return None
    try:
        return load_bench(file)
    except ConfigError as error:
        faults += str(error).splitlines()
        return None


def _judges_file(settings: Settings) -> Path | None:
    if settings.judges is None and DEFAULT_JUDGES_FILE.is_file() and not settings.embedded_judge:
        return DEFAULT_JUDGES_FILE
    return settings.judges


def watch_faults(settings: Settings, bench: Bench, rubrics: list[Rubric]) -> list[str]:
    """What is wrong with the ``[watch]`` table of the judges file."""
    from judge_service.watch.opening import check_watch

    file = _judges_file(settings)
    if file is None:
        return []
    try:
        check_watch(file, bench, anchors_folder(settings) / "gold", Library(rubrics))
    except ConfigError as error:
        return str(error).splitlines()
    return []


def load_rubrics(settings: Settings, wanted: list[str], faults: list[str]) -> list[Rubric]:
    """The rubrics that can be loaded, all of the folder or the wanted ones (ids, or files)."""
    files = [Path(name) for name in wanted if _is_file(name)]
    ids = {name for name in wanted if not _is_file(name)}
    rubrics = [r for file in files if (r := _one(file, _beside(file, settings), settings, faults))]
    if files and not ids:
        return rubrics
    return rubrics + _folder(settings, ids, faults)


def _folder(settings: Settings, ids: set[str], faults: list[str]) -> list[Rubric]:
    try:
        library = load_library(
            settings.rubrics_dir, settings.anchors_dir, rule_modules=settings.rule_modules
        )
        found = list(library.values())
    except ConfigError as error:
        folder = settings.rubrics_dir or shipped("rubrics")
        faults += str(error).splitlines()
        # What is sound is shown all the same; the faults of the rest are known by now.
        anchors = anchors_folder(settings)
        found = [
            rubric
            for file in sorted(folder.glob("*.toml"))
            if (rubric := _one(file, anchors / f"{file.stem}.jsonl", settings, []))
        ]
    known = {rubric.id for rubric in found}
    if not faults and ids - known:
        missing = ", ".join(sorted(ids - known))
        raise UserError(f"there is no rubric {missing}; known: {', '.join(sorted(known))}")
    return [rubric for rubric in found if not ids or rubric.id in ids]


def _one(file: Path, anchors: Path | None, settings: Settings, faults: list[str]) -> Rubric | None:
    try:
        return load_rubric(file, anchors, rule_modules=settings.rule_modules)
    except ConfigError as error:
        faults += str(error).splitlines()
        return None


def _is_file(name: str) -> bool:
    return name.endswith(".toml")


def _beside(file: Path, settings: Settings) -> Path | None:
    """The anchors of a rubric file: in the folder that is set, else in one beside its own."""
    folder = settings.anchors_dir or file.resolve().parent.parent / "anchors"
    return folder / f"{file.stem}.jsonl" if folder.is_dir() else None
