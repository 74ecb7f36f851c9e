"""Requests that come again: from the second on they take a short way, and nobody can tell."""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from judge_service.access.keys_file import key_hash, pepper_of
from tests.cache.conftest import Open
from tests.cache.test_cached import overwrite, rows
from tests.expected.support import scores
from tests.harness import CRITERION, Judges, RunningService, judged_by, write_rubric
from tests.observability.scrape import scrape
from tests.provider import FakeProvider, behaviours, faults
from tests.provider.seen import Seen
from tests.rubric_upload.support import put

LONG_ANSWER = "Paris is the capital of France, and has been for many centuries."
HALF = CRITERION.replace("weight = 1.0", "weight = 0.5")
TWO_CRITERIA = HALF + HALF.replace('"quality"', '"style"').replace("How good", "How well put")
SOFT = """
[[rules]]
rule = "max_chars"
hard = false
weight = 1.0
limit = 10
"""
BODY: dict[str, Any] = {
    "rubric": "quality",
    "prompt": "What is the capital of France?",
    "candidate": {"text": LONG_ANSWER, "family": "gamma"},
    "judges": ["main"],
}


def times(service: RunningService, number: int, **more: Any) -> list[dict[str, Any]]:
    """The answers to one body, sent so many times."""
    return [service.post("/v1/assess", {**BODY, **more}) for _ in range(number)]


def timeless(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without the times that look-ups took."""
    return {**answer, "verdicts": [{**v, "latency_ms": None} for v in answer["verdicts"]]}


def test_the_answers_are_the_same(service: RunningService, provider: FakeProvider) -> None:
    """From the second on, each says the same of the same verdict, and none costs a request."""
    first, *later = times(service, 5, metadata={"latency_ms": 7, "step": [1, {"é": None}]})

    assert len(provider.requests) == 1
    assert first["verdicts"][0]["cached"] is False
    assert all(timeless(answer) == timeless(later[0]) for answer in later)
    assert all(0.0 <= answer["verdicts"][0]["latency_ms"] < 1000.0 for answer in later)
    assert later[-1]["metadata"] == {"latency_ms": 7, "step": [1, {"é": None}]}
    assert (later[-1]["reward"], later[-1]["usage"]["upstream_requests"]) == (0.75, 0)


@pytest.mark.parametrize(
    ("judging", "spec", "body"),
    [
        ({}, {}, {"metadata": {"step": 1}}),
        ({"panel_size": 2}, {}, {"judges": None, "candidate": {"text": LONG_ANSWER}}),
        ({"score": "expected"}, {"top_logprobs": 20}, {}),
        ({"score": "expected"}, {}, {}),
        ({"ask": "together"}, {}, {"candidate": {"text": "Paris\u2028\x00"}}),
    ],
    ids=["one judge", "a panel", "expected", "not expected", "together"],
)
def test_a_short_answer_says_what_a_long_one_says(
    provider: FakeProvider,
    tmp_path: Path,
    store: Path,
    judging: dict[str, Any],
    spec: dict[str, Any],
    body: dict[str, Any],
) -> None:
    """The process that asked the judge repeats what another one makes of the verdicts it finds."""
    top = "weights = {rule = 0.25, model = 0.75}"
    write_rubric(tmp_path, criteria=TWO_CRITERIA, rules=SOFT, top=top, **judging)
    judges = Judges(provider).add("main", "alpha", **spec).add("other", "beta")
    provider.behave("main", scores({"4": 0.6, "5": 0.3, "2": 0.1}))
    with judged_by(judges, tmp_path, store=store, breaker=False) as service:
        short = times(service, 3, **body)[1:]
    with judged_by(judges, tmp_path, store=store, breaker=False) as service:
        long = first_kept(service, **body)

    assert [timeless(answer) for answer in short] == [timeless(long)] * 2


def first_kept(service: RunningService, **more: Any) -> dict[str, Any]:
    """The first answer for which no judge was asked: a store that is slow just now is not waited
    for.
    """
    for _ in range(100):
        (answer,) = times(service, 1, **more)
        if all(verdict["cached"] for verdict in answer["verdicts"]):
            return answer
    raise AssertionError("a judge was asked each time")


def test_each_has_its_own_metadata(service: RunningService, provider: FakeProvider) -> None:
    """The same question with other metadata is the same question; what is no metadata is refused,
    however well the rest is known.
    """
    told: list[Any] = [{"step": 1}, {"step": 2, "é": [None, 0.5]}, {}, None]
    answers = [service.post("/v1/assess", {**BODY, "metadata": one}) for one in told]
    (without,) = times(service, 1)
    wrong: list[Any] = [[], "x", 1]
    refused = [service.http.post("/v1/assess", json={**BODY, "metadata": one}) for one in wrong]

    assert [answer["metadata"] for answer in answers] == told
    assert without == {**answers[-1], "verdicts": without["verdicts"]}
    assert len(provider.requests) == 1
    assert [answer.status_code for answer in refused] == [422] * 3


def test_each_is_counted(service: RunningService) -> None:
    """Outcomes, rewards, look-ups and left-out judges, as often as there were answers."""
    body: dict[str, Any] = {"judges": None, "candidate": {"text": LONG_ANSWER, "family": "beta"}}
    times(service, 2, **body)
    before = scrape(service.http)
    times(service, 3, **body)
    after = scrape(service.http)

    def grown(name: str, **labels: str) -> float:
        return after.of(name, **labels) - before.of(name, **labels)

    assert grown("outcomes_total", rubric="quality", status="success") == 3
    assert grown("reward_count", rubric="quality") == 3
    assert grown("cache_lookups_total", result="hit") == 3
    assert grown("family_exclusions_total", judge="other") == 3
    assert grown("upstream_attempts_total") == 0


@pytest.mark.parametrize(
    "record",
    [None, b"", b'{"value":5,"reason":"","model_served":null}'],
    ids=["removed", "empty", "forged"],
)
def test_a_verdict_that_is_gone_is_asked_for(
    service: RunningService, provider: FakeProvider, store: Path, record: bytes | None
) -> None:
    """What somebody has done to the file counts, however often the answer was given before."""
    times(service, 4)
    ((key, own),) = rows(store)
    provider.behave("main", behaviours.fixed(2))
    overwrite(store, key, own[:1] if record is None else record)
    answer = first_fresh(service)

    assert (answer["reward"], len(provider.requests)) == (0.25, 2)


def first_fresh(service: RunningService) -> dict[str, Any]:
    """The first answer for which a judge was asked: a change of the file is seen a moment later."""
    for _ in range(1000):
        (answer,) = times(service, 1)
        if not all(verdict["cached"] for verdict in answer["verdicts"]):
            return answer
    raise AssertionError("the judge was never asked")


def test_another_rubric_of_the_name_counts(opened: Open, tmp_path: Path) -> None:
    """An answer belongs to the rubric it was given under."""
    text = (tmp_path / "rubrics" / "quality.toml").read_text()
    text = text.replace('version = "1"', 'version = "2"').replace("half right", "half so")
    with opened(allow_rubric_put=True) as service:
        before = times(service, 3)
        uploaded = put(service, tomllib.loads(text), status=201).json()
        after = times(service, 3)

    assert len({answer["rubric_hash"] for answer in before}) == 1
    assert {answer["rubric_hash"] for answer in after} == {uploaded["rubric_hash"]}
    assert after[0]["verdicts"][0]["cached"] is False


def test_a_judge_that_failed_is_asked_again(
    provider: FakeProvider, tmp_path: Path, store: Path
) -> None:
    """An answer of part of a panel is given only as long as the other part fails."""
    write_rubric(tmp_path, panel_size=2, quorum=1)
    judges = Judges(provider).add("main", "alpha").add("other", "beta")
    provider.behave("other", faults.status_error(400))
    body = {**BODY, "judges": ["main", "other"]}
    with judged_by(judges, tmp_path, store=store, breaker=False) as service:
        alone = [service.post("/v1/assess", body) for _ in range(4)]
        provider.behave("other", behaviours.fixed(2))
        both = [service.post("/v1/assess", body) for _ in range(3)]

    assert [len(answer["verdicts"]) for answer in alone + both] == [1] * 4 + [2] * 3


def test_a_verdict_that_was_shared_is_looked_for_like_others(
    provider: FakeProvider, tmp_path: Path, store: Path
) -> None:
    """Whoever waits for a verdict that another request asks for has it before it is in the store.
    That answer is given again only as long as the store has the verdict.
    """
    write_rubric(tmp_path, criteria=TWO_CRITERIA)
    judges = Judges(provider).add("main", "alpha")

    def about_style(seen: Seen) -> bool:
        return "How well put" in seen.system

    with judged_by(judges, tmp_path, store=store, breaker=False) as service:
        provider.behave("main", behaviours.when(about_style, faults.empty(), behaviours.fixed(4)))
        assert times(service, 1)[0]["status"] == "failed"
        known = {key for key, _ in rows(store)}
        provider.behave("main", behaviours.slow(behaviours.fixed(4), 0.5))
        with ThreadPoolExecutor(2) as pool:
            both = [*pool.map(lambda _: times(service, 1)[0], range(2))]
        provider.behave("main", behaviours.fixed(2))
        for key in {key for key, _ in rows(store, 2)} - known:
            overwrite(store, key, b"")
        after = first_fresh(service)

    assert sorted(all(v["cached"] for v in answer["verdicts"]) for answer in both) == [False, True]
    assert [v["cached"] for v in after["verdicts"]] == [True, False]
    assert after["reward"] == 0.5


def test_an_answer_that_has_become_constant_is_flagged(service: RunningService) -> None:
    """Though it was not, the times before."""
    flags = [flags_of(answer) for answer in times(service, 3)]
    for number in range(5):
        times(service, 1, prompt=f"Question {number} of another kind?")
    flags += [flags_of(answer) for answer in times(service, 3)]

    assert flags == [[]] * 3 + [["constant_answer"]] * 3


def flags_of(answer: dict[str, Any]) -> list[str]:
    """The flags by name."""
    return [flag["flag"] for flag in answer["flags"]]


def test_an_audit_asks_each_time(service: RunningService, provider: FakeProvider) -> None:
    """It is never an answer given before."""
    times(service, 3)
    times(service, 3, audit=True)

    assert len(provider.requests) == 4


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Idempotency-Key": "used"}, 409),
        ({"Idempotency-Key": "ä"}, 422),
        ({"X-Request-Timeout-Ms": "soon"}, 422),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Encoding": "gzip"}, 415),
    ],
    ids=["another's key", "no key", "no time", "no JSON", "packed"],
)
def test_headers_are_heeded(service: RunningService, headers: dict[str, str], status: int) -> None:
    """A body that is known does not make up for a header that is wrong."""
    used = {**BODY, "prompt": "Another question?"}
    service.http.post("/v1/assess", json=used, headers={"Idempotency-Key": "used"})
    times(service, 3)
    named = {"Content-Type": "application/json", **headers}
    sent = [(name.encode(), text.encode("utf-8")) for name, text in named.items()]
    answer = service.http.post("/v1/assess", content=json.dumps(BODY).encode(), headers=sent)

    assert answer.status_code == status


ONE, TWO = "one-of-the-keys", "two-of-the-keys"


@pytest.fixture
def with_keys(opened: Open, tmp_path: Path) -> Iterator[RunningService]:
    """A service for two tenants, the first of which may send four requests a minute."""
    file = tmp_path / "keys.toml"
    file.write_text(entry("one", ONE, "rpm = 4\n") + entry("two", TWO))
    with opened(secret="new", api_keys_file=file) as service:
        yield service


def entry(tenant: str, key: str, more: str = "") -> str:
    """A key as it stands in the file."""
    sha256 = key_hash(pepper_of("new"), key)
    return f'[[keys]]\nname = "{tenant}"\ntenant = "{tenant}"\nsha256 = "{sha256}"\n{more}\n'


def test_tenants_and_quotas(with_keys: RunningService, provider: FakeProvider) -> None:
    """Nobody is given another tenant's answer, and each answer counts against the quota."""

    def send(key: str) -> int:
        headers = {"Authorization": f"Bearer {key}"}
        return with_keys.http.post("/v1/assess", json=BODY, headers=headers).status_code

    found = [send(ONE) for _ in range(6)]
    asked = len(provider.requests)
    found += [send(TWO) for _ in range(3)]

    assert found == [200] * 4 + [429] * 2 + [200] * 3
    assert (asked, len(provider.requests)) == (1, 2)
    assert send("nobody") == 401


def test_many_bodies_in_turn(service: RunningService, provider: FakeProvider) -> None:
    """More than are remembered: all are answered, and each with its own."""
    prompts = [f"{number}: " + "Why? " * 3000 for number in range(40)]
    for _, (number, prompt) in itertools.product(range(3), enumerate(prompts)):
        (answer,) = times(service, 1, prompt=prompt, metadata={"number": number})
        assert (answer["reward"], answer["metadata"]) == (0.75, {"number": number})

    assert len(provider.requests) == len(prompts)
