"""Who is calling: API keys as ``Authorization: Bearer``, checked against their hashes.

The keys file is read again when it changes, so a key can be revoked without a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.requests import Request

from judge_service.api.problems import Problem
from judge_service.errors import ConfigError
from judge_service.library import explain, read_toml

log = logging.getLogger("judge_service.auth")
MAX_KEY_CHARS = 512
Scope = Literal["judge", "admin"]


class KeyEntry(BaseModel):
    """One ``[[keys]]`` table: ``sha256`` is the hex digest of pepper and key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    tenant: Annotated[str, StringConstraints(min_length=1, max_length=64)] = "default"
    rpm: Annotated[int, Field(ge=1)] | None = None
    daily_cost_usd: Annotated[float, Field(gt=0)] | None = None
    scopes: tuple[Scope, ...] = ("judge",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """An authenticated caller."""

    name: str
    tenant: str
    scopes: frozenset[str]

    def may(self, scope: Scope) -> bool:
        """Admins may do everything."""
        return scope in self.scopes or "admin" in self.scopes


OPERATOR = Caller(name="local", tenant="default", scopes=frozenset({"judge", "admin"}))
"""Who calls a service without a keys file: it listens on loopback, for its operator."""


def pepper_of(secret: str | None) -> bytes:
    """The pepper of key hashes, derived from the service secret apart from its other uses."""
    if secret is None:
        return b""
    return hmac.new(secret.encode(), b"judge_service key pepper", hashlib.sha256).digest()


def key_hash(pepper: bytes, key: str) -> str:
    """SHA-256 (hex) of pepper and key. Keys are random 256-bit words, so no slow hash is needed."""
    return hashlib.sha256(pepper + key.encode("utf-8", "surrogatepass")).hexdigest()


class KeyRing:
    """The keys of a file. ``caller`` finds who a key belongs to.

    A hash may have been made with any of ``peppers``, so that a change of the service secret does
    not lock everybody out.
    """

    def __init__(self, file: Path, *peppers: bytes) -> None:
        self._file = file
        self._peppers = peppers
        self._lock = threading.Lock()
        self._entries = _load(file)
        self._stamp = _stamp(file)

    def caller(self, key: str) -> Caller | None:
        """The owner of ``key``, or None. Every hash is compared, each in constant time."""
        self._reload()
        found: KeyEntry | None = None
        for digest in [key_hash(pepper, key).encode() for pepper in self._peppers]:
            for entry in self._entries:
                if hmac.compare_digest(entry.sha256.encode(), digest):
                    found = entry
        if found is None:
            return None
        return Caller(name=found.name, tenant=found.tenant, scopes=frozenset(found.scopes))

    def _reload(self) -> None:
        stamp = _stamp(self._file)
        if stamp == self._stamp:
            return
        with self._lock:
            if stamp == self._stamp:
                return
            try:
                self._entries = _load(self._file)
            except ConfigError as error:
                log.error(
                    "the keys file was changed and cannot be read, the old keys stay: %s", error
                )
            self._stamp = stamp


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _load(file: Path) -> Sequence[KeyEntry]:
    data = read_toml(file)
    tables = data.get("keys", [])
    if set(data) - {"keys"} or not isinstance(tables, list):
        raise ConfigError(f"{file}: keys are [[keys]] tables, there is nothing else in this file")
    entries = []
    for number, table in enumerate(tables, start=1):
        try:
            entries.append(KeyEntry.model_validate(table))
        except ValidationError as error:
            raise ConfigError(f"{file}: keys[{number}]: {'; '.join(explain(error))}") from None
    return entries


def authenticate(request: Request, ring: KeyRing | None) -> Caller:
    """The caller of a request. Raises Problem 401, or 403 where the key may not judge."""
    if ring is None:
        return OPERATOR
    values = request.headers.getlist("authorization")
    scheme, _, key = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    key = key.strip()
    caller = None
    if scheme.lower() == "bearer" and 0 < len(key) <= MAX_KEY_CHARS:
        caller = ring.caller(key)
    if caller is None:
        raise Problem(
            401,
            "unauthenticated",
            "send a valid key as Authorization: Bearer",
            headers={"WWW-Authenticate": "Bearer"},
        )
    if not caller.may("judge"):
        raise Problem(403, "forbidden", "this key may not judge")
    return caller
