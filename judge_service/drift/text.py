"""The report of a drift run as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judge_service.drift import words
from judge_service.drift.words import estimate, gate_words, number, one_line

WIDTH = 14
MAX_SHOWN_CHARS = 100

__all__ = ["one_line", "text_report"]


def text_report(report: Mapping[str, Any]) -> str:
    """The report that ``make_report`` made, for people."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    old, new = report["baseline"], report["candidate"]
    yield f"{words.verdict(report)}: {words.side(new)} beside {words.side(old)}"
    yield from (f"  {reason}" for reason in report["reasons"])
    yield ""
    yield _row(
        "items",
        f"{report['n']}: {report['judged']} judged by both, {report['failed']} failed, "
        f"{report['short_circuited']} ended by a rule",
    )
    for name in ("baseline", "candidate"):
        yield _row(name, _side(report[name]))
    if new["served_model_changed"]:
        yield _row("", "the same model name is now served by another model: see models above")
    yield ""
    parts = report.get("criteria")
    if parts is None:
        yield from _part(report, "")
    else:
        yield from _whole(report)
        for name, part in parts.items():
            yield ""
            yield from _part(part, name)
    yield from _position(report["position"])
    yield from _items("most changed", report["changed"])
    yield ""
    yield _row("spent", words.spent(report["usage"]))


def _row(name: str, value: str) -> str:
    return f"{name:<{WIDTH}}{value}"


def _side(side: Mapping[str, Any]) -> str:
    served = ", ".join(side["models_served"]) or "unnamed"
    mean = side["mean"]
    told = "no mean"
    if mean is not None:
        low, high = mean["bounds"]
        told = f"mean {estimate(mean)}"
        if side["failed"]:
            told += f", between {low:.3f} and {high:.3f} whatever the failed ones are"
    failures = ", ".join(f"{code} {count}" for code, count in side["failures"].items())
    recorded = f", recorded {side['recorded']}" if side["recorded"] else ""
    return (
        f"{side['model']} ({side['family']}; served: {served}), {side['runs']} run"
        f"{'s' if side['runs'] != 1 else ''}{recorded}; {told}"
        + (f"; failed: {failures}" if failures else "")
    )


def _whole(report: Mapping[str, Any]) -> Iterator[str]:
    yield "all criteria, by their weighted score"
    yield _row("  Spearman", estimate(report["spearman"]))
    yield _row("  mean shift", estimate(report["mean_shift"], signed=True))
    yield _row("  group flips", _flips(report["within_group_flips"]))


def _part(part: Mapping[str, Any], name: str) -> Iterator[str]:
    if name:
        drift = {True: "DRIFT", False: "no drift", None: "not enough evidence"}[part["drift"]]
        yield f"{name}: {drift}"
    floor = part["noise_floor"]
    told = (
        f"noise floor {number(_value(floor['agreement']))}"
        if floor["agreement"]
        else floor.get("note") or "no noise floor"
    )
    yield _row("  agreement", f"{estimate(part['agreement'])}   {told}")
    told = f"noise floor {number(_value(floor['kappa']))}" if floor["kappa"] else ""
    yield _row("  kappa", f"{estimate(part['kappa'])}   {told}".rstrip())
    if words.kappa_words(part):
        yield _row("", words.kappa_words(part))
    if part["quadratic_kappa"] is not None or part["spearman"] is not None:
        yield _row("  quadratic", f"{estimate(part['quadratic_kappa'])} (kappa)")
        yield _row(
            "  Spearman", f"{estimate(part['spearman'])}   Kendall {estimate(part['kendall'])}"
        )
    if part["mean_shift"] is not None:
        yield _row("  mean shift", f"{estimate(part['mean_shift'], signed=True)} points")
        yield _row("  test", words.test(part["mean_shift"]["test"]))
    yield _row("  labels", words.test(part["stuart_maxwell"]))
    if part["mcnemar"] is not None:
        yield _row("", words.test(part["mcnemar"]))
    yield _row("  group flips", _flips(part["within_group_flips"]))
    yield from _matrix(part["confusion"])
    yield from _humans(part["humans"])
    yield from _length(part["length"])
    yield from _own_family(part["own_family"])


def _value(found: Mapping[str, Any] | None) -> float | None:
    return None if found is None else found["value"]


def _flips(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "no group has two candidates that the baseline ranks"
    noise = found.get("noise")
    own = f"; the baseline by itself {number(_value(noise))}" if noise else ""
    return (
        f"{estimate(found)}: {found['flipped']} of {found['orderings']} orderings turned round, "
        f"{found['lost']} are none any more{own}"
    )


def _matrix(found: Mapping[str, Any]) -> Iterator[str]:
    labels = [str(label) for label in found["labels"]]
    width = max(5, *(len(label) + 1 for label in labels))
    yield ""
    yield _row("  labels", f"rows {found['rows']}, columns {found['columns']}")
    yield _row("", "".join(f"{label:>{width}}" for label in labels))
    for label, counts in zip(labels, found["counts"], strict=True):
        yield f"{label:>{WIDTH - 1}} " + "".join(f"{count or '.':>{width}}" for count in counts)
    yield ""


def _humans(found: Mapping[str, Any]) -> Iterator[str]:
    for name in ("baseline", "candidate"):
        one = found[name]
        if one is None:
            continue
        told = f"agreement {estimate(one['agreement'])}, kappa {estimate(one['kappa'])}"
        yield _row("  people", f"{name}, {one['n']} items: {told}")
        if "spearman" in one:
            yield _row(
                "",
                f"Spearman {estimate(one['spearman'])}, quadratic kappa "
                f"{estimate(one['quadratic_kappa'])}, severity "
                f"{estimate(one['severity'], signed=True)} points",
            )
            yield _row("", _gate(one["gate"]))
        else:
            accepted = one["accepted"]
            yield _row(
                "",
                f"of {accepted['n']} consistent pairs: agreement "
                f"{estimate(accepted['agreement'])}, kappa {estimate(accepted['kappa'])}",
            )
        if one["kappa_note"]:
            yield _row("", one["kappa_note"])


def _gate(gate: Mapping[str, Any]) -> str:
    own = gate["own_repeat_spearman"]
    beside = f"; with itself {estimate(own)}" if own else ""
    return f"gate Spearman >= {gate['spearman_at_least']:g}: {gate_words(gate)}{beside}"


def _length(found: Mapping[str, Any]) -> Iterator[str]:
    for name in ("baseline", "candidate"):
        one = found[name]
        if one is None:
            continue
        if "spearman" in one:
            beyond = (
                f", beyond what people like {estimate(one['beyond_humans'])}"
                if one["beyond_humans"]
                else ""
            )
            yield _row("  length", f"{name}: Spearman {estimate(one['spearman'])}{beyond}")
        else:
            yield _row(
                "  length",
                f"{name}: the longer one won {estimate(one['longer_won_share'])} of {one['n']} "
                f"decided pairs, with people {estimate(one['humans_longer_won_share'])}",
            )


def _own_family(found: Mapping[str, Any]) -> Iterator[str]:
    for name in ("baseline", "candidate"):
        one = found[name]
        if one is not None:
            less = "less people's values" if one["less_humans"] else "without human values"
            yield _row(
                "  own family",
                f"{name} ({one['family']}): gap {estimate(one['gap'], signed=True)} {less}, "
                f"{one['n_own']} items of its own, {one['n_other']} others",
            )


def _position(found: Mapping[str, Any]) -> Iterator[str]:
    for name in ("baseline", "candidate"):
        one = found[name]
        if one is not None:
            yield _row(
                "  position",
                f"{name}: consistent {estimate(one['consistency'])}, primacy "
                f"{estimate(one['primacy'])}, recency {estimate(one['recency'])}, first position "
                f"{estimate(one['first_position_share'])}",
            )


def _items(title: str, entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not entries:
        return
    yield ""
    yield title
    for entry in entries:
        old, new = words.changed_labels(entry)
        people = words.humans_said(entry["humans"])
        shown = " | ".join(_short(text) for text in entry["candidates"])
        yield f"  {entry['id']}: {old} -> {new} (people: {people})  {shown}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_SHOWN_CHARS else flat[: MAX_SHOWN_CHARS - 1] + "…"
