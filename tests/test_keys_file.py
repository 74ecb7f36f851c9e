"""The file of API keys: hashes, their pepper, and every check at load."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
from pathlib import Path

import pytest

from judge_service.access.key_ring import KeyRing
from judge_service.access.keys_file import key_hash, load_keys, pepper_of, peppers_of
from judge_service.errors import ConfigError
from judge_service.settings import Settings
from judge_service.storage.secret import ServiceSecret, load_secret

ALICE = secrets.token_urlsafe(32)


def entry(name: str, key: str, pepper: bytes = b"") -> str:
    """A ``[[keys]]`` table."""
    return f'[[keys]]\nname = "{name}"\nsha256 = "{key_hash(pepper, key)}"\ntenant = "{name}"\n'


def test_the_hash_without_a_secret_is_plain_sha256() -> None:
    """Where no secret is set, an entry can be made with any tool."""
    assert pepper_of(None) == b""
    assert key_hash(b"", "a-key") == hashlib.sha256(b"a-key").hexdigest()


def test_the_pepper_comes_from_the_secret(tmp_path: Path) -> None:
    """An entry made under a secret is valid under that secret only."""
    file = tmp_path / "keys.toml"
    file.write_text(entry("alice", ALICE, pepper=pepper_of("one secret")), "utf-8")

    known = KeyRing(file, pepper_of("one secret")).caller(ALICE)

    assert known is not None
    assert (known.name, known.tenant, known.may("judge"), known.may("admin")) == (
        "alice", "alice", True, False,
    )  # fmt: skip
    assert KeyRing(file, pepper_of("another secret")).caller(ALICE) is None
    assert KeyRing(file, pepper_of(None)).caller(ALICE) is None
    assert b"one secret" not in pepper_of("one secret")


def test_the_pepper_of_a_secret_never_changes() -> None:
    """Keys that were handed out stay valid through every release."""
    digest = hmac.new(b"a secret of old", b"judge_service key pepper", hashlib.sha256).digest()

    assert pepper_of("a secret of old") == digest
    given = load_secret(Settings(secret="a secret of old", secret_previous="an older secret"))
    assert peppers_of(given) == (digest, pepper_of("an older secret"))


def test_without_a_secret_the_kept_one_and_none_count(tmp_path: Path) -> None:
    """Keys may be hashed with the secret beside the store, or, as before there was one, plainly."""
    secret = load_secret(Settings(store=tmp_path / "store.sqlite3"))
    kept = (tmp_path / "secret").read_text("ascii").strip()
    file = tmp_path / "keys.toml"
    file.write_text(entry("new", "1", pepper_of(kept)) + entry("old", "2"), "utf-8")

    ring = KeyRing(file, *peppers_of(secret))

    assert [getattr(ring.caller(key), "name", None) for key in "123"] == ["new", "old", None]
    assert peppers_of(ServiceSecret(current=kept.encode())) == (pepper_of(kept),)


def test_two_keys_of_a_name_are_one_client(tmp_path: Path) -> None:
    """While a key is replaced both open; scopes may be told in any order."""
    one, two = 'rpm = 5\nscopes = ["judge", "admin"]\n', 'scopes = ["admin", "judge"]\nrpm = 5\n'
    file = tmp_path / "keys.toml"
    file.write_text(entry("a", "1") + one + entry("a", "2") + two, "utf-8")

    ring = KeyRing(file, b"")

    assert ring.caller("1") == ring.caller("2")
    assert len(load_keys(file)) == 2


GOOD_HASH = "0" * 64
BROKEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "no TOML": ("[[keys", ("not TOML",)),
    "other table": ('[[users]]\nname = "a"\n', ("[[keys]]",)),
    "one table": ('[keys]\nname = "a"\n', ("[[keys]]",)),
    "list of texts": ('keys = ["a"]\n', ("keys[1]",)),
    "no hash": ('[[keys]]\nname = "a"\n', ("keys[1]", "sha256")),
    "the key itself": ('[[keys]]\nname = "a"\nsha256 = "secret"\n', ("keys[1]", "sha256")),
    "hash in capitals": (
        f'[[keys]]\nname = "a"\nsha256 = "{"A" * 64}"\n', ("keys[1]", "sha256"),
    ),
    "no name": (f'[[keys]]\nsha256 = "{GOOD_HASH}"\n', ("keys[1]", "name")),
    "unknown scope": (
        f'[[keys]]\nname = "a"\nsha256 = "{GOOD_HASH}"\nscopes = ["root"]\n',
        ("keys[1]", "scopes[0]"),
    ),
    "unknown field": (
        f'[[keys]]\nname = "a"\nsha256 = "{GOOD_HASH}"\nadmin = true\n',
        ("keys[1]", "admin", "unknown field"),
    ),
    "rpm of 0": (
        f'[[keys]]\nname = "a"\nsha256 = "{GOOD_HASH}"\nrpm = 0\n', ("keys[1]", "rpm"),
    ),
    "control in a name": (
        f'[[keys]]\nname = "a\\u0007"\nsha256 = "{GOOD_HASH}"\n', ("keys[1]", "name"),
    ),
    "endless money": (
        f'[[keys]]\nname = "a"\nsha256 = "{GOOD_HASH}"\ndaily_cost_usd = inf\n',
        ("keys[1]", "daily_cost_usd"),
    ),
    "third key": (
        entry("a", "1") + entry("b", "2") + entry("a", "3") + entry("a", "4"),
        ("keys[4]", "'a'", "2 keys"),
    ),
    "one key twice": (entry("a", "1") + entry("b", "1"), ("keys[2]", "same key as keys[1]")),
    "two tenants of a name": (
        entry("a", "1") + entry("a", "2").replace('tenant = "a"', 'tenant = "b"'),
        ("keys[2]", "tenant", "'a'"),
    ),
    "two quotas of a name": (
        entry("a", "1") + "rpm = 5\n" + entry("a", "2"), ("keys[2]", "rpm", "'a'"),
    ),
    "two budgets of a name": (
        entry("a", "1") + entry("a", "2") + "daily_cost_usd = 5\n",
        ("keys[2]", "daily_cost_usd", "'a'"),
    ),
    "two scopes of a name": (
        entry("a", "1") + entry("a", "2") + 'scopes = ["admin"]\n', ("keys[2]", "scopes", "'a'"),
    ),
    "second entry": (entry("a", ALICE) + '[[keys]]\nname = "b"\n', ("keys[2]", "sha256")),
}  # fmt: skip


@pytest.mark.parametrize(("text", "told"), BROKEN.values(), ids=BROKEN)
def test_a_broken_keys_file_is_a_start_error(
    tmp_path: Path, text: str, told: tuple[str, ...]
) -> None:
    """File, entry and field are named; values, which may be keys, are not."""
    file = tmp_path / "keys.toml"
    file.write_text(text, "utf-8")

    with pytest.raises(ConfigError) as raised:
        KeyRing(file, b"")

    assert all(part in str(raised.value) for part in (str(file), *told))
    assert "secret" not in str(raised.value)


def test_a_missing_keys_file_is_a_start_error(tmp_path: Path) -> None:
    """A service whose keys cannot be read does not start."""
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        KeyRing(tmp_path / "nowhere.toml", b"")


class Clock:
    """Seconds that pass when they are told to."""

    now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def test_a_change_that_cannot_be_seen_is_read_all_the_same(tmp_path: Path) -> None:
    """Same size, same times, same place: the new keys count within a second."""
    file, clock = tmp_path / "keys.toml", Clock()
    file.write_text(entry("a", "1"), "utf-8")
    stamp = file.stat()
    ring = KeyRing(file, b"", clock=clock)
    assert ring.caller("1")
    file.write_text(entry("a", "2"), "utf-8")
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    clock.now = 1.0

    assert ring.caller("1") is None
    assert ring.caller("2")


def test_one_line_for_each_change_that_cannot_be_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """However often the file is looked at, and however it breaks; the keys stay."""
    file, clock = tmp_path / "keys.toml", Clock()
    file.write_text(entry("a", "1"), "utf-8")
    ring = KeyRing(file, b"", clock=clock)

    def errors(times: int = 5) -> int:
        caplog.clear()
        for _ in range(times):
            clock.now += 1.0
            assert ring.caller("1")
        return sum(record.levelno == logging.ERROR for record in caplog.records)

    assert errors() == 0
    file.write_text("[[keys", "utf-8")
    assert errors() == 1
    file.write_text("[[keys]]", "utf-8")
    assert errors() == 1
    file.unlink()
    assert errors() == 1
    file.mkdir()
    assert errors() == 1
    file.rmdir()
    file.write_text(entry("a", "1"), "utf-8")
    assert errors() == 0
    file.unlink()
    assert errors() == 1
