"""What a fresh verdict costs the service in processor time, and how much of it LiteLLM would be.

``python -m benchmarks.assess_cost`` runs, in turns against one fast provider: the service as it is,
the same service with every judge asked through LiteLLM, and a bare loop of ``litellm.acompletion``.
It prints processor milliseconds per assess and per compare, and their ratios. Medians over rounds
in turns tell the ratio well also on a machine that does other things.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import gc
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import uvloop

from benchmarks.faults.load import Answered, Ask, assess, compare, run
from benchmarks.faults.rubrics import judges_toml, write_rubrics
from benchmarks.faults.stage import ROOT, SECRET, Service, upstream
from tests.provider import by_hand

IN_FLIGHT = 64
LATENCY_S = 0.05
PROMPT_CHARS = 1500
FILES = {"JUDGES": "judges.toml", "RUBRICS_DIR": "rubrics", "ANCHORS_DIR": "anchors"}


@dataclass(slots=True)
class Costs:
    """Processor milliseconds per operation, by kind of operation and who did it."""

    found: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def add(self, kind: str, who: str, milliseconds: float) -> None:
        """One round more."""
        self.found.setdefault((kind, who), []).append(milliseconds)

    def median(self, kind: str, who: str) -> float:
        """The middle one of the rounds."""
        return statistics.median(self.found[kind, who])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=400, help="in each round")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    costs = Costs()
    with ExitStack() as stack:
        provider = stack.enter_context(upstream())
        provider.control(latency_s=LATENCY_S)
        numbers = itertools.count(1)
        services = {
            who: stack.enter_context(_service(provider.url, who)) for who in ("direct", "litellm")
        }
        bare = stack.enter_context(_bare(provider.url))
        for number in range(given.rounds + 1):
            for who, service in services.items():
                for kind, ask in (("assess", assess), ("compare", compare)):
                    asks = [ask(next(numbers)) for _ in range(given.requests)]
                    cost = _measured(service, asks)
                    if number:  # the first round only warms up
                        costs.add(kind, who, cost)
            cost = bare(given.requests)
            if number:
                costs.add("assess", "bare", cost)
    _print(costs, given)


def _print(costs: Costs, given: argparse.Namespace) -> None:
    python = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    print(f"{python}; medians of {given.rounds} rounds of {given.requests}, {IN_FLIGHT} in flight")
    for (kind, who), rounds in costs.found.items():
        spread = f"[{min(rounds):.2f}-{max(rounds):.2f}]"
        print(f"{kind:8} {who:8} {costs.median(kind, who):6.2f} ms {spread}")
    for kind, who in (("assess", "bare"), ("assess", "litellm"), ("compare", "litellm")):
        ratio = costs.median(kind, "direct") / costs.median(kind, who)
        print(f"{kind:8} direct / {who}: {ratio:.2f}")


def _measured(service: Service, asks: list[Ask]) -> float:
    failed: list[Answered] = []

    def seen(answered: Answered) -> None:
        if answered.status != 200 or answered.body is None or answered.body["status"] == "failed":
            failed.append(answered)

    before = service.cpu_s()
    asyncio.run(
        run(service.url, asks, seen, in_flight=IN_FLIGHT, total=len(asks), title="requests")
    )
    cost = (service.cpu_s() - before) * 1000.0 / len(asks)
    assert not failed, failed[0]
    return cost


@contextmanager
def _service(provider_url: str, who: str) -> Iterator[Service]:
    """A service of one worker; ``who`` says how it asks its judges."""
    with tempfile.TemporaryDirectory(prefix="assess-cost-") as name:
        folder = Path(name)
        write_rubrics(folder)
        judges = judges_toml(f"{provider_url}/v1", None)
        (folder / "judges.toml").write_text(judges, encoding="utf-8")
        settings = {key: str(folder / file) for key, file in FILES.items()}
        settings |= {"STORE": str(folder / "store.sqlite3"), "SECRET": SECRET, "PORT": "0"}
        log = folder / "service.log"
        with log.open("w", encoding="utf-8") as out, _child(["--serve", who], settings, out) as it:
            running = Service(it, log)
            try:
                yield running
            finally:
                running.stop()


@contextmanager
def _bare(provider_url: str) -> Iterator[Callable[[int], float]]:
    """A process that calls ``litellm.acompletion`` as often as it is told; milliseconds each."""
    with _child(["--bare", provider_url], {}, None) as process:

        def calls(number: int) -> float:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
            return float(json.loads(process.stdout.readline()))

        yield calls


@contextmanager
def _child(
    arguments: list[str], settings: Mapping[str, str], errors: Any
) -> Iterator[subprocess.Popen[str]]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith("JUDGE_SERVICE_")}
    environ |= {f"JUDGE_SERVICE_{name}": value for name, value in settings.items()}
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.assess_cost", *arguments], cwd=ROOT, env=environ,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _serve(who: str) -> None:
    """In a process of its own: the service, its judges all through LiteLLM if that is asked for."""
    from judge_service import cli, service
    from judge_service.adapters.backend_router import BackendRouter

    if who == "litellm":
        router = functools.partial(BackendRouter, direct=lambda _: False)
        vars(service)["BackendRouter"] = router
    sys.argv[1:] = ["serve", "--json", "--log-level", "warning"]
    cli.main()


def _call_barely(provider_url: str) -> None:
    """In a process of its own: nothing but LiteLLM as it comes, on the fastest event loop."""
    os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_OFFLINE_MODE": "true"}
    import litellm

    litellm.suppress_debug_info = True
    user = by_hand.message(
        by_hand.block("prompt", "Why? " * (PROMPT_CHARS // 5)), by_hand.block("candidate", "So.")
    )
    messages = [{"role": "system", "content": "You judge."}, {"role": "user", "content": user}]

    async def calls(number: int) -> None:
        todo = iter(range(number))

        async def caller() -> None:
            for _ in todo:
                await litellm.acompletion(
                    model="openai/alpha",
                    messages=messages,
                    api_base=f"{provider_url}/v1",
                    api_key="none",
                    temperature=0.0,
                    max_tokens=1024,
                    max_retries=0,
                )

        await asyncio.gather(*(caller() for _ in range(IN_FLIGHT)))

    process = psutil.Process()
    gc.collect()
    gc.freeze()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for line in sys.stdin:
            before = process.cpu_times()
            runner.run(calls(int(line)))
            after = process.cpu_times()
            spent = after.user + after.system - before.user - before.system
            print(json.dumps(spent * 1000.0 / int(line)), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--serve", who]:
            _serve(who)
        case ["--bare", url]:
            _call_barely(url)
        case _:
            main()
