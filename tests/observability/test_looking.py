"""What can be looked at: biases, judges, readiness, and what strangers see of it."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_service import __version__
from judge_service.access.keys_file import key_hash, pepper_of
from judge_service.api.live import LiveJudges
from judge_service.api.looking_answers import HealthAnswer, JudgesAnswer, ReadyAnswer
from judge_service.bias.report import BiasReport
from judge_service.events import BreakerChanged, QueueChanged
from judge_service.statistics.interval import wilson
from tests.harness import RunningService, judged_by
from tests.observability.conftest import two_judges
from tests.provider import FakeProvider, behaviours, faults

KEY, SECRET = "canary-key-0123456789", "a secret of this service, long enough"


def test_bias_with_intervals(service: RunningService, provider: FakeProvider) -> None:
    """Position and length, each share with its interval and the number of its cases."""
    service.compare("A good answer.", "An answer.")
    provider.behave_by_default(behaviours.first_position())
    for _ in range(3):
        service.compare("A good answer.", "An answer.")

    found = BiasReport.model_validate(service.http.get("/v1/bias").json())

    alpha, beta = found.judges
    assert (found.window, alpha.judge, alpha.family, alpha.pairs) == (500, "alpha", "alpha", 4)
    position = alpha.position
    assert position.consistent is not None
    assert (position.consistent.value, position.consistent.n) == (0.25, 4)
    assert position.consistent.ci95 == pytest.approx(wilson(0.25, 4))
    assert position.primacy is not None
    assert position.primacy.value == 0.75
    assert position.first_position_share is not None
    assert (position.first_position_share.value, position.first_position_share.n) == (0.875, 8)
    # Two orders of one pair are no two cases.
    assert position.first_position_share.ci95 == pytest.approx(wilson(0.875, 4))
    assert alpha.length.longer_won_share is not None
    assert (alpha.length.longer_won_share.value, alpha.length.longer_won_share.n) == (1.0, 1)
    assert beta.pairs == 0
    assert beta.position.consistent is beta.position.first_position_share is None


def test_an_audit_is_in_no_figure(service: RunningService) -> None:
    """Probes ask the same judge the same things over and over."""
    service.compare("A good answer.", "An answer.", audit=True)

    assert service.http.get("/v1/bias").json()["judges"][0]["pairs"] == 0


@pytest.mark.parametrize(
    ("share", "n", "low", "high"),
    [(0.0, 10, 0.0, 0.2775), (1.0, 10, 0.7225, 1.0), (0.5, 10, 0.2366, 0.7634),
     (0.1, 50, 0.0435, 0.2136), (0.0, 1, 0.0, 0.7935)],
)  # fmt: skip
def test_wilson_as_published(share: float, n: int, low: float, high: float) -> None:
    """Values that tables of the interval give."""
    assert wilson(share, n) == pytest.approx((low, high), abs=1e-4)


def test_wilson_covers() -> None:
    """About 95 of 100 intervals hold the true share."""
    draw = random.Random(7)  # noqa: S311 - a repeatable draw, no secret
    held = 0
    for _ in range(2_000):
        low, high = wilson(sum(draw.random() < 0.3 for _ in range(40)) / 40, 40)
        held += low <= 0.3 <= high
    assert 0.93 < held / 2_000 < 0.97


def test_judges_show_queue_and_breaker(service: RunningService) -> None:
    """Closed and empty while nothing is wrong."""
    service.assess()

    alpha, beta = JudgesAnswer.model_validate(service.http.get("/v1/judges").json()).judges

    assert (alpha.breaker, alpha.queue.waiting, alpha.queue.running) == ("closed", 0, 0)
    assert alpha.bias.pairs == beta.bias.pairs == 0


def test_the_last_that_was_told_is_shown() -> None:
    """Of each judge apart."""
    live = LiveJudges()
    assert live.queue("a") == {"waiting": 0, "running": 0, "limit": None}

    for event in (QueueChanged("a", 1, 2, 3), BreakerChanged("a", "open")):
        live.handlers[type(event)](event)

    assert live.queue("a") == {"waiting": 1, "running": 2, "limit": 3}
    assert (live.breaker("a"), live.breaker("b")) == ("open", "closed")


def test_an_open_breaker_is_told(service: RunningService, provider: FakeProvider) -> None:
    """On the list of judges, in what is degraded, in the metrics; requests can still be served."""
    provider.behave("alpha", faults.unavailable())
    for _ in range(25):
        if service.http.get("/v1/judges").json()["judges"][0]["breaker"] != "closed":
            break
        service.assess(judges=["alpha"], timeout_s=2.0)

    ready = service.http.get("/readyz")
    assert ready.status_code == 200
    (degraded,) = ReadyAnswer.model_validate(ready.json()).degraded or []
    assert degraded.part == "judges"
    assert "'alpha'" in degraded.why
    assert "breaker is open" in degraded.why
    assert 'judge_service_breaker_state{judge="alpha"} 2.0' in service.http.get("/metrics").text
    assert service.assess(judges=["beta"])["status"] == "success"


@pytest.fixture
def keyed(provider: FakeProvider, folder: Path) -> Iterator[RunningService]:
    """A service with one key."""
    keys = folder / "keys.toml"
    digest = key_hash(pepper_of(SECRET), KEY)
    keys.write_text(f'[[keys]]\nname = "one"\nsha256 = "{digest}"\n')
    with judged_by(two_judges(provider), folder, api_keys_file=keys, secret=SECRET) as running:
        yield running


def test_strangers_learn_only_that_it_is_there(keyed: RunningService) -> None:
    """No version and nothing of what is wrong."""
    assert keyed.http.get("/healthz").json() == {"status": "ok"}
    assert keyed.http.get("/readyz").json() == {"status": "ready"}
    wrong = {"Authorization": "Bearer wrong"}
    assert keyed.http.get("/readyz", headers=wrong).json() == {"status": "ready"}


def test_a_key_opens_all_and_is_told_nowhere(
    keyed: RunningService, caplog: pytest.LogCaptureFixture
) -> None:
    """Its name stands in the access log; the key itself in no log, metric or answer."""
    caplog.set_level(logging.DEBUG)
    right = {"Authorization": f"Bearer {KEY}"}
    paths = ("/metrics", "/v1/bias", "/v1/judges", "/readyz", "/healthz")
    answers = [keyed.http.get(path, headers=right) for path in paths]

    assert [answer.status_code for answer in answers] == [200] * len(paths)
    assert answers[-1].json()["version"] == __version__
    assert answers[-2].json()["degraded"] == []
    lines = [r for r in caplog.records if r.name == "judge_service.access"]
    assert {line.__dict__["access"]["client"] for line in lines} == {"one"}
    told = caplog.text + "".join(str(line.__dict__) for line in lines)
    assert KEY not in told + "".join(answer.text for answer in answers)


def test_health_without_keys_is_whole(service: RunningService) -> None:
    """Where only this machine can call, its operator asks."""
    health = HealthAnswer.model_validate(service.http.get("/healthz").json())
    ready = ReadyAnswer.model_validate(service.http.get("/readyz").json())

    assert health.version == __version__
    assert ready.degraded == []
