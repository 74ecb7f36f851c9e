"""What counts as an observation, and how often: not what is alike, repeated or nobody's traffic."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any

import pytest

from judge_service.watch.place import Place
from judge_service.watch.settings import WatchSettings
from tests.harness import RunningService, new_prompt
from tests.observability.scrape import scrape
from tests.provider import FakeProvider, behaviours
from tests.watch.support import OWN, alarms, assess, lengths, state, table, watched
from tests.watch.test_charts import LIMITS, chart


def body(text: str, prompt: str, rubric: str = "quality") -> dict[str, Any]:
    """An assessment."""
    candidate = {"text": text, "family": OWN}
    return {"kind": "assess", "rubric": rubric, "prompt": prompt, "candidate": candidate}


def bulk(service: RunningService, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Their outcomes."""
    found: list[dict[str, Any]] = service.post("/v1/bulk", {"items": items, "timeout_s": 300})[
        "results"
    ]
    return found


def observed(service: RunningService, statistic: str) -> dict[tuple[str | None, str | None], int]:
    """How many observations a statistic has had, by kind and rubric."""
    watch = state(service).watch
    assert watch is not None
    return {
        (chart.kind, chart.rubric): chart.observations + chart.learnt
        for chart in watch.charts
        if chart.statistic == statistic
    }


def test_one_hard_prompt_is_no_failed_share(provider: FakeProvider, folder: Path) -> None:
    """Neither its 64 answers nor their retries: other prompts must fail as well."""
    silent, honest = behaviours.says("No."), behaviours.honest()
    provider.behave_by_default(lambda seen: (silent if "hard" in seen.candidate else honest)(seen))
    with watched(provider, folder) as service:
        assess(service, ["An answer."] * 80)
        hard = [body(f"A hard answer {n}.", "The one.") for n in range(64)]
        assert {one["status"] for one in bulk(service, hard) + bulk(service, hard)} == {"failed"}
        assert alarms(service) == {}

        bulk(service, [body("A hard answer.", new_prompt()) for _ in range(8)])
        assert ("failed_share", None) in alarms(service)


def test_repeated_requests_are_counted_once(provider: FakeProvider, folder: Path) -> None:
    """Retries, idempotent replays and members of one flight tell nothing new."""
    with watched(provider, folder) as service:
        one = {
            key: value for key, value in body("An answer.", "The same.").items() if key != "kind"
        }
        for _ in range(3):
            service.http.post("/v1/assess", json=one, headers={"Idempotency-Key": "the-same-key"})
        bulk(service, [body("An answer.", "The other.")] * 40)

        assert observed(service, "score_mean") == {("assess", "quality"): 2}
        (failures,) = state(service).watch.failures  # type: ignore[union-attr]
        assert failures.outcomes == 2


def group(n: int, rubric: str = "pair", **more: Any) -> dict[str, Any]:
    """A group of answers of different quality."""
    texts = [f"An answer {one}." for one in range(n)]
    candidates = [{"text": text, "family": OWN} for text in texts]
    return {
        "kind": "rank", "rubric": rubric, "prompt": new_prompt(), "candidates": candidates, **more,
    }  # fmt: skip


def test_a_group_is_one_observation_of_position(provider: FakeProvider, folder: Path) -> None:
    """Its pairs are of one prompt. Also where the judge follows position, so that no group has an
    outcome; audits are left out.
    """
    provider.behave_by_default(behaviours.first_position())
    with watched(provider, folder) as service:
        found = bulk(service, [group(4) for _ in range(3)] + [group(4, audit=True)])

        assert {one["error"]["code"] for one in found} == {"inconclusive"}
        assert observed(service, "position_share") == {("rank", "pair"): 3}


def test_position_in_groups_that_begins_to_decide_is_told(
    provider: FakeProvider, folder: Path
) -> None:
    """The groups fail, and it is said why."""
    draw = random.Random(4)  # noqa: S311 - a repeatable draw, no secret
    provider.behave_by_default(behaviours.decides(lambda seen: seen.choice(draw.random() < 0.5)))
    with watched(provider, folder, watch=table(baseline=50)) as service:
        bulk(service, [group(3) for _ in range(55)])
        provider.behave_by_default(behaviours.first_position())
        bulk(service, [group(3) for _ in range(25)])

        assert alarms(service)["position_share", None]["kind"] == "rank"


def test_alarms_of_two_kinds_are_two_gauges(provider: FakeProvider, folder: Path) -> None:
    """One that is over does not hide the other."""
    silent = behaviours.says("No.")
    with watched(provider, folder) as service:
        assess(service, ["An answer."] * 70)
        bulk(service, [group(2, "quality", strategy="assess") for _ in range(70)])
        provider.behave_by_default(silent)
        assess(service, ["An answer."] * 15)
        bulk(service, [group(2, "quality", strategy="assess") for _ in range(15)])
        state(service)  # counts what is yet to be counted

        assert scrape(service.http).of("watch_alarm", kind="assess", cause="none") == 1
        assert scrape(service.http).of("watch_alarm", kind="rank", cause="none") == 1


def watch_series(service: RunningService) -> set[str]:
    """The series that watching has in the metrics."""
    lines = service.http.get("/metrics").text.splitlines()
    return {line.rpartition(" ")[0] for line in lines if line.startswith("judge_service_watch")}


@pytest.mark.parametrize("name", ["x" * 5_000, "a\nb", "\x00\u202e", '"} 1\n# HELP', "модель"])
def test_whatever_a_provider_calls_itself(provider: FakeProvider, folder: Path, name: str) -> None:
    """Names are shown bounded and printable, are no labels, and an alarm like any other."""
    with watched(provider, folder) as service:
        assess(service, ["An answer."] * 25)
        provider.behave("alpha", behaviours.served_as(behaviours.honest(), "another"))
        assess(service, ["An answer."])
        state(service)
        before = watch_series(service)
        provider.behave("alpha", behaviours.served_as(behaviours.honest(), name))
        assess(service, ["An answer."])
        alarm = alarms(service)["served_model", None]
        metrics, after = service.http.get("/metrics").text, watch_series(service)

    assert alarm["current"].startswith("another, ")
    assert alarm["current"].isprintable()
    assert len(alarm["current"]) <= 300
    assert name not in metrics
    assert after == before


def fingerprinted(fingerprint: object) -> behaviours.Behaviour:
    """A provider that says which configuration answered."""
    honest = behaviours.honest()
    return lambda seen: dataclasses.replace(honest(seen), more={"system_fingerprint": fingerprint})


def test_fingerprints_are_told_and_no_alarm(provider: FakeProvider, folder: Path) -> None:
    """They change with every roll-out: the latest ones, when they came, and a counter."""
    with watched(provider, folder) as service:
        for name in ("fp_1", "fp_2", "fp_1", "fp_3\n" + "x" * 999, None, 7):
            provider.behave("alpha", fingerprinted(name))
            assess(service, ["An answer."] * 12)
        assert alarms(service) == {}
        (served,) = state(service).watch.served  # type: ignore[union-attr]

        assert served.names == ["alpha"]
        assert [one.fingerprint[:5] for one in served.fingerprints] == ["fp_3?", "fp_1", "fp_2"]
        assert [one.replies for one in served.fingerprints] == [12, 24, 12]
        assert all(len(one.fingerprint) <= 256 for one in served.fingerprints)
        assert served.fingerprint_changes == 2
        assert scrape(service.http).of("fingerprint_changes_total", judge="alpha") == 2


@pytest.mark.parametrize("name", ["deployment-7", "claude-sonnet-4-5"])
def test_a_model_that_is_replaced_is_told_whatever_becomes_of_the_outcome(
    provider: FakeProvider, folder: Path, name: str
) -> None:
    """An opaque name passes with a flag, one of another family fails: the alarm is the same, at
    /v1/judges beside the judge, and in the metrics.
    """
    with watched(provider, folder, "openai", watch=table()) as service:
        assess(service, ["An answer."] * 25)
        provider.behave("openai", behaviours.served_as(behaviours.honest(), name))
        (outcome,) = assess(service, ["An answer."])

        assert outcome["status"] == ("failed" if "claude" in name else "success")
        (judge,) = state(service).judges
        assert [(one.statistic, one.current) for one in judge.alarms] == [("served_model", name)]
        labels = {"judge": "openai", "statistic": "served_model"}
        assert scrape(service.http).of("watch_alarm", **labels) == 1


def test_a_policy_that_learns_does_not_make_old_prompts_hard(
    provider: FakeProvider, folder: Path
) -> None:
    """Its scores rise, so what a prompt scored an epoch ago is low; failures by chance are by
    chance all the same.
    """
    draw = random.Random(5)  # noqa: S311 - a repeatable draw, no secret
    progress = [0.0]

    def learning(seen: Any) -> int:
        return min(5, max(1, round(draw.gauss(1.8 + 2.4 * progress[0], 0.8))))

    silent, judge = behaviours.says("No."), behaviours.decides(learning)
    fails = [0.0]
    provider.behave_by_default(lambda seen: (silent if draw.random() < fails[0] else judge)(seen))
    prompts = [new_prompt() for _ in range(600)]
    texts = lengths(1_200, 6)
    with watched(provider, folder, watch=table(baseline=60)) as service:
        for start in range(0, 600, 100):
            progress[0] = start / 1_200
            bulk(service, [body(texts[n], prompts[n]) for n in range(start, start + 100)])
        fails[0] = 0.6  # and so does the re-ask: in a third of all cases
        for start in range(0, 600, 100):
            progress[0] = 0.5 + start / 1_200
            bulk(service, [body(texts[600 + n], prompts[n]) for n in range(start, start + 100)])
        (failures,) = state(service).watch.failures  # type: ignore[union-attr]

        assert failures.difficulty is not None
        assert failures.difficulty.failed > 100
        assert abs(failures.difficulty.z) < 3.5
        assert ("failed_difficulty", None) not in alarms(service)


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_together_is_as_one_by_one(size: int) -> None:
    """Outcomes are looked at in lots; nothing depends on where one ends."""
    draw = random.Random(size)  # noqa: S311 - a repeatable draw, no secret
    means = [0.5] * 700 + [0.6] * 200 + [0.5] * 600
    values = [(draw.gauss(mean, 0.1), float(at)) for at, mean in enumerate(means)]
    together, singly = chart(), chart()
    changes: list[bool] = []
    for start in range(0, len(values), size):
        changes += together.add_all(values[start : start + size])
    alone = [singly.alarm is not None for value, at in values if singly.add(value, at)]

    assert changes == alone == [True, False]
    assert together.state() == singly.state()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_in_no_sum(value: float) -> None:
    """It is refused, and the chart is as it was."""
    told: list[object] = []
    place = Place(
        judge="a", rubric="r", rubric_hash="h", kind="assess", version="v",
        settings=WatchSettings(baseline=50), limits=LIMITS,
        changed=lambda *change: told.append(change),
        made=lambda *made: None, moved=told.append,
    )  # fmt: skip
    place.feed("score_mean", [(0.5, 1.0)] * 60)
    before = place.charts["score_mean"].state()
    with pytest.raises(ValueError, match="no number"):
        place.feed("score_mean", [(0.9, 2.0), (value, 2.0)])

    assert place.charts["score_mean"].state() == before
    assert place.charts["score_mean"].observations == 10
