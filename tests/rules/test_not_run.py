"""Rules that were not run to their end: a failure, of which no report is made up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.bulk.support import assess, compare, posted, rank
from tests.harness import Judges, RunningService, judged_by, new_prompt, write_rubric
from tests.http_api import ANSWERS
from tests.provider import FakeProvider, faults

RULES = """
[[rules]]
rule = "max_chars"
limit = 100000
hard = true
[[rules]]
rule = "tests.rules.custom_rules:breaks_on"
params = {word = "boom"}
weight = 1.0
"""
WEIGHTS = "[weights]\nrule = 0.5\nmodel = 0.5"
LONG = " and so on" * 3_000
"""Makes an answer one that is checked in a thread."""


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RunningService, FakeProvider]]:
    """A service whose rubrics have a rule that raises on some texts, and its provider."""
    folder = tmp_path_factory.mktemp("rules")
    write_rubric(folder, rules=RULES, top=WEIGHTS)
    write_rubric(folder, "pair", kind="compare", rules=RULES, top=WEIGHTS)
    with FakeProvider() as provider:
        judges = Judges(provider).add("ann", "alpha")
        with judged_by(judges, folder, rule_modules=("tests.rules.custom_rules",)) as service:
            yield service, provider


@pytest.fixture
def service(running: tuple[RunningService, FakeProvider]) -> RunningService:
    """The service."""
    return running[0]


@pytest.fixture
def provider(running: tuple[RunningService, FakeProvider]) -> FakeProvider:
    """The provider, fresh; its judge says 4."""
    running[1].reset()
    running[1].oracle(lambda _: 4)
    return running[1]


def told(service: RunningService, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer, which is as the OpenAPI page says."""
    answer = service.post(path, body)
    ANSWERS[path].model_validate(answer)
    return answer


def ran(report: dict[str, Any] | None) -> bool | None:
    """Whether a report is of both rules; None where there is no report."""
    return None if report is None else len(report["results"]) == 2 and report["score"] == 0.5


@pytest.mark.parametrize("more", ["", LONG], ids=["short", "long"])
def test_an_assessment(service: RunningService, provider: FakeProvider, more: str) -> None:
    """A rule that raises leaves no report, and every metric as it always is."""
    good = service.assess(f"All is well.{more}")
    asked = len(provider.requests)
    failed = told(service, "/v1/assess", {
        "rubric": "quality", "prompt": new_prompt(), "candidate": {"text": f"boom{more}"},
    })  # fmt: skip

    assert (good["status"], ran(good["rules"])) == ("success", True)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "internal")
    assert (failed["reward"], failed["rules"]) == (None, None)
    assert failed["metrics"].keys() == good["metrics"].keys()
    assert (failed["metrics"]["judge_failed"], failed["metrics"]["rule_score"]) == (1.0, 0.0)
    assert len(provider.requests) == asked


@pytest.mark.parametrize(
    ("texts", "reports"),
    [
        (("boom", "well"), [None, True]),
        (("well", "boom"), [True, None]),
        (("boom 1", "boom 2"), [None, None]),
    ],
    ids=["first", "second", "both"],
)
def test_a_comparison(
    service: RunningService, texts: tuple[str, str], reports: list[bool | None]
) -> None:
    """The candidate whose rules were run keeps its report."""
    failed = told(service, "/v1/compare", {
        "rubric": "pair", "prompt": new_prompt(), "candidates": [{"text": text} for text in texts],
    })  # fmt: skip

    assert (failed["status"], failed["preference"]) == ("failed", None)
    assert [ran(report) for report in failed["rules"]] == reports


@pytest.mark.parametrize("rubric", ["quality", "pair"])
def test_a_group(service: RunningService, rubric: str) -> None:
    """So does every member of a group."""
    failed = told(service, "/v1/rank", {
        "rubric": rubric, "prompt": new_prompt(),
        "candidates": [{"text": text} for text in ("well", "boom", "good")],
    })  # fmt: skip

    assert (failed["status"], failed["rewards"]) == ("failed", None)
    assert [ran(member["rules"]) for member in failed["candidates"]] == [True, None, True]
    assert all(member["reward"] is None for member in failed["candidates"])


def test_what_was_not_begun_in_time(service: RunningService) -> None:
    """Nobody looked at the items of a bulk whose time was up while they waited."""
    items = [assess(), compare("one", "other"), rank("one", "other")]

    alone, pair, group = posted(service, [{**item, "timeout_s": 1e-6} for item in items])

    assert all("could be begun" in one["error"]["message"] for one in (alone, pair, group))
    assert (alone["rules"], pair["rules"]) == (None, [None, None])
    assert [member["rules"] for member in group["candidates"]] == [None, None]


def test_a_judge_that_fails_leaves_the_report(
    service: RunningService, provider: FakeProvider
) -> None:
    """Rules that were run are told, whatever became of the rest."""
    provider.behave("ann", faults.hang())

    failed = service.assess("All is well.", timeout_s=0.5)

    assert (failed["status"], ran(failed["rules"])) == ("failed", True)
