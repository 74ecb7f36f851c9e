"""What a verdict costs that is there already, beside the LiteLLM proxy's cached completion.

``python -m benchmarks.speed.litellm_proxy`` asks one worker of each in turns, for answers that both
have in one Redis, each request another one; then for answers that are in the process. The proxy is
measured with its own cache, in an environment of its own, without a database and without telemetry.
What counts is processor time per request, for that is what bounds the rate of one worker; rates are
told beside.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from benchmarks.faults.load import Ask
from benchmarks.faults.redis_server import RedisServer, free_port
from benchmarks.faults.stage import Service
from benchmarks.speed.cores import on, split
from benchmarks.speed.hammer import MARK, hammer, request
from benchmarks.speed.peers.contest import upstream
from benchmarks.speed.peers.environment import environ, python_of
from benchmarks.speed.peers.replies import SERVICE
from benchmarks.speed.row import Row
from benchmarks.speed.spent import Spent, ask, told
from benchmarks.speed.stand import ask_all, assess, service

GOAL = 50.0
NAME = "litellm_proxy"
KEYS = 200
SERVED, PROXIED = 3000, 128
"""Requests of a round: a second or two for each."""
START_S = 120.0
PROXY_MARK = b'"choices"'
CONFIG = """model_list:
  - model_name: judge
    litellm_params: {{model: openai/gpt-4o-mini, api_base: "{url}/litellm_proxy/v1", api_key: none}}
litellm_settings:
  telemetry: false
  cache: true
  cache_params: {{{cache}}}
"""


@dataclass(slots=True)
class Pair:
    """What requests cost both sides with one kind of cache, round by round."""

    cache: str
    served: list[Spent] = field(default_factory=list)
    proxied: list[Spent] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The requests that the service answers in the time the proxy takes for one."""
        both = zip(self.served, self.proxied, strict=True)
        return statistics.median(theirs.cpu_ms / ours.cpu_ms for ours, theirs in both)

    def __str__(self) -> str:
        return (
            f"{self.cache:10} service {told(self.served)}, proxy {told(self.proxied)}: "
            f"{self.ratio:.1f} x"
        )


def measure(*, rounds: int = 5) -> Row:
    """The row: the smaller of both ratios; medians over ``rounds`` after a first one.

    Raises CannotBuild or RuntimeError where a side does not start.
    """
    tested, rest = split()
    asks = [assess(number) for number in range(1, KEYS + 1)]
    pairs = []
    with on(rest), upstream() as url, RedisServer() as redis:
        for cache, given, settings in (
            ("Redis", _redis(redis.url), {"REDIS_URL": redis.url}),
            ("in-process", "type: local", {}),
        ):
            with (
                on(tested),
                service(f"{url}/{SERVICE}", settings=settings) as ours,
                proxy(CONFIG.format(url=url, cache=given)) as theirs,
                on(rest),
            ):
                pairs.append(_measured(cache, ours, theirs, asks, rounds))
    least = min(pair.ratio for pair in pairs)
    return Row(
        name="cached assess of one worker, requests/s",
        against=f"cached completion of LiteLLM proxy {_version()}, one worker "
        "(processor time per request, inverted)",
        goal=f">= {GOAL:.0f} x",
        value=least,
        unit="x",
        met=least >= GOAL,
        detail="\n".join(map(str, pairs)) + f"\n{rounds} rounds, {KEYS} keys, 64 connections",
    )


def _measured(
    cache: str, ours: Service, theirs: tuple[str, int], asks: Sequence[Ask], rounds: int
) -> Pair:
    pair = Pair(cache)
    bodies = [request(ask) for ask in asks]
    completions = [request(_completion(ask)) for ask in asks]
    ask_all(ours.url, asks)
    hammer(theirs[0], completions, len(completions), mark=PROXY_MARK)
    for number in range(rounds + 1):
        served = ask(ours.url, ours.pid, bodies, SERVED, mark=MARK)
        proxied = ask(*theirs, completions, PROXIED, mark=PROXY_MARK)
        line = f"round {number} of {rounds}, {cache}: {told([served])}, proxy {told([proxied])}"
        print(f"  {line}", file=sys.stderr, flush=True)
        if number:
            pair.served.append(served)
            pair.proxied.append(proxied)
    return pair


def _completion(ask: Ask) -> Ask:
    """The same prompt and candidate as a chat completion."""
    assert ask.body is not None
    text = f"{ask.body['prompt']}\n\n{ask.body['candidate']['text']}\n\nHow good is the answer?"
    body = {"model": "judge", "messages": [{"role": "user", "content": text}], "temperature": 0.0}
    return Ask(path="/v1/chat/completions", body=body)


def _redis(url: str) -> str:
    parts = urlsplit(url)
    return f'type: redis, host: {parts.hostname}, port: {parts.port}, password: ""'


@contextmanager
def proxy(config: str) -> Iterator[tuple[str, int]]:
    """A proxy of its own; its address and process id once it is ready."""
    python = python_of(NAME)
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="speed-proxy-") as name:
        home = Path(name)
        (home / "config.yaml").write_text(config, encoding="utf-8")
        log = home / "proxy.log"
        command = (
            str(python.with_name("litellm")), "--config", "config.yaml", "--host", "127.0.0.1",
            "--port", str(port), "--num_workers", "1", "--telemetry", "False",
        )  # fmt: skip
        more = {
            "LITELLM_MODE": "PRODUCTION",
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",  # neither side has keys
        }
        with log.open("w", encoding="utf-8") as out:
            process = subprocess.Popen(
                command, cwd=home, env=environ(home) | more, stdout=out, stderr=out
            )
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < until:
        try:
            with socket.create_connection(("127.0.0.1", port), 1.0):
                pass
            httpx.get(f"http://127.0.0.1:{port}/health/readiness", trust_env=False, timeout=10.0)
            return
        except (OSError, httpx.HTTPError):
            time.sleep(0.2)
    raise RuntimeError(f"the proxy did not start:\n{log.read_text(encoding='utf-8')[-1500:]}")


def _version() -> str:
    code = "import importlib.metadata as m; print(m.version('litellm'))"
    done = subprocess.run([str(python_of(NAME)), "-c", code], check=True, capture_output=True)
    return done.stdout.decode().strip()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    print(measure(rounds=parser.parse_args().rounds))
