"""Loading rubrics and anchors: what is wrong is told with file and field, all of it at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from judge_service.errors import ConfigError, UnknownRubric
from judge_service.rubric.library import Library, load_library, load_rubric

SCALE = '[{point = 1, means = "bad"}, {point = 2, means = "good"}]'
RUBRIC = f"""
id = "r"
version = "1"
description = "A rubric."
[[criteria]]
name = "quality"
weight = 1.0
question = "How good?"
scale = {SCALE}
"""
PAIR = """
id = "r"
version = "1"
description = "A rubric."
kind = "compare"
[[criteria]]
name = "quality"
question = "Which is better?"
"""
ANCHOR = {"criterion": "quality", "point": 1, "prompt": "p", "candidate": "c", "reason": "r"}


def folders(
    at: Path, rubrics: Mapping[str, str | bytes], anchors: Mapping[str, str | bytes] | None = None
) -> tuple[Path, Path]:
    """A folder of rubrics and one of anchors with these files."""
    made = (at / "rubrics", at / "anchors")
    for folder, files in zip(made, (rubrics, anchors or {}), strict=True):
        folder.mkdir()
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (folder / name).write_bytes(data)
    return made


def fault(at: Path, rubric: str | bytes, anchors: str | bytes | None = None) -> str:
    """The message for a rubric, or its anchors, that cannot be right."""
    files = {} if anchors is None else {"r.jsonl": anchors}
    with pytest.raises(ConfigError) as raised:
        load_library(*folders(at, {"r.toml": rubric}, files))
    return str(raised.value).replace(str(at) + "/", "")


def anchored(**fields: object) -> str:
    """An anchor's line."""
    return json.dumps({**ANCHOR, **fields})


BROKEN_ANCHORS: dict[str, tuple[str | bytes, str]] = {
    "no JSON": (anchored() + "\n{bad\n", "line 2: not JSON"),
    "after blank lines": ("\n\n" + anchored() + "\n\n\n[", "line 6: not JSON"),
    "two in a line": (anchored() + anchored(), "line 1: not JSON"),
    "no UTF-8": (b"\xff", "cannot be read"),
    "list": ("[]", "line 1: must be a table"),
    "null": ("null", "line 1: must be a table"),
    "deep": ("[" * 100_000, "line 1: not JSON: nested too deeply"),
    "endless number": ("9" * 5_000, "line 1: not JSON"),
    "key twice": (
        anchored()[:-1] + ', "point": 2}',
        "line 1: not JSON: the key 'point' stands twice",
    ),
    "half a surrogate pair": (anchored(candidate="\ud800"), "line 1: candidate: "),
    "unknown criterion": (
        anchored(criterion="tone"),
        "line 1: criterion: no criterion 'tone'; there are ['quality']",
    ),
    "unknown point": (
        anchored() + "\n" + anchored(point=9),
        "line 2: point: 9 is not on the scale of 'quality': [1, 2]",
    ),
    "bool for a point": (anchored(point=True), "line 1: point: "),
    "float for a point": (anchored(point=1.0), "line 1: point: "),
    "text for a point": (anchored(point="1"), "line 1: point: "),
    "NaN for a point": (anchored(point=float("nan")), "line 1: point: "),
    "unknown field": (anchored(score=1), "line 1: score: unknown field"),
    "missing fields": ('{"criterion": "quality", "point": 1}', "line 1: prompt: missing"),
    "blank reason": (anchored(reason=" "), "line 1: reason: "),
    "blank prompt": (anchored(prompt=""), "line 1: prompt: "),
    "very long candidate": (anchored(candidate="x" * 20_001), "line 1: candidate: "),
    "messages for a prompt": (anchored(prompt=[{"role": "user"}]), "line 1: prompt: "),
    "number for a reference": (anchored(reference=5), "line 1: reference: "),
}


@pytest.mark.parametrize(("text", "told"), BROKEN_ANCHORS.values(), ids=BROKEN_ANCHORS)
def test_broken_anchors(tmp_path: Path, text: str | bytes, told: str) -> None:
    """The message names the file, the line and the field."""
    assert f"anchors/r.jsonl: {told}" in fault(tmp_path, RUBRIC, text).splitlines()[0]


def test_a_compare_rubric_has_no_anchors(tmp_path: Path) -> None:
    """Anchors fix points, and a comparison has none."""
    assert "line 1: criterion: a compare rubric has no points" in fault(tmp_path, PAIR, anchored())


def test_anchors_of_no_rubric(tmp_path: Path) -> None:
    """A file of anchors that belongs to nothing is a mistake, most likely in its name."""
    with pytest.raises(ConfigError, match=r"s\.jsonl: there is no rubric 's' for these anchors"):
        load_library(*folders(tmp_path, {"r.toml": RUBRIC}, {"s.jsonl": ""}))


def test_everything_is_told_at_once(tmp_path: Path) -> None:
    """All faults of all files stand in one message."""
    with pytest.raises(ConfigError) as raised:
        load_library(
            *folders(
                tmp_path,
                {"a.toml": "id = ", "r.toml": RUBRIC, "s.toml": RUBRIC},
                {"r.jsonl": "{", "x.jsonl": ""},
            )
        )

    lines = str(raised.value).splitlines()
    assert [Path(line.split(": ")[0]).name for line in lines] == [
        "a.toml", "r.jsonl", "s.toml", "x.jsonl",
    ]  # fmt: skip


@pytest.mark.parametrize("missing", ["rubrics", "anchors"])
def test_a_missing_folder(tmp_path: Path, missing: str) -> None:
    """A folder that was named must be there."""
    rubrics, anchors = folders(tmp_path, {"r.toml": RUBRIC})
    nowhere = tmp_path / "nowhere"

    with pytest.raises(ConfigError, match=f"nowhere: no such folder of {missing}"):
        load_library(
            nowhere if missing == "rubrics" else rubrics,
            nowhere if missing == "anchors" else anchors,
        )


def test_a_folder_without_rubrics(tmp_path: Path) -> None:
    """A folder without a single rubric is a mistake."""
    with pytest.raises(ConfigError, match=r"no rubric \(\*\.toml\) in this folder"):
        load_library(*folders(tmp_path, {"r.json": "{}"}))


def test_own_rubrics_need_no_anchors(tmp_path: Path) -> None:
    """Rubrics of one's own load without a folder of anchors; the shipped ones do not disturb."""
    rubrics, _ = folders(tmp_path, {"r.toml": RUBRIC, "p.toml": PAIR.replace('"r"', '"p"')})

    assert list(load_library(rubrics)) == ["p", "r"]


def test_a_good_rubric_with_anchors(tmp_path: Path) -> None:
    """Rubric and anchors are found by name; blank lines and line endings do not matter."""
    lines = f"\n{anchored()}\r\n\r\n{anchored(point=2, candidate='')}\r\n"

    library = load_library(*folders(tmp_path, {"r.toml": RUBRIC}, {"r.jsonl": lines}))

    assert [a.point for a in library["r"].anchors] == [1, 2]
    assert library["r"].warnings() == []


def test_files_of_other_editors(tmp_path: Path) -> None:
    """A byte order mark is no part of the content, and a line separator ends no line."""
    odd = json.dumps({**ANCHOR, "candidate": "a\u2028b\x85c"}, ensure_ascii=False)
    library = load_library(
        *folders(
            tmp_path,
            {"r.toml": b"\xef\xbb\xbf" + RUBRIC.encode()},
            {"r.jsonl": b"\xef\xbb\xbf" + odd.encode()},
        )
    )

    assert library["r"].anchors[0].candidate == "a\u2028b\x85c"


def test_anchors_beside_a_single_file(tmp_path: Path) -> None:
    """One rubric loads with its anchors, or without any."""
    rubrics, anchors = folders(tmp_path, {"r.toml": RUBRIC}, {"r.jsonl": anchored()})

    assert len(load_rubric(rubrics / "r.toml", anchors / "r.jsonl").anchors) == 1
    assert load_rubric(rubrics / "r.toml", anchors / "missing.jsonl").anchors == ()
    assert load_rubric(rubrics / "r.toml").anchors == ()


def test_anchors_change_the_hash(tmp_path: Path) -> None:
    """The hash covers the anchors that were found."""
    rubrics, anchors = folders(tmp_path, {"r.toml": RUBRIC}, {"r.jsonl": anchored()})

    with_anchors = load_rubric(rubrics / "r.toml", anchors / "r.jsonl")

    assert with_anchors.rubric_hash != load_rubric(rubrics / "r.toml").rubric_hash


def test_an_unknown_rubric_is_told_with_the_known_ones(tmp_path: Path) -> None:
    """Asking for a rubric that is not there names those that are, and repeats little."""
    library = load_library(*folders(tmp_path, {"r.toml": RUBRIC}))

    with pytest.raises(UnknownRubric, match="known: r") as raised:
        library["x" * 10_000]
    assert len(str(raised.value)) < 200
    assert "x" * 10_000 not in library
    assert list(library) == ["r"]
    with pytest.raises(UnknownRubric, match="known: none"):
        Library(())["r"]
