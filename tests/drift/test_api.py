"""``/v1/drift-runs``: begun, watched, kept, shown as a page; for admins only."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from judge_service.api.auth import key_hash, pepper_of
from judge_service.drift.runner import Runner
from judge_service.gold import file as gold_file
from tests.drift.support import DRIFT_KEYS, points, raised, worth, write_gold
from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.polling import until
from tests.provider import FakeProvider, behaviours, faults
from tests.provider.behaviours import Behaviour

SECRET = "a secret of the service"
KEYS = {"admin": "key-of-an-admin", "judge": "key-of-a-judge"}


def done(service: RunningService, run_id: str, timeout_s: float = 120.0) -> dict[str, Any]:
    """The run once it is through, or stopped."""
    run: dict[str, Any] = {}

    def ended() -> bool:
        run.update(service.http.get(f"/v1/drift-runs/{run_id}").json())
        return bool(run["status"] != "running")

    until(ended, "the run did not end", timeout_s)
    return run


@pytest.fixture
def judges(provider: FakeProvider, tmp_path: Path) -> Iterator[Judges]:
    """``alpha`` and ``beta``, a rubric and a gold set beside the anchors."""
    write_rubric(tmp_path)
    gold = tmp_path / "anchors" / "gold"
    gold.mkdir(parents=True)
    write_gold(gold / "quality.jsonl", points(12, scores=lambda i: i % 4 + 1))
    yield Judges(provider).add("alpha").add("beta")
    provider.reset()
    provider.oracle(worth)


@pytest.fixture
def service(judges: Judges, tmp_path: Path) -> Iterator[RunningService]:
    """A service with that gold set and a store."""
    with judged_by(judges, tmp_path, store=tmp_path / "store.sqlite3") as running:
        yield running


# A request that is held is given up by nobody: the time of a judgement is the most there is.
BODY = {"gold": "quality", "baseline": "alpha", "candidate": "beta", "timeout_s": 600}
AT_A_TIME = 4
"""How many judgements a run asks for at once."""


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What is held goes on once it is set."""
    opened = threading.Event()
    yield opened
    opened.set()


def stops_after(answers: int, gate: threading.Event) -> list[Behaviour]:
    """So many answers, and no other one before the gate opens: the run cannot end meanwhile."""
    honest = behaviours.honest()
    return [honest] * answers + [behaviours.held(honest, gate)]


def test_a_run_is_begun_and_told_of(service: RunningService, provider: FakeProvider) -> None:
    """202 with an id at once; the report of the command line at the end."""
    provider.behave("beta", raised(1.0))

    begun = service.http.post("/v1/drift-runs", json=BODY)
    run = done(service, begun.json()["id"])

    assert begun.status_code == 202
    assert begun.headers["location"] == f"/v1/drift-runs/{run['id']}"
    assert run["status"] == "finished"
    assert run["drift"] is True
    assert run["report"].keys() == DRIFT_KEYS
    assert run["progress"]["done"] == run["progress"]["judgements"] == 36
    assert run["baseline"] == "alpha,quality"


def test_runs_are_listed_and_shown_as_a_page(service: RunningService) -> None:
    """The list has the verdict, the page the pictures."""
    run_id = service.http.post("/v1/drift-runs", json=BODY).json()["id"]
    done(service, run_id)

    (listed,) = service.http.get("/v1/drift-runs").json()["runs"]
    page = service.http.get(f"/v1/drift-runs/{run_id}/report.html")

    assert (listed["id"], listed["drift"]) == (run_id, False)
    assert "report" not in listed
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "<svg" in page.text


def test_gold_lines_may_come_with_the_request(service: RunningService) -> None:
    """Named as the caller likes; faults are told with their place."""
    body = {**BODY, "gold": points(5), "baseline": "alpha,quality", "candidate": "beta,quality"}
    run = done(service, service.http.post("/v1/drift-runs", json=body).json()["id"])
    wrong = service.http.post("/v1/drift-runs", json={**body, "gold": [{"id": "a"}]})

    assert run["report"]["n"] == 5
    assert wrong.status_code == 422
    assert wrong.json()["error"]["faults"][0]["field"] == "gold[0]"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": "nothing"}, "there is no such gold set; known: quality"),
        ({"gold": "../quality"}, "there is no such gold set"),
        ({"baseline": "nobody"}, "there is no judge 'nobody'"),
        ({"candidate": "beta,nothing"}, "there is no rubric 'nothing'"),
        ({"repeat": 0}, "greater than or equal to 1"),
        ({"colour": "red"}, "unknown field"),
        ({"gold": []}, '"message":"gold: List should have at least 1 item after validation'),
        ({"gold": 7}, '"message":"gold: must be the name of a gold set or a list of its lines"'),
        ({"gold": ["a"]}, '"message":"gold[0]: must be an object"'),
        ({"gold": "x" * 65}, '"message":"gold: String should have at most 64 characters"'),
    ],
    ids=[
        "gold",
        "path",
        "judge",
        "rubric",
        "repeat",
        "field",
        "empty",
        "number",
        "texts",
        "long",
    ],
)
def test_a_mistake_is_422(service: RunningService, change: dict[str, Any], message: str) -> None:
    """Before anybody is asked."""
    answer = service.http.post("/v1/drift-runs", json={**BODY, **change})

    assert answer.status_code == 422
    assert message in answer.text
    assert "more)" not in answer.text


@pytest.mark.parametrize(
    "run_id", ["nothing", "20260101T000000-00000000", "..%2f..%2fetc%2fpasswd"]
)
def test_an_unknown_run_is_404(service: RunningService, run_id: str) -> None:
    """And no file of the machine is one."""
    assert service.http.get(f"/v1/drift-runs/{run_id}").status_code == 404
    assert service.http.get(f"/v1/drift-runs/{run_id}/report.html").status_code == 404


def test_one_run_at_a_time(
    service: RunningService, provider: FakeProvider, gate: threading.Event
) -> None:
    """A second one is told to come later; the first has no page yet."""
    provider.behave_by_default(stops_after(8, gate))
    first = service.http.post("/v1/drift-runs", json=BODY).json()
    second = service.http.post("/v1/drift-runs", json=BODY)
    page = service.http.get(f"/v1/drift-runs/{first['id']}/report.html")
    gate.set()

    assert second.status_code == 503
    assert first["id"] in second.json()["error"]["message"]
    assert int(second.headers["retry-after"]) > 0
    assert page.status_code == 404
    assert done(service, first["id"])["status"] == "finished"


def test_a_run_can_be_stopped_and_continued(
    service: RunningService, provider: FakeProvider, gate: threading.Event
) -> None:
    """What was asked is kept; one that is over stays as it is; nobody is asked meanwhile."""
    provider.behave_by_default(stops_after(8, gate))
    run_id = service.http.post("/v1/drift-runs", json=BODY).json()["id"]
    assert provider.wait_until(lambda: len(provider.requests) == 8 + AT_A_TIME)
    stopped = service.http.post(f"/v1/drift-runs/{run_id}/stop").json()
    gate.set()
    asked = len(provider.requests)
    provider.behave_by_default(behaviours.honest())
    again = service.http.post("/v1/drift-runs", json=BODY).json()
    run = done(service, run_id)
    over = service.http.post(f"/v1/drift-runs/{run_id}/stop").json()

    assert stopped["status"] == "interrupted"
    assert stopped["progress"]["done"] == 8
    assert again["id"] == run_id
    assert run["status"] == over["status"] == "finished"
    assert run["error"] is None
    assert run["report"]["judged"] == 12
    assert asked == 8 + AT_A_TIME
    assert len(provider.requests) == 36 + AT_A_TIME
    unknown = "/v1/drift-runs/20260101T000000-00000000/stop"
    assert service.http.post(unknown).status_code == 404


def test_a_judge_that_lets_nobody_in_interrupts_a_run(
    service: RunningService, provider: FakeProvider
) -> None:
    """Soon, and it says why; the same request goes on once the judge is there."""
    provider.behave("beta", faults.status_error(401))
    first = done(service, service.http.post("/v1/drift-runs", json=BODY).json()["id"])
    provider.behave("beta", behaviours.honest())
    again = done(service, service.http.post("/v1/drift-runs", json=BODY).json()["id"])

    assert first["status"] == "interrupted"
    assert "the candidate does not answer: none of its first" in first["error"]
    assert again["id"] == first["id"]
    assert again["status"] == "finished"
    assert again["report"]["judged"] == 12


def test_processes_that_share_a_store_run_one_at_a_time(
    judges: Judges, provider: FakeProvider, tmp_path: Path, gate: threading.Event
) -> None:
    """Another process refuses a second one, sees how far the first is, and can stop it."""
    provider.behave_by_default(stops_after(8, gate))
    store = tmp_path / "store.sqlite3"
    with (
        judged_by(judges, tmp_path, store=store) as one,
        judged_by(judges, tmp_path, store=store) as other,
    ):
        run_id = one.http.post("/v1/drift-runs", json=BODY).json()["id"]
        refused = other.http.post("/v1/drift-runs", json=BODY)

        def seen() -> bool:
            told = other.http.get(f"/v1/drift-runs/{run_id}").json()
            return bool(told["progress"].get("done"))

        assert provider.wait_until(seen)
        other.http.post(f"/v1/drift-runs/{run_id}/stop")
        # The word goes through the store, and whoever passed it on waits for some seconds only.
        stopped = done(other, run_id)
        here = one.http.get(f"/v1/drift-runs/{run_id}").json()
        gate.set()
        provider.behave_by_default(behaviours.honest())
        again = other.http.post("/v1/drift-runs", json=BODY).json()
        run = done(other, run_id)

    assert refused.status_code == 503
    assert run_id in refused.json()["error"]["message"]
    assert stopped["status"] == here["status"] == "interrupted"
    assert again["id"] == run_id
    assert run["report"]["judged"] == 12


def held_in(
    work: Callable[..., Any], begun: threading.Event, gate: threading.Event
) -> Callable[..., Any]:
    """The same work, which says that it has begun and lasts until the gate opens."""

    def held(*args: Any, **more: Any) -> Any:
        begun.set()
        assert gate.wait(60)
        return work(*args, **more)

    return held


@pytest.mark.parametrize(
    ("where", "name"), [(gold_file, "gold_of"), (Runner, "check")], ids=["read", "checked"]
)
def test_requests_are_answered_while_many_items_are_checked(
    service: RunningService,
    where: Any,
    name: str,
    gate: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A gold set of thousands of items does not hold up the others, however long it takes."""
    begun = threading.Event()
    monkeypatch.setattr(where, name, held_in(getattr(where, name), begun, gate))
    sides = {"baseline": "alpha,quality", "candidate": "beta,quality"}
    body = {**sides, "gold": points(4)}
    asking = threading.Thread(
        target=service.http.post, args=("/v1/drift-runs",), kwargs={"json": body}
    )
    asking.start()
    assert begun.wait(60)
    for _ in range(20):
        assert service.http.get("/healthz", timeout=50.0).status_code == 200
    assert asking.is_alive()
    gate.set()
    asking.join(60)
    (run,) = service.http.get("/v1/drift-runs").json()["runs"]

    assert done(service, run["id"])["status"] == "finished"


def test_a_run_goes_on_after_a_restart(
    judges: Judges, provider: FakeProvider, tmp_path: Path, gate: threading.Event
) -> None:
    """The same request continues it, and nothing is asked twice but what was in flight."""
    provider.behave_by_default(stops_after(12, gate))
    store = tmp_path / "store.sqlite3"
    with judged_by(judges, tmp_path, store=store) as before:
        run_id = before.http.post("/v1/drift-runs", json=BODY).json()["id"]
        assert provider.wait_until(lambda: len(provider.requests) == 12 + AT_A_TIME)
    gate.set()
    provider.behave_by_default(behaviours.honest())

    with judged_by(judges, tmp_path, store=store) as after:
        stopped = after.http.get(f"/v1/drift-runs/{run_id}").json()
        again = after.http.post("/v1/drift-runs", json=BODY).json()
        run = done(after, run_id)

    assert stopped["status"] == "interrupted"
    assert again["id"] == run_id
    assert run["status"] == "finished"
    assert run["report"]["judged"] == 12
    assert len(provider.requests) == 36 + AT_A_TIME


def test_runs_need_an_admin_key(judges: Judges, tmp_path: Path) -> None:
    """A key that may only judge can neither begin nor read one."""
    pepper = pepper_of(SECRET)
    entries = [
        f'[[keys]]\nname = "{name}"\nsha256 = "{key_hash(pepper, key)}"\ntenant = "t"\n'
        f'scopes = ["{name}"]\n'
        for name, key in KEYS.items()
    ]
    file = tmp_path / "keys.toml"
    file.write_text("\n".join(entries))

    with judged_by(judges, tmp_path, api_keys_file=file, secret=SECRET) as service:
        codes = {
            name: [
                service.http.get(path, headers={"Authorization": f"Bearer {key}"}).status_code
                for path in ("/v1/drift-runs", "/v1/drift-runs/x", "/v1/drift-runs/x/report.html")
            ]
            for name, key in KEYS.items()
        }
        nobody = service.http.post("/v1/drift-runs", json=BODY).status_code

    assert codes == {"admin": [200, 404, 404], "judge": [403, 403, 403]}
    assert nobody == 401
