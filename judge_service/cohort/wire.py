"""What a member of a cohort is told: its own reward and its group in short."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_service.cohort.joined import Joined
from judge_service.outcome import Assessed, AssessOutcome
from judge_service.wire import assess_wire, usage_wire


def join_wire(joined: Joined, metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The answer to one member: ``reward`` is None exactly when ``status`` is failed."""
    posted, group = joined.posted, joined.posted["group"]
    place = None if posted["members"] is None else posted["members"].index(joined.name)
    own = None if group is None or place is None else group["candidates"][place]
    success = posted["error"] is None and own is not None
    return {
        "status": "success" if success else "failed",
        "reward": own["reward"] if success and own is not None else None,
        "rank": group["ranks"][place] if success and group is not None else None,
        "rules": None if own is None else own["rules"],
        "criteria": {} if own is None else own["criteria"],
        "wins": None if own is None else own["wins"],
        "group": _group(joined),
        "flags": [] if group is None else group["flags"],
        "usage": usage_wire(joined.spent),
        "rubric_hash": None if group is None else group["rubric_hash"],
        "fingerprint": None if group is None else group["fingerprint"],
        "error": posted["error"],
        "metadata": None if metadata is None else dict(metadata),
    }


def alone_wire(outcome: AssessOutcome, metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The same for a group of one, which was assessed."""
    wire = assess_wire(outcome, metadata)
    success = isinstance(outcome, Assessed)
    return {
        **{name: wire[name] for name in ("status", "reward", "rules", "criteria", "flags", "usage",
                                         "rubric_hash", "fingerprint", "error", "metadata")},
        "rank": 1 if success else None,
        "wins": None,
        "group": {
            "generation": 1, "size": 1, "members": 1, "partial": False,
            "strategy": "assess" if success else None, "zero_advantage": False, "pairs": None,
            "judges": [], "metrics": wire["metrics"],
        },
    }  # fmt: skip


def error_of(joined: Joined) -> str | None:
    """The code of a failed group's error, None for a success."""
    error: Mapping[str, Any] | None = joined.posted["error"]
    return None if error is None else str(error["code"])


def _group(joined: Joined) -> dict[str, Any]:
    posted, group = joined.posted, joined.posted["group"]
    return {
        "generation": joined.generation,
        "size": posted["size"],
        "members": posted["arrived"],
        "partial": group is not None and posted["arrived"] < posted["size"],
        "strategy": None if group is None else group["strategy"],
        "zero_advantage": False if group is None else group["zero_advantage"],
        "pairs": None if group is None else group["pairs"],
        "judges": [] if group is None else group["judges"],
        "metrics": {} if group is None else group["metrics"],
    }
