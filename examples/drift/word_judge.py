"""A judge without a model: it counts which words of the reference the candidate has.

Not a judge to train with. It stands in for the large one that you trust, so that the example needs
no key, and shows all that the service asks of a judge: OpenAI's chat completions, and a reply with
the two tokens that the question ends with.
"""

from __future__ import annotations

import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BLOCK = re.compile(
    r"^<<JS-DATA nonce=(\w+) slot=(\w+)>>\n(.*?)\n<<JS-END nonce=\1>>$", re.MULTILINE | re.DOTALL
)


def verdict(question: str) -> dict[str, Any]:
    """The reply to one question: point 1, 2 or 3 for none, some or all words of the reference."""
    slots = {slot: words(text) for _, slot, text in BLOCK.findall(question)}
    asked = slots["reference"]
    found = [word for word in asked if word in slots["candidate"]]
    point = 3 if len(found) == len(asked) else 2 if found else 1
    form = question.rpartition("\n")[2]
    ends = re.findall(r'"(v|end)":"(\w+)"', form)
    tokens = dict(ends)
    reason = f"{len(found)} of {len(asked)} words of the reference are there"
    return {"v": tokens["v"], "reason": reason, "score": point, "end": tokens["end"]}


def words(text: str) -> list[str]:
    """The words of a block, in small letters."""
    return re.findall(r"\w+", text.lower())


class Judge(BaseHTTPRequestHandler):
    """POST /v1/chat/completions."""

    def do_POST(self) -> None:
        """Answer the last message."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = json.dumps(verdict(asked["messages"][-1]["content"]))
        message = {"role": "assistant", "content": reply}
        body = json.dumps(
            {
                "object": "chat.completion",
                "model": asked["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def main() -> None:
    """Serve on 127.0.0.1, port JUDGE_PORT or 8091."""
    address = ("127.0.0.1", int(os.environ.get("JUDGE_PORT", "8091")))
    try:
        server = ThreadingHTTPServer(address, Judge)
    except (OSError, OverflowError) as error:
        raise SystemExit(f"port {address[1]}: {error}; set JUDGE_PORT to a free one") from None
    print(f"word-judge answers on http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped")
