"""Reads the Redis URL: which servers, which database, which credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NoReturn
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from judge_service.errors import ConfigError
from judge_service.settings import PREFIX

Kind = Literal["single", "unix", "sentinel", "cluster"]
SCHEMES: dict[str, tuple[Kind, bool]] = {
    "redis": ("single", False),
    "rediss": ("single", True),
    "unix": ("unix", False),
    "redis+sentinel": ("sentinel", False),
    "rediss+sentinel": ("sentinel", True),
    "redis+cluster": ("cluster", False),
    "rediss+cluster": ("cluster", True),
}
CONNECTIONS = 8
MAX_CONNECTIONS = 512
OWN_OPTIONS = frozenset(
    {"db", "username", "password", "sentinel_username", "sentinel_password", "max_connections"}
)
TLS_FILES = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"})
TLS_OPTIONS = TLS_FILES | {"ssl_cert_reqs", "ssl_check_hostname"}
# Found in URLs that serve several programs. The limits of the service hold whatever they say.
NOT_USED = frozenset(
    {
        "timeout", "socket_timeout", "socket_connect_timeout", "socket_keepalive", "protocol",
        "retry_on_timeout", "health_check_interval", "client_name", "decode_responses", "encoding",
    }
)  # fmt: skip
_YES, _NO = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisTarget:
    """Where Redis is. ``connections`` is how many one process may use; ``tls_options`` are
    redis-py's ``ssl_*`` arguments; ``not_used`` names options of the URL that change nothing.
    """

    kind: Kind
    tls: bool
    hosts: tuple[tuple[str, int], ...] = ()
    path: str | None = None
    service: str | None = None
    db: int = 0
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    sentinel_username: str | None = field(default=None, repr=False)
    sentinel_password: str | None = field(default=None, repr=False)
    connections: int = CONNECTIONS
    tls_options: Mapping[str, str | bool] = field(default_factory=lambda: MappingProxyType({}))
    not_used: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The place, for people; without credentials."""
        if self.path is not None:
            return self.path
        hosts = ",".join(f"[{h}]:{p}" if ":" in h else f"{h}:{p}" for h, p in self.hosts)
        return hosts if self.service is None else f"{hosts} ({self.service})"


def parse_redis_url(url: str) -> RedisTarget:
    """Raises ConfigError that names the variable and repeats nothing of the URL, for any part of
    a URL that was written wrongly may be a piece of the password.
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        _refuse("it is not a URL")
    if parts.scheme not in SCHEMES:
        _refuse(f"it must begin with one of {', '.join(f'{s}://' for s in SCHEMES)}")
    if parts.fragment:
        _refuse("write # / ? @ in a user name or password as %23 %2F %3F %40")
    kind, tls = SCHEMES[parts.scheme]
    options = _options(parts)
    user, password = _credentials(parts, options)
    hosts, path, service = _place(parts, kind)
    target = RedisTarget(
        kind=kind,
        tls=tls,
        hosts=hosts,
        path=path,
        service=service,
        db=_database(parts, kind, options),
        username=user,
        password=password,
        sentinel_username=options.get("sentinel_username"),
        sentinel_password=options.get("sentinel_password"),
        connections=_number(options.get("max_connections", str(CONNECTIONS)), "max_connections"),
        tls_options=MappingProxyType(_tls(options)),
        not_used=tuple(sorted(NOT_USED & options.keys())),
    )
    if not 1 <= target.connections <= MAX_CONNECTIONS:
        _refuse(f"max_connections must be 1 to {MAX_CONNECTIONS}")
    if target.tls_options and not tls:
        _refuse("ssl_ options need a URL that begins with rediss")
    return target


def _refuse(why: str) -> NoReturn:
    raise ConfigError(f"{PREFIX}REDIS_URL: {why}")


def _options(parts: SplitResult) -> dict[str, str]:
    known = OWN_OPTIONS | TLS_OPTIONS | NOT_USED
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not options.keys() <= known:
        _refuse(f"an option after ? is none of {', '.join(sorted(known))}")
    return options


def _credentials(parts: SplitResult, options: Mapping[str, str]) -> tuple[str | None, str | None]:
    given = parts.netloc.rpartition("@")[0]
    user, _, password = given.partition(":")
    return (
        unquote(user) or options.get("username") or None,
        unquote(password) or options.get("password") or None,
    )


def _place(
    parts: SplitResult, kind: Kind
) -> tuple[tuple[tuple[str, int], ...], str | None, str | None]:
    """Hosts, socket path and sentinel service."""
    given = parts.netloc.rpartition("@")[2]
    if kind == "unix":
        if given or not parts.path.startswith("/"):
            _refuse("a socket is written as unix:///path/to/redis.sock")
        return (), unquote(parts.path), None
    default = 26379 if kind == "sentinel" else 6379
    hosts = tuple(_host(one, default) for one in given.split(","))
    if kind == "single" and len(hosts) > 1:
        _refuse("several hosts need redis+sentinel:// or redis+cluster://")
    if kind != "sentinel":
        return hosts, None, None
    service = unquote(parts.path.strip("/").partition("/")[0])
    if not service:
        _refuse(
            "a sentinel URL ends with the name of the service: redis+sentinel://host:26379/name"
        )
    return hosts, None, service


def _host(given: str, default: int) -> tuple[str, int]:
    if given.startswith("["):
        host, closed, port = given[1:].partition("]")
        if not closed or (port and not port.startswith(":")):
            _refuse("a host is not written rightly")
        port = port[1:]
    else:
        host, _, port = given.partition(":")
    if any(c in host for c in " \t[]") or (port and not port.isdecimal()):
        _refuse("a port is not a number (write / ? # @ in a password as %2F %3F %23 %40)")
    number = int(port[:6]) if port else default
    if not 1 <= number <= 65535:
        _refuse("a port is not between 1 and 65535")
    return unquote(host) or "localhost", number


def _database(parts: SplitResult, kind: Kind, options: Mapping[str, str]) -> int:
    path = "" if kind == "unix" else parts.path.strip("/")
    if kind == "sentinel":
        path = path.partition("/")[2]
    db = _number(options.get("db") or path or "0", "the database")
    if kind == "cluster" and db:
        _refuse("a cluster has database 0 only")
    return db


def _number(text: str, what: str) -> int:
    if not text.isdecimal() or not text.isascii() or len(text) > 9:
        _refuse(f"{what} is not a number")
    return int(text)


def _tls(options: Mapping[str, str]) -> dict[str, str | bool]:
    found: dict[str, str | bool] = {name: options[name] for name in TLS_OPTIONS & options.keys()}
    for name in TLS_FILES & found.keys():
        if not Path(str(found[name])).is_file():
            _refuse(f"{name}: no such file")
    if found.get("ssl_cert_reqs", "required") not in ("required", "optional", "none"):
        _refuse("ssl_cert_reqs is none of required, optional, none")
    if (check := str(found.get("ssl_check_hostname", "yes")).lower()) not in _YES | _NO:
        _refuse("ssl_check_hostname is neither true nor false")
    if "ssl_check_hostname" in found or found.get("ssl_cert_reqs") == "none":
        # A certificate that is not checked has no name to check either.
        found["ssl_check_hostname"] = check in _YES and found.get("ssl_cert_reqs") != "none"
    return found
