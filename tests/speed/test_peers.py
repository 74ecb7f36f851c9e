"""The rows that compare with peers: who is asked, and what the upstream of all sides says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from benchmarks.speed.__main__ import PARTS, ROWS
from benchmarks.speed.peers.contest import Match, row_of, upstream
from benchmarks.speed.peers.environment import REQUIREMENTS
from benchmarks.speed.peers.process import RUN
from benchmarks.speed.peers.replies import CONTENTS, RIGHT, SERVICE, answer
from benchmarks.speed.peers.roster import PEERS, Peer, chosen
from benchmarks.speed.spent import Spent
from tests.provider import by_hand

LITELLM_WITH_MALWARE = ("1.82.7", "1.82.8")
READ: dict[str, Callable[[str], object]] = {
    "verifiers": lambda said: int(said.rpartition("\n")[2]),
    "verifiers_0_1": lambda said: int(said.rpartition("\n")[2]),
    "openjudge": lambda said: json.loads(said)["score"],
    "mlflow": lambda said: json.loads(said)["result"],
    "autorubric": lambda said: json.loads(said)["selected_option"],
    "prometheus_eval": lambda said: int(re.findall(r"\[RESULT\] (\d)$", said)[0]),
    "inspect_ai": lambda said: int(re.findall(r"GRADE:\s*([1-5])", said)[0]),
    "deepeval": lambda said: json.loads(said)["score"],
}
"""How each peer reads the point in what a judge says."""

each_peer = pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)


def said(who: str, user: str = by_hand.ONE) -> Any:
    """The body of the upstream's response to a request of ``who``."""
    sent = answer(who, json.dumps(by_hand.body(user, model="some-model")).encode())
    head, _, body = sent.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert f"content-length: {len(body)}".encode() in head
    return json.loads(body)


def test_rows_are_registered() -> None:
    """All peers are one row, each is one by name, and the proxy is one."""
    assert {"peers", "litellm_proxy"} <= set(ROWS)
    assert {f"peers:{peer.name}" for peer in PEERS} == set(PARTS)


@each_peer
def test_a_peer_has_a_scorer_and_pinned_requirements(peer: Peer) -> None:
    """What is needed to run a peer is there, and each package that is asked for has a version."""
    assert RUN.with_name("scorers").joinpath(f"{peer.name}.py").is_file()
    lines = (REQUIREMENTS / f"{peer.name}.txt").read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if not line.startswith("#")]
    assert any(line.startswith(f"{peer.package}==") for line in wanted)
    assert all(re.fullmatch(r"[a-z][a-z0-9_-]*(\[[a-z]+\])?==[0-9.]+", line) for line in wanted)


def test_litellm_is_of_no_release_with_malware() -> None:
    """No environment gets one of the two releases that stole credentials."""
    for file in REQUIREMENTS.glob("*.txt"):
        pins = re.findall(r"^litellm.*==([0-9.]+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        assert not set(pins) & set(LITELLM_WITH_MALWARE)


@each_peer
def test_the_upstream_says_the_point_as_the_peer_reads_it(peer: Peer) -> None:
    """Each peer finds the same point in a completion of the model that it asked for."""
    body = said(peer.name)
    assert body["model"] == "some-model"
    assert READ[peer.name](body["choices"][0]["message"]["content"]) == RIGHT


def test_the_upstream_answers_the_service_in_its_form() -> None:
    """The verdict carries the tokens that the request asks for."""
    verdict = json.loads(said(SERVICE)["choices"][0]["message"]["content"])
    assert (verdict["v"], verdict["end"]) == (by_hand.V, by_hand.END)
    assert verdict["score"] == RIGHT


@pytest.mark.parametrize(
    "user",
    [
        pytest.param(by_hand.PAIR, id="a pair"),
        pytest.param(
            by_hand.message(by_hand.block("candidate", "So."), value='"score":<one of 1, 2>'),
            id="a scale without the point",
        ),
        pytest.param("How good is it?", id="no form"),
    ],
)
def test_the_upstream_refuses_what_it_has_no_verdict_for(user: str) -> None:
    """A request of the service that the point does not answer gets none."""
    with pytest.raises(ValueError, match=r"asks for|reply form"):
        said(SERVICE, user)


def test_peers_and_replies_belong_together() -> None:
    """There is something to say to each peer, and nothing for nobody."""
    assert set(CONTENTS) == {peer.name for peer in PEERS} | {"litellm_proxy"}


def test_a_peer_that_is_not_there_is_named() -> None:
    """An unknown peer is told with those that there are."""
    with pytest.raises(ValueError, match=r"no peer 'nobody'; there are verifiers, "):
        chosen("nobody")


def test_the_upstream_answers_over_http_and_counts() -> None:
    """A client gets its completion; another path is refused, and that is told."""
    with upstream() as url, httpx.Client(base_url=url, trust_env=False) as http:
        got = http.post("/deepeval/v1/chat/completions", json=by_hand.body())
        assert json.loads(got.json()["choices"][0]["message"]["content"])["score"] == RIGHT
        assert http.post("/deepeval/v1/embeddings", json={}).status_code == 404
        seen = http.get("/stats").json()
    assert (seen["calls"], seen["most_in_flight"]) == ({"deepeval": 1}, {"deepeval": 1})
    assert seen["refused"][0].startswith("/deepeval/v1/embeddings")


def played(peer: Peer, rate: float, cpu_ms: float) -> Match:
    """A match of three rounds against a service of 600/s at 1 ms, one of them disturbed."""
    rounds = [(Spent(600.0, 1.0), Spent(rate, cpu_ms))] * 2 + [(Spent(9.0, 70.0), Spent(1.0, 1.0))]
    return Match(peer, "1.0", rounds)


def test_the_row_is_about_the_fastest_peer() -> None:
    """Medians of the rounds' ratios to the peer with the highest rate decide."""
    slow, fast, *_ = PEERS
    row = row_of([played(slow, 50.0, 20.0), played(fast, 400.0, 2.5)], 3)
    assert (row.measured, row.met) == ("1.50 x the rate, 0.40 x the CPU", True)
    assert fast.package in row.against
    assert row_of([played(fast, 400.0, 1.9)], 3).met is False
    assert row_of([played(fast, 470.0, 2.5)], 3).met is False


def test_a_peer_that_cannot_be_measured_is_told_and_nothing_is_met_without_it() -> None:
    """The reason stands in the details; where no peer is left there is no row."""
    left_out, fast, *_ = PEERS
    missing = Match(left_out, failed="no such release")
    row = row_of([missing, played(fast, 400.0, 2.5)], 3)
    assert row.met is False
    assert "1 could not be measured" in row.against
    assert f"{left_out.package}: not measured: no such release" in row.detail
    with pytest.raises(RuntimeError, match="no peer could be measured"):
        row_of([missing], 3)
