"""The log of a store's troubles: enough to know, and never a flood."""

from __future__ import annotations

import logging

import pytest

from judge_service.adapters.store_trouble import EVERY_S, StoreTrouble


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """The time in seconds."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """The clock of the test."""
    return Clock()


@pytest.fixture
def trouble(clock: Clock, caplog: pytest.LogCaptureFixture) -> StoreTrouble:
    """A log of troubles that goes by that clock."""
    caplog.set_level(logging.INFO, "judge_service.store")
    return StoreTrouble(clock=clock)


def now(trouble: StoreTrouble) -> str | None:
    """What is wrong just now."""
    return trouble.now


def levels(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The levels of what was logged."""
    return [record.levelname for record in caplog.records]


def test_once_at_the_beginning_once_at_the_end(
    trouble: StoreTrouble, caplog: pytest.LogCaptureFixture
) -> None:
    """A trouble that goes on is one warning; its end is one line."""
    for _ in range(100):
        trouble.begins("connection", "it is gone")
    assert now(trouble) == "it is gone"
    trouble.ends("connection")
    trouble.ends("connection")
    assert now(trouble) is None
    assert levels(caplog) == ["WARNING", "INFO"]


def test_one_warning_in_a_while(
    trouble: StoreTrouble, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """Troubles that come and go are told again after a while, with how many were not."""
    for _ in range(10):
        trouble.begins("connection", "it is gone")
        trouble.ends("connection")
        clock.now += 2.0
    assert levels(caplog) == ["WARNING", "INFO"]
    clock.now += EVERY_S
    trouble.begins("connection", "it is gone")
    assert levels(caplog) == ["WARNING", "INFO", "WARNING"]
    assert "9 times before" in caplog.text


def test_the_last_word_is_true(
    trouble: StoreTrouble, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """A trouble that began when nothing could be said, and stays, is said as soon as it can be."""
    trouble.begins("connection", "it is gone")
    trouble.ends("connection")
    clock.now += 5.0
    trouble.begins("connection", "it is gone again")
    assert levels(caplog) == ["WARNING", "INFO"]
    clock.now += EVERY_S
    trouble.tick()
    assert levels(caplog) == ["WARNING", "INFO", "WARNING"]
    assert "gone again" in caplog.text
    trouble.ends("connection")
    assert levels(caplog)[-1] == "INFO"


def test_two_troubles_at_once(trouble: StoreTrouble, caplog: pytest.LogCaptureFixture) -> None:
    """One trouble that ends while another goes on is not the end."""
    trouble.begins("connection", "it is gone")
    trouble.begins("write", "it is full")
    trouble.ends("connection")
    assert trouble.now == "it is full"
    assert levels(caplog) == ["WARNING"]
    trouble.ends("write")
    assert levels(caplog) == ["WARNING", "INFO"]
