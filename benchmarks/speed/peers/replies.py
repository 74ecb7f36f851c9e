"""What the judge of each client says: the same verdict, 4 of 5 points, in the form it accepts."""

from __future__ import annotations

import json
from typing import Any

from tests.provider.envelope_reader import read_form

SERVICE = "service"
RIGHT = 4
"""The point of every verdict, on a scale from 1 to 5."""
REASON = (
    "The answer addresses what was asked, states the main facts correctly and is easy to follow; "
    "one detail is left out, and the last sentence adds nothing to it."
)
CONTENTS = {
    "verifiers": f"{REASON}\n{RIGHT}",
    "verifiers_0_1": f"{REASON}\n{RIGHT}",
    "openjudge": json.dumps({"reason": REASON, "score": RIGHT}),
    "mlflow": json.dumps({"result": RIGHT, "rationale": REASON}),
    "autorubric": json.dumps({"selected_option": RIGHT, "explanation": REASON}),
    "prometheus_eval": f"Feedback: {REASON} [RESULT] {RIGHT}",
    "inspect_ai": f"{REASON}\n\nGRADE: {RIGHT}",
    "deepeval": json.dumps({"score": RIGHT, "reason": REASON}),
    "litellm_proxy": f"{REASON}\n{RIGHT}",
}
"""What a judge says, in the form that the reader of each peer accepts."""


def answer(who: str, body: bytes) -> bytes:
    """The whole HTTP response to a chat completion.

    Raises KeyError for an asker that is not known, ValueError for a request of the service that
    does not ask for a score in its form.
    """
    asked = json.loads(body)
    content = _verdict(asked) if who == SERVICE else CONTENTS[who]
    return http(200, _completion(asked["model"], content))


def _verdict(asked: dict[str, Any]) -> str:
    form = read_form(asked["messages"][-1]["content"].rpartition("\n")[2])
    if form.kind != "score" or RIGHT not in form.allowed:
        raise ValueError(f"asks for {form.kind} of {form.allowed}")
    return json.dumps({"v": form.v, "reason": REASON, "score": RIGHT, "end": form.end})


def _completion(model: str, content: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": None}
    return {
        "id": "chatcmpl-speed",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 450, "completion_tokens": 50, "total_tokens": 500},
    }


def http(status: int, body: object) -> bytes:
    """A response with a JSON body."""
    sent = json.dumps(body).encode()
    head = (
        f"HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {len(sent)}\r\n"
    )
    return head.encode() + b"\r\n" + sent
