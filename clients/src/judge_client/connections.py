"""What the environment says about connections: whose certificates count, and which proxy is asked.

It is looked at when settings are loaded, for what cannot be right there is wrong for every call.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from urllib.request import getproxies

import httpx

from judge_client.errors import ConfigError

_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def check(scheme: str, *, is_local: bool) -> None:
    """Raises ConfigError where the environment allows no connection to such an address."""
    if scheme == "https" or not is_local:
        _checked(scheme, is_local, tuple(sorted(_told(_CERTIFICATES + _PROXIES).items())))


@lru_cache(maxsize=64)
def _checked(scheme: str, is_local: bool, environment: tuple[tuple[str, str], ...]) -> None:
    """The same; once for each environment, since a trainer may load settings for every sample."""
    try:
        verify = certificates(scheme)
    except (OSError, ValueError) as error:
        names = _named(_CERTIFICATES)
        raise ConfigError(f"{names}: no certificates to be read there: {error}") from None
    if is_local:
        return
    try:
        httpx.AsyncClient(verify=verify)
        ports = [httpx.URL(_address(proxy)).port for proxy in _proxies()]
    except ImportError as missing:
        raise ConfigError(f"{_named(_PROXIES)}: {missing}") from None
    except (httpx.InvalidURL, ValueError, OSError):
        # Not the address itself, which may hold a password.
        raise ConfigError(f"{_named(_PROXIES)}: no address of a proxy that can be asked") from None
    if not all(port is None or 0 < port < 65_536 for port in ports):
        raise ConfigError(f"{_named(_PROXIES)}: no port that a proxy can have")


def certificates(scheme: str) -> ssl.SSLContext:
    """Whom to trust. Reading it takes a tenth of a second, in which a loop stands still; it is the
    same for every pool of the process. Without TLS it is nobody, and nothing is read.

    Raises OSError and ValueError.
    """
    told = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    return _context(*told) if scheme == "https" else _nobody()


@lru_cache(maxsize=8)
def _context(file: str | None, folder: str | None) -> ssl.SSLContext:
    """What httpx reads from there, or its own."""
    return httpx.create_ssl_context()


@lru_cache(maxsize=1)
def _nobody() -> ssl.SSLContext:
    """It verifies, and knows no authority."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _proxies() -> list[str]:
    found = getproxies()
    return [found[kind] for kind in ("http", "https", "all") if found.get(kind)]


def _address(proxy: str) -> str:
    return proxy if "://" in proxy else f"http://{proxy}"


def _told(names: tuple[str, ...]) -> dict[str, str]:
    """The environment's variables of these names, written large or small."""
    wanted = {name.lower() for name in names}
    return {name: value for name, value in os.environ.items() if name.lower() in wanted and value}


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(sorted(_told(names))) or "the system's settings"
