"""The shadow: which requests, whom, what it is compared with, and on whose bill."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judge_service.api.watching_answers import ShadowAnswer
from judge_service.rubric.library import load_library
from judge_service.watch.shadow import chosen
from tests.harness import RunningService, write_rubric
from tests.observability.scrape import scrape
from tests.provider import FakeProvider, behaviours, faults
from tests.watch.support import alarms, assess, compare, state, table


def shadow(**more: object) -> str:
    """A ``[watch]`` table with a shadow of every request."""
    settings = {
        "judges": ["omega"], "share": 1.0, "daily_cost_usd": 1.0, "max_concurrency": 64,
        "baseline": 20, **more,
    }  # fmt: skip
    return table(shadow=settings)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge_service.watch.shadow.AFTER_S", 0.0)


@pytest.fixture
def service(provider: FakeProvider, folder: Path) -> Iterator[RunningService]:
    """``alpha`` judges, ``omega`` is the shadow and for validation."""
    write_rubric(folder, "two", panel_size=2)
    with served(provider, folder, shadow()) as running:
        yield running


def served(
    provider: FakeProvider, folder: Path, watch: str, store: Path | None = None, **omega: Any
) -> Any:
    """A service whose shadow is in nobody's rotation."""
    from tests.harness import Judges, judged_by

    made = Judges(provider).add("alpha", price={"input": 1.0, "output": 2.0})
    made.add("omega", purpose="validate", price={"input": 10.0, "output": 20.0}, **omega)
    made.tables.append(watch)
    return judged_by(made, folder) if store is None else judged_by(made, folder, store=store)


def told(service: RunningService) -> ShadowAnswer:
    """What is said of the shadow."""
    watch = state(service).watch
    assert watch is not None
    assert watch.shadow is not None
    return watch.shadow


def until(service: RunningService, provider: FakeProvider, n: int) -> ShadowAnswer:
    """What is said once ``n`` verdicts are compared or failed."""

    def done() -> bool:
        return scrape(service.http).of("shadow_verdicts_total") >= n

    assert provider.wait_until(done)
    return told(service)


def test_agreement_is_told_and_nobody_pays(service: RunningService, provider: FakeProvider) -> None:
    """Agreement, kappa and shift with intervals; the bill apart from every caller's."""
    provider.behave("omega", behaviours.decides(lambda seen: 4 if seen.honest() == 5 else 3))
    found = [
        service.assess(text) for text in ["A good answer."] * 6 + ["An answer."] * 6
    ]  # fmt: skip
    shown = until(service, provider, 12)

    assert [one["reward"] for one in found] == [1.0] * 6 + [0.5] * 6
    assert {one["usage"]["upstream_requests"] for one in found} == {1}
    (figures,) = shown.figures
    assert (figures.judge, figures.shadow, figures.rubric) == ("alpha", "omega", "quality")
    assert (figures.criterion, figures.n) == ("quality", 12)
    assert figures.agreement is not None
    assert figures.agreement.value == 0.5
    assert figures.agreement.ci95 is not None
    assert figures.kappa is not None
    assert figures.kappa.value == pytest.approx(1 - 0.5 / 1.5)
    assert figures.mean_shift is not None
    assert figures.mean_shift.value == pytest.approx(0.125)
    (bill,) = shown.usage
    assert (bill.judge, bill.upstream_requests) == ("omega", 12)
    assert bill.cost_usd == pytest.approx(12 * (900 * 10.0 + 60 * 20.0) / 1e6)
    metrics = scrape(service.http)
    labels = {"judge": "alpha", "shadow": "omega", "rubric": "quality"}
    assert metrics.of("shadow_agreement", **labels) == 0.5
    assert metrics.of("shadow_kappa", **labels) == pytest.approx(1 - 0.5 / 1.5)
    assert metrics.of("shadow_mean_shift", **labels) == pytest.approx(0.125)
    assert metrics.of("watch_cost_usd_total", watch="shadow") == pytest.approx(bill.cost_usd)
    assert metrics.of("outcomes_total") == 12


def test_disagreement_that_begins_is_an_alarm(
    service: RunningService, provider: FakeProvider
) -> None:
    """The policy has found what only one of the two likes."""
    assess(service, ["An answer."] * 60)
    until(service, provider, 50)
    assert alarms(service) == {}
    provider.behave("alpha", behaviours.fond_of("watermark"))
    for _ in range(10):
        for _ in range(10):
            service.assess("An answer with the watermark.")
        if ("shadow_shift", None) in alarms(service):
            break

    found = alarms(service)
    assert found["shadow_shift", None]["current"] > found["shadow_shift", None]["baseline"]
    assert found["shadow_agreement", None]["current"] < 1.0


def test_pairs_are_shadowed(service: RunningService, provider: FakeProvider) -> None:
    """In both orders; an inconsistent pair is a label of its own."""
    provider.behave("omega", behaviours.first_position())
    provider.oracle(lambda text: 5 if "One" in text else 2)
    compare(service, 5)
    shown = until(service, provider, 5)

    (figures,) = shown.figures
    assert (figures.criterion, figures.rubric, figures.n) == (None, "pair", 5)
    assert figures.agreement is not None
    assert figures.agreement.value == 0.0
    assert shown.usage[0].upstream_requests == 10


@pytest.mark.parametrize(
    ("rubric", "strategy", "requests", "criterion"),
    [("quality", "assess", 1, "quality"), ("pair", "pairwise", 2, None)],
)
def test_of_a_group_one_part_is_shadowed(
    service: RunningService,
    provider: FakeProvider,
    rubric: str,
    strategy: str,
    requests: int,
    criterion: str | None,
) -> None:
    """A member of one that was assessed, a pair of one that was ranked by pairs."""
    texts = ["A good answer.", "An answer.", "Another answer.", "A last good one."]
    service.post(
        "/v1/rank",
        {
            "rubric": rubric, "prompt": "Which?", "strategy": strategy,
            "candidates": [{"text": text, "family": "own"} for text in texts],
        },
    )  # fmt: skip
    shown = until(service, provider, 1)

    assert shown.usage[0].upstream_requests == requests
    (figures,) = shown.figures
    assert (figures.criterion, figures.n) == (criterion, 1)
    assert figures.agreement is not None
    assert figures.agreement.value == 1.0


def test_a_candidates_own_family_is_not_the_shadow(
    service: RunningService, provider: FakeProvider
) -> None:
    """It would be asked about its kin."""
    service.assess({"text": "An answer.", "family": "omega"})
    service.assess("An answer.")
    until(service, provider, 1)

    assert len(provider.requests_of("omega")) == 1


def test_what_fails_is_not_shadowed_and_a_failing_shadow_harms_nobody(
    service: RunningService, provider: FakeProvider
) -> None:
    """There is nothing to compare then."""
    provider.behave("alpha", behaviours.says("No."))
    assert service.assess()["status"] == "failed"
    provider.behave("alpha", behaviours.honest())
    provider.behave("omega", behaviours.says("No."))
    assert service.assess()["status"] == "success"
    shown = until(service, provider, 1)

    assert [(one.judge, one.failed) for one in shown.failed] == [("alpha", 1)]
    assert shown.figures == []
    assert len(provider.requests_of("omega")) == 2  # one question, and its re-ask


def test_kept_verdicts_are_not_shadowed_again(
    service: RunningService, provider: FakeProvider
) -> None:
    """A retry of a trainer costs nothing here, either."""
    for _ in range(3):
        service.assess("An answer.", prompt="The same.")
    until(service, provider, 1)
    service.assess("An answer.")
    until(service, provider, 2)

    assert len(provider.requests_of("omega")) == 2


def test_the_share_is_of_the_request_alone() -> None:
    """The same ones in every process; about as many as the share says; an order is no part."""
    rubric = load_library()["helpfulness"]
    texts = [(f"prompt {n}", f"answer {n}") for n in range(4_000)]

    picked = [chosen(rubric, one, 0.1) for one in texts]

    assert picked == [chosen(rubric, one, 0.1) for one in texts]
    assert sum(picked) == pytest.approx(400, abs=60)
    assert all(chosen(rubric, one, 0.3) for one, was in zip(texts, picked, strict=True) if was)
    assert all(chosen(rubric, one, 1.0) for one in texts)


def test_two_replicas_shadow_the_same_requests(provider: FakeProvider, folder: Path) -> None:
    """So that what was shadowed is known from the requests."""
    seen = []
    for _ in range(2):
        provider.reset()
        with served(provider, folder, shadow(share=0.3)) as service:
            for n in range(30):
                service.assess("An answer.", prompt=f"Question number {n}")
            due = scrape(service.http).of("watch_skipped_total")
            assert due == 0
            assert provider.wait_until(
                lambda running=service: (
                    len(provider.requests_of("omega"))  # type: ignore[misc]
                    == scrape(running.http).of("watch_requests_total", watch="shadow")
                )
            )
        asked = [
            r.seen.user.partition("number ")[2][:3] for r in provider.requests_of("omega") if r.seen
        ]
        seen.append({one.partition("\n")[0] for one in asked})

    assert seen[0] == seen[1]
    assert 0 < len(seen[0]) < 30


def test_it_is_broken_off_at_shutdown(provider: FakeProvider, folder: Path) -> None:
    """One that hangs does not hold the service up, and the answer had gone out before."""
    provider.behave("omega", faults.hang())
    with served(provider, folder, shadow()) as service:
        assert service.assess()["status"] == "success"
        assert provider.wait_until(lambda: bool(provider.requests_of("omega")))

    assert provider.wait_until(lambda: provider.requests_of("omega")[0].hung_up_at is not None)


def test_its_figures_outlive_a_restart(provider: FakeProvider, folder: Path) -> None:
    """Of the same judges under the same rubric; another rubric's are not theirs."""
    write_rubric(folder, "two", panel_size=2)
    store = folder / "store.sqlite3"
    with served(provider, folder, shadow(), store=store) as service:
        for _ in range(3):
            service.assess()
        until(service, provider, 3)
    with served(provider, folder, shadow(), store=store) as service:
        assert [one.n for one in told(service).figures] == [3]
        service.assess()
        until(service, provider, 1)
        assert [one.n for one in told(service).figures] == [4]
    file = folder / "rubrics" / "quality.toml"
    file.write_text(file.read_text().replace("How good", "How very good"), encoding="utf-8")
    with served(provider, folder, shadow(), store=store) as service:
        assert told(service).figures == []


def test_no_more_at_once_than_allowed(provider: FakeProvider, folder: Path) -> None:
    """The rest is skipped, never queued."""
    gate = threading.Event()
    provider.behave("omega", behaviours.held(behaviours.honest(), gate))
    with served(provider, folder, shadow(max_concurrency=1)) as service:
        assess(service, ["An answer."] * 40)
        skipped = provider.wait_until(lambda: told(service).skipped.get("full") == 39)
        gate.set()

    assert skipped
    assert len(provider.requests_of("omega")) == 1
