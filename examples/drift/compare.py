"""Compares the judges of judges.toml on gold.jsonl, and says what to look at next.

TRUSTED_URL and CHEAP_URL are the addresses of the two, where they are not those in judges.toml; the
reports go to the folder named on the command line, or to this one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SERVICE = [sys.executable, "-m", "judge_service.cli"]
ADDRESSES = {
    "TRUSTED_URL": "http://127.0.0.1:8091/v1",
    "CHEAP_URL": "http://127.0.0.1:8092/v1",
}
SAYS = {0: "no drift", 2: "drift", 3: "not enough evidence"}
NEXT = """
This was exit code {code}: {says}. In CI, 0 lets a change of judges through. Look at next
  {page}
      the whole report, with both verdicts and reasons of the items that changed most
  "gate" above
      a judge below 0.6 against people is not fit to train with, whether it drifted or not
  "group flips" above
      what a training run would feel: orderings of answers to one prompt that turn round or vanish
  docs/drift.md
      the same with judges of your own: their names in judges.toml, 50 labelled items in gold.jsonl
"""


def main() -> None:
    """Ask both judges, print the card and write the page. Exits with 1 where that failed."""
    # Whoever ends this ends the comparison, too.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: sys.exit(1))
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else HERE).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    judges = folder / "judges-here.toml"
    judges.write_text(with_addresses(), encoding="utf-8")
    page = folder / "drift.html"

    compare = [
        *SERVICE, "drift", "--gold", str(HERE / "gold.jsonl"), "--judges-file", str(judges),
        "--baseline", "trusted,quick-look", "--candidate", "cheap,quick-look",
        "--timeout", "300", "--concurrency", "2", "--top", "3",
        "--runs", str(folder / "drift.runs"),
    ]  # fmt: skip
    code = run([*compare, "--overwrite", "--format", "text"])
    # The second time nobody is asked: the report is made from the runs that were kept.
    run([*compare, "--out", str(page)])
    print(NEXT.format(code=code, says=SAYS[code], page=page))


def with_addresses() -> str:
    """judges.toml with the addresses of this run."""
    text = (HERE / "judges.toml").read_text(encoding="utf-8")
    for name, usual in ADDRESSES.items():
        text = text.replace(usual, os.environ.get(name, usual))
    return text


def run(command: list[str]) -> int:
    """Run a comparison to its end; its exit code where it is a finding."""
    code = subprocess.run(command, check=False).returncode  # noqa: S603 - a command of ours
    if code not in SAYS:
        raise SystemExit(1)
    return code


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped")
