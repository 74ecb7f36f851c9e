"""A real service for a trainer's environment: started by the project's own Python, which has what
the service needs.

Run as a script it serves until its input ends, and prints where: the shipped rubrics, or with a
marker a rubric that compares.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT_PYTHON = os.environ.get("PROJECT_PYTHON") or str(ROOT / ".venv" / "bin" / "python")


@contextmanager
def real_service(*marker: str) -> Iterator[str]:
    """The address of a service whose judge finds good what says so.

    With a ``marker`` its rubric ``pair`` compares by a number of each text, and the judge has no
    usable reply where the marker is in the prompt.
    """
    if not Path(PROJECT_PYTHON).exists():
        raise AssertionError(
            f"no {PROJECT_PYTHON}: run make install, or set PROJECT_PYTHON to a Python with the "
            "project's requirements"
        )
    process = subprocess.Popen(
        [PROJECT_PYTHON, __file__, *marker],
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


@contextmanager
def numbered(folder: Path, marker: str) -> Iterator[str]:
    """The address of the service with a marker."""
    from tests.clients.digits import digits
    from tests.provider import behaviours

    with digits(folder) as made:
        made.provider.oracle(lambda text: 1 + zlib.crc32(text.encode()) % 5)
        silent = behaviours.says("I would rather talk about something else.")
        made.provider.behave(
            "main",
            behaviours.when(
                lambda seen: marker in seen.slots["prompt"], silent, behaviours.honest()
            ),
        )
        yield made.url


@contextmanager
def goods(folder: Path) -> Iterator[str]:
    """The address of the service without one."""
    from tests.clients.trainer_service import shipped
    from tests.provider import FakeProvider

    with FakeProvider(tolerant=True) as provider, shipped(provider, folder) as service:
        yield service.url


def main() -> None:
    """Serve until the input ends."""
    with tempfile.TemporaryDirectory() as folder:
        made = numbered(Path(folder), sys.argv[1]) if len(sys.argv) > 1 else goods(Path(folder))
        with made as url:
            print(url, flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()
