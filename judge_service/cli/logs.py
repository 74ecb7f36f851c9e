"""What a running service logs, and how: one line per record on stderr, JSON or plain."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from judge_service.api.request_note import current_note
from judge_service.errors import ConfigError
from judge_service.settings import Settings

ACCESS_FIELDS = (
    "method", "path", "route", "status", "duration_ms", "client", "outcome", "code", "outcomes",
    "failed", "upstream_requests",
)  # fmt: skip
"""What a record of the access log may say beside its message."""
MAX_MESSAGE = 2_000
MAX_FRAMES = 16
MAX_CAUSES = 4
_SAID_IN_MESSAGE = frozenset({"method", "path", "route", "status", "duration_ms"})
_PLAIN = re.compile(r"[\w.:/+@-]+", re.ASCII)
# Whose messages are known to hold no caller's texts; of asyncio's, that is the first line.
_KNOWN = ("judge_service", "uvicorn", "opentelemetry", "asyncio")
# Whose messages say what an operator has to do, and repeat no texts. Outside of requests (while
# the service starts) there are no texts to repeat.
_TELLING = (ConfigError, OSError, ImportError)


class NotSaidTwice(logging.Filter):
    """Leaves out what the command line says by itself: start-up warnings and failures."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep a record, or not."""
        if record.name == "uvicorn.error":
            return not str(record.msg).startswith("Application startup failed")
        return record.levelno != logging.WARNING or record.funcName != "lifespan"


class Lines(logging.Formatter):
    """A record as a line of ``key=value`` pairs behind its message.

    Only known fields are told. What may hold a caller's or a judge's text (messages of other
    libraries and of exceptions) appears as a hash unless ``log_texts``.
    """

    def __init__(self, *, log_texts: bool = False) -> None:
        super().__init__()
        self._log_texts = log_texts

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        said = self.fields(record)
        head = f"{said.pop('ts')} {said.pop('level')} {said.pop('logger')}: {said.pop('message')}"
        pairs = [
            f"{name}={_quoted(value)}"
            for name, value in said.items()
            if name not in _SAID_IN_MESSAGE
        ]
        return _printable(" ".join([head, *pairs]))

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """What is told of a record, in order."""
        when = datetime.fromtimestamp(record.created, UTC)
        said: dict[str, Any] = {
            "ts": when.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._message(record),
        }
        note = current_note()
        if note is not None:
            said["request_id"] = note.request_id
        access = getattr(record, "access", None)
        if isinstance(access, Mapping):
            said |= {name: access[name] for name in ACCESS_FIELDS if access.get(name) is not None}
        texts = getattr(record, "texts", None)
        if isinstance(texts, list):
            said["texts"] = [self._text(str(text)) for text in texts]
        if record.exc_info and record.exc_info[1] is not None:
            said["exception"] = self._exception(record.exc_info[1])
        return said

    def _message(self, record: logging.LogRecord) -> str:
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            message = str(record.msg)
        library = record.name.partition(".")[0]
        if library == "asyncio":
            message = message.partition("\n")[0]
        elif library not in _KNOWN:
            message = self._text(message)
        return message[:MAX_MESSAGE]

    def _text(self, text: str) -> str:
        if self._log_texts:
            return text
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"({len(text)} characters, sha256 {digest})"

    def _exception(self, error: BaseException, depth: int = 0) -> str:
        """Type, message and where, innermost frame first, then what it was caused by."""
        text = str(error)[:MAX_MESSAGE]
        if text and not isinstance(error, _TELLING) and current_note() is not None:
            text = self._text(text)
        frames = [
            f"{_short(frame.f_code.co_filename)}:{line} {frame.f_code.co_name}"
            for frame, line in traceback.walk_tb(error.__traceback__)
        ][-MAX_FRAMES:]
        where = " < ".join(reversed(frames))
        said = type(error).__name__ + (f": {text}" if text else "") + (f" [{where}]" * bool(where))
        inner = list(error.exceptions) if isinstance(error, BaseExceptionGroup) else []
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        inner += [cause] if cause is not None else []
        if depth < MAX_CAUSES:
            for one in inner[:MAX_CAUSES]:
                said += f" from {self._exception(one, depth + 1)}"
        return said


class JsonLines(Lines):
    """A record as one JSON object, ASCII only, so that it is one line whatever it holds."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return json.dumps(self.fields(record), default=str)


def log_config(settings: Settings) -> dict[str, Any]:
    """The configuration for ``logging.config``; other libraries speak up only when it matters."""
    quiet = "DEBUG" if settings.log_level == "debug" else "WARNING"
    as_json = settings.log_format == "json" or (
        settings.log_format == "auto" and not sys.stderr.isatty()
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": f"judge_service.cli.logs.{'JsonLines' if as_json else 'Lines'}",
                "log_texts": settings.log_texts,
            },
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
            "judge_service": {"level": settings.log_level.upper()},
            "uvicorn.error": {"level": quiet},
            "httpx": {"level": "WARNING"},
            "httpcore": {"level": "WARNING"},
            "LiteLLM": {"level": "WARNING"},
        },
    }


def _short(path: str) -> str:
    """The last parts of a path: enough to find the file, and nothing of this machine's folders."""
    return "/".join(path.replace("\\", "/").rsplit("/", 3)[-3:])


def _printable(text: str) -> str:
    """Without line breaks and terminal controls, which are escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _quoted(value: object) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
