"""Histograms that one process counts by itself are told as Prometheus' client tells its own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Histogram, generate_latest

from judge_service.adapters.metric_spreads import Spreads
from judge_service.adapters.metric_table import CORRELATIONS, SECONDS, SHARES, Spread
from judge_service.adapters.prometheus_metrics import PREFIX, Histograms

BOUNDS = {"seconds": SECONDS, "share": SHARES, "correlation": CORRELATIONS}
SPREADS = {name: Spread(f"The {name}.", ("rubric",), bounds) for name, bounds in BOUNDS.items()}
VALUES = st.one_of(
    st.sampled_from([bound for bounds in BOUNDS.values() for bound in bounds]),
    st.integers(-8, 8).map(lambda n: n / 8),
)


@given(
    seen=st.lists(st.tuples(st.sampled_from(list(SPREADS)), VALUES, st.sampled_from(["a", "b"])))
)
def test_the_text_is_the_clients(seen: list[tuple[str, float, str]]) -> None:
    """Buckets, counts, sums and labels, in the same order."""
    own, theirs = CollectorRegistry(), CollectorRegistry()
    spreads = Spreads(SPREADS)
    own.register(Histograms(spreads, SPREADS))
    histograms = {
        name: Histogram(
            PREFIX + name, spread.text, spread.labels, registry=theirs, buckets=spread.bounds
        )
        for name, spread in SPREADS.items()
    }
    for name, value, rubric in seen:
        spreads.observe(name, value, (rubric,))
        histograms[name].labels(rubric).observe(value)

    assert generate_latest(own) == generate_latest(theirs)
