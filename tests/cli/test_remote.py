"""Against a running service: what can be wrong with it, and keys."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from judge_service.api.auth import key_hash, pepper_of
from judge_service.cli.target import KEY_VARIABLE
from judge_service.settings import Settings
from tests.cli.conftest import Cli
from tests.harness import Judges, serve
from tests.provider import FakeProvider

ASK = ("assess", "quality", "-p", "Why?", "-c", "good", "--family", "qwen")


def closed_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def stranger(status: int, body: bytes, kind: str = "text/html") -> Iterator[str]:
    """A server that is something else; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.do_GET()

        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_nobody_there_is_one_line(cli: Cli) -> None:
    """With the way to start a service."""
    ran = cli(*ASK, "--url", f"http://127.0.0.1:{closed_port()}")

    assert ran.code == 1
    assert "cannot connect" in ran.err
    assert "judge-service serve" in ran.err
    assert len(ran.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "url",
    ["127.0.0.1:8080", "ftp://host", "http://", "http://[::1", "nonsense", "http://h:99999"],
)
def test_an_address_that_is_none_is_one_line(cli: Cli, url: str) -> None:
    """The option is named."""
    ran = cli(*ASK, "--url", url)

    assert ran.code == 1
    assert "--url" in ran.err
    assert len(ran.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, b"<html>hello</html>", "text/html"),
        (404, b"not here", "text/plain"),
        (200, b'{"hello": 1}', "application/json"),
        (200, b"[1]", "application/json"),
        (502, b"<html>bad gateway</html>", "text/html"),
    ],
    ids=["page", "404", "other JSON", "list", "gateway"],
)
def test_another_server_is_told_apart(cli: Cli, status: int, body: bytes, kind: str) -> None:
    """Whatever it answers, there is a readable line."""
    with stranger(status, body, kind) as url:
        ran = cli(*ASK, "--url", url)

    assert ran.code == 1
    assert "not a judge_service" in ran.err
    assert len(ran.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "body"),
    [
        (("watch",), b'{"judges": [], "watch": {}}'),
        (("watch",), b'{"judges": [], "watch": {"alarms": null, "charts": [], "note": null}}'),
        (("watch",), b'{"judges": [], "watch": {"alarms": [{}], "charts": [], "note": null}}'),
        (("watch",), b'{"judges": [], "watch": {"alarms": [], "charts": [7], "note": null}}'),
        (("watch",), b'{"judges": null, "watch": null}'),
        (("watch", "--reset"), b'{"alarms": "many"}'),
        (("judges",), b'{"judges": [{"id": "a"}]}'),
        (("judges",), b'{"hello": 1}'),
        (("judges", "--ping"), b'{"judges": {"a": 1}}'),
        (("bias",), b'{"hello": 1}'),
        (ASK, b'{"status": "success"}'),
        (ASK, b'{"status": "success", "reward": "much"}'),
    ],
)
def test_another_version_is_told_apart(cli: Cli, command: tuple[str, ...], body: bytes) -> None:
    """An answer of another shape is one readable line, whatever reads it."""
    with stranger(200, body, "application/json") as url:
        ran = cli(*command, "--url", url)

    assert ran.code == 1
    assert "is that of another version" in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_a_newer_version_may_say_more(cli: Cli) -> None:
    """Fields that are not known here are no fault."""
    judge = {"id": "a", "model": "m", "family": "f", "purpose": "train", "mood": "good"}
    body = {"judges": [judge], "watch": None, "weather": "fine"}
    with stranger(200, json.dumps(body).encode(), "application/json") as url:
        judges = cli("judges", "--url", url)
        watch = cli("watch", "--url", url)

    assert judges.code == 0
    assert watch.code == 3
    assert "watching is off" in watch.err


def test_a_key_opens_the_service(
    cli: Cli, provider: FakeProvider, folder: Path, tmp_path: Path
) -> None:
    """Without the right key: one line that says where it is read from."""
    digest = key_hash(pepper_of("pepper"), "right-key")
    keys = tmp_path / "keys.toml"
    keys.write_text(f'[[keys]]\nname = "ci"\nsha256 = "{digest}"\n')
    settings = Settings(
        judges=Judges(provider).add("alpha").write(tmp_path), rubrics_dir=folder / "rubrics",
        anchors_dir=folder / "anchors", api_keys_file=keys, secret="pepper",
    )  # fmt: skip
    with serve(settings) as running:
        url = ("--url", running.url, "--json")
        none = cli(*ASK, *url)
        wrong = cli(*ASK, *url, env={KEY_VARIABLE: "wrong-key"})
        odd = cli(*ASK, *url, env={KEY_VARIABLE: "kéy"})
        right = cli(*ASK, *url, env={KEY_VARIABLE: "right-key"})

    assert right.code == 0, right.out
    assert (none.code, wrong.code, odd.code) == (1, 1, 1)
    assert KEY_VARIABLE in none.err
    assert "wrong-key" not in wrong.err
    assert right.json["reward"] == 1.0


def test_the_address_may_come_from_the_environment(cli: Cli) -> None:
    """The clients' variable is honoured here too."""
    url = f"http://127.0.0.1:{closed_port()}"

    assert url in cli(*ASK, env={"JUDGE_SERVICE_URL": url}).err
