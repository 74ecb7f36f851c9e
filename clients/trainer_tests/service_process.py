"""A real service for a trainer's environment: started by the project's own Python, which has what
the service needs.

Run as a script it serves the shipped rubrics until its input ends, and prints where.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT_PYTHON = os.environ.get("PROJECT_PYTHON") or str(ROOT / ".venv" / "bin" / "python")


@contextmanager
def real_service() -> Iterator[str]:
    """The address of a service whose judge finds good what says so."""
    if not Path(PROJECT_PYTHON).exists():
        raise AssertionError(
            f"no {PROJECT_PYTHON}: run make install, or set PROJECT_PYTHON to a Python with the "
            "project's requirements"
        )
    process = subprocess.Popen(
        [PROJECT_PYTHON, __file__],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("http://"), "the service did not start"
        yield line.strip()
    finally:
        process.stdin.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


def main() -> None:
    """Serve until the input ends."""
    from tests.clients.trainer_service import shipped
    from tests.provider import FakeProvider

    with (
        FakeProvider(tolerant=True) as provider,
        tempfile.TemporaryDirectory() as folder,
        shipped(provider, Path(folder)) as service,
    ):
        print(service.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
