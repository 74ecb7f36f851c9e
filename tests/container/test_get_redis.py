"""``tools/get-redis.sh``: takes what is there, gets what is not, and says what went wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "get-redis.sh"
PROGRAMS = ("bash", "sh", "env", "mktemp", "mkdir", "rm", "cat", "find", "sort", "paste", "chmod",
            "tee", "printf")  # fmt: skip
WORKS = "#!/bin/sh\necho Redis server v=7\n"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A PATH of one folder, with the usual programs and neither Redis nor apt."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found is not None, name
        (folder / name).symlink_to(found)
    program(folder, "id", "#!/bin/sh\necho 1000\n")
    return folder


def program(folder: Path, name: str, text: str) -> None:
    """A program of that name."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)


def ran(machine: Path) -> subprocess.CompletedProcess[str]:
    """Run the script on that machine."""
    environ = {"PATH": str(machine), "HOME": str(machine.parent), "VENV": str(machine.parent / "v"),
               "CALLS": str(machine.parent / "calls")}  # fmt: skip
    return subprocess.run(
        ["bash", str(SCRIPT)], env=environ, cwd=machine.parent, capture_output=True, text=True,
        timeout=30, check=False,
    )  # fmt: skip


def test_what_is_on_the_path_is_taken(machine: Path) -> None:
    """Nothing is installed, nothing is said."""
    program(machine, "redis-server", WORKS)

    for _ in range(2):
        found = ran(machine)
        assert (found.returncode, found.stdout, found.stderr) == (0, "", "")
    assert not (machine.parent / "v").exists()


def test_one_that_does_not_run(machine: Path) -> None:
    """Is told, not replaced."""
    program(machine, "redis-server", "#!/bin/sh\nexit 127\n")

    found = ran(machine)

    assert found.returncode == 1
    assert "does not run" in found.stderr


def test_no_way_to_get_one(machine: Path) -> None:
    """Without apt the message says what to do."""
    found = ran(machine)

    assert found.returncode == 1
    assert "could not be had" in found.stderr
    assert "apt-get install redis-server" in found.stderr


def test_root_installs_it_without_starting_a_service(machine: Path) -> None:
    """With root's rights Debian's package is installed, its service kept from starting."""
    policy = machine.parent / "policy-rc.d"
    program(machine, "id", "#!/bin/sh\necho 0\n")
    program(
        machine,
        "apt-get",
        f'#!/bin/sh\necho "$@" >>"$CALLS"\n[ -x "{policy}" ] && echo quiet >>"$CALLS"\n'
        f"printf '#!/bin/sh\\necho v=7\\n' >{machine}/redis-server\n"
        f"chmod 755 {machine}/redis-server\n",
    )
    script = SCRIPT.read_text(encoding="utf-8")
    copied = machine.parent / "get-redis.sh"
    copied.write_text(script.replace("/usr/sbin/policy-rc.d", str(policy)), encoding="utf-8")

    found = subprocess.run(
        ["bash", str(copied)], cwd=machine.parent, capture_output=True, text=True, timeout=30,
        env={"PATH": str(machine), "VENV": "v", "CALLS": str(machine.parent / "calls")},
        check=False,
    )  # fmt: skip
    calls = (machine.parent / "calls").read_text(encoding="utf-8").splitlines()

    assert found.returncode == 0, found.stderr
    assert calls == ["install -y -q --no-install-recommends redis-server", "quiet"]
    assert not policy.exists()


def test_a_user_unpacks_a_copy(machine: Path) -> None:
    """Without root's rights the package is unpacked beside the environment, once."""
    program(
        machine,
        "apt-get",
        '#!/bin/sh\necho "$@" >>"$CALLS"\nfor name; do :; done\n: >"$name.deb"\n',
    )
    program(
        machine,
        "dpkg",
        '#!/bin/sh\nmkdir -p "$3/usr/bin"\n'
        "printf '#!/bin/sh\\necho v=7\\n' >\"$3/usr/bin/redis-server\"\n"
        'chmod 755 "$3/usr/bin/redis-server"\n',
    )

    first, again = ran(machine), ran(machine)
    calls = (machine.parent / "calls").read_text(encoding="utf-8").splitlines()

    assert first.returncode == 0, first.stderr
    assert (again.returncode, again.stderr) == (0, "")
    assert os.access(machine.parent / "v" / "redis" / "bin" / "redis-server", os.X_OK)
    assert calls[0] == "download -q redis-server redis-tools"
    assert len([call for call in calls if "redis-server" in call]) == 1
