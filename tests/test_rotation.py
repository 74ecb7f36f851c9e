"""Which judges are asked: the same for the same prompt, of another family, by weight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from judge_service.errors import NoEligibleJudge
from judge_service.judges.judge import JudgeSpec
from judge_service.judges.rotation import eligible, order, panel, replacement
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider

PROMPTS = [f"Question number {number}?" for number in range(2000)]


def judge(name: str, family: str, weight: float = 1.0) -> JudgeSpec:
    """A judge that is never asked."""
    return JudgeSpec(id=name, model=f"openai/{name}", family=family, weight=weight)


A, B, C = judge("a", "alpha"), judge("b", "beta"), judge("c", "gamma")


def first(judges: list[JudgeSpec], prompt: str, rubric_hash: str = "hash") -> str:
    """Who is asked about a prompt."""
    return order(judges, rubric_hash, prompt)[0].id


def test_the_same_prompt_meets_the_same_judge() -> None:
    """In whatever order the judges are configured."""
    for prompt in PROMPTS[:50]:
        assert first([A, B, C], prompt) == first([C, A, B], prompt) == first([B, C, A], prompt)


def test_another_rubric_may_mean_another_judge() -> None:
    """The draw is over both, so no judge is stuck with the same prompts everywhere."""
    moved = sum(first([A, B, C], p) != first([A, B, C], p, "other") for p in PROMPTS)
    assert moved / len(PROMPTS) == pytest.approx(2 / 3, abs=0.05)


def test_a_new_judge_takes_only_its_share() -> None:
    """A quarter of the prompts move, all of them to the new judge."""
    new = judge("d", "delta")
    before = {p: first([A, B, C], p) for p in PROMPTS}
    after = {p: first([A, B, C, new], p) for p in PROMPTS}
    moved = [p for p in PROMPTS if before[p] != after[p]]
    assert {after[p] for p in moved} == {"d"}
    assert len(moved) / len(PROMPTS) == pytest.approx(1 / 4, abs=0.04)


def test_a_judge_that_goes_hands_over_only_its_share() -> None:
    """The others keep their prompts."""
    for prompt in PROMPTS[:300]:
        if first([A, B, C], prompt) != "c":
            assert first([A, B, C], prompt) == first([A, B], prompt)


@pytest.mark.parametrize(
    ("weights", "shares"),
    [((1.0, 1.0), (0.5, 0.5)), ((3.0, 1.0), (0.75, 0.25)), ((0.1, 0.9), (0.1, 0.9))],
)
def test_shares_follow_the_weights(weights: tuple[float, float], shares: tuple[float, ...]) -> None:
    """A judge of three times the weight is asked three times as often."""
    pool = [judge("a", "alpha", weights[0]), judge("b", "beta", weights[1])]
    count = Counter(first(pool, prompt) for prompt in PROMPTS)
    assert count["a"] / len(PROMPTS) == pytest.approx(shares[0], abs=0.04)


@pytest.mark.parametrize(
    ("excluded", "left"),
    [
        (set(), ["a", "b", "d"]),
        ({"alpha"}, ["b", "d"]),
        ({"qwen"}, ["a", "b"]),
        ({"deepseek"}, ["a", "b"]),
        ({"beta", "qwen"}, ["a"]),
        ({"unheard-of"}, ["a", "b", "d"]),
    ],
)
def test_any_overlap_of_families_excludes(excluded: set[str], left: list[str]) -> None:
    """A distillation is of both its families."""
    pool = [A, B, judge("d", "deepseek+qwen")]
    assert [one.id for one in eligible(pool, frozenset(excluded))] == left


def test_no_judge_left_is_an_error_that_names_them() -> None:
    """So that an operator sees whom to add."""
    with pytest.raises(NoEligibleJudge, match=r"alpha, beta.*a \(alpha\), b \(beta\)"):
        eligible([A, B], frozenset({"alpha", "beta"}))


def test_a_panel_has_one_judge_of_each_family() -> None:
    """The best placed of each; two that share one of their families never sit together."""
    pool = [A, judge("a2", "alpha"), B, judge("ab", "alpha+beta")]
    for prompt in PROMPTS[:100]:
        ordered = order(pool, "hash", prompt)
        chosen = panel(ordered, 3)
        assert chosen[0] == ordered[0]
        families = [family for one in chosen for family in one.families]
        assert len(families) == len(set(families)) <= 2


def test_a_replacement_is_of_a_family_not_asked_yet() -> None:
    """The best placed one, or none."""
    ordered = [A, judge("a2", "alpha"), B, C]
    assert replacement(ordered, [A]) == B
    assert replacement(ordered, [A, B]) == C
    assert replacement(ordered, [A, B, C]) is None


# Over HTTP.


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of all judges."""
    with FakeProvider() as provider:
        provider.oracle({}, default=4)
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """Three judges of equal weight."""
    folder = tmp_path_factory.mktemp("rotation")
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    judges = Judges(provider).add("a", "alpha").add("b", "beta").add("c", "gamma")
    with judged_by(judges, folder) as service:
        yield service


def test_a_group_meets_one_judge_and_prompts_are_shared_out(service: RunningService) -> None:
    """Candidates of one prompt are comparable; over many prompts everybody is asked."""
    asked: set[str] = set()
    for prompt in PROMPTS[:12]:
        answers = [service.assess(f"Answer {n}.", prompt=prompt) for n in range(2)]
        met = {answer["verdicts"][0]["judge"] for answer in answers}
        assert len(met) == 1
        asked |= met
    assert asked == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("first_family", "second_family", "judge"),
    [
        ("alpha", "beta", "c"),
        ("beta", "alpha", "c"),
        (["alpha", "gamma"], "alpha", "b"),
        ("other", ["beta", "gamma"], "a"),
        (["alpha", "beta"], "gamma", None),
    ],
)
def test_a_pair_excludes_the_families_of_both(
    first_family: Any, second_family: Any, judge: str | None, service: RunningService
) -> None:
    """Nobody judges a pair that one of its own is in."""
    answer = service.compare(
        {"text": "One.", "family": first_family}, {"text": "Two.", "family": second_family}
    )
    if judge is None:
        assert answer["error"]["code"] == "no_eligible_judge"
    else:
        assert {verdict["judge"] for verdict in answer["verdicts"]} == {judge}
