"""The caller of the latency row: requests arrive when they are due, whoever is still waiting."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks.speed.arrivals import arrive, percentile, poisson

GOOD = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood"
ASK = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"


@contextmanager
def server(answer: bytes, together: int, *, deaf: int = 0) -> Iterator[str]:
    """Answers nobody before so many have asked; hangs up on the first ``deaf`` connections."""
    listening = socket.create_server(("127.0.0.1", 0))
    barrier = threading.Barrier(together)
    threads: list[threading.Thread] = []

    def serve(one: socket.socket) -> None:
        with one:
            while one.fileno() >= 0 and one.recv(65536):
                barrier.wait(10)
                one.sendall(answer)

    def accept() -> None:
        while True:
            try:
                one, _ = listening.accept()
            except OSError:
                return
            if len(threads) < deaf:
                one.close()
            threads.append(threading.Thread(target=serve, args=(one,)))
            threads[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for thread in (accepting, *threads):
            thread.join(10)


def test_nobody_waits_for_an_answer_to_others() -> None:
    """Five are due and one connection is there: four more are made, and all are in flight."""
    with server(GOOD, 5) as url:
        arrived = arrive(url, [ASK] * 5, [0.0] * 5, mark=b"good", connections=1)

    assert (arrived.most_in_flight, arrived.opened) == (5, 4)
    assert all(taken >= late for taken, late in zip(arrived.taken, arrived.late, strict=True))


def test_an_idle_connection_that_ends_is_not_used() -> None:
    """Servers close what is idle; the request goes over another one."""
    with server(GOOD, 1, deaf=1) as url:
        arrived = arrive(url, [ASK], [0.0], mark=b"good", connections=2)

    assert (arrived.most_in_flight, arrived.opened) == (1, 0)


@pytest.mark.parametrize(
    ("answer", "told"),
    [(GOOD.replace(b"200", b"503"), "503"), (GOOD.replace(b"good", b"poor"), "poor")],
    ids=["status", "mark"],
)
def test_an_answer_that_is_none_ends_the_run(answer: bytes, told: str) -> None:
    """Nothing is measured of failures."""
    with server(answer, 1) as url, pytest.raises(RuntimeError, match=f"not answered.*{told}"):
        arrive(url, [ASK], [0.0], mark=b"good", connections=1)


def test_a_percentile_is_one_of_the_values() -> None:
    """The smallest that so many do not exceed."""
    values = [float(n) for n in range(100, 0, -1)]
    assert [percentile(values, share) for share in (0.5, 0.9, 0.99, 1.0)] == [50, 90, 99, 100]
    assert percentile([7.0], 0.5) == 7.0
    assert percentile([1.0, 2.0, 3.0], 0.5) == 2.0
    assert percentile([1.0, 2.0], 0.99) == 2.0


def test_arrivals_are_random_and_the_same_for_both_sides() -> None:
    """By seed; so many a second, in order and within the time."""
    due = poisson(100.0, 30.0, 7)
    assert due == poisson(100.0, 30.0, 7) != poisson(100.0, 30.0, 8)
    assert due == sorted(due)
    assert 0.0 < due[0] <= due[-1] < 30.0
    assert 2700 < len(due) < 3300
