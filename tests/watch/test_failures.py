"""Failures: how many, of what cause, and whether they are a random part of the data."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.observability.scrape import scrape
from tests.provider import FakeProvider, behaviours
from tests.watch.support import alarms, assess, lengths, state, table, watched


def test_long_answers_that_fail_are_told(provider: FakeProvider, folder: Path) -> None:
    """The failed share, its cause, and that what fails is longer than what is judged."""
    flaky = behaviours.when(
        lambda seen: len(seen.candidate) > 300, behaviours.says("No."), behaviours.honest()
    )
    with watched(provider, folder) as service:
        assess(service, lengths(200, 7))
        assert alarms(service) == {}
        provider.behave_by_default(flaky)
        failed = [one for one in assess(service, lengths(200, 8)) if one["status"] == "failed"]

        found = alarms(service)
        whole, cause = found["failed_share", None], found["failed_share", "unparsable"]
        assert whole["current"] == pytest.approx(len(failed) / 200, abs=0.1)
        assert (whole["baseline"], cause["baseline"]) == (0.0, 0.0)
        assert "unparsable" in whole["detail"]
        length = found["failed_length", None]
        assert length["current"] > 0.75
        assert "rank-biserial correlation +0." in length["detail"]
        (failures,) = state(service).watch.failures  # type: ignore[union-attr]
        assert failures.by_cause == {"unparsable": len(failed)}
        assert failures.by_length[0].failed == 0
        assert failures.by_length[1].failed == len(failed)
        assert failures.length is not None
        assert failures.length.rank_biserial > 0.5
        assert failures.length.p_value < 1e-6
        metrics = scrape(service.http)
        assert metrics.of("watch_alarm", statistic="failed_share", cause="unparsable") == 1

        provider.behave_by_default(behaviours.honest())
        assess(service, lengths(300, 9))
        assert ("failed_share", None) not in alarms(service)


def test_failures_at_random_are_not_about_length(provider: FakeProvider, folder: Path) -> None:
    """The share is told, and no more than that."""
    draw = random.Random(1)  # noqa: S311 - a repeatable draw, no secret
    with watched(provider, folder) as service:
        assess(service, lengths(200, 7))
        provider.behave_by_default(
            lambda seen: (behaviours.says("No.") if draw.random() < 0.6 else behaviours.honest())(
                seen
            )
        )
        assess(service, lengths(250, 8))

        assert set(alarms(service)) == {("failed_share", None), ("failed_share", "unparsable")}


def test_hard_prompts_that_fail_are_told(provider: FakeProvider, folder: Path) -> None:
    """Where other answers to the same prompts had low scores."""
    provider.oracle(lambda text: 5 if "good" in text else 1)
    with watched(provider, folder, watch=table(baseline=50)) as service:
        easy, hard = ([f"{kind} {n}" for n in range(60)] for kind in ("easy", "hard"))

        def ask(prompts: list[str], text: str) -> None:
            items = [
                {"kind": "assess", "rubric": "quality", "prompt": prompt,
                 "candidate": {"text": f"{text} {prompt}", "family": "own"}}
                for prompt in prompts
            ]  # fmt: skip
            service.post("/v1/bulk", {"items": items})

        ask([*easy, *hard], "first")
        provider.behave_by_default(behaviours.honest())
        ask([f"other {n}" for n in range(100)], "good")
        provider.behave_by_default(behaviours.says("No."))
        ask(hard, "second")

        assert alarms(service)["failed_difficulty", None]["current"] < 0.4
