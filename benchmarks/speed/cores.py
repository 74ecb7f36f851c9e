"""Who runs on which core: what is measured has one of its own, where there are two at least."""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from contextlib import contextmanager


def split() -> tuple[Set[int], Set[int]]:
    """The core of what is measured, and those of callers and upstreams; all, where there is one."""
    cores = sorted(os.sched_getaffinity(0))
    return (set(cores[:1]), set(cores[1:])) if len(cores) > 1 else (set(cores), set(cores))


@contextmanager
def on(cores: Set[int]) -> Iterator[None]:
    """Keep this thread, and the processes that it starts meanwhile, to some cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
