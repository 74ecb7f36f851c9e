"""``GET /metrics``: every kind of outcome is counted, and nothing else becomes a label."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from judge_service import __version__
from judge_service.access.keys_file import key_hash
from judge_service.adapters.metric_events import MAX_IDS
from judge_service.adapters.metrics import Metrics
from judge_service.adapters.prometheus_metrics import PREFIX
from judge_service.api.telemetry import Telemetry
from judge_service.events import (
    Attempted,
    BreakerChanged,
    Event,
    FamilyExcluded,
    GroupRanked,
    Joined,
    Judged,
    LookedUp,
    PairJudged,
    QueueChanged,
    QuotaRefused,
    Retried,
    RetryDenied,
    ServedUnverified,
    Shed,
    StoreFailed,
)
from judge_service.usage import Usage
from tests.harness import RunningService, judged_by
from tests.observability.conftest import two_judges
from tests.observability.scrape import scrape
from tests.provider import FakeProvider, behaviours, faults

DOCS = Path(__file__).resolve().parents[2] / "docs" / "observability.md"


def test_outcomes_are_counted_by_what_became_of_them(
    service: RunningService, provider: FakeProvider
) -> None:
    """Success, a rule's zero and a failure are told apart; a failure is in no reward."""
    service.assess("A good answer.")
    service.assess("An answer.")
    service.assess("x" * 401)
    provider.behave_by_default(behaviours.says("no verdict at all"))
    service.assess("An answer.")

    seen = scrape(service.http)

    success = {"kind": "assess", "rubric": "quality", "status": "success", "code": "none"}
    failed = {"kind": "assess", "rubric": "quality", "status": "failed", "code": "unparsable"}
    assert seen.of("outcomes_total", **success) == 3
    assert seen.of("outcomes_total", **failed) == 1
    assert seen.of("outcomes_total") == 4
    assert seen.of("outcome_duration_seconds_count", rubric="quality") == 4
    assert seen.of("recent_outcomes", rubric="quality") == 4
    assert seen.of("recent_failed_outcomes", rubric="quality") == 1
    assert seen.of("reward_count", rubric="quality") == 3
    assert seen.of("reward_sum", rubric="quality") == pytest.approx(1.25)
    assert seen.of("reward_bucket", rubric="quality", le="0.0") == 1
    assert seen.of("short_circuits_total", rubric="quality", rule="max_chars") == 1
    assert seen.of("family_unknown_total") == 0


def test_an_outage_is_no_zero_reward(service: RunningService, provider: FakeProvider) -> None:
    """While a judge refuses its key there are failures and attempts, and no rewards."""
    provider.behave_by_default(faults.status_error(401))

    service.assess()

    seen = scrape(service.http)
    assert seen.of("outcomes_total", status="failed", code="upstream_auth") == 1
    assert seen.of("upstream_attempts_total", judge="alpha", code="upstream_auth") == 1
    assert seen.of("reward_count") == 0


def test_upstream_requests_are_counted_with_what_they_cost(
    service: RunningService, provider: FakeProvider
) -> None:
    """Attempts, tokens and cost per judge agree with the usage of the outcome."""
    usage = service.assess()["usage"]

    seen = scrape(service.http)
    assert seen.of("upstream_attempts_total", judge="alpha", code="none") == 1
    assert seen.of("upstream_duration_seconds_count", judge="alpha") == 1
    assert seen.of("upstream_tokens_total", type="prompt") == usage["prompt_tokens"] > 0
    assert seen.of("upstream_tokens_total", type="completion") == usage["completion_tokens"] > 0
    assert seen.of("upstream_cost_usd_total", judge="alpha") == pytest.approx(usage["cost_usd"])
    assert seen.of("upstream_unknown_cost_calls_total") == usage["unknown_cost_calls"] == 0
    assert seen.of("cache_lookups_total", result="miss") == 1


def test_retries_are_counted(service: RunningService, provider: FakeProvider) -> None:
    """A request sent again is counted with the error it was sent again for."""
    provider.behave("alpha", [faults.unavailable(), behaviours.honest()])

    assert service.assess()["status"] == "success"

    seen = scrape(service.http)
    assert seen.of("upstream_retries_total", judge="alpha", code="upstream_error") == 1
    assert seen.of("upstream_attempts_total", judge="alpha") == 2


def test_a_cached_verdict_is_a_hit(service: RunningService) -> None:
    """The same question again costs nothing and is counted as a hit."""
    for _ in range(2):
        service.assess("An answer.", prompt="The same question?")

    seen = scrape(service.http)
    assert seen.of("cache_lookups_total", result="hit") == 1
    assert seen.of("upstream_attempts_total") == 1
    assert seen.of("outcomes_total") == 2


def test_pairs_tell_of_position_bias(service: RunningService, provider: FakeProvider) -> None:
    """Consistency and first-position share of each judge can be had from its counters."""
    service.compare("A good answer.", "An answer.")
    provider.behave_by_default(behaviours.first_position())
    service.compare("A good answer.", "An answer.")

    seen = scrape(service.http)
    assert seen.of("pairs_total", judge="alpha", outcome="first") == 1
    assert seen.of("pairs_total", judge="alpha", outcome="inconsistent") == 1
    assert seen.of("pair_orders_decided_total", judge="alpha") == 4
    assert seen.of("pair_orders_first_won_total", judge="alpha") == 3


def test_a_pair_from_the_cache_says_nothing_new(service: RunningService) -> None:
    """Asked twice, a judge was still observed once."""
    for _ in range(2):
        service.compare("A good answer.", "An answer.", prompt="The same question?")

    assert scrape(service.http).of("pairs_total") == 1
    (alpha, _) = service.http.get("/v1/bias").json()["judges"]
    assert alpha["pairs"] == 1


def test_families_are_counted(service: RunningService, provider: FakeProvider) -> None:
    """Who was left out, who could not be, and what served model tells no family."""
    service.assess({"text": "An answer.", "family": "alpha"})
    service.assess({"text": "An answer."})
    provider.behave_by_default(behaviours.served_as(behaviours.honest(), "deployment-7"))
    service.assess("An answer.")

    seen = scrape(service.http)
    assert seen.of("family_exclusions_total", judge="alpha") == 1
    assert seen.of("family_exclusions_total", judge="beta") == 0
    assert seen.of("family_unknown_total", rubric="quality") == 1
    assert seen.of("served_unverified_total", judge="alpha") == 1


def test_pairs_without_a_judge_are_short_circuits(service: RunningService) -> None:
    """Two equal answers are a tie of their own kind, a broken rule is named."""
    service.compare("An answer.", "An answer.")
    service.compare("An answer.", "x" * 401)

    seen = scrape(service.http)
    assert seen.of("short_circuits_total", rubric="pair", rule="same_text") == 1
    assert seen.of("short_circuits_total", rubric="pair", rule="max_chars") == 1
    assert seen.of("pairs_total") == 0


def test_audits_are_counted_apart(service: RunningService) -> None:
    """They cost something upstream and move no distribution."""
    service.assess("An answer.", audit=True)
    service.compare("A good answer.", "An answer.", audit=True)
    service.assess({"text": "An answer.", "family": "alpha"}, audit=True)

    seen = scrape(service.http)
    assert seen.of("audit_outcomes_total") == 3
    assert seen.of("audit_outcomes_total", kind="compare", status="success") == 1
    assert seen.of("upstream_attempts_total") == 4
    for name in ("outcomes_total", "reward_count", "pairs_total", "family_exclusions_total"):
        assert seen.of(name) == 0, name


def test_made_up_names_are_no_labels(service: RunningService) -> None:
    """Rubrics, judges, paths and methods that do not exist leave no trace of their names."""
    made_up = "qzxv-name"
    body = {"rubric": made_up, "prompt": "?", "candidate": {"text": "x"}}
    assert service.http.post("/v1/assess", json=body).status_code == 404
    body = {**body, "rubric": "quality", "judges": [made_up]}
    assert service.http.post("/v1/assess", json=body).status_code == 422
    assert service.http.get(f"/{made_up}").status_code == 404
    assert service.http.get(f"/v1/rubrics/{made_up}").status_code == 404
    service.http.request("PROPFIND", "/v1/assess")
    service.assess({"text": made_up, "id": made_up, "family": made_up, "policy_model": made_up})

    text = service.http.get("/metrics").text

    assert "qzxv" not in text.lower()
    seen = scrape(service.http)
    assert seen.labels("rubric") == {"quality", "pair"}
    assert seen.labels("judge") == {"alpha", "beta"}
    assert seen.labels("route") >= {"/v1/assess", "/v1/rubrics/{rubric_id}", "unmatched"}
    assert seen.of("http_requests_total", route="/v1/assess", status="404") == 1
    assert seen.labels("method") <= {"GET", "POST", "other"}


def test_series_begin_at_zero(service: RunningService) -> None:
    """A first failure is an increase, for what is configured is there from the start."""
    seen = scrape(service.http)

    assert seen.labels("judge") == {"alpha", "beta"}
    assert seen.labels("rubric") == {"quality", "pair"}
    assert seen.of("outcomes_total") == seen.of("breaker_state") == 0
    assert seen.of("build_info", version=__version__) == 1
    assert seen.of("process_resident_memory_bytes") > 0


def test_openmetrics_on_request(service: RunningService) -> None:
    """Prometheus asks for the newer format, and gets it."""
    answer = service.http.get("/metrics", headers={"Accept": "application/openmetrics-text"})

    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    families = text_string_to_metric_families(answer.text)  # type: ignore[no-untyped-call]
    assert "judge_service_outcomes" in {family.name for family in families}


@pytest.mark.parametrize("path", ["/metrics", "/v1/bias", "/v1/judges"])
def test_with_a_keys_file_a_key_is_needed(provider: FakeProvider, folder: Path, path: str) -> None:
    """As a bearer token, which Prometheus can send."""
    keys = folder / "keys.toml"
    digest = key_hash(b"", "right")
    keys.write_text(f'[[keys]]\nname = "prometheus"\nsha256 = "{digest}"\n')
    with judged_by(two_judges(provider), folder, api_keys_file=keys) as service:
        assert service.http.get(path).status_code == 401
        wrong = service.http.get(path, headers={"Authorization": "Bearer wrong"})
        assert wrong.status_code == 401


# What the adapter makes of each event.

EVENTS: list[tuple[Event, str, dict[str, str], float]] = [
    (Attempted("a", None, 0.5, Usage(upstream_requests=1, cost_usd=None, unknown_cost_calls=1)),
     "upstream_unknown_cost_calls_total", {"judge": "a"}, 1),
    (Retried("a", "timeout"), "upstream_retries_total", {"judge": "a", "code": "timeout"}, 1),
    (RetryDenied("a", "timeout"), "upstream_retries_denied_total", {"judge": "a"}, 1),
    (LookedUp("rejected"), "cache_lookups_total", {"result": "rejected"}, 1),
    (Joined("a"), "single_flight_joins_total", {"judge": "a"}, 1),
    (QueueChanged("a", 3, 2, 4), "queue_waiting", {"judge": "a"}, 3),
    (QueueChanged("a", 3, 2, 4), "queue_running", {"judge": "a"}, 2),
    (QueueChanged("a", 3, 2, 4), "queue_limit", {"judge": "a"}, 4),
    (Shed("a"), "shed_total", {"judge": "a"}, 1),
    (BreakerChanged("a", "open"), "breaker_state", {"judge": "a"}, 2),
    (BreakerChanged("a", "half_open"), "breaker_changes_total", {"state": "half_open"}, 1),
    (PairJudged("a", "inconsistent", 2, 2), "pair_orders_first_won_total", {"judge": "a"}, 2),
    (FamilyExcluded("a"), "family_exclusions_total", {"judge": "a"}, 1),
    (ServedUnverified("a"), "served_unverified_total", {"judge": "a"}, 1),
    (GroupRanked("r", (1.0, 1.0), True), "zero_advantage_groups_total", {"rubric": "r"}, 1),
    (GroupRanked("r", (0.0, 1.0), False), "zero_advantage_groups_total", {"rubric": "r"}, 0),
    (GroupRanked("r", (0.0, 1.0), False), "groups_total", {"rubric": "r"}, 1),
    (GroupRanked("r", (0.0, 1.0), False), "reward_count", {"rubric": "r"}, 2),
    (GroupRanked("r", (), True, tie_rate=0.5), "group_tie_rate_sum", {"rubric": "r"}, 0.5),
    (StoreFailed("connect"), "store_failures_total", {"operation": "connect"}, 1),
    (QuotaRefused("rpm"), "quota_refusals_total", {"quota": "rpm"}, 1),
    (Judged("rank", "r", None, None, None, 1.0), "outcomes_total", {"kind": "rank"}, 1),
]  # fmt: skip


def told(*events: Event) -> Metrics:
    """The metrics of an app that was told of these events."""
    telemetry = Telemetry.of(None)
    for event in events:
        telemetry.observe(event)
    return telemetry.metrics


def rendered(metrics: Metrics) -> list[Metric]:
    """What an adapter renders, read as OpenMetrics."""
    text = metrics.render("application/openmetrics-text")[0].decode()
    return list(text_string_to_metric_families(text))  # type: ignore[no-untyped-call]


def value(metrics: Metrics, name: str, labels: dict[str, str]) -> float | None:
    """One sample of it."""
    for sample in (sample for family in rendered(metrics) for sample in family.samples):
        if sample.name == PREFIX + name and labels.items() <= sample.labels.items():
            return float(sample.value)
    return None


@pytest.mark.parametrize(("event", "name", "labels", "expected"), EVENTS)
def test_every_event_is_counted(
    event: Event, name: str, labels: dict[str, str], expected: float
) -> None:
    """Each in a metric of its own."""
    assert value(told(event), name, labels) == expected


def test_a_scrape_tells_of_queues_as_they_are() -> None:
    """Of each judge the last change, and again at the next scrape."""
    telemetry = Telemetry.of(None)

    def waiting() -> list[float | None]:
        return [value(telemetry.metrics, "queue_waiting", {"judge": judge}) for judge in "ab"]

    telemetry.observe(QueueChanged("a", 2, 1, 4))
    telemetry.observe(QueueChanged("b", 5, 1, 1))
    telemetry.observe(QueueChanged("a", 0, 3, 4))
    assert waiting() == [0, 5]
    telemetry.observe(QueueChanged("a", 7, 3, 4))
    assert waiting() == [7, 5]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_enters_no_metric(number: float) -> None:
    """Whatever went wrong before."""
    metrics = told(
        Judged("assess", "r", None, number, None, number),
        Attempted("a", None, number, Usage(cost_usd=number)),
    )

    text = metrics.render()[0].decode()
    assert "nan" not in text.lower()
    assert " +inf\n" not in text.lower()
    assert value(metrics, "reward_count", {"rubric": "r"}) in (0, None)


def test_labels_are_bounded() -> None:
    """An operator's script that makes rubric after rubric does not fill the memory."""
    metrics = told(*(GroupRanked(f"r{number}", (), False) for number in range(MAX_IDS + 50)))

    text = metrics.render()[0].decode()
    assert 'judge_service_groups_total{rubric="other"} 50.0' in text
    assert f"r{MAX_IDS}" not in text


def test_every_metric_is_in_the_manual() -> None:
    """And the manual names none that does not exist."""
    manual = DOCS.read_text(encoding="utf-8")

    for family in rendered(Metrics("1")):
        if family.name.startswith(PREFIX):
            suffix = "_total" if family.type == "counter" else ""
            assert f"`{family.name.removeprefix(PREFIX)}{suffix}`" in manual, family.name
