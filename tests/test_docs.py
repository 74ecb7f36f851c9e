"""The pages say what the code says: codes, flags, commands, and no page that leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from judge_service import errors
from judge_service.cli.app import COMMANDS
from judge_service.errors import JudgingError
from judge_service.flags import FlagName
from judge_service.rules.registry import BUILT_IN

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
_WORDS = re.compile(r"`([a-z_]+)`")


def first_column(page: str, head: str) -> list[list[str]]:
    """The words in the first cell of each row of the table whose head begins with ``head``."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    start = lines.index(next(line for line in lines if line.startswith(head))) + 2
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append(_WORDS.findall(line.split("|")[1]))
    return rows


def raised() -> dict[str, bool]:
    """Every error code there is, and whether asking again can help."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    return {
        kind.code: kind.retryable
        for kind in kinds
        if issubclass(kind, JudgingError) and "code" in vars(kind)
    }


def test_the_error_codes_are_those_of_the_code() -> None:
    """All of them, none that cannot be met, and whether asking again can help."""
    rows = (DOCS / "api.md").read_text(encoding="utf-8").splitlines()
    told = {
        code: row.split("|")[2].strip() == "yes"
        for row in rows
        if row.startswith("| `") and row.split("|")[2].strip() in ("yes", "no")
        for code in _WORDS.findall(row.split("|")[1])
    }

    assert told == raised()


def test_the_flags_are_those_of_the_code() -> None:
    """One row each."""
    rows = first_column("api.md", "| flag |")

    assert [len(row) for row in rows] == [1] * len(rows)
    assert sorted(flag for row in rows for flag in row) == sorted(get_args(FlagName))


@pytest.mark.parametrize("flag", get_args(FlagName))
def test_every_flag_can_be_raised(flag: str) -> None:
    """A name that nothing raises is a promise that nobody keeps."""
    raising = re.compile(rf"\bFlag\(\s*\"{flag}\"")
    files = (ROOT / "judge_service").rglob("*.py")

    assert any(raising.search(file.read_text(encoding="utf-8")) for file in files)


def test_the_commands_are_those_of_the_help() -> None:
    """In the same order."""
    rows = first_column("cli.md", "| command |")

    assert [row[0] for row in rows] == list(COMMANDS)


def test_every_rule_has_a_place() -> None:
    """Those that a rubric names, and the one that is in all of them."""
    text = (DOCS / "rules.md").read_text(encoding="utf-8")
    places = {word for line in re.findall(r"^### .*", text, re.M) for word in _WORDS.findall(line)}

    assert places == {*BUILT_IN, "fits_judge"}


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", ROOT / "clients/README.md", *sorted(DOCS.glob("*.md"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)  # fmt: skip
def test_no_link_leads_nowhere(page: Path) -> None:
    """Files are there, and so are the headings within them."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        name, _, heading = target.partition("#")
        if "://" in target:
            continue
        file = page if not name else (page.parent / name).resolve()
        assert file.exists(), target
        if heading:
            assert heading in headings(file), target


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made of them."""
    lines = re.findall(r"^#+ (.*)", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in lines}
