"""What asks for probabilities, and what stays as it was without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judge_service.envelope.envelope import PAIR_FORM, Question
from judge_service.errors import ConfigError
from judge_service.judges.capability import Capability
from judge_service.judges.judge import Bench, JudgeSpec, fingerprint, load_bench
from judge_service.judging.unexpected import expectation_warnings
from judge_service.reply.reply import ScoreForm
from judge_service.rubric.library import load_library
from judge_service.storage.secret import ServiceSecret
from judge_service.types import Message
from judge_service.verdicts.key import verdict_key
from judge_service.verdicts.record import Seal, VerdictRecord, offered, record_of
from tests.harness import write_rubric

ROOT = Path(__file__).resolve().parent.parent.parent
SPEC = {"id": "a", "model": "openai/gpt-5-mini", "extra": {"top_p": 0.5},
        "api_base": "https://x.example/v1"}  # fmt: skip
SCORE = Question(
    system="s",
    slots=(("prompt", "p"), ("context", (Message(role="user", text="hi"),)), ("candidate", "c")),
    form=ScoreForm(allowed=(1, 2, 3)),
)
PAIR = Question(
    system="s", slots=(("prompt", "p"), ("candidate_1", "c"), ("candidate_2", "d")), form=PAIR_FORM
)


def judge(**more: Any) -> JudgeSpec:
    """A judge's spec."""
    return JudgeSpec.model_validate({**SPEC, **more})


def test_keys_without_probabilities_are_what_they_were() -> None:
    """A verdict that is kept from before is found again, and so is its fingerprint."""
    plain = judge()

    assert verdict_key(plain, SCORE, tenant="t") == (
        "jv:1:31cd2f2d69e37d5120855f50453cc8b3cb133ba7d0b502bdd3d9122545c1799f"
    )
    assert verdict_key(plain, PAIR, tenant=None) == (
        "jv:1:108dd8d37c4ea09b1558c3179a16e57d3e180e4a338b106be196df03e9cf8fe7"
    )
    assert fingerprint("00", {"a": plain}) == (
        "e4fc75fb1d1293ef96428a66303c325b9a5d6b037fc5d56063e24bc12efe274c"
    )
    record = VerdictRecord(value=3, reason="r", model_served="m")
    assert record.as_json() == {"value": 3, "reason": "r", "model_served": "m"}


def test_a_judge_that_is_asked_has_keys_of_its_own() -> None:
    """No verdict without probabilities stands in for one with them, or for one with fewer."""
    specs = [judge(), judge(top_logprobs=5), judge(top_logprobs=20)]

    assert len({verdict_key(spec, SCORE, tenant=None) for spec in specs}) == 3
    assert len({fingerprint("00", {"a": spec}) for spec in specs}) == 3


def test_a_rubric_that_says_nothing_is_the_rubric_it_was(tmp_path: Path) -> None:
    """Its hash decides who judges it: a new setting moves nobody. One that is used is a change."""
    shipped = load_library(ROOT / "rubrics", ROOT / "anchors")
    assert "score" not in shipped["quick-look"].content()["judging"]

    rubrics = [load_library(write_rubric(tmp_path, **said), tmp_path)["quality"]
               for said in ({}, {"score": "point"}, {"score": "expected"})]  # fmt: skip
    hashes = [rubric.rubric_hash for rubric in rubrics]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("top_logprobs = 1", "top_logprobs"), ("top_logprobs = 21", "top_logprobs"),
        ("top_logprobs = true", "top_logprobs"), ("top_logprobs = 5.0", "top_logprobs"),
        ("top_logprobs = 5\nextra = {logprobs = true}", "logprobs is what top_logprobs asks for"),
        ("top_logprobs = 5\nextra = {top_logprobs = 3}", "top_logprobs is what top_logprobs"),
    ],
)  # fmt: skip
def test_judges_that_cannot_be_asked_so(tmp_path: Path, more: str, told: str) -> None:
    """A number of others from 2 to 20, said once."""
    file = tmp_path / "judges.toml"
    file.write_text(f'[[judges]]\nid = "a"\nmodel = "openai/gpt-4o"\n{more}\n', encoding="utf-8")

    with pytest.raises(ConfigError, match=told):
        load_bench(file)


def test_a_wish_that_no_judge_can_fulfil_is_a_warning(tmp_path: Path) -> None:
    """At start and in check: expected scores without a judge that tells probabilities."""
    write_rubric(tmp_path)
    library = load_library(write_rubric(tmp_path, "wishing", score="expected"), tmp_path)
    silent, telling = judge(), judge(id="b", family="b", top_logprobs=5)

    warnings = expectation_warnings(Bench((silent,)), library.values())
    assert [warning.split(":")[0] for warning in warnings] == ["rubric 'wishing'"]
    assert expectation_warnings(Bench((silent, telling)), library.values()) == []
    validating = judge(id="b", family="b", top_logprobs=5, purpose="validate")
    assert len(expectation_warnings(Bench((silent, validating)), library.values())) == 1


def test_what_is_asked_for_and_given_up() -> None:
    """Both parameters together, or after a refusal of either neither."""
    spec = judge(top_logprobs=5)
    for refused in ("logprobs", "top_logprobs"):
        capability = Capability.of(spec)
        sent = capability.parameters(spec, {}, larger=False)
        assert (sent["logprobs"], sent["top_logprobs"]) == (True, 5)
        capability.learn(frozenset({refused}), "not supported", sent)
        assert (
            not {"logprobs", "top_logprobs"} & capability.parameters(spec, {}, larger=False).keys()
        )


@pytest.mark.parametrize(
    "chances",
    [
        None, [], {}, {"score": None}, {"score": [0.5, "0.5"]}, {"score": [True, 0.0, 0.0]},
        {"score": [0.7, 0.7, 0.0]}, {"score": [-0.1, 0.5, 0.5]},
        {"score": [float("nan"), 0.0, 0.0]},
        {"score": [float("inf"), 0.0, 0.0]}, {"score": [10**400, 0.0, 0.0]},
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_record_of_probabilities(chances: object) -> None:
    """Whoever writes into a store cannot make a distribution of what is none."""
    with pytest.raises(ValueError, match="probabilities"):
        record_of({"value": 2, "reason": "", "model_served": None, "probabilities": chances})


def test_a_record_keeps_them_and_gives_only_what_fits() -> None:
    """Signed and read again they are the same; for another scale there are none."""
    seal = Seal(ServiceSecret(current=b"one secret"))
    record = VerdictRecord(
        value=2, reason="", model_served=None, probabilities={"score": (0.1, 0.7, 0.2)}
    )
    opened = seal.open("key", seal.close("key", record))

    assert opened == record
    fitting = offered(record, ScoreForm(allowed=(1, 2, 3)))
    assert fitting is not None
    assert fitting.probabilities == {"score": (0.1, 0.7, 0.2)}
    longer = offered(record, ScoreForm(allowed=(1, 2, 3, 4)))
    assert longer is not None
    assert longer.probabilities == {}
