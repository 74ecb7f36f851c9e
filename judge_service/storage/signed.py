"""Bytes that only this service can have written: behind a signature, bound to their key.

A store is not trusted. What is read from it counts only when it was signed with the service's
secret for this very key.
"""

from __future__ import annotations

import hmac

from judge_service.storage.secret import ServiceSecret

_MAC_CHARS = 64


class Signer:
    """Signs and checks for one ``purpose``, with keys derived from the service secret."""

    def __init__(self, secret: ServiceSecret, purpose: str) -> None:
        self._keys = secret.derived(purpose)

    def sign(self, key: str, body: bytes) -> bytes:
        """The bytes to keep under ``key``."""
        return self._mac(self._keys[0], key, body) + body

    def check(self, key: str, data: bytes) -> bytes | None:
        """The body of ``data`` if it was signed here for ``key``; else None."""
        if len(data) <= _MAC_CHARS:
            return None
        mac, body = data[:_MAC_CHARS], data[_MAC_CHARS:]
        ours = any(hmac.compare_digest(mac, self._mac(k, key, body)) for k in self._keys)
        return body if ours else None

    @staticmethod
    def _mac(secret: bytes, key: str, body: bytes) -> bytes:
        message = b"%d:%s%s" % (len(key), key.encode(), body)
        return hmac.digest(secret, message, "sha256").hex().encode()
