"""What one process counts by itself is told as Prometheus' client tells its own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from judge_service.adapters.metric_table import COUNTS, LEVELS, SPREADS, Count, Level, Spread
from judge_service.adapters.own_figures import OwnFigures
from judge_service.adapters.prometheus_metrics import PREFIX, ToldFigures

BOUNDS = sorted({bound for spread in SPREADS for bound in spread.bounds})
VALUES = st.one_of(st.sampled_from(BOUNDS), st.integers(-8, 8).map(lambda n: n / 8))
LABELS = st.sampled_from(["a", "b", 'c "d"\n'])


@given(
    seen=st.lists(st.tuples(st.sampled_from([*COUNTS, *LEVELS, *SPREADS]), VALUES, LABELS)),
)
def test_the_text_is_the_clients(seen: list[tuple[Count | Level | Spread, float, str]]) -> None:
    """Counters, gauges, buckets, sums and labels, in the same order."""
    own, theirs = CollectorRegistry(), CollectorRegistry()
    figures = OwnFigures()
    own.register(ToldFigures(figures))
    counters = {
        metric: Counter(PREFIX + metric.name, metric.text, metric.labels, registry=theirs)
        for metric in COUNTS
    }
    gauges = {
        metric: Gauge(PREFIX + metric.name, metric.text, metric.labels, registry=theirs)
        for metric in LEVELS
    }
    histograms = {
        metric: Histogram(
            PREFIX + metric.name, metric.text, metric.labels, registry=theirs, buckets=metric.bounds
        )
        for metric in SPREADS
    }
    for metric, value, label in seen:
        labels = (label,) * len(metric.labels)
        if isinstance(metric, Count):
            figures.count(metric, *labels, by=abs(value))
            counters[metric].labels(*labels).inc(abs(value))
        elif isinstance(metric, Level):
            figures.set(metric, value, *labels)
            gauges[metric].labels(*labels).set(value)
        else:
            figures.spread(metric, value, *labels)
            histograms[metric].labels(*labels).observe(value)

    assert generate_latest(own) == generate_latest(theirs)
