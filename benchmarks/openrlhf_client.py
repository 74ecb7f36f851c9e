"""OpenRLHF's own client against the real service: what a training run would be told.

``python -m benchmarks.openrlhf_client [--wheel FILE]`` takes the client out of the wheel of
``OPENRLHF`` (downloaded from PyPI without its dependencies), into a folder that is removed again,
and lets it fetch rewards while the judge works, stumbles, is away and stays away. Exit code 1 when
any answer is not what it should be.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import logging
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider, behaviours, faults

OPENRLHF = "openrlhf==0.11.2"
FILES = ("openrlhf/utils/agent.py", "openrlhf/utils/logging_utils.py")
PROMPT = "<|im_start|>user\nQuestion {}?<|im_end|>\n<|im_start|>assistant\n"
AWAY_S = 10.0
DROP = "on_fail=drop&filtering=on&budget_s=3"


@dataclass(frozen=True, slots=True)
class Row:
    """One scenario: what the client made of it, in how many seconds, and what is wrong with it."""

    scenario: str
    told: str
    seconds: float
    fault: str | None


class Characters:
    """A tokenizer whose tokens are characters."""

    def __call__(self, text: str, **_: object) -> dict[str, Any]:
        """The ids of a text, as a batch of one."""
        return {"input_ids": [SimpleNamespace(tolist=lambda: [ord(char) for char in text])]}

    def decode(self, tokens: list[int], **_: object) -> str:
        """The text of ids."""
        return "".join(map(chr, tokens))


class Engine:
    """A policy that says one thing."""

    def __init__(self, text: str) -> None:
        self._text = f"{text}<|im_end|>"

    async def generate(self, *_: object, **__: object) -> Any:
        """Its only answer."""
        tokens = [ord(char) for char in self._text]
        output = SimpleNamespace(token_ids=tokens, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def client_of(wheel: Path | None, folder: Path) -> Any:
    """The client's class, from a wheel."""
    if wheel is None:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", OPENRLHF, "--no-deps", "--quiet",
             "--disable-pip-version-check", "--dest", str(folder)],
            check=True,
        )  # fmt: skip
        wheel = next(folder.glob("openrlhf-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            for wanted in FILES:
                if name.endswith(wanted):
                    target = folder / "client" / wanted
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(name))
    sys.path.insert(0, str(folder / "client"))
    module = importlib.import_module("openrlhf.utils.agent")
    logging.getLogger("openrlhf").setLevel(logging.CRITICAL)
    return module.SingleTurnAgentExecutor


class Run:
    """All scenarios against one service."""

    def __init__(self, client: Any, service: RunningService, provider: FakeProvider) -> None:
        self._client = client
        self._service = service
        self._provider = provider
        self._asked = 0

    async def rollout(self, text: str, query: str = "", rubric: str = "quality") -> Any:
        """One response's reward as the trainer has it, and its score."""
        self._asked += 1
        return await self._roll(text, self._asked, query, rubric)

    async def _roll(self, text: str, prompt: int, query: str, rubric: str) -> Any:
        url = f"{self._service.url}/adapters/openrlhf/{rubric}/get_reward?{query}"
        output = await self._client(url).execute(
            prompt=PROMPT.format(prompt), label=None,
            sampling_params=SimpleNamespace(max_tokens=100, logprobs=None), max_length=10_000,
            hf_tokenizer=Characters(), llm_engine=Engine(text),
        )  # fmt: skip
        return output["reward"], output["scores"], output["extra_logs"]

    async def works(self) -> str | None:
        """Eight at once."""
        found = await asyncio.gather(*(self.rollout(f"{1 + n % 5} x") for n in range(8)))
        return wrong([reward for reward, _, _ in found], [[(n % 5) / 4] for n in range(8)])

    async def stumbles(self) -> str | None:
        """Two judge failures before every verdict."""
        self._provider.behave("main", [faults.status_error(503)] * 8 + [behaviours.honest()])
        found = await asyncio.gather(*(self.rollout("4 x") for _ in range(8)))
        return wrong([reward for reward, _, _ in found], [[0.75]] * 8)

    async def away(self) -> str | None:
        """The judge is away for a while."""
        back = time.monotonic() + AWAY_S
        self._provider.behave(
            "main",
            behaviours.when(
                lambda _: time.monotonic() < back, faults.status_error(503), behaviours.honest()
            ),
        )
        found = await asyncio.gather(*(self.rollout("4 x") for _ in range(8)))
        return wrong([reward for reward, _, _ in found], [[0.75]] * 8)

    async def group(self) -> str | None:
        """A group of four, one by one."""
        self._asked += 1
        texts = ("4 a", "2 b", "5 c", "1 d")
        found = await asyncio.gather(
            *(self._roll(text, self._asked, "group=4", "pair") for text in texts)
        )
        ranks = [logs.get("rank") for _, _, logs in found]
        return wrong(ranks, [[2.0], [3.0], [1.0], [4.0]])

    async def dropped(self) -> str | None:
        """The judge stays away; the trainer filters."""
        self._provider.behave("main", faults.status_error(503))
        reward, score, logs = await self.rollout("4 x", DROP)
        return wrong((reward, score, logs.get("judge_failed")), ([0.0], [-1e6], [1.0]))

    async def lost(self) -> str | None:
        """The judge stays away; the trainer does not filter: no reward, after five tries."""
        self._provider.behave("main", faults.status_error(503))
        reward, score, _ = await self.rollout("4 x", "budget_s=0.5")
        return wrong((reward, score), (None, None))


def wrong(found: object, wanted: object) -> str | None:
    """What is wrong, if anything is."""
    return None if found == wanted else f"{found} instead of {wanted}"


async def run_all(run: Run, provider: FakeProvider) -> list[Row]:
    """Every scenario, one after the other."""
    scenarios: list[Callable[[], Awaitable[str | None]]] = [
        run.works, run.stumbles, run.away, run.group, run.dropped, run.lost,
    ]  # fmt: skip
    rows = []
    for scenario in scenarios:
        provider.reset()
        began = time.monotonic()
        fault = await scenario()
        told = f"{len(provider.requests)} calls"
        title = (scenario.__doc__ or "").strip().rstrip(".")
        rows.append(Row(title, told, time.monotonic() - began, fault))
    return rows


def main() -> int:
    """Print the table; 0 when every answer was right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {OPENRLHF}, if it is here")
    wheel: Path | None = parser.parse_args().wheel
    with FakeProvider() as provider, tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        client = client_of(wheel, folder)
        provider.oracle(lambda text: int(text[0]))
        write_rubric(folder)
        write_rubric(folder, "pair", kind="compare")
        with judged_by(Judges(provider).add("main", "alpha"), folder, breaker=False) as service:
            rows = asyncio.run(run_all(Run(client, service, provider), provider))
    table = Table(title=f"The client of {OPENRLHF}")
    for column in ("scenario", "upstream", "seconds", ""):
        table.add_column(column)
    for row in rows:
        table.add_row(row.scenario, row.told, f"{row.seconds:.1f}", row.fault or "as it should be")
    Console().print(table)
    return int(any(row.fault for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
