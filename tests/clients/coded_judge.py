"""A service whose verdicts are written in the candidates: for trainers' modules over a stand-in.

A text that is a number is worth it; "fail" may pass, "never" will not; a pair with "flip" in it has
two orders that disagree.
"""

from __future__ import annotations

import json
from typing import Any

from tests.clients.stand_in import HTML, SUCCESS, Got, Told, failed

OUTAGES = {
    "busy": Told(status=503, body=b"busy"),
    "proxy page": Told(body=HTML),
    "hangs up": Told(drop=True),
    "no verdict": Told(body={**failed("breaker_open"), "results": [failed("breaker_open")] * 8}),
    "above 1": Told(body={**SUCCESS, "reward": 1.5, "rewards": [1.5, 0.5], "preference": 1.5}),
    "NaN": Told(body=b'{"status": "success", "reward": NaN, "rewards": [NaN, 1.0]}'),
    "null": Told(body={**SUCCESS, "reward": None, "rewards": [None, 1.0]}),
    "a text": Told(body={**SUCCESS, "reward": "1.0", "rewards": ["1.0", 1.0]}),
    "an error beside": Told(body={**SUCCESS, "error": {"code": "timeout"}}),
    "too many": Told(body={**SUCCESS, "results": [SUCCESS] * 9, "rewards": [1.0] * 9}),
    "slow": Told(body=SUCCESS, hold_s=20.0),
}
"""Answers that hold no verdict, by what is wrong with them."""


def said(candidate: dict[str, Any]) -> str:
    """What is judged: a candidate's text, or its last assistant turn."""
    if "text" in candidate:
        return str(candidate["text"])
    spoken = [turn for turn in candidate["messages"] if turn["role"] == "assistant"]
    return str(spoken[-1]["content"]) if spoken else ""


def judged(got: Got) -> Told:
    """The answer to one request of any kind."""
    if got.path == "/v1/bulk":
        return Told(body={"results": [outcome(item["kind"], item) for item in got.body["items"]]})
    return Told(body=outcome(got.path.rsplit("/", 1)[1], got.body))


def outcome(kind: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The outcome of one assessment, ranking, comparison or join."""
    if kind in ("assess", "join"):
        return worth(said(asked["candidate"]))
    texts = [said(member) for member in asked["candidates"]]
    lost = [worth(text) for text in texts if worth(text)["status"] == "failed"]
    if lost:
        return lost[0]
    if kind == "compare":
        return compared(*texts)
    pairs = {"asked": 4, "consistent": 2, "tie": 1, "inconsistent": 1}
    return {**SUCCESS, "rewards": [worth(text)["reward"] for text in texts], "pairs": pairs}


def worth(text: str) -> dict[str, Any]:
    """The assessment of a text: nothing said is worth nothing."""
    if text in ("fail", "never"):
        return failed("timeout" if text == "fail" else "refused", retryable=text == "fail")
    number = "0" if text == "flip" else text or "0"
    return {**SUCCESS, "reward": json.loads(number)}


def compared(first: str, second: str) -> dict[str, Any]:
    """A comparison of two texts."""
    if "flip" in (first, second):
        return {**SUCCESS, "outcome": "inconsistent", "preference": None}
    if float(first) == float(second):
        return {**SUCCESS, "outcome": "tie", "preference": 0.5}
    wins = float(first) > float(second)
    return {**SUCCESS, "outcome": "first" if wins else "second", "preference": float(wins)}
