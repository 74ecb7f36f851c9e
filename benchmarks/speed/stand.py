"""What the rows measure on: a service of its own, a bare loop of LiteLLM, and their processor time.

Each is a process, so that its time is its own. ``python -m benchmarks.speed.stand`` is what those
processes run.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import psutil
import uvloop

from benchmarks.faults.load import Answered, Ask, run
from benchmarks.faults.rubrics import judges_toml, write_rubrics
from benchmarks.faults.stage import ROOT, SECRET, Service
from tests.provider import by_hand

IN_FLIGHT = 64
LATENCY_S = 0.05
Way = Literal["direct", "litellm"]
WORDS = (
    "The river rises in the hills above the town and turns the old mill before it meets the lake. "
)
FILES = {"JUDGES": "judges.toml", "RUBRICS_DIR": "rubrics", "ANCHORS_DIR": "anchors"}


@dataclass(slots=True)
class Costs:
    """Milliseconds of processor time per operation, by who did it."""

    found: dict[str, list[float]] = field(default_factory=dict)

    def add(self, who: str, milliseconds: float) -> None:
        """One round more."""
        self.found.setdefault(who, []).append(milliseconds)

    def median(self, who: str) -> float:
        """The middle one of the rounds."""
        return statistics.median(self.found[who])

    def ratio(self, who: str, against: str) -> float:
        """The medians' ratio."""
        return self.median(who) / self.median(against)

    def __str__(self) -> str:
        return "\n".join(
            f"{who:8} {self.median(who):7.3f} ms [{min(rounds):.3f}-{max(rounds):.3f}]"
            for who, rounds in self.found.items()
        )


def text(number: int, chars: int) -> str:
    """A text of ``chars`` characters that no other number has."""
    words = f"{number}: " + WORDS * (chars // len(WORDS) + 1)
    return words[:chars]


def assess(number: int, *, chars: int = 1000) -> Ask:
    """A request about one candidate of its own; 32 of them have a prompt in common."""
    body = {
        "rubric": "quality",
        "prompt": text(number // 32, 500),
        "candidate": {"text": text(number, chars), "family": "nobody"},
    }
    return Ask(path="/v1/assess", body=body)


def compare(number: int, *, chars: int = 1000) -> Ask:
    """A request about a pair of its own."""
    pair = [
        {"text": f"{side} {text(number, chars)}", "family": "nobody"} for side in ("This", "That")
    ]
    body = {"rubric": "pair", "prompt": text(number // 32, 500), "candidates": pair}
    return Ask(path="/v1/compare", body=body)


def bare_body(number: int, *, chars: int = 1000) -> Ask:
    """A request to the provider itself, about as long as that of an assessment."""
    user = by_hand.message(
        by_hand.block("prompt", text(number // 32, 500)),
        by_hand.block("candidate", text(number, chars)),
    )
    return Ask(path="/v1/chat/completions", body=by_hand.body(user, model="alpha"))


def cost_of(service: Service, asks: list[Ask], *, in_flight: int = IN_FLIGHT) -> float:
    """Milliseconds of the service's processor time for each of ``asks``.

    Raises RuntimeError for an answer that is no verdict.
    """
    before = service.cpu_s()
    ask_all(service.url, asks, in_flight=in_flight)
    return (service.cpu_s() - before) * 1000.0 / len(asks)


def ask_all(url: str, asks: Iterable[Ask], *, in_flight: int = IN_FLIGHT) -> None:
    """Send them all. Raises RuntimeError for an answer that is no verdict."""
    failed: list[Answered] = []
    everything = list(asks)

    def seen(answered: Answered) -> None:
        if answered.status != 200 or answered.body is None or answered.body["status"] == "failed":
            failed.append(answered)

    sending = run(url, everything, seen, in_flight=in_flight, total=len(everything), title="")
    asyncio.run(sending)
    if failed:
        raise RuntimeError(f"not judged: {failed[0]}")


@contextmanager
def service(
    provider_url: str, way: Way = "direct", settings: Mapping[str, str] | None = None
) -> Iterator[Service]:
    """A service of its own; ``way`` says how it asks its judges."""
    with tempfile.TemporaryDirectory(prefix="speed-") as name:
        folder = Path(name)
        write_rubrics(folder)
        judges = judges_toml(f"{provider_url}/v1", None)
        (folder / "judges.toml").write_text(judges, encoding="utf-8")
        given = {key: str(folder / file) for key, file in FILES.items()}
        given |= {"STORE": str(folder / "store.sqlite3"), "SECRET": SECRET, "PORT": "0"}
        log = folder / "service.log"
        with (
            log.open("w", encoding="utf-8") as out,
            child(["--serve", way], given | dict(settings or {}), out) as process,
        ):
            running = Service(process, log)
            try:
                yield running
            finally:
                running.stop()


@contextmanager
def bare(provider_url: str, chars: int) -> Iterator[Callable[[int], float]]:
    """A process that calls ``litellm.acompletion`` with a message of so many characters as often as
    it is told; milliseconds of processor time for each.
    """
    with child(["--bare", provider_url, str(chars)], {}, None) as process:

        def calls(number: int) -> float:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
            return float(json.loads(process.stdout.readline()))

        yield calls


@contextmanager
def child(
    arguments: list[str], settings: Mapping[str, str], errors: Any
) -> Iterator[subprocess.Popen[str]]:
    """This module as a process, with nothing of the service's settings but those given."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("JUDGE_SERVICE_")}
    environ |= {f"JUDGE_SERVICE_{name}": value for name, value in settings.items()}
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.speed.stand", *arguments], cwd=ROOT, env=environ,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _serve(way: str) -> None:
    """In a process of its own: the service, its judges all through LiteLLM if that is asked for."""
    from judge_service import cli, service
    from judge_service.adapters.backend_router import BackendRouter

    if way == "litellm":
        router = functools.partial(BackendRouter, direct=lambda _: False)
        vars(service)["BackendRouter"] = router
    sys.argv[1:] = ["serve", "--json", "--log-level", "warning"]
    cli.main()


def _hello() -> None:
    """In a process of its own: what FastAPI costs that does nothing."""
    import socket

    import uvicorn
    from fastapi import FastAPI

    app = FastAPI()

    @app.get("/hello")
    async def hello() -> dict[str, str]:
        return {"hello": "world"}

    bound = socket.create_server(("127.0.0.1", 0))
    print(json.dumps({"url": f"http://127.0.0.1:{bound.getsockname()[1]}"}), flush=True)
    gc.collect()
    gc.freeze()
    uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning")).run([bound])


def _call_barely(provider_url: str, chars: int) -> None:
    """In a process of its own: nothing but LiteLLM as it comes, on the fastest event loop."""
    os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_OFFLINE_MODE": "true"}
    import litellm

    litellm.suppress_debug_info = True
    user = by_hand.message(
        by_hand.block("prompt", "Why? " * (chars // 5)), by_hand.block("candidate", "So.")
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
        case ["--serve", way]:
            _serve(way)
        case ["--hello"]:
            _hello()
        case ["--bare", url, chars]:
            _call_barely(url, int(chars))
        case _:
            raise SystemExit("this module is run by the rows that measure")
