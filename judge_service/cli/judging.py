"""``assess`` and ``compare``: from options to a request (or a batch of them) and to the outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from judge_service.cli.configuration import SERVICE_FLAGS
from judge_service.cli.exits import NO_VERDICT, OK, UsageError
from judge_service.cli.requests import (
    Defaults,
    Kind,
    asked_by_options,
    check_options,
    judge_ids,
    words,
)
from judge_service.cli.source import Sources
from judge_service.cli.target import open_target
from judge_service.cli.terminal import err, print_json


def run(kind: Kind, given: Mapping[str, Any], candidates: Sequence[str]) -> int:
    """Run the command with the options ``given``; returns the exit code.

    ``candidates`` are the names of the options that bring what is judged.
    """
    defaults = Defaults(
        rubric=given["rubric"],
        timeout_s=given["timeout"],
        judges=judge_ids(given["judges"]),
        panel_size=given["panel_size"],
        purpose=given["purpose"],
        policy_model=given["policy_model"],
        family=words(given["family"]),
        strategy=given.get("strategy"),
        max_calls=given.get("max_calls"),
    )
    check_options(kind, defaults)
    flags = {name: given[name] for name in SERVICE_FLAGS}
    if given["batch"] is not None:
        return _batch(kind, defaults, given, flags, candidates)
    for name in ("out", "retry_failed", "overwrite"):
        if given[name]:
            raise UsageError(f"--{name.replace('_', '-')} belongs to --batch")
    request = defaults.fill(_body(kind, defaults, given, candidates))
    return asyncio.run(_ask(kind, request, given["url"], flags, given["as_json"]))


def _batch(
    kind: Kind,
    defaults: Defaults,
    given: Mapping[str, Any],
    flags: Mapping[str, object],
    candidates: Sequence[str],
) -> int:
    from judge_service.cli.batch import Plan, judge_batch

    for name in candidates:
        if given[name]:
            raise UsageError(f"--{name}: with --batch the lines bring the candidates")
    plan = Plan(
        kind=kind,
        source=given["batch"],
        out=given["out"],
        concurrency=given["concurrency"],
        retry_failed=given["retry_failed"],
        overwrite=given["overwrite"],
        url=given["url"],
        flags=flags,
        as_json=given["as_json"],
    )
    return judge_batch(plan, defaults, {n: given[n] for n in ("prompt", "reference")})


def _body(
    kind: Kind, defaults: Defaults, given: Mapping[str, Any], candidates: Sequence[str]
) -> dict[str, Any]:
    """The request body of the texts that the options bring."""
    needed = ("prompt", *candidates)
    missing = [f"--{name}" for name in needed if not given[name] and given[name] != ""]
    if defaults.rubric is None:
        missing.insert(0, "RUBRIC")
    if missing:
        raise UsageError(f"missing: {', '.join(missing)} (or --batch FILE)")
    sources = Sources()
    read = {
        name: sources.read(f"--{name}", given[name])
        for name in (*needed, "reference")
        if isinstance(given[name], str)
    }
    if kind == "rank":
        shown = [{"text": sources.read("--candidate", text)} for text in given["candidate"]]
    else:
        shown = [{"text": read.pop(name)} for name in candidates]
    return {**read, **({"candidate": shown[0]} if kind == "assess" else {"candidates": shown})}


async def _ask(
    kind: Kind,
    data: dict[str, Any],
    url: str | None,
    flags: Mapping[str, object],
    as_json: bool,
) -> int:
    request = asked_by_options(kind, data)
    async with open_target(url, flags) as target:
        with err().status("asking …"):
            outcome = await target.ask(request)
            rubric = None if as_json else await target.rubric(request.body.rubric)
        # Shown before the target is closed: stopping a model takes a moment.
        if as_json:
            print_json(outcome)
        else:
            from judge_service.cli.outcome import show

            show(kind, outcome, rubric)
    return OK if outcome["status"] == "success" else NO_VERDICT
