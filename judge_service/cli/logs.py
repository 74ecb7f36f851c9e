"""What a running service logs, and how: to stderr, a line per event."""

from __future__ import annotations

import logging
from typing import Any


class NotSaidTwice(logging.Filter):
    """Leaves out what the command line says by itself: start-up warnings and failures."""

    def __init__(self) -> None:
        super().__init__()
        self._starting = True

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep a record, or not."""
        if record.name == "uvicorn.error":
            return not str(record.msg).startswith("Application startup failed")
        return record.levelno != logging.WARNING or record.funcName != "lifespan"


def log_config(level: str) -> dict[str, Any]:
    """The configuration for ``logging.config``; other libraries speak up only when it matters."""
    quiet = "DEBUG" if level == "debug" else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        },
        "filters": {"once": {"()": "judge_service.cli.logs.NotSaidTwice"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "stream": "ext://sys.stderr",
                "formatter": "line",
                "filters": ["once"],
            }
        },
        "root": {"level": quiet, "handlers": ["stderr"]},
        "loggers": {
            "judge_service": {"level": level.upper()},
            "uvicorn.error": {"level": quiet},
            "httpx": {"level": "WARNING"},
            "httpcore": {"level": "WARNING"},
            "LiteLLM": {"level": "WARNING"},
        },
    }
