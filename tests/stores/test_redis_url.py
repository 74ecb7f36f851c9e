"""Redis URLs: what is understood, and that mistakes are told without telling the password."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_service.adapters.redis_url import RedisTarget, parse_redis_url
from judge_service.errors import ConfigError


def test_single() -> None:
    """Host, port, database, user and password, with defaults for all."""
    target = parse_redis_url("redis://ann:s%2Fcret@red.example:7000/5")

    assert (target.hosts, target.db) == ((("red.example", 7000),), 5)
    assert (target.username, target.password) == ("ann", "s/cret")
    assert parse_redis_url("redis://").hosts == (("localhost", 6379),)
    assert parse_redis_url("redis://[::1]:7000").hosts == (("::1", 7000),)
    assert parse_redis_url("redis://:pw@h").password == "pw"
    assert parse_redis_url("redis://h?db=4&password=pw").db == 4


def test_other_kinds() -> None:
    """TLS, socket, sentinels and clusters."""
    sentinel = parse_redis_url("rediss+sentinel://u:p@a:1,b,[::2]:3/main/2?sentinel_password=x")
    assert sentinel == RedisTarget(
        kind="sentinel",
        tls=True,
        hosts=(("a", 1), ("b", 26379), ("::2", 3)),
        service="main",
        db=2,
        username="u",
        password="p",
        sentinel_password="x",
    )
    cluster = parse_redis_url("redis+cluster://a:1,b")
    assert (cluster.kind, cluster.hosts) == ("cluster", (("a", 1), ("b", 6379)))
    unix = parse_redis_url("unix:///run/my%20redis.sock?db=1")
    assert (unix.path, unix.db, unix.where) == ("/run/my redis.sock", 1, "/run/my redis.sock")
    assert parse_redis_url("rediss://h?ssl_cert_reqs=none").tls_options == {
        "ssl_cert_reqs": "none",
        "ssl_check_hostname": False,
    }


def test_limits_of_the_url_change_nothing() -> None:
    """Timeouts of a URL that other programs use, too, are known and not used."""
    target = parse_redis_url("redis://h?socket_timeout=5&timeout=9&max_connections=3")

    assert target.not_used == ("socket_timeout", "timeout")
    assert target.connections == 3


@pytest.mark.parametrize(
    "url",
    [
        "hunter2",
        "http://:hunter2@h",
        "hunter2://h",
        "redis://:hunter2/x@h",
        "redis://:hunter2#x@h",
        "redis://:hunter2?x@h",
        "redis://:x@h:hunter2",
        "redis://h:99999",
        "redis://h:0",
        "redis://h/hunter2",
        "redis://h?hunter2=1",
        "redis://h?db=hunter2",
        "redis://h?max_connections=0",
        "redis://a,b",
        "redis://[::1",
        "redis://[::1]hunter2",
        "redis://h h",
        "redis+sentinel://h:26379",
        "redis+cluster://h/1",
        "unix://host/path",
        "unix://",
        "redis://h?ssl_cert_reqs=none",
        "rediss://h?ssl_cert_reqs=hunter2",
        "rediss://h?ssl_check_hostname=hunter2",
        "rediss://h?ssl_ca_certs=/hunter2",
    ],
)
def test_a_mistake_is_told_without_the_password(url: str) -> None:
    """A URL that cannot be right is a configuration error that names the variable and repeats
    nothing of the URL.
    """
    with pytest.raises(ConfigError, match=r"^JUDGE_SERVICE_REDIS_URL: ") as error:
        parse_redis_url(url)

    assert "hunter2" not in str(error.value)


def test_a_target_shows_no_password(tmp_path: Path) -> None:
    """Neither representation nor place shows credentials."""
    file = tmp_path / "ca.pem"
    file.write_text("x", encoding="ascii")
    target = parse_redis_url(
        f"rediss+sentinel://u:hunter2@a/main?sentinel_password=hunter3&ssl_ca_certs={file}"
    )

    assert "hunter" not in repr(target) + target.where
    assert target.where == "a:26379 (main)"
