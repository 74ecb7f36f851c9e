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
        # Begun once: to begin costs as much as all the rest.
        self._macs = [hmac.new(key, digestmod="sha256") for key in secret.derived(purpose)]

    def sign(self, key: str, body: bytes) -> bytes:
        """The bytes to keep under ``key``."""
        return _signed(self._macs[0], key, body) + body

    def check(self, key: str, data: bytes) -> bytes | None:
        """The body of ``data`` if it was signed here for ``key``; else None."""
        if len(data) <= _MAC_CHARS:
            return None
        mac, body = data[:_MAC_CHARS], data[_MAC_CHARS:]
        ours = any(hmac.compare_digest(mac, _signed(begun, key, body)) for begun in self._macs)
        return body if ours else None


def _signed(begun: hmac.HMAC, key: str, body: bytes) -> bytes:
    mac = begun.copy()
    mac.update(b"%d:%s%s" % (len(key), key.encode(), body))
    return mac.hexdigest().encode()
