"""An app that starts at once, for what signals do to the processes around it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from judge_service.cli.workers import heed_parent


def stub() -> Any:
    """An app that answers with its pid: to ``/held`` once its folder has a file of the name
    ``go``, to others at once. Its own ending is noted in a file; where there is one of the name
    ``slow`` it never comes to an end.
    """
    heed_parent()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            assert (await receive())["type"] == "lifespan.startup"
            await send({"type": "lifespan.startup.complete"})
            assert (await receive())["type"] == "lifespan.shutdown"
            if _is_slow():
                await asyncio.Event().wait()
            _note_the_end()
            await send({"type": "lifespan.shutdown.complete"})
            return
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.disconnect":
            return
        while scope["path"] == "/held" and not _may_go():  # noqa: ASYNC110 - a test's process says
            await asyncio.sleep(0.01)
        body = str(os.getpid()).encode()
        length = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        await send({"type": "http.response.body", "body": body})

    return app


def _may_go() -> bool:
    return Path("go").exists()


def _is_slow() -> bool:
    return Path("slow").exists()


def _note_the_end() -> None:
    Path(f"ended.{os.getpid()}").touch()
