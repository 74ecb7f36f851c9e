"""The service secret: given by the operator, or generated once and kept beside the store.

What is needed of it is derived for each purpose apart, so that one use tells nothing about another.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from judge_service.errors import ConfigError
from judge_service.settings import MIN_SECRET_CHARS, PREFIX, Settings

FILE_NAME = "secret"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServiceSecret:
    """``current`` signs and checks, ``previous`` only checks. ``generated`` says that no operator
    chose it.
    """

    current: bytes
    previous: bytes | None = None
    generated: bool = False

    def derived(self, purpose: str) -> tuple[bytes, ...]:
        """32 bytes for ``purpose``: of the current secret, then of the previous one if any."""
        given = (self.current, self.previous)
        return tuple(
            hmac.new(one, f"judge_service {purpose}".encode(), hashlib.sha256).digest()
            for one in given
            if one is not None
        )


def load_secret(settings: Settings) -> ServiceSecret:
    """The secret of the settings, else the one kept beside the store, else a new one.

    A new one is kept where there is a store, readable by this user only. Raises ConfigError.
    """
    previous = settings.secret_previous
    old = None if previous is None else previous.encode()
    if settings.secret is not None:
        return ServiceSecret(current=settings.secret.encode(), previous=old)
    store = settings.store or settings.default_store
    if store is None:
        return ServiceSecret(current=secrets.token_bytes(32), previous=old, generated=True)
    try:
        kept = _kept(store.parent / FILE_NAME)
    except OSError as error:
        if settings.store is not None:
            raise ConfigError(
                f"{PREFIX}STORE: {store.parent}: no secret can be kept there: "
                f"{error.strerror or error}"
            ) from None
        kept = secrets.token_hex(32)
    return ServiceSecret(current=kept.encode(), previous=old, generated=True)


def _kept(file: Path) -> str:
    """The secret in ``file``, made if missing. Of several processes that make it, one wins."""
    try:
        return _read(file)
    except FileNotFoundError:
        pass
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as out:
            out.write(secrets.token_hex(32) + "\n")
            out.flush()
            os.fsync(out.fileno())
        # A link is there whole or not at all, and never takes another one's place.
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)
    return _read(file)


def _read(file: Path) -> str:
    text = file.read_text(encoding="utf-8", errors="replace").strip()
    if len(text) < MIN_SECRET_CHARS:
        raise ConfigError(
            f"{file}: holds no secret of at least {MIN_SECRET_CHARS} characters; remove it to have "
            "a new one made (stored verdicts and key hashes then no longer count)"
        )
    return text
