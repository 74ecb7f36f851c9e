"""A virtual environment for each peer, made at first use beside the project's own."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.faults.stage import ROOT

REQUIREMENTS = Path(__file__).with_name("requirements")
FOLDER = ROOT / ".venv-peers"
COOLDOWN = "2026-11-15"
"""Nothing younger than this is installed: a release needs time to be found bad."""
BUILD_S = 900.0
QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DO_NOT_TRACK": "true",
    "HF_HUB_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOG": "ERROR",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_MODEL_CATALOG_URI": "",
    "OPENAI_API_KEY": "none",
    "SPEED_API_KEY": "none",
}
"""No telemetry, no downloads, and a key where one has to be."""


class CannotBuild(RuntimeError):
    """An environment could not be made; the message says why."""


def python_of(name: str) -> Path:
    """The interpreter of an environment with what ``requirements/<name>.txt`` asks for.

    Raises CannotBuild.
    """
    wanted = REQUIREMENTS / f"{name}.txt"
    folder = FOLDER / name
    stamp = folder / ".ready"
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()
    python = folder / "bin" / "python"
    if not (stamp.is_file() and stamp.read_text(encoding="utf-8") == digest):
        print(f"making {folder.relative_to(ROOT)} ...", file=sys.stderr, flush=True)
        uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
        _run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder))
        _run(
            uv, "pip", "install", "--quiet", "--python", str(python),
            "--exclude-newer", COOLDOWN, "-r", str(wanted),
        )  # fmt: skip
        stamp.write_text(digest, encoding="utf-8")
    return python


def environ(home: Path) -> dict[str, str]:
    """What a peer's process is told: a home of its own, and to be quiet."""
    return {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "LANG": "C.UTF-8"} | QUIET


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=BUILD_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuild(str(error)) from error
    if done.returncode:
        raise CannotBuild(" ".join(done.stderr.split())[-300:])
