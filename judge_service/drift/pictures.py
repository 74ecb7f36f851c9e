"""The pictures of a report, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from judge_service.drift import svg

SIDE_STYLES = {"baseline": "b", "candidate": "c", "humans": "h"}
MAX_DOTS = 500


def matrix(found: Mapping[str, Any]) -> str:
    """The transition matrix: how often a label of the baseline became which of the candidate."""
    labels, counts = [str(x) for x in found["labels"]], found["counts"]
    cell, left, top = 72.0, 96.0, 44.0
    most = max((n for row in counts for n in row), default=0) or 1
    size = len(labels)
    parts = [svg.text(left + cell * size / 2, 14, "candidate", anchor="middle", style="t s")]
    parts.append(svg.text(4, top - 8, "baseline", style="t s"))
    for place, label in enumerate(labels):
        middle = cell * (place + 0.5)
        parts.append(svg.text(left + middle, top - 8, label, anchor="middle"))
        parts.append(svg.text(left - 8, top + middle + 4, label, anchor="end"))
    for row, numbers in enumerate(counts):
        for column, n in enumerate(numbers):
            style = "same" if row == column else "moved"
            x, y = left + cell * column, top + cell * row
            parts.append(svg.rect(x + 1, y + 1, cell - 2, cell - 2, "cell"))
            if n:
                parts.append(
                    svg.rect(x + 1, y + 1, cell - 2, cell - 2, style, 0.15 + 0.75 * n / most)
                )
                parts.append(svg.text(x + cell / 2, y + cell / 2 + 4, n, anchor="middle"))
    return svg.picture(left + cell * size + 8, top + cell * size + 8, "How labels changed", parts)


def distributions(part: Mapping[str, Any]) -> str:
    """How often each side, and people, gave each label."""
    found = part["confusion"]
    labels = [str(x) for x in found["labels"]]
    columns = {
        "baseline": [sum(row) for row in found["counts"]],
        "candidate": [sum(column) for column in zip(*found["counts"], strict=True)],
    }
    people = _people(part, labels)
    if people is not None:
        columns["humans"] = people
    shares = {name: [n / (sum(numbers) or 1) for n in numbers] for name, numbers in columns.items()}
    high = max((share for column in shares.values() for share in column), default=0.0) or 1.0
    bar, gap, bottom, left = 28.0, 22.0, 170.0, 40.0
    step = bar * len(columns) + gap
    parts = [svg.line(left, bottom, left + step * len(labels), bottom, "axis")]
    for place, label in enumerate(labels):
        start = left + step * place + gap / 2
        parts.append(svg.text(start + bar * len(columns) / 2, bottom + 16, label, anchor="middle"))
        for number, (name, column) in enumerate(shares.items()):
            height = 140.0 * column[place] / high
            x = start + bar * number
            parts.append(svg.rect(x, bottom - height, bar - 2, height, SIDE_STYLES[name]))
            if column[place]:
                parts.append(
                    svg.text(
                        x + bar / 2 - 1, bottom - height - 4, f"{column[place]:.0%}",
                        anchor="middle", style="t xs",
                    )
                )  # fmt: skip
    width = max(left + step * len(labels) + 10, 300.0)
    return svg.picture(
        width,
        bottom + 48,
        "How often each label was given",
        [*parts, *_legend(columns, bottom + 36)],
    )


def _people(part: Mapping[str, Any], labels: Sequence[str]) -> list[int] | None:
    """How often people gave each label; None where their means lie between the points."""
    for name in ("baseline", "candidate"):
        one = part["humans"][name]
        if one is None:
            continue
        rows = one["confusion"]
        values = rows.get("human_values") or rows["labels"]
        names = [f"{v:g}" if isinstance(v, float) else str(v) for v in values]
        if set(names) <= set(labels):
            counts = dict(zip(names, map(sum, rows["counts"]), strict=True))
            return [counts.get(label, 0) for label in labels]
        return None
    return None


def _legend(names: Mapping[str, Any], y: float) -> list[str]:
    parts = []
    for number, name in enumerate(names):
        x = 40.0 + 100.0 * number
        parts.append(svg.rect(x, y - 9, 10, 10, SIDE_STYLES[name]))
        parts.append(svg.text(x + 15, y, "people" if name == "humans" else name))
    return parts


Line = tuple[str, Mapping[str, Any] | None, float | None, str]
"""Name, estimate, a mark to compare it with, and the CSS class of a row."""


def intervals(rows: Sequence[Line], title: str, *, low: float, high: float) -> str:
    """Estimates with their intervals on one axis; a mark is drawn where a row has one."""
    left, width, step, top = 190.0, 380.0, 26.0, 16.0
    bottom = top + step * len(rows)

    def x(value: float) -> float:
        return left + width * (min(high, max(low, value)) - low) / (high - low)

    parts = [svg.line(left, bottom, left + width, bottom, "axis")]
    for tick in range(5):
        value = low + (high - low) * tick / 4
        parts.append(svg.line(x(value), top, x(value), bottom, "grid"))
        parts.append(svg.text(x(value), bottom + 16, f"{value:g}", anchor="middle", style="t xs"))
    for number, (name, found, mark, style) in enumerate(rows):
        y = top + step * (number + 0.5)
        parts.append(svg.text(left - 10, y + 4, name, anchor="end"))
        if found is None:
            parts.append(svg.text(left + 6, y + 4, "has no meaning here", style="t xs"))
            continue
        if found["ci95"] is not None:
            parts.append(svg.line(x(found["ci95"][0]), y, x(found["ci95"][1]), y, f"ci {style}l"))
        parts.append(svg.dot(x(found["value"]), y, 4.5, style))
        if mark is not None:
            parts.append(svg.line(x(mark), y - 10, x(mark), y + 10, "mark"))
        parts.append(svg.text(left + width + 10, y + 4, f"{found['value']:.3f}"))
    return svg.picture(left + width + 70, bottom + 24, title, parts)


def agreement(part: Mapping[str, Any]) -> str:
    """Agreement of both sides with its intervals, the noise floor as a mark."""
    floor = part["noise_floor"]

    def mark(name: str) -> float | None:
        return None if floor[name] is None else float(floor[name]["value"])

    rows: list[Line] = [
        ("agreement", part["agreement"], mark("agreement"), "c"),
        ("kappa", part["kappa"], mark("kappa"), "c"),
    ]
    if part["spearman"] is not None or part["quadratic_kappa"] is not None:
        rows += [
            ("quadratic kappa", part["quadratic_kappa"], None, "c"),
            ("Spearman", part["spearman"], None, "c"),
            ("Kendall", part["kendall"], None, "c"),
        ]
    return intervals(rows, "Agreement of the candidate with the baseline", **_range(rows))


def people(part: Mapping[str, Any]) -> str | None:
    """Agreement of each side with people; None without human labels."""
    rows: list[Line] = []
    for key, said in (
        ("agreement", "agreement"), ("kappa", "kappa"), ("quadratic_kappa", "quadratic kappa"),
        ("spearman", "Spearman"),
    ):  # fmt: skip
        for name in ("baseline", "candidate"):
            one = part["humans"][name]
            if one is not None and key in one:
                mark = one["gate"]["spearman_at_least"] if key == "spearman" else None
                rows.append((f"{said}, {name}", one[key], mark, SIDE_STYLES[name]))
    return intervals(rows, "Agreement with people", **_range(rows)) if rows else None


def _range(rows: Sequence[Line]) -> dict[str, float]:
    """The axis: from 0 to 1, or from -1 where something is below 0."""
    lows = [
        found["ci95"][0] if found["ci95"] else found["value"] for _, found, _, _ in rows if found
    ]
    return {"low": -1.0 if min(lows, default=0.0) < 0.0 else 0.0, "high": 1.0}


def position(found: Mapping[str, Any]) -> str | None:
    """Position figures of both sides; None for single candidates."""
    rows: list[Line] = []
    for key, said, fair in (
        ("consistency", "consistent", None), ("primacy", "primacy", None),
        ("recency", "recency", None), ("first_position_share", "first position", 0.5),
    ):  # fmt: skip
        for name in ("baseline", "candidate"):
            if found[name] is not None:
                rows.append((f"{said}, {name}", found[name][key], fair, SIDE_STYLES[name]))
    return intervals(rows, "Position bias", low=0.0, high=1.0) if rows else None


def length(part: Mapping[str, Any]) -> str | None:
    """Length against points as a scatter; of pairs, the share that the longer one won."""
    found = {name: part["length"][name] for name in ("baseline", "candidate")}
    known = {name: one for name, one in found.items() if one is not None}
    if not known:
        return None
    if any("points" in one for one in known.values()):
        return _scatter({name: one["points"] for name, one in known.items()})
    rows: list[Line] = [
        (f"longer one won, {name}", one["longer_won_share"], 0.5, SIDE_STYLES[name])
        for name, one in known.items()
    ]
    people_share = next(iter(known.values()))["humans_longer_won_share"]
    rows.append(("longer one won, people", people_share, 0.5, "h"))
    return intervals(rows, "Length of the winner", low=0.0, high=1.0)


def _scatter(columns: Mapping[str, Sequence[Sequence[float]]]) -> str | None:
    points = [point for column in columns.values() for point in column]
    if not points:
        return None
    lengths = [math.log1p(chars) for chars, _ in points]
    shortest, longest = min(lengths), max(lengths)
    values = sorted({value for _, value in points})
    low, high = values[0], values[-1]
    left, top, width, height = 40.0, 10.0, 480.0, 40.0 * max(2, len(values))

    def x(chars: float) -> float:
        # Lengths differ by factors rather than by numbers of characters.
        share = (math.log1p(chars) - shortest) / (longest - shortest) if longest > shortest else 0.5
        return left + 12.0 + (width - 24.0) * share

    def y(value: float) -> float:
        share = 0.5 if high == low else (value - low) / (high - low)
        return top + 12.0 + (height - 24.0) * (1.0 - share)

    parts = [
        svg.line(left, top + height, left + width, top + height, "axis"),
        *(svg.text(left - 8, y(v) + 4, f"{v:g}", anchor="end") for v in values),
        svg.text(left, top + height + 16, f"{math.expm1(shortest):,.0f}", style="t xs"),
        svg.text(
            left + width, top + height + 16, f"{math.expm1(longest):,.0f} characters (log)",
            anchor="end", style="t xs",
        ),
    ]  # fmt: skip
    for name, column in columns.items():
        shift = -4.0 if name == "baseline" else 4.0
        parts += [
            svg.dot(x(chars), y(value) + shift, 3.0, f"{SIDE_STYLES[name]} thin")
            for chars, value in column[:MAX_DOTS]
        ]
    return svg.picture(
        left + width + 10,
        top + height + 52,
        "Length against points",
        [*parts, *_legend(columns, top + height + 42)],
    )
