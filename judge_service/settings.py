"""All settings, read once from the environment; the only module that reads it.

Every ``JUDGE_SERVICE_*`` variable is also a flag of ``judge-service serve``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from judge_service.errors import ConfigError

PREFIX = "JUDGE_SERVICE_"
DEFAULT_JUDGES_FILE = Path("judges.toml")
LogLevel = Literal["debug", "info", "warning", "error"]
LOG_LEVELS: tuple[LogLevel, ...] = ("debug", "info", "warning", "error")
LogFormat = Literal["auto", "json", "text"]
LOG_FORMATS: tuple[LogFormat, ...] = ("auto", "json", "text")
DEFAULT_CACHE_TTL_S = 30 * 86400
DEFAULT_MAX_QUEUE = 256
MIN_SECRET_CHARS = 16
STORE_NAME = Path("judge-service") / "store.sqlite3"
W = TypeVar("W", bound=str)
_TRUE, _FALSE = frozenset({"1", "true", "yes", "on"}), frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How one service runs. Paths are as given; None means the default of each.

    ``store`` is the embedded store's file, ``default_store`` where it is when none was named;
    without either, nothing outlives the process.

    What may hold a secret is left out of the representation, so that no log shows it.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 1
    judges: Path | None = None
    rubrics_dir: Path | None = None
    anchors_dir: Path | None = None
    redis_url: str | None = field(default=None, repr=False)
    store: Path | None = None
    default_store: Path | None = None
    cache_ttl_s: int = DEFAULT_CACHE_TTL_S
    share_cache: bool = False
    max_queue: int = DEFAULT_MAX_QUEUE
    api_keys_file: Path | None = None
    secret: str | None = field(default=None, repr=False)
    secret_previous: str | None = field(default=None, repr=False)
    require_family: bool = False
    log_level: LogLevel = "info"
    log_format: LogFormat = "auto"
    log_texts: bool = False
    otel: bool = False
    allow_rubric_put: bool = False
    rule_modules: tuple[str, ...] = ()
    embedded_judge: bool = False
    local_model: Path | None = None
    local_model_family: str | None = None
    allow_unauthenticated: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ConfigError(f"{PREFIX}PORT: {self.port} is not a port")
        if self.workers < 1:
            raise ConfigError(f"{PREFIX}WORKERS: {self.workers} is less than 1")
        if self.store is not None and (not self.store.name or self.store.is_dir()):
            raise ConfigError(f"{PREFIX}STORE: {self.store} is a folder, not a file")
        if self.cache_ttl_s < 1:
            raise ConfigError(f"{PREFIX}CACHE_TTL_S: {self.cache_ttl_s} is less than a second")
        if self.max_queue < 0:
            raise ConfigError(f"{PREFIX}MAX_QUEUE: {self.max_queue} is less than 0")
        if self.redis_url and not self.secret:
            raise ConfigError(
                f"{PREFIX}SECRET: needed with {PREFIX}REDIS_URL, the same for all replicas"
            )
        if not self.api_keys_file and not self.on_loopback and not self.allow_unauthenticated:
            raise ConfigError(
                f"{PREFIX}HOST: {self.host} is reachable from other machines and there is no "
                f"{PREFIX}API_KEYS_FILE; set one, or say --allow-unauthenticated"
            )

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def beside_store(self, name: str) -> Path | None:
        """A file or folder beside the embedded store; None where nothing outlives the process."""
        store = self.store or self.default_store
        return None if store is None else store.parent / name

    def judges_file(self) -> Path | None:
        """The judges file to load, None for the embedded judge. Raises ConfigError.

        A file that was named must exist. Without any, the embedded judge serves only where nobody
        else could take it for a real one: on loopback, without API keys and without Redis.
        """
        if self.judges is not None:
            if not self.judges.is_file():
                raise ConfigError(f"{PREFIX}JUDGES: {self.judges}: no such file")
            return self.judges
        if self.embedded_judge:
            return None
        if DEFAULT_JUDGES_FILE.is_file():
            return DEFAULT_JUDGES_FILE
        if self.on_loopback and self.api_keys_file is None and self.redis_url is None:
            return None
        raise ConfigError(
            f"{PREFIX}JUDGES: no judges are configured; write a judges.toml, or say "
            "--embedded-judge to serve the small trial model"
        )


def from_env(environ: Mapping[str, str]) -> Settings:
    """Read the settings. Raises ConfigError that names the variable."""
    known = {name.upper() for name in Settings.__dataclass_fields__} - {"DEFAULT_STORE"}
    for variable in environ:
        name = variable.removeprefix(PREFIX)
        if variable.startswith(PREFIX) and name not in known | _CLIENT_SETTINGS:
            raise ConfigError(f"{variable}: there is no such setting")
    get = _Reader(environ)
    return Settings(
        host=get.text("HOST") or "127.0.0.1",
        port=get.number("PORT", 8080),
        workers=get.number("WORKERS", 1),
        judges=get.path("JUDGES"),
        rubrics_dir=get.path("RUBRICS_DIR"),
        anchors_dir=get.path("ANCHORS_DIR"),
        redis_url=get.text("REDIS_URL"),
        store=get.path("STORE"),
        default_store=_default_store(environ),
        cache_ttl_s=get.number("CACHE_TTL_S", DEFAULT_CACHE_TTL_S),
        share_cache=get.switch("SHARE_CACHE"),
        max_queue=get.number("MAX_QUEUE", DEFAULT_MAX_QUEUE),
        api_keys_file=get.path("API_KEYS_FILE"),
        secret=get.text("SECRET"),
        secret_previous=get.text("SECRET_PREVIOUS"),
        require_family=get.switch("REQUIRE_FAMILY"),
        log_level=get.word("LOG_LEVEL", LOG_LEVELS, "info"),
        log_format=get.word("LOG_FORMAT", LOG_FORMATS, "auto"),
        otel=get.switch("OTEL"),
        allow_rubric_put=get.switch("ALLOW_RUBRIC_PUT"),
        log_texts=get.switch("LOG_TEXTS"),
        rule_modules=get.words("RULE_MODULES"),
        embedded_judge=get.switch("EMBEDDED_JUDGE"),
        local_model=get.path("LOCAL_MODEL"),
        local_model_family=get.text("LOCAL_MODEL_FAMILY"),
        allow_unauthenticated=get.switch("ALLOW_UNAUTHENTICATED"),
    )


# Read by the clients, on the same machine perhaps; not a mistake here.
_CLIENT_SETTINGS = frozenset({"URL", "API_KEY", "RUBRIC", "TIMEOUT_S", "FAMILY", "POLICY_MODEL"})


@dataclass(frozen=True, slots=True)
class _Reader:
    environ: Mapping[str, str]

    def text(self, name: str) -> str | None:
        return self.environ.get(PREFIX + name, "").strip() or None

    def path(self, name: str) -> Path | None:
        value = self.text(name)
        try:
            return None if value is None else Path(value).expanduser()
        except RuntimeError:
            raise ConfigError(f"{PREFIX}{name}: {value}: there is no such home folder") from None

    def words(self, name: str) -> tuple[str, ...]:
        return tuple(w.strip() for w in (self.text(name) or "").split(",") if w.strip())

    def number(self, name: str, default: int) -> int:
        value = self.text(name)
        if value is None:
            return default
        if len(value) > 9 or not value.isascii() or not value.removeprefix("-").isdecimal():
            raise ConfigError(f"{PREFIX}{name}: {value[:80]!r} is not a whole number")
        return int(value)

    def switch(self, name: str) -> bool:
        value = (self.text(name) or "").lower()
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
        raise ConfigError(f"{PREFIX}{name}: {value!r} is neither 1 nor 0")

    def word(self, name: str, known: tuple[W, ...], default: W) -> W:
        value = (self.text(name) or default).lower()
        for word in known:
            if value == word:
                return word
        raise ConfigError(f"{PREFIX}{name}: {value!r} is none of {', '.join(known)}")


def _default_store(environ: Mapping[str, str]) -> Path | None:
    """Where programs keep their state by the XDG convention; None where there is no home."""
    base = environ.get("XDG_STATE_HOME", "")
    home = environ.get("HOME", "")
    if Path(base).is_absolute():
        return Path(base) / STORE_NAME
    return Path(home) / ".local" / "state" / STORE_NAME if Path(home).is_absolute() else None


def judge_keys(
    api_key_envs: Mapping[str, str | None], environ: Mapping[str, str]
) -> dict[str, str]:
    """API keys by judge id, from the variables that the judges name. Raises ConfigError."""
    keys: dict[str, str] = {}
    for judge, variable in api_key_envs.items():
        if variable is None:
            continue
        value = environ.get(variable, "").strip()
        if not value:
            raise ConfigError(f"judge {judge!r}: the variable {variable} (api_key_env) is not set")
        keys[judge] = value
    return keys
