"""``judge-service keys``: made once, listed without secrets, revoked while the service runs."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from judge_service.access.keys_file import key_hash, load_keys, pepper_of
from tests.cli.conftest import Cli, cli
from tests.keys.keyed import SECRET, entry, keyed

__all__ = ["cli"]

KEY = re.compile(r"jsk_[A-Za-z0-9_-]{43}")
ENV = {"JUDGE_SERVICE_SECRET": SECRET}


def test_a_new_key_is_printed_once_with_its_entry(cli: Cli, tmp_path: Path) -> None:
    """What to paste is a whole entry: with it the key opens."""
    options = ["--tenant", "red", "--rpm", 60, "--daily-cost-usd", 2.5, "--scope", "admin"]
    ran = cli("keys", "new", "ann", *options, env=ENV)

    (key,) = KEY.findall(ran.out + ran.err)
    assert ran.code == 0
    assert ran.out.splitlines()[0] == key
    assert not (tmp_path / "keys.toml").exists()
    (tmp_path / "keys.toml").write_text("\n".join(ran.out.splitlines()[1:]), "utf-8")
    (made,) = load_keys(tmp_path / "keys.toml")
    assert (made.name, made.tenant, made.rpm, made.daily_cost_usd, made.scopes) == (
        "ann", "red", 60, 2.5, ("admin",),
    )  # fmt: skip
    assert made.sha256 == key_hash(pepper_of(SECRET), key)


def test_keys_differ(cli: Cli) -> None:
    """Every key is drawn anew."""
    assert cli("keys", "new", "a", env=ENV).out != cli("keys", "new", "a", env=ENV).out


FILE = f"""# Who may call.  (kept)

# the trainer
{entry("trainer", "1", rpm=600)}
scopes = ["judge"]   # no more than that

# nightly runs
[[ keys ]] # of the CI
name = 'ci'
sha256 = "{"a" * 64}"
scopes = [
  "judge", # to judge
]
# the end
"""


def test_appending_keeps_what_is_there(cli: Cli, tmp_path: Path) -> None:
    """Comments and order stay as they were; the file can be used at once."""
    file = tmp_path / "access.toml"
    file.write_text(FILE, "utf-8")

    ran = cli("keys", "new", "ann", "--append", "--file", file, env=ENV)

    assert ran.code == 0
    assert KEY.fullmatch(ran.out.strip())
    text = file.read_text("utf-8")
    assert text.startswith(FILE.rstrip())
    assert not KEY.search(text)
    assert [e.name for e in load_keys(file)] == ["trainer", "ci", "ann"]
    assert [e.name for e in tmp_path.iterdir()] == ["access.toml"]


def test_a_new_file_is_for_its_owner_alone(cli: Cli, tmp_path: Path) -> None:
    """A file that is there keeps its mode: the service has to go on reading it."""
    cli("keys", "new", "ann", "--append", env=ENV)
    file = tmp_path / "keys.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600

    file.chmod(0o640)
    cli("keys", "new", "ben", "--append", env=ENV)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert len(load_keys(file)) == 2


def test_a_second_key_is_as_the_first(cli: Cli, tmp_path: Path) -> None:
    """It takes tenant, scopes and quotas; a third, or one that differs, is refused."""
    first = ["--tenant", "red", "--rpm", 7, "--scope", "admin", "--scope", "judge"]
    cli("keys", "new", "ann", "--append", *first, env=ENV)
    differs = cli("keys", "new", "ann", "--append", "--rpm", 8, env=ENV)
    second = cli("keys", "new", "ann", "--append", env=ENV)
    third = cli("keys", "new", "ann", "--append", env=ENV)

    assert [r.code for r in (differs, second, third)] == [1, 0, 1]
    assert "rpm" in differs.err
    assert "2 keys" in third.err
    one, two = load_keys(tmp_path / "keys.toml")
    assert one.model_dump(exclude={"sha256"}) == two.model_dump(exclude={"sha256"})


@pytest.mark.parametrize(
    "text",
    ["", "\n", "# nobody yet", "keys = []\n", f'keys = [{{name = "b", sha256 = "{"b" * 64}"}}]\n',
     FILE.replace("\n", "\r\n"), "\ufeff" + FILE],
    ids=["empty", "line", "comment", "empty list", "list", "CRLF", "BOM"],
)  # fmt: skip
def test_every_form_of_file_can_be_changed(cli: Cli, tmp_path: Path, text: str) -> None:
    """Put in and taken out again, nothing else has changed."""
    file = tmp_path / "keys.toml"
    file.write_bytes(text.encode())
    before = load_keys(file)

    assert cli("keys", "new", "ann", "--append", env=ENV).code == 0
    between = load_keys(file)
    assert cli("keys", "revoke", "ann").code == 0

    assert [e.name for e in between] == [*(e.name for e in before), "ann"]
    assert load_keys(file) == before
    assert file.read_bytes().decode("utf-8-sig").rstrip() == text.lstrip("\ufeff").rstrip()


def test_revoking_keeps_the_comments(cli: Cli, tmp_path: Path) -> None:
    """What others wrote about their keys stays where it is."""
    file = tmp_path / "keys.toml"
    file.write_text(FILE, "utf-8")

    ran = cli("keys", "revoke", "trainer")

    assert ran.code == 0
    text = file.read_text("utf-8")
    assert [e.name for e in load_keys(file)] == ["ci"]
    for line in (
        "# Who may call.  (kept)",
        "# nightly runs",
        "# the end",
        "[[ keys ]] # of the CI",
    ):
        assert line in text
    assert "no more than that" not in text


def test_one_of_two_keys_is_revoked_by_its_hash(cli: Cli, tmp_path: Path) -> None:
    """After a rotation the old key goes; a hash that fits none or both changes nothing."""
    file = tmp_path / "keys.toml"
    file.write_text(entry("ann", "1") + entry("ann", "2"), "utf-8")
    one, two = load_keys(file)

    assert cli("keys", "revoke", "ann", "--hash", "").code == 1
    assert cli("keys", "revoke", "ann", "--hash", "zz").code == 1
    assert cli("keys", "revoke", "ben").code == 1
    assert cli("keys", "revoke", "ben", "--hash", one.sha256[:8]).code == 1
    assert load_keys(file) == (one, two)
    assert cli("keys", "revoke", "ann", "--hash", one.sha256[:8]).code == 0
    assert load_keys(file) == (two,)


def test_the_list_tells_no_hash(cli: Cli, tmp_path: Path) -> None:
    """Names, tenants, scopes, quotas, and enough of the hash to name a key by."""
    file = tmp_path / "keys.toml"
    file.write_text(entry("ann", "1", rpm=60) + entry("ben", "2", scopes=["admin"]), "utf-8")

    shown, machine = cli("keys", "list"), cli("keys", "list", "--json")

    ann, ben = load_keys(file)
    assert ann.sha256[:8] in shown.out
    assert ann.sha256[:9] not in shown.out + machine.out
    assert machine.json["keys"][1] == {
        "name": "ben", "tenant": "ben", "scopes": ["admin"], "rpm": None,
        "daily_cost_usd": None, "hash": ben.sha256[:8],
    }  # fmt: skip


def test_the_file_may_come_from_the_environment(cli: Cli, tmp_path: Path) -> None:
    """The one the service reads."""
    file = tmp_path / "elsewhere.toml"
    env = {**ENV, "JUDGE_SERVICE_API_KEYS_FILE": str(file)}

    assert cli("keys", "new", "ann", "--append", env=env).code == 0
    assert "ann" in cli("keys", "list", env=env).out
    assert cli("keys", "revoke", "ann", env=env).code == 0
    assert load_keys(file) == ()


def test_without_a_secret_the_kept_one_is_used(cli: Cli, tmp_path: Path) -> None:
    """The one beside the store of the service, and the user is told which that is."""
    ran = cli("keys", "new", "ann", "--append", "--store", tmp_path / "state" / "store.sqlite3")

    kept = tmp_path / "state" / "secret"
    (made,) = load_keys(tmp_path / "keys.toml")
    assert made.sha256 == key_hash(pepper_of(kept.read_text("ascii").strip()), ran.out.strip())
    assert str(kept) in ran.err.replace("\n", "")


def test_without_any_secret_no_key_is_made(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash that no service could check is of no use."""
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", "")

    ran = cli("keys", "new", "ann")

    assert ran.code == 1
    assert not ran.out
    assert "JUDGE_SERVICE_SECRET" in ran.err


@pytest.mark.parametrize(
    "args",
    [("new", ""), ("new", "n" * 65), ("new", "a\nb"), ("new", "a", "--scope", "root"),
     ("new", "a", "--daily-cost-usd", "nan"), ("new", "a", "--daily-cost-usd", 0),
     ("new", "a", "--file", "no/such/folder/keys.toml", "--append"),
     ("new", "a", "--append", "--file", "broken.toml"), ("list", "--file", "nowhere.toml"),
     ("list", "--file", "broken.toml"), ("revoke", "a", "--file", "nowhere.toml"),
     ("revoke", "a", "--file", "broken.toml"), ("list", "--file", ".")],
    ids=str,
)  # fmt: skip
def test_a_mistake_is_one_line(cli: Cli, tmp_path: Path, args: tuple[object, ...]) -> None:
    """On stderr, and nothing is written."""
    (tmp_path / "broken.toml").write_text("[[keys]]\nname = 5\n", "utf-8")

    ran = cli("keys", *args, env=ENV)

    assert ran.code == 1
    assert not ran.out
    assert len(ran.err.strip().splitlines()) == 1
    assert ran.err.startswith("error: ")
    assert [e.name for e in tmp_path.iterdir()] == ["broken.toml"]


def test_a_running_service_follows(cli: Cli, tmp_path: Path) -> None:
    """Made, used, replaced and revoked, without a restart."""
    with keyed(tmp_path) as own:
        file = ("--file", own.keys)
        old = cli("keys", "new", "ann", "--append", *file, env=ENV).out.strip()
        assert own.assess(old).status_code == 200
        new = cli("keys", "new", "ann", "--append", *file, env=ENV).out.strip()
        assert [own.assess(key).status_code for key in (old, new)] == [200, 200]
        digest = key_hash(pepper_of(SECRET), old)[:8]
        assert cli("keys", "revoke", "ann", "--hash", digest, *file).code == 0
        assert [own.assess(key).status_code for key in (old, new)] == [401, 200]
        assert cli("keys", "revoke", "ann", *file).code == 0
        assert own.assess(new).status_code == 401
