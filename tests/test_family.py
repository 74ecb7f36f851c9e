"""From a model's name to its families: names, prefixes, derivatives, unknown names."""

from __future__ import annotations

import re
import time
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_service.judges.family import (
    MAX_NAME_CHARS,
    bare_name,
    declared_families,
    families_of,
    floating_alias,
    known_families,
    normalize_family,
    same_name,
)
from tests.model_names import NAMES, OWN_HOUSE_ONLY, PREFIXED, TWO_FAMILIES, UNKNOWN


def names_by_family() -> list[Any]:
    """One parameter per name of ``NAMES``."""
    return [
        pytest.param(name, family, id=f"{family}:{name}")
        for family, names in NAMES.items()
        for name in names.split()
    ]


@pytest.mark.parametrize(("name", "family"), names_by_family())
def test_a_name_tells_its_one_family(name: str, family: str) -> None:
    """Current, old and quantised names of one house give that house and no other."""
    assert families_of(name) == {family}


@pytest.mark.parametrize(("name", "families"), TWO_FAMILIES.items())
def test_a_derivative_belongs_to_its_base_too(name: str, families: str) -> None:
    """Distillations and fine-tunes carry every family they come from."""
    assert families_of(name) == set(families.split())


@pytest.mark.parametrize(("name", "family"), PREFIXED.items())
def test_prefixes_folders_and_files_do_not_hide_the_model(name: str, family: str) -> None:
    """Whoever serves or stores it, the model's own name decides."""
    assert families_of(name) == {family}


@pytest.mark.parametrize(("name", "family"), OWN_HOUSE_ONLY.items())
def test_a_house_that_holds_only_its_own_speaks_for_a_new_name(name: str, family: str) -> None:
    """A name never seen is known where provider or folder hold nothing but one family."""
    assert families_of(name) == {family}


@pytest.mark.parametrize("name", ["", *UNKNOWN.split()])
def test_unknown_is_empty(name: str) -> None:
    """Words that only look like a family's, deployments and protocols are not guessed."""
    assert families_of(name) == frozenset()


@given(st.text(max_size=80) | st.from_regex(r"[a-z0-9/._:@#-]{0,60}", fullmatch=True))
def test_any_string_is_answered(name: str) -> None:
    """No string raises, and upper and lower case never differ for ASCII names."""
    assert families_of(name) <= set(known_families())
    assert isinstance(bare_name(name), str)
    assert isinstance(floating_alias(name), bool)
    assert isinstance(normalize_family(name), str)
    if name.isascii():
        assert families_of(name.upper()) == families_of(name)


@given(st.text(alphabet=st.characters(categories=["Cs", "Cc", "Lo"]), max_size=20))
def test_surrogates_and_controls_are_answered(name: str) -> None:
    """Lone surrogates and control characters around a name neither raise nor hide it."""
    assert families_of(name) <= set(known_families())
    assert same_name(name, name) is bool(name.strip())


def test_a_name_longer_than_any_model_has_is_unknown() -> None:
    """Names are looked at up to a cap, so that a hostile one costs nothing."""
    assert families_of("qwen-" + "x" * (MAX_NAME_CHARS - 5)) == {"qwen"}
    assert families_of("qwen-" + "x" * MAX_NAME_CHARS) == frozenset()


@pytest.mark.parametrize("part", ["a", "/", "-", ":", "llama-", "models--", "1", "us.", "hermes"])
def test_a_mebibyte_of_name_is_fast(part: str) -> None:
    """Every function is linear: a name of 1 MiB takes well under a second."""
    name = part * (2**20 // len(part))
    start = time.perf_counter()
    families_of(name)
    bare_name(name)
    same_name(name, name + "x")
    floating_alias(name)
    normalize_family(name)
    declared_families(name)
    assert time.perf_counter() - start < 5.0


def test_the_table_contradicts_itself_nowhere() -> None:
    """No alias or publisher has two families, and nothing names a family that is not there."""
    source = files("judge_service").joinpath("data/families.toml").read_text(encoding="utf-8")
    raw = tomllib.loads(source)
    ids = set(raw["family"])
    for key in ("aliases", "publishers"):
        words = [word for entry in raw["family"].values() for word in entry.get(key, ())]
        assert len(words) == len(set(words))
    assert not ids & {alias for e in raw["family"].values() for alias in e["aliases"]}
    for rule in raw["derived"]:
        named = {*rule.get("also", ()), *rule.get("base", ())} | {rule.get("maker", "openai")}
        assert named <= ids


def test_the_page_lists_every_family() -> None:
    """docs/families.md has one row for each family of the table, and no other."""
    page = (Path(__file__).parent.parent / "docs" / "families.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z0-9]+)` \|", page, re.MULTILINE) == list(known_families())
