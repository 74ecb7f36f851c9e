"""The file of API keys: hashes, their pepper, and every check at load."""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path

import pytest

from judge_service.api.auth import KeyRing, key_hash, pepper_of
from judge_service.errors import ConfigError

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
