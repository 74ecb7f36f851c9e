"""Who a key belongs to: the keys of a file, which is looked at again while the service runs."""

from __future__ import annotations

import hmac
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from judge_service.access.keys_file import KeyEntry, Scope, key_hash, parse_keys, read_keys
from judge_service.errors import ConfigError

log = logging.getLogger("judge_service.keys")
REREAD_S = 0.5
"""How old what was read may be, in seconds: a file can change without its times telling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sends a request, and how much may be asked for in this name (None is no limit)."""

    name: str
    tenant: str
    scopes: frozenset[str]
    rpm: int | None = None
    daily_cost_usd: float | None = None

    def may(self, scope: Scope) -> bool:
        """Admins may do everything."""
        return scope in self.scopes or "admin" in self.scopes


OPERATOR = Caller(name="local", tenant="default", scopes=frozenset({"judge", "admin"}))
"""Who calls a service without a keys file: it listens on loopback, for its operator."""


class KeyRing:
    """The keys of a file. ``caller`` finds who a key belongs to.

    A hash may have been made with any of ``peppers``. A change of the file counts from the next
    request on, at the latest after ``REREAD_S``; a file that cannot be read leaves the keys as they
    are. ``clock`` gives seconds. Raises ConfigError for a file that is wrong from the start.
    """

    def __init__(
        self, file: Path, *peppers: bytes, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._file = file
        self._peppers = peppers
        self._clock = clock
        self._lock = threading.Lock()
        self._stamp = _stamp(file)
        self._read_at = clock()
        self._seen: bytes | str = read_keys(file)
        self._entries = parse_keys(self._seen, file)

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
        return Caller(
            name=found.name,
            tenant=found.tenant,
            scopes=frozenset(found.scopes),
            rpm=found.rpm,
            daily_cost_usd=found.daily_cost_usd,
        )

    def _reload(self) -> None:
        stamp, now = _stamp(self._file), self._clock()
        if stamp == self._stamp and now - self._read_at < REREAD_S:
            return
        with self._lock:
            self._stamp, self._read_at = stamp, now
            try:
                data = read_keys(self._file)
            except ConfigError as error:
                self._keep(str(error), str(error))
                return
            if data == self._seen:
                return
            try:
                self._entries = parse_keys(data, self._file)
            except ConfigError as error:
                self._keep(data, str(error))
                return
            self._seen = data
            log.info("the keys file was read again, it has %d keys", len(self._entries))

    def _keep(self, seen: bytes | str, why: str) -> None:
        """Go on with the keys there are, and say so once for each change."""
        if seen != self._seen:
            log.error("the keys file was changed and cannot be read, the old keys stay: %s", why)
        self._seen = seen


def _stamp(file: Path) -> tuple[int, int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
