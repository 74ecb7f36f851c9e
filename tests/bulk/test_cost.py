"""Bulks of a key with a daily cost limit: items that no longer fit are told as failures."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_service.api.answers import BulkAnswer
from tests.bulk.support import assess
from tests.keys.keyed import COST, Keyed, entry, keyed

LIMIT = 1.0
KEY, RICH = "key-of-ann", "key-of-rich"


def posted(own: Keyed, key: str, count: int) -> list[dict[str, object]]:
    """The results of a bulk, HTTP 200."""
    items = [assess(f"Answer {number}.") for number in range(count)]
    answer = own.post("/v1/bulk", key, {"items": items})
    assert answer.status_code == 200, answer.text[:500]
    BulkAnswer.model_validate(answer.json())
    results: list[dict[str, object]] = answer.json()["results"]
    assert len(results) == count
    return results


@pytest.mark.parametrize("count", [40, 200])
def test_a_first_bulk_spends_what_the_key_may(tmp_path: Path, count: int) -> None:
    """Nobody knows the price when it begins; what does not fit is not judged and has no number."""
    entries = [entry("ann", KEY, daily_cost_usd=LIMIT), entry("rich", RICH)]
    with keyed(tmp_path, *entries) as own:
        results = posted(own, KEY, count)
        asked = len(own.provider.requests)
        bulk = {"items": [assess() for _ in range(2)]}
        afterwards = own.post("/v1/bulk", KEY, bulk).status_code
        unlimited = posted(own, RICH, 20)

    judged = [one for one in results if one["status"] == "success"]
    lost = [one for one in results if one["status"] == "failed"]
    assert len(judged) == asked == int(LIMIT / COST)
    assert len(judged) + len(lost) == count
    for one in lost:
        error = one["error"]
        assert isinstance(error, dict)
        assert (error["code"], error["retryable"]) == ("quota_exhausted", False)
        assert error["message"] == "the key's daily cost is used up"
        assert one["reward"] is None
    assert afterwards == 429
    assert all(one["status"] == "success" for one in unlimited)
