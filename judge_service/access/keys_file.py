"""The file of API keys: what an entry says, how keys are hashed, and every check at load."""

from __future__ import annotations

import hashlib
import secrets
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from judge_service.errors import ConfigError
from judge_service.rubric.library import explain
from judge_service.storage.secret import ServiceSecret

PEPPER_PURPOSE = "key pepper"
KEY_PREFIX = "jsk_"
KEY_BYTES = 32
MAX_KEY_CHARS = 512
MAX_PER_NAME = 2
"""How many keys of one name are valid together: one in use, and the one that takes its place."""
Scope = Literal["judge", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
Name = Annotated[
    str, StringConstraints(min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]+$")
]


class KeyEntry(BaseModel):
    """One ``[[keys]]`` table. ``sha256`` is the hex digest of pepper and key; ``rpm`` are requests
    a minute, ``daily_cost_usd`` dollars in a day of UTC; None is no limit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    tenant: Name = "default"
    rpm: Annotated[int, Field(ge=1)] | None = None
    daily_cost_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    scopes: tuple[Scope, ...] = ("judge",)


def new_key() -> str:
    """A key: the prefix by which scanners find it, and 256 random bits."""
    return KEY_PREFIX + secrets.token_urlsafe(KEY_BYTES)


def key_hash(pepper: bytes, key: str) -> str:
    """SHA-256 (hex) of pepper and key. Keys are random 256-bit words, so no slow hash is needed."""
    return hashlib.sha256(pepper + key.encode("utf-8", "surrogatepass")).hexdigest()


def pepper_of(secret: str | None) -> bytes:
    """The pepper that a secret given by an operator makes; without one it is empty."""
    if secret is None:
        return b""
    return ServiceSecret(current=secret.encode()).derived(PEPPER_PURPOSE)[0]


def peppers_of(secret: ServiceSecret) -> tuple[bytes, ...]:
    """Every pepper a hash may have been made with, the one for new hashes first.

    Where no operator chose the secret, plain SHA-256 counts too: it needs no secret to make.
    """
    found = secret.derived(PEPPER_PURPOSE)
    return (*found, b"") if secret.generated else found


def load_keys(file: Path) -> tuple[KeyEntry, ...]:
    """The entries of a keys file. Raises ConfigError that names file, entry and field."""
    return parse_keys(read_keys(file), file)


def read_keys(file: Path) -> bytes:
    """The bytes of a keys file. Raises ConfigError."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from None


def parse_keys(data: bytes, file: Path) -> tuple[KeyEntry, ...]:
    """The entries in ``data``, which stands in ``file``. Raises ConfigError; no value is named."""
    try:
        found = tomllib.loads(data.decode("utf-8-sig"))
    except RecursionError:
        raise ConfigError(f"{file}: not TOML: nested too deeply") from None
    except ValueError as error:
        raise ConfigError(f"{file}: not TOML: {error}") from None
    tables = found.get("keys", [])
    if set(found) - {"keys"} or not isinstance(tables, list):
        raise ConfigError(f"{file}: keys are [[keys]] tables, there is nothing else in this file")
    entries = []
    for number, table in enumerate(tables, start=1):
        try:
            entries.append(KeyEntry.model_validate(table))
        except ValidationError as error:
            raise ConfigError(f"{file}: keys[{number}]: {'; '.join(explain(error))}") from None
    check_together(entries, str(file))
    return tuple(entries)


def check_together(entries: Sequence[KeyEntry], where: str) -> None:
    """What no entry can be blamed for alone. Raises ConfigError that names ``where`` and entry."""
    numbers: dict[str, int] = {}
    named: defaultdict[str, list[KeyEntry]] = defaultdict(list)
    for number, entry in enumerate(entries, start=1):
        place = f"{where}: keys[{number}]"
        if entry.sha256 in numbers:
            first = numbers[entry.sha256]
            raise ConfigError(f"{place}: sha256: the same key as keys[{first}]")
        numbers[entry.sha256] = number
        same = named[entry.name]
        same.append(entry)
        if len(same) > MAX_PER_NAME:
            raise ConfigError(
                f"{place}: name: {entry.name!r} has {MAX_PER_NAME} keys already, as many as may "
                "be valid together; take one out"
            )
        for field in ("tenant", "scopes", "rpm", "daily_cost_usd"):
            if _of(entry, field) != _of(same[0], field):
                raise ConfigError(f"{place}: {field}: not as in the other key of {entry.name!r}")


def _of(entry: KeyEntry, field: str) -> object:
    return set(entry.scopes) if field == "scopes" else getattr(entry, field)
