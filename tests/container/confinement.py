"""Running the built wheel as nobody in particular, confined as far as this machine allows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).with_name("confined.sh")
NOBODY = 65534


def may_confine() -> bool:
    """Whether this user may have mounts of its own: root, where the machine lets it."""
    if os.geteuid() != 0:
        return False
    command = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt && setpriv --version"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """Folders of one run. ``app`` is the unpacked wheel, ``state`` what may be written.

    Everything below asks ``whole``: whether the root is read-only, or only the user unprivileged.
    """

    app: Path
    config: Path
    state: Path
    whole: bool

    @property
    def config_seen(self) -> Path:
        """Where the service sees its configuration."""
        return Path("/mnt/config") if self.whole else self.config

    @property
    def state_seen(self) -> Path:
        """Where the service sees its state."""
        return Path("/mnt/state") if self.whole else self.state

    def command(self, *arguments: str) -> list[str]:
        """Python with the arguments, confined."""
        if self.whole:
            return ["unshare", "--mount", "sh", str(SCRIPT), self._python(), *arguments]
        if os.geteuid() == 0:
            return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                    "--no-new-privs", "--", sys.executable, *arguments]  # fmt: skip
        return [sys.executable, *arguments]

    def _python(self) -> str:
        real = Path(sys.executable).resolve()
        return str(Path("/mnt/python") / real.relative_to(Path(sys.base_prefix).resolve()))

    def environ(self, more: Mapping[str, str]) -> dict[str, str]:
        """What the image sets, and nothing of the machine's own."""
        site = sysconfig.get_path("purelib")
        app = "/mnt/app" if self.whole else str(self.app)
        folders = {
            "PYTHON": str(Path(sys.base_prefix).resolve()),
            "SITE": site,
            "APP": str(self.app),
            "CONFIG": str(self.config),
            "STATE": str(self.state),
        }
        return {
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": "/nonexistent",
            "PYTHONSAFEPATH": "1",
            "PYTHONPATH": f"{app}:/mnt/site" if self.whole else f"{app}:{site}",
            "PYTHONUNBUFFERED": "1",
            # A Python that was built as a library finds it where it was built.
            **(folders | {"LD_LIBRARY_PATH": "/mnt/python/lib"} if self.whole else {}),
            **more,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A service that listens on ``url``."""

    process: subprocess.Popen[str]
    url: str

    def status(self) -> dict[str, str]:
        """What the kernel says of the process."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines()
        pairs = (line.partition(":") for line in lines)
        return {name: value.strip() for name, _, value in pairs}

    def root_options(self) -> list[str]:
        """How the root of the process is mounted."""
        text = Path(f"/proc/{self.process.pid}/mountinfo").read_text(encoding="utf-8")
        (options,) = [line.split()[5] for line in text.splitlines() if line.split()[4] == "/"]
        return options.split(",")


@contextmanager
def serving(where: Confinement, log: Path, **settings: str) -> Iterator[Running]:
    """Run ``judge-service serve`` until the block ends."""
    environ = {f"JUDGE_SERVICE_{name.upper()}": value for name, value in settings.items()}
    with log.open("w", encoding="utf-8") as err:
        process = subprocess.Popen(
            where.command("-m", "judge_service.cli", "serve", "--json", "--port", "0"),
            env=where.environ(environ), cwd=where.config,
            stdout=subprocess.PIPE, stderr=err, text=True,
        )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, log.read_text(encoding="utf-8")[-2000:]
        yield Running(process=process, url=json.loads(line)["url"])
    finally:
        process.kill()
        process.communicate()
