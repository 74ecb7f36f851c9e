"""A folder in which worker processes share their metrics, as long as the service runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from judge_service.api.app import SHARED_METRICS
from judge_service.cli.exits import UserError


@contextmanager
def shared_metrics(workers: int) -> Iterator[None]:
    """Make the folder for workers that start within the block; nothing to do for one process.

    Only this user can read it. Raises UserError where no folder can be made.
    """
    if workers < 2:
        yield
        return
    try:
        folder = tempfile.TemporaryDirectory(prefix="judge-service-", ignore_cleanup_errors=True)
    except OSError as error:
        raise UserError(
            f"several workers share their metrics in a temporary folder, and none can be made: "
            f"{error.strerror or error}; give one by TMPDIR, or say --workers 1"
        ) from None
    before = os.environ.get(SHARED_METRICS)
    with folder as path:
        os.environ[SHARED_METRICS] = path
        try:
            yield
        finally:
            del os.environ[SHARED_METRICS]
            if before is not None:
                os.environ[SHARED_METRICS] = before
