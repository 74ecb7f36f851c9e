"""The command line with two judges on the fake provider, as its own tests have it."""

from __future__ import annotations

from tests.cli.conftest import (
    _forget,
    _logging_as_before,
    cli,
    folder,
    here,
    provider,
    pytest_configure,
    service,
)

__all__ = [
    "_forget",
    "_logging_as_before",
    "cli",
    "folder",
    "here",
    "provider",
    "pytest_configure",
    "service",
]
