"""What a change behind a running service does: the alarm, where it is told, and when it is over."""

from __future__ import annotations

import json
import logging
import random
from pathlib import Path

import pytest

from tests.harness import RunningService, write_rubric
from tests.observability.scrape import scrape
from tests.provider import FakeProvider, behaviours
from tests.watch.conftest import noisy
from tests.watch.support import (
    alarms,
    assess,
    compare,
    lengths,
    state,
    table,
    until_alarm,
    watched,
)

MARKED = '[[rules]]\nrule = "markup_density"\nweight = 1.0\n'
MIXED = "[weights]\nrule = 0.3\nmodel = 0.7"


def test_half_a_point_raises_an_alarm(
    provider: FakeProvider, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Told at /v1/judges with all that it rests on, once in the log, and in the metrics."""
    caplog.set_level(logging.WARNING)
    provider.behave_by_default(noisy(3.0))
    with watched(provider, folder) as service:
        assess(service, ["An answer."] * 300)
        assert alarms(service) == {}
        assert scrape(service.http).of("watch_alarm") == 0

        provider.behave_by_default(noisy(3.5, seed=2))
        alarm = until_alarm(service, "score_mean", lambda: assess(service, ["x"] * 20), 12)

        assert (alarm["judge"], alarm["rubric"], alarm["kind"]) == ("alpha", "quality", "assess")
        assert 0.4 < alarm["baseline"] < 0.6 < alarm["current"]
        assert alarm["effect"] > 0.3
        assert alarm["value"] > alarm["threshold"]
        assert alarm["run_length"] == 20_000
        assert alarm["since"] <= alarm["raised_at"]
        shown = state(service)
        assert [one.statistic for one in shown.judges[0].alarms] == ["score_mean"]
        metrics = scrape(service.http)
        labels = {"judge": "alpha", "rubric": "quality", "statistic": "score_mean"}
        assert metrics.of("watch_alarm", **labels, cause="none") == 1
        assert metrics.of("watch_alarms_total", **labels) == 1
        assert metrics.of("watch_baseline", **labels) == pytest.approx(alarm["baseline"])
    lines = [r.getMessage() for r in caplog.records if r.name == "judge_service.watch"]
    assert len(lines) == 1
    assert json.loads(lines[0].partition(": ")[2])["statistic"] == "score_mean"


def test_an_unchanged_noisy_judge_raises_none(provider: FakeProvider, folder: Path) -> None:
    """Scores, lengths, pairs and a few failures, over 1,500 outcomes."""
    draw = random.Random(3)  # noqa: S311 - a repeatable draw, no secret
    steady = noisy(3.2, seed=4)
    silent = behaviours.says("I would rather not.")
    provider.behave_by_default(
        lambda seen: (
            silent(seen)
            if draw.random() < 0.1
            else behaviours.decides(lambda s: s.choice(draw.random() < 0.5))(seen)
            if seen.form == "choice"
            else steady(seen)
        )
    )
    with watched(provider, folder, watch=table(baseline=200)) as service:
        assess(service, lengths(1_200, 5))
        compare(service, 300)

        assert alarms(service) == {}
        baselines = {c.statistic for c in state(service).watch.charts if c.baseline}  # type: ignore[union-attr]
        assert {"score_mean", "length_correlation", "position_share"} <= baselines


def test_a_model_that_is_replaced_is_told(provider: FakeProvider, folder: Path) -> None:
    """The first reply under a new name; over once the old one is back for a while."""
    with watched(provider, folder) as service:
        served = behaviours.served_as(behaviours.honest(), "alpha-2026-01-01")
        provider.behave("alpha", served)
        assess(service, ["An answer."] * 25)
        assert alarms(service) == {}

        provider.behave("alpha", behaviours.served_as(behaviours.honest(), "alpha-2026-06-01"))
        assess(service, ["An answer."])
        alarm = alarms(service)["served_model", None]

        assert (alarm["judge"], alarm["rubric"]) == ("alpha", None)
        assert (alarm["baseline"], alarm["current"]) == ("alpha-2026-01-01", "alpha-2026-06-01")
        metrics = scrape(service.http)
        assert metrics.of("watch_alarm", judge="alpha", statistic="served_model") == 1
        assert not any("2026" in label for label in metrics.values())  # a name is no label

        provider.behave("alpha", served)
        assess(service, ["An answer."] * 25)
        assert alarms(service) == {}
        assert scrape(service.http).of("watch_alarm", statistic="served_model") == 0


def test_two_snapshots_from_the_start_are_no_change(provider: FakeProvider, folder: Path) -> None:
    """Some providers serve two of them at once."""
    names = ("alpha-a", "alpha-b")
    provider.behave(
        "alpha",
        lambda seen: behaviours.served_as(behaviours.honest(), names[seen.n % 2])(seen),
    )
    with watched(provider, folder) as service:
        assess(service, ["An answer."] * 60)

        assert alarms(service) == {}


def test_position_that_begins_to_decide_is_told(provider: FakeProvider, folder: Path) -> None:
    """By judge and rubric, in the share of wins of the answer shown first."""
    draw = random.Random(2)  # noqa: S311 - a repeatable draw, no secret
    fair = behaviours.decides(lambda seen: seen.choice(draw.random() < 0.5))
    provider.behave_by_default(fair)
    with watched(provider, folder) as service:
        compare(service, 200)
        assert alarms(service) == {}
        provider.behave_by_default(behaviours.first_position())
        alarm = until_alarm(service, "position_share", lambda: compare(service, 10), 8)

        assert (alarm["judge"], alarm["rubric"], alarm["kind"]) == ("alpha", "pair", "compare")
        assert alarm["baseline"] == pytest.approx(0.5, abs=0.1)
        assert alarm["current"] > 0.65


def test_length_that_begins_to_pay_is_told(provider: FakeProvider, folder: Path) -> None:
    """The mean score stays where it was."""
    provider.behave_by_default(noisy(3.0, seed=5))
    with watched(provider, folder, watch=table(baseline=256)) as service:
        assess(service, lengths(300, 1))
        provider.behave_by_default(
            behaviours.decides(lambda seen: min(5, 1 + len(seen.candidate) // 82))
        )
        alarm = until_alarm(
            service, "length_correlation", lambda: assess(service, lengths(20, 2)), 10
        )

        assert abs(alarm["baseline"]) < 0.3
        assert alarm["current"] > 0.3


def test_a_judge_that_the_rules_contradict_is_told(provider: FakeProvider, tmp_path: Path) -> None:
    """Judge collusion: its scores rise while the rules' do not, and no longer follow them."""
    write_rubric(tmp_path, rules=MARKED, top=MIXED)
    plain, marked = "A plain answer to it. " * 14, "# A\n- **b** *c*\n- **d** \U0001f600\n" * 12
    draw = random.Random(6)  # noqa: S311 - a repeatable draw, no secret

    def texts(n: int) -> list[str]:
        return [draw.choice((plain, marked)) for _ in range(n)]

    provider.behave_by_default(
        behaviours.decides(lambda seen: (2 if "**" in seen.candidate else 4) - draw.randint(0, 1))
    )
    with watched(provider, tmp_path) as service:
        assess(service, texts(300))
        assert alarms(service) == {}
        provider.behave_by_default(
            behaviours.decides(lambda seen: 5 if "**" in seen.candidate else 4)
        )
        assess(service, texts(200))

        found = alarms(service)
        gap, together = found["rule_gap", None], found["rule_correlation", None]
        assert gap["current"] > gap["baseline"]
        assert "collusion" in gap["means"]
        assert together["current"] < together["baseline"]


def test_answers_of_one_prompt_are_one_observation(provider: FakeProvider, folder: Path) -> None:
    """Sixty-four bad answers to one prompt are a hard prompt, not another judge."""
    provider.behave_by_default(noisy(4.0))
    with watched(provider, folder) as service:
        assess(service, ["An answer."] * 200)
        provider.behave_by_default(behaviours.fixed(1))
        items = [
            {"kind": "assess", "rubric": "quality", "prompt": "The same one.",
             "candidate": {"text": f"An answer {n}.", "family": "own"}}
            for n in range(64)
        ]  # fmt: skip
        service.post("/v1/bulk", {"items": items})

        assert alarms(service) == {}


def test_groups_are_watched(provider: FakeProvider, folder: Path) -> None:
    """Their mean score, and the correlation of reward and length inside them."""
    provider.behave_by_default(noisy(3.0))
    with watched(provider, folder, watch=table(baseline=50)) as service:

        def rank(n: int) -> None:
            groups = [lengths(4, n * 99 + one) for one in range(20)]
            items = [
                {"kind": "rank", "rubric": "quality", "prompt": f"{n} {one}", "strategy": "assess",
                 "candidates": [{"text": text, "family": "own"} for text in group]}
                for one, group in enumerate(groups)
            ]  # fmt: skip
            service.post("/v1/bulk", {"items": items})

        for n in range(5):
            rank(n)
        assert alarms(service) == {}
        provider.behave_by_default(noisy(4.0, seed=3))
        count = iter(range(10, 30))
        alarm = until_alarm(service, "score_mean", lambda: rank(next(count)), 6)

        assert (alarm["kind"], alarm["judge"]) == ("rank", "alpha")
        assert "length_correlation" in {c.statistic for c in state(service).watch.charts}  # type: ignore[union-attr]


def test_what_is_kept_is_no_news(provider: FakeProvider, folder: Path) -> None:
    """Verdicts from the cache, rules without a judge and audits are in no chart."""
    with watched(provider, folder) as service:
        body = {"rubric": "quality", "prompt": "One.", "candidate": {"text": "An answer."}}
        for _ in range(3):
            service.post("/v1/assess", body)
            service.post("/v1/assess", {**body, "audit": True})
        service.post("/v1/assess", {**body, "candidate": {"text": ""}})

        (failures,) = state(service).watch.failures  # type: ignore[union-attr]
        assert failures.outcomes == 1
        assert {c.learnt for c in state(service).watch.charts} == {1}  # type: ignore[union-attr]


def outcomes(service: RunningService) -> list[dict[str, object]]:
    """Outcomes of fixed requests, without what time and cost made of them."""
    items = [
        {"kind": "assess", "rubric": "quality", "prompt": f"Question {n}.",
         "candidate": {"text": f"An answer {n}.", "family": "own"}}
        for n in range(150)
    ]  # fmt: skip
    found = service.post("/v1/bulk", {"items": items})["results"]
    for one in found:
        for verdict in one["verdicts"]:
            verdict["latency_ms"] = 0
    return list(found)


def test_watching_changes_no_outcome(provider: FakeProvider, folder: Path) -> None:
    """Byte by byte the same, with charts, sentinels and a shadow, and with nothing of it."""
    gold = folder / "anchors" / "gold"
    gold.mkdir(parents=True)
    lines = [
        {"id": f"g{n}", "prompt": f"P{n}", "candidate": f"C{n}", "labels": {"quality": [3, 3]}}
        for n in range(12)
    ]
    (gold / "quality.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    every = table(
        sentinel={"gold": ["quality"], "share": 0.5, "daily_cost_usd": 1.0},
        shadow={"judges": ["beta"], "share": 1.0, "daily_cost_usd": 1.0},
    )
    given = []
    for watch in (every, table(), "[watch]\nenabled = false"):
        provider.reset()
        with watched(provider, folder, "alpha", "beta", watch=watch) as service:
            given.append(json.dumps(outcomes(service), sort_keys=True))

    assert given[0] == given[1] == given[2]


def test_watching_can_be_off(provider: FakeProvider, folder: Path) -> None:
    """Then nothing is kept and nothing told."""
    with watched(provider, folder, watch="[watch]\nenabled = false") as service:
        assess(service, ["An answer."] * 5)

        shown = state(service)
        assert shown.watch is None
        assert shown.judges[0].alarms == []


def test_a_fault_in_watching_is_logged_and_no_more(
    provider: FakeProvider,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The reward is there all the same."""

    def broken(*_: object) -> list[bool]:
        raise ArithmeticError("no such number")

    with watched(provider, folder) as service:
        monkeypatch.setattr("judge_service.watch.chart.Chart.add_all", broken)
        assert service.assess()["status"] == "success"
        assert alarms(service) == {}

    assert "outcomes could not be watched" in caplog.text
    assert "no such number" in caplog.text
