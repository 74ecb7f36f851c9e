"""Outcomes for people: what came out, why, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from judge_service.cli.group_outcome import show_group
from judge_service.cli.requests import Kind
from judge_service.cli.terminal import out, plain
from judge_service.text.counted import count_of

_WON = {
    "first": "FIRST is better, in both orders",
    "second": "SECOND is better, in both orders",
    "tie": "TIE",
    "inconsistent": "INCONSISTENT: the orders disagree, nobody wins",
}
_ORDERS = {"AB": "first shown first", "BA": "second shown first"}
_WHO = {"assess": ("",), "compare": ("first: ", "second: ")}
SHORT_HASH = 12


def show(kind: Kind, outcome: Mapping[str, Any], rubric: Mapping[str, Any] | None) -> None:
    """Print an outcome. ``rubric`` is its content, for the meaning of points."""
    console = out()
    console.print(_headline(kind, outcome, rubric))
    if kind == "rank":
        show_group(console, outcome)
    else:
        if kind == "assess":
            _criteria(console, outcome, rubric)
        else:
            _orders(console, outcome)
        _verdicts(console, kind, outcome)
        reports = [outcome["rules"]] if kind == "assess" else outcome["rules"]
        for who, report in zip(_WHO[kind], reports, strict=True):
            _rules(console, who, report)
    for flag in outcome["flags"]:
        console.print(_line("flag", f"{flag['flag']}: {flag['detail']}", "yellow"))
    _costs(console, outcome)


def _headline(kind: Kind, outcome: Mapping[str, Any], rubric: Mapping[str, Any] | None) -> Panel:
    title = kind if rubric is None else f"{kind} · {rubric['id']} {rubric['version']}"
    error = outcome["error"]
    if error is not None:
        lines = [plain(f"FAILED  {error['code']}", "bold red"), plain(error["message"])]
        again = "asking again can help" if error["retryable"] else "asking again will not help"
        wait = error.get("retry_after_s")
        lines.append(plain(f"no verdict, hence no reward; {again}", "dim"))
        if wait is not None:
            lines.append(plain(f"the judge asks to wait {wait:g} s", "dim"))
        return Panel(Group(*lines), title=plain(title), border_style="red")
    if kind == "rank":
        rewards = count_of(len(outcome["rewards"]), "reward")
        text = plain(f"SUCCESS  {rewards} by {outcome['strategy']}", "bold green")
    elif kind == "assess":
        text = plain(f"SUCCESS  reward {outcome['reward']:.4g}", "bold green")
    else:
        text = plain(_compared(outcome), "bold green")
    lines = [text]
    if outcome.get("short_circuited"):
        lines.append(plain("decided without a judge", "dim"))
    return Panel(Group(*lines), title=plain(title), border_style="green")


def _compared(outcome: Mapping[str, Any]) -> str:
    word, preference = outcome["outcome"], outcome["preference"]
    text: str = _WON.get(word, word)
    if outcome["short_circuited"]:
        text = text.removesuffix(", in both orders")
    if preference is not None:
        text += f"  (preference {preference:g} for the first)"
    return text + _expected(outcome)


def _expected(found: Mapping[str, Any]) -> str:
    """The expected score or preference that stands beside a verdict, where there is one."""
    value = (found.get("expected") or {}).get("value")
    return "" if value is None else f", expected {value:.3g}"


def _criteria(
    console: Console, outcome: Mapping[str, Any], rubric: Mapping[str, Any] | None
) -> None:
    if not outcome["criteria"]:
        return
    table = _table("criterion", "point", "what that means", "weight", "agreement")
    for name, result in outcome["criteria"].items():
        points = _scale(rubric, name)
        scale = f" of {min(points)}–{max(points)}" if points else ""
        table.add_row(
            plain(name),
            plain(f"{result['point']}{scale}{_expected(result)}", "bold"),
            plain(points.get(result["point"], "")),
            plain(f"{result['weight']:g}"),
            plain(f"{result['agreement']:.0%} of {result['votes']}"),
        )
    console.print(table)


def _scale(rubric: Mapping[str, Any] | None, criterion: str) -> dict[int, str]:
    """The meaning of each point of a criterion; empty when it is not known."""
    for found in (rubric or {}).get("criteria", ()):
        if found["name"] == criterion and found["scale"]:
            return {point["point"]: point["means"] for point in found["scale"]}
    return {}


def _orders(console: Console, outcome: Mapping[str, Any]) -> None:
    if not outcome["orders"]:
        return
    table = _table("order", "judge", "choice")
    for order in outcome["orders"]:
        choice = order["choice"]
        table.add_row(
            plain(f"{_ORDERS.get(order['order'], '')} ({order['order']})"),
            plain(order["judge"]),
            plain(choice or "no verdict", "bold" if choice else "red"),
        )
    console.print(table)
    if outcome["length_ratio"] is not None:
        console.print(_line("length", f"first / second = {outcome['length_ratio']:.3g}", "dim"))


def _verdicts(console: Console, kind: Kind, outcome: Mapping[str, Any]) -> None:
    if not outcome["verdicts"]:
        return
    what = "criterion" if kind == "assess" else "order"
    table = _table("judge", what, "point" if kind == "assess" else "choice", "reason", "time")
    for verdict in outcome["verdicts"]:
        again = f", {verdict['attempts']} attempts" if verdict["attempts"] > 1 else ""
        stored = ", stored" if verdict["cached"] else ""
        table.add_row(
            _judge(verdict),
            plain(verdict.get(what) or ""),
            plain(verdict.get("point") if kind == "assess" else verdict.get("choice"), "bold"),
            plain(verdict["reason"]),
            plain(f"{verdict['latency_ms'] / 1000:.1f} s{again}{stored}"),
        )
    console.print(table)


def _judge(verdict: Mapping[str, Any]) -> Text:
    served = verdict["model_served"]
    other = f"\nserved {served}" if served and served not in verdict["model"] else ""
    text = plain(verdict["judge"], "bold")
    return text + plain(f" ({verdict['family']})\n{verdict['model']}{other}", "dim")


def _rules(console: Console, who: str, report: Mapping[str, Any] | None) -> None:
    if report is None:
        console.print(_line("rules", f"{who}not checked"))
        return
    for result in report["results"]:
        if not result["passed"]:
            kind = "hard rule" if result["hard"] else "rule"
            detail = f": {result['detail']}" if result["detail"] else ""
            console.print(_line(kind, f"{who}{result['rule']} failed{detail}", "red"))
    passed = sum(result["passed"] for result in report["results"])
    if report["results"]:
        score = f", score {report['score']:.3g}"
        console.print(_line("rules", f"{who}{passed} of {len(report['results'])} passed{score}"))


def _costs(console: Console, outcome: Mapping[str, Any]) -> None:
    usage = outcome["usage"]
    console.print(
        _line(
            "usage",
            f"{count_of(usage['upstream_requests'], 'request')}, {usage['prompt_tokens']:,} + "
            f"{usage['completion_tokens']:,} tokens, {money(usage)}",
        )
    )
    hashes = f"{outcome['rubric_hash'][:SHORT_HASH]} · {outcome['fingerprint'][:SHORT_HASH]}"
    console.print(_line("hashes", f"{hashes} (rubric · fingerprint)", "dim"))


def money(usage: Mapping[str, Any]) -> str:
    """What was spent, and for how many requests no price is known."""
    cost, unknown = usage.get("cost_usd"), usage.get("unknown_cost_calls", 0)
    known = "" if cost is None else f"${cost:.4f}" if cost else "$0"
    if not unknown:
        return known or "price unknown"
    return f"{known + ' and ' if known else ''}unknown price for {unknown} of the requests"


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    narrow = {"point", "weight", "agreement", "time", "choice"}
    for column in columns:
        table.add_column(column, no_wrap=column in ("point", "weight"), overflow="fold",
                         ratio=None if column in narrow else 1)  # fmt: skip
    return table


def _line(head: str, text: str, style: str = "") -> Padding:
    return Padding(plain(f"{head:<6} ", "dim") + plain(text, style), (0, 0))
