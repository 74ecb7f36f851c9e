"""The rubrics of one service: loaded from a folder of TOML files and a folder of anchors."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, ItemsView, Iterator, Mapping, ValuesView
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from judge_service.errors import ConfigError, UnknownRubric
from judge_service.rubric.anchor import Anchor
from judge_service.rubric.rubric import Rubric
from judge_service.strict_json import unique

UPLOADED = "# Written by PUT /v1/rubrics: the anchors are in this file, at its end."
"""First line of a rubric file that holds its anchors itself. Rubric and anchors are then replaced
together, in one step; an anchors file beside it is not looked at.
"""
_NAMED = re.compile(r"([a-z_][\w.\[\]-]*): (.*)", re.DOTALL)
_PLAINER = {
    "extra_forbidden": "unknown field",
    "missing": "missing",
    "model_type": "must be a table",
    "dict_type": "must be a table",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
}


def shipped(folder: str) -> Path:
    """Where the shipped ``rubrics`` or ``anchors`` lie: in the wheel, or beside the package."""
    inside = Path(str(resources.files("judge_service"))) / "data" / folder
    return inside if inside.is_dir() else Path(__file__).resolve().parents[2] / folder


class Library(Mapping[str, Rubric]):
    """Rubrics by id. Iterates in order of ids; an unknown id raises UnknownRubric.

    A rubric itself never changes: who has taken one out keeps it, whatever comes in its place.
    """

    def __init__(self, rubrics: Collection[Rubric]) -> None:
        self._rubrics: Mapping[str, Rubric] = {}
        self.replace(rubrics)

    def replace(self, rubrics: Collection[Rubric]) -> None:
        """Hold these from now on. Safe from any thread: what is being read stays as it is."""
        self._rubrics = {r.id: r for r in sorted(rubrics, key=lambda r: r.id)}

    def snapshot(self) -> Library:
        """A library of the rubrics of this moment."""
        return Library(self._rubrics.values())

    def __getitem__(self, rubric_id: str) -> Rubric:
        try:
            return self._rubrics[rubric_id]
        except KeyError:
            known = ", ".join(self._rubrics) or "none"
            raise UnknownRubric(
                f"there is no rubric {rubric_id[:80]!r}; known: {known}", field="rubric"
            ) from None

    def __contains__(self, rubric_id: object) -> bool:
        return rubric_id in self._rubrics

    def __iter__(self) -> Iterator[str]:
        return iter(self._rubrics)

    def __len__(self) -> int:
        return len(self._rubrics)

    def values(self) -> ValuesView[Rubric]:
        """The rubrics at this moment."""
        return self._rubrics.values()

    def items(self) -> ItemsView[str, Rubric]:
        """Ids and rubrics at this moment."""
        return self._rubrics.items()


def load_library(
    rubrics_dir: Path | None = None,
    anchors_dir: Path | None = None,
    *,
    rule_modules: Collection[str] = (),
) -> Library:
    """Load every rubric of ``rubrics_dir`` with its anchors (defaults: the shipped ones).

    Raises ConfigError, one line a fault, when anything in any file cannot be right.
    """
    # Shipped anchors beside rubrics of one's own are no mistake: only those that fit are read.
    belong_together = anchors_dir is not None or rubrics_dir is None
    rubrics_dir = shipped("rubrics") if rubrics_dir is None else rubrics_dir
    anchors_dir = shipped("anchors") if anchors_dir is None else anchors_dir
    for folder, what in ((rubrics_dir, "rubrics"), (anchors_dir, "anchors")):
        if not folder.is_dir():
            raise ConfigError(f"{folder}: no such folder of {what}")
    files = sorted(rubrics_dir.glob("*.toml"))
    if not files:
        raise ConfigError(f"{rubrics_dir}: no rubric (*.toml) in this folder")
    faults: list[str] = []
    rubrics: list[Rubric] = []
    for file in files:
        try:
            rubrics.append(
                load_rubric(file, anchors_dir / f"{file.stem}.jsonl", rule_modules=rule_modules)
            )
        except ConfigError as error:
            faults.append(str(error))
    known = {file.stem for file in files}
    faults += [
        f"{stray}: there is no rubric {stray.stem!r} for these anchors"
        for stray in sorted(anchors_dir.glob("*.jsonl"))
        if belong_together and stray.stem not in known
    ]
    if faults:
        raise ConfigError("\n".join(faults))
    return Library(rubrics)


def load_rubric(
    file: Path, anchors_file: Path | None = None, *, rule_modules: Collection[str] = ()
) -> Rubric:
    """Load one rubric file and, where it exists, its anchors file. Raises ConfigError."""
    text = _read_text(file)
    data = decode_toml(text, file)
    if text.startswith(UPLOADED):
        anchors_file = None
    elif "anchors" in data:
        raise ConfigError(f"{file}: anchors: they belong in a file of their own")
    rubric = parse_rubric(data, where=str(file), rule_modules=rule_modules)
    if anchors_file is not None and anchors_file.exists():
        anchors = read_anchors(anchors_file, rubric)
        rubric = parse_rubric(
            {**data, "anchors": anchors}, where=str(file), rule_modules=rule_modules
        )
    if rubric.id != file.stem:
        raise ConfigError(f"{file}: id: {rubric.id!r} is not the file's name {file.stem!r}")
    return rubric


def parse_rubric(
    data: Mapping[str, Any], *, where: str, rule_modules: Collection[str] = ()
) -> Rubric:
    """Make a rubric of decoded TOML or JSON. Raises ConfigError that names ``where`` and field."""
    try:
        return check_rubric(data, rule_modules=rule_modules)
    except ValidationError as error:
        raise ConfigError("\n".join(f"{where}: {line}" for line in explain(error))) from None


def check_rubric(data: Mapping[str, Any], *, rule_modules: Collection[str] = ()) -> Rubric:
    """The same, with all faults as they were found. Raises ValidationError."""
    return Rubric.model_validate(data, context={"rule_modules": rule_modules})


def explain(error: ValidationError) -> list[str]:
    """One readable line per fault: the field's path and what is wrong with it."""
    return [f"{path}: {message}" if path else message for path, message in faults_of(error)]


def faults_of(error: ValidationError) -> list[tuple[str, str]]:
    """The path of each fault ("" for the whole) and its message."""
    faults = []
    for fault in error.errors(include_url=False, include_input=False):
        path = ""
        for part in fault["loc"]:
            # "(…)" is one of several forms a field may have, not a field.
            if not str(part).startswith("("):
                path += f"[{part}]" if isinstance(part, int) else f".{part}"
        path = path.lstrip(".")
        message = _PLAINER.get(fault["type"], fault["msg"].removeprefix("Value error, "))
        # A check of several fields at once names the field itself.
        named = _NAMED.fullmatch(message)
        if named and (not path or named[1].startswith((f"{path}.", f"{path}["))):
            path, message = named.groups()
        faults.append((path, message))
    return faults


def read_toml(file: Path) -> dict[str, Any]:
    """Decode a TOML file. Raises ConfigError when it is missing or not TOML."""
    return decode_toml(_read_text(file), file)


def decode_toml(text: str, file: Path) -> dict[str, Any]:
    """Decode the text of a TOML file. Raises ConfigError."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{file}: not TOML: nested too deeply") from None
    except ValueError as error:
        raise ConfigError(f"{file}: not TOML: {error}") from None


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from None


def read_anchors(file: Path, rubric: Rubric) -> list[Anchor]:
    """The anchors of a JSONL file, checked against ``rubric``. Raises ConfigError with the line."""
    anchors: list[Anchor] = []
    faults: list[str] = []
    for number, line in enumerate(_read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{file}: line {number}"
        try:
            anchor = Anchor.model_validate(json.loads(line, object_pairs_hook=unique))
        except ValidationError as error:
            faults += [f"{where}: {fault}" for fault in explain(error)]
        except RecursionError:
            faults.append(f"{where}: not JSON: nested too deeply")
        except ValueError as error:
            faults.append(f"{where}: not JSON: {error}")
        else:
            fault = rubric.anchor_fault(anchor)
            anchors.append(anchor)
            faults += [f"{where}: {fault}"] if fault else []
    if faults:
        raise ConfigError("\n".join(faults))
    return anchors
