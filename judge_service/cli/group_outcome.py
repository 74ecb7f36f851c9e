"""A group's outcome for people: its members, best first, and what their pairs came to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from judge_service.cli.terminal import plain
from judge_service.text.counted import count_of


def show_group(console: Console, outcome: Mapping[str, Any]) -> None:
    """Print the members of a ranking, its pairs and its judges."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for column in ("rank", "candidate", "reward", "wins", "points", "remark"):
        table.add_column(column, overflow="fold")
    ranks = outcome["ranks"] or [None] * len(outcome["candidates"])
    places = sorted(range(len(ranks)), key=lambda place: (ranks[place] or 0, place))
    for place in places:
        member = outcome["candidates"][place]
        table.add_row(
            plain(ranks[place] or "", "bold"),
            plain(member["id"] or f"{place + 1}."),
            plain("–" if member["reward"] is None else f"{member['reward']:.4g}", "bold"),
            plain("" if member["wins"] is None else f"{member['wins']:.0%}"),
            plain(", ".join(f"{name} {r['point']}" for name, r in member["criteria"].items())),
            plain(_remark(member), "red"),
        )
    console.print(table)
    pairs = outcome["pairs"]
    if pairs["asked"]:
        share = pairs["first_position_share"]
        console.print(plain(
            f"pairs  {pairs['asked']} asked: {pairs['consistent']} consistent, {pairs['tie']} "
            f"ties, {pairs['inconsistent']} inconsistent, {pairs['failed']} failed, "
            f"{pairs['single']} in one order"
            + ("" if share is None else f"; shown first won {share:.0%}")
        ), soft_wrap=True)  # fmt: skip
    for judge in outcome["judges"]:
        verdicts = count_of(judge["verdicts"], "verdict")
        console.print(plain(
            f"judge  {judge['judge']} ({judge['family']}): {verdicts}, "
            f"{judge['cached']} of them stored"
        ), soft_wrap=True)  # fmt: skip


def _remark(member: Mapping[str, Any]) -> str:
    if member["error"] is not None:
        return f"{member['error']['code']}: {member['error']['message']}"
    broken = [r["rule"] for r in member["rules"]["results"] if r["hard"] and not r["passed"]]
    return f"{broken[0]} failed" if broken else ""
