"""From flags and environment to settings: a flag is the environment variable said on the spot."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import typer

from judge_service.errors import ConfigError
from judge_service.settings import PREFIX, Settings, from_env

SERVICE_FLAGS = (
    "judges_file",
    "rubrics_dir",
    "anchors_dir",
    "rule_modules",
    "require_family",
    "embedded_judge",
    "local_model",
    "local_model_family",
)
"""The settings that also matter where nothing listens."""
_FIELDS = {"judges_file": "judges"}
_LISTENING = ("HOST", "PORT", "WORKERS", "ALLOW_UNAUTHENTICATED")


def setting(
    *flags: str,
    var: str,
    text: str,
    default: str | None = None,
    panel: str = "Service",
) -> Any:
    """A Typer option for one setting. The variable stands in the help; ``from_env`` reads it."""
    tail = f"env {PREFIX}{var}" + (f", default {default}" if default else "")
    return typer.Option(
        *flags,
        help=f"{text} ({tail})",
        metavar=_metavar(var),
        show_default=False,
        rich_help_panel=panel,
    )


def _metavar(variable: str) -> str | None:
    """A short word for the value; the columns of the help are narrow."""
    if variable == "LOCAL_MODEL_FAMILY":
        return "WORD"
    last = variable.rpartition("_")[2]
    return {"DIR": "DIR", "FILE": "FILE", "JUDGES": "FILE", "STORE": "FILE", "MODULES": "NAME",
            "PORT": "N", "WORKERS": "N", "QUEUE": "N", "S": "N", "MODEL": "FILE", "URL": "URL",
            "LEVEL": "WORD", "FORMAT": "WORD", "HOST": "HOST", "SECRET": "TEXT",
            "PREVIOUS": "TEXT"}.get(last)  # fmt: skip


def overlay(environ: Mapping[str, str], flags: Mapping[str, object]) -> dict[str, str]:
    """``environ`` with the flags that were given, by field name of ``Settings``, laid over it."""
    laid = dict(environ)
    for name, value in flags.items():
        if value is None or value == []:
            continue
        variable = PREFIX + _FIELDS.get(name, name).upper()
        if isinstance(value, bool):
            laid[variable] = "1" if value else "0"
        elif isinstance(value, (list, tuple)):
            laid[variable] = ",".join(map(str, value))
        else:
            laid[variable] = str(value)
    return laid


def settings_of(
    flags: Mapping[str, object], *, listens: bool = False
) -> tuple[Settings, dict[str, str]]:
    """The settings of flags and environment, and the environment they stand in.

    Without ``listens`` the settings about listening are left aside. Raises ConfigError, which
    names the flag where one was given.
    """
    environ = overlay(os.environ, flags)
    if not listens:
        for name in _LISTENING:
            environ.pop(PREFIX + name, None)
    try:
        settings = from_env(environ)
        if settings.judges is not None:
            settings.judges_file()  # a file that was named must be there
        return settings, environ
    except ConfigError as error:
        raise ConfigError(_by_flag(str(error), flags)) from None


def _by_flag(message: str, flags: Mapping[str, object]) -> str:
    for name, value in flags.items():
        variable = PREFIX + _FIELDS.get(name, name).upper()
        if value is not None and message.startswith(variable + ":"):
            flag = "--" + name.replace("_", "-")
            return flag + message[len(variable) :]
    return message
