"""A service in a process of its own, on a port that another one can take over after its end."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.polling import WITHIN_S

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def service_process(folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """The process, once it serves what is in ``folder``; killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.clients.service_worker", str(folder), str(port)],
        cwd=ROOT, text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", "the service did not start"
        yield process
    finally:
        process.kill()
        process.wait(WITHIN_S)
        if process.stdout is not None:
            process.stdout.close()


def main() -> None:
    """Serve until killed."""
    import uvicorn

    from judge_service.api.app import create_app
    from judge_service.api.door import door_options
    from judge_service.settings import Settings

    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    settings = Settings(
        judges=folder / "judges.toml",
        rubrics_dir=folder / "rubrics",
        anchors_dir=folder / "anchors",
    )

    class Server(uvicorn.Server):
        """Says when it listens."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            """Begin to listen."""
            await super().startup(sockets)
            print("ready", flush=True)

    options = door_options(None)
    app = create_app(settings, {})
    Server(uvicorn.Config(app, **options, host="127.0.0.1", port=port, log_level="warning")).run()


if __name__ == "__main__":
    main()
