"""The report of a drift run as one HTML file: no script, nothing loaded, everything escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judge_service.drift import pictures, words
from judge_service.drift.svg import escaped
from judge_service.drift.words import estimate, gate_words

STYLE = """
:root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--dim:#5b6470;--line:#d5dae0;--b:#4a6fa5;
--c:#c8702a;--h:#5a8f5a;--bad:#b3261e;--good:#1f7a3d}
@media(prefers-color-scheme:dark){:root{--fg:#e6e8eb;--bg:#15181c;--dim:#9aa4b0;--line:#343a42;
--b:#7ea2d6;--c:#e39a5b;--h:#86ba86;--bad:#f2857d;--good:#6fcf8e}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);margin:2rem auto;
max-width:70rem;padding:0 1rem}h1{font-size:1.5rem;margin:0}h2{font-size:1.2rem;margin-top:2.5rem}
h3{font-size:1rem;margin:1.5rem 0 .5rem}.verdict{font-weight:700}.drift{color:var(--bad)}
.none{color:var(--good)}.dim{color:var(--dim)}table{border-collapse:collapse;margin:.5rem 0}
th,td{text-align:left;vertical-align:top;padding:.25rem .9rem .25rem 0;border-bottom:1px solid
var(--line)}svg{max-width:100%;height:auto;display:block;margin:.5rem 0}.t{fill:var(--fg);
font:13px system-ui,sans-serif}.t.s{fill:var(--dim)}.t.xs{fill:var(--dim);font-size:11px}
.b{fill:var(--b)}.c{fill:var(--c)}.h{fill:var(--h)}.thin{fill-opacity:.55}.cell{fill:none;
stroke:var(--line)}.same{fill:var(--h)}.moved{fill:var(--c)}.axis,.grid{stroke:var(--line)}
.ci{stroke-width:2.5}.bl{stroke:var(--b)}.cl{stroke:var(--c)}.hl{stroke:var(--h)}
.mark{stroke:var(--bad);stroke-width:2.5}.pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2rem 0;font:13px/1.45 ui-monospace,
monospace}
details{border-top:1px solid var(--line);padding:.5rem 0}summary{cursor:pointer}
@media(max-width:45rem){.pair{grid-template-columns:1fr}}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html_report(report: Mapping[str, Any]) -> str:
    """The report that ``make_report`` made, as a page that can be sent to somebody."""
    old, new = report["baseline"], report["candidate"]
    title = f"{words.verdict(report)}: {words.side(new)} beside {words.side(old)}"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escaped(title)}</title><style>{STYLE}</style></head><body>"
        f"{''.join(_body(report))}</body></html>\n"
    )


def _body(report: Mapping[str, Any]) -> Iterator[str]:
    yield from _head(report)
    yield from _sides(report)
    parts = report.get("criteria")
    if parts is None:
        yield from _part(report)
    else:
        yield "<h2>All criteria, by their weighted score</h2>"
        yield _table(
            [
                ("Spearman", estimate(report["spearman"])),
                ("mean shift", estimate(report["mean_shift"], signed=True)),
                ("orderings turned round", _flips(report["within_group_flips"])),
            ]
        )
        for name, part in parts.items():
            said = {True: "DRIFT", False: "no drift", None: "not enough evidence"}[part["drift"]]
            yield f"<h2>{escaped(name)}: {escaped(said)}</h2>"
            yield from _part(part)
    yield from _optional("Position bias", pictures.position(report["position"]))
    yield from _items("Most changed", report["changed"], opened=3)
    yield from _items("Highest", report["highest"])
    yield from _items("Lowest", report["lowest"])
    yield f'<p class="dim">Spent: {escaped(words.spent(report["usage"]))}</p>'


def _head(report: Mapping[str, Any]) -> Iterator[str]:
    old, new = report["baseline"], report["candidate"]
    style = {True: "drift", False: "none", None: "dim"}[report["drift"]]
    yield (
        f'<h1><span class="verdict {style}">{escaped(words.verdict(report))}</span>: '
        f"{escaped(words.side(new))} beside {escaped(words.side(old))}</h1>"
    )
    yield (
        f'<p class="dim">Gold set {escaped(old["gold"])}, {report["n"]} items: '
        f"{report['judged']} judged by both, {report['failed']} failed, "
        f"{report['short_circuited']} ended by a rule.</p>"
    )
    if report["reasons"]:
        reasons = "".join(f"<li>{escaped(reason)}</li>" for reason in report["reasons"])
        yield f"<ul>{reasons}</ul>"
    if new["served_model_changed"]:
        yield "<p class='drift'>The same model name is now served by another model.</p>"


def _sides(report: Mapping[str, Any]) -> Iterator[str]:
    rows = []
    for name in ("baseline", "candidate"):
        side = report[name]
        mean = side["mean"]
        bounds = "" if mean is None else f"{mean['bounds'][0]:.3f} to {mean['bounds'][1]:.3f}"
        failures = ", ".join(f"{code} {n}" for code, n in side["failures"].items()) or "none"
        rows.append(
            (
                name, words.side(side), f"{side['model']} ({side['family']})",
                ", ".join(side["models_served"]) or "unnamed", str(side["runs"]), failures,
                estimate(mean), bounds,
            )
        )  # fmt: skip
    head = ("", "judge, rubric", "model", "served", "runs", "failed", "mean", "bounds with failed")
    yield _grid(head, rows)


def _part(part: Mapping[str, Any]) -> Iterator[str]:
    floor = part["noise_floor"]
    yield "<h3>Agreement (red: the noise floor of the unchanged baseline)</h3>"
    yield pictures.agreement(part)
    for remark in (floor.get("note"), words.kappa_words(part)):
        if remark:
            yield f"<p>{escaped(remark)}</p>"
    yield _table(_tests(part))
    yield "<h3>How labels changed</h3>"
    yield pictures.matrix(part["confusion"])
    yield "<h3>How often each label was given</h3>"
    yield pictures.distributions(part)
    yield from _optional(
        "Agreement with people (red: the least to train with)", pictures.people(part)
    )
    yield from _calibration(part["humans"])
    yield from _optional("Length", pictures.length(part))
    yield from _own_family(part["own_family"])


def _tests(part: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = []
    if part["mean_shift"] is not None:
        rows.append(("mean shift, points", estimate(part["mean_shift"], signed=True)))
        rows.append(("test of points", words.test(part["mean_shift"]["test"])))
    rows.append(("test of labels", words.test(part["stuart_maxwell"])))
    if part["mcnemar"] is not None:
        rows.append(("test of two labels", words.test(part["mcnemar"])))
    rows.append(("orderings turned round", _flips(part["within_group_flips"])))
    return rows


def _flips(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "no group has two candidates that the baseline ranks"
    noise = found.get("noise")
    own = f"; the baseline by itself {estimate(noise)}" if noise else ""
    return f"{estimate(found)}: {found['flipped']} of {found['orderings']}{own}"


def _calibration(found: Mapping[str, Any]) -> Iterator[str]:
    rows = []
    for name in ("baseline", "candidate"):
        one = found[name]
        if one is None or "gate" not in one:
            continue
        rows.append(
            (
                name, str(one["n"]), estimate(one["severity"], signed=True),
                estimate(one["mean_error"]),
                f"{gate_words(one['gate'])} (at least {one['gate']['spearman_at_least']:g})",
                estimate(one["gate"]["own_repeat_spearman"]),
            )
        )  # fmt: skip
    if rows:
        head = (
            "",
            "items",
            "severity, points",
            "mean error",
            "Spearman gate",
            "Spearman with itself",
        )
        yield _grid(head, rows)
    change = found["change"]
    if change is not None:
        nearer = [("agreement", change["agreement"]), ("Spearman", change.get("spearman"))]
        told = ", ".join(f"{n} {estimate(e, signed=True)}" for n, e in nearer if e is not None)
        yield f"<p>Nearer to people by: {escaped(told)}</p>"


def _own_family(found: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        (
            name, one["family"], estimate(one["gap"], signed=True),
            "people's values taken off" if one["less_humans"] else "no human values",
            f"{one['n_own']} of its own, {one['n_other']} others",
        )
        for name in ("baseline", "candidate")
        if (one := found[name]) is not None
    ]  # fmt: skip
    if rows:
        yield "<h3>A judge's own family</h3>"
        yield _grid(("", "family", "gap", "", "items"), rows)


def _items(title: str, entries: Sequence[Mapping[str, Any]], *, opened: int = 0) -> Iterator[str]:
    if not entries:
        return
    yield f"<h2>{escaped(title)}</h2>"
    for number, entry in enumerate(entries):
        old, new = words.changed_labels(entry)
        yield f"<details{' open' if number < opened else ''}><summary>"
        yield f"{escaped(entry['id'])}: <b>{escaped(old)}</b> → <b>{escaped(new)}</b> "
        yield f'<span class="dim">people: {escaped(words.humans_said(entry["humans"]))}</span>'
        yield f"</summary><h3>Prompt</h3><pre>{escaped(entry['prompt'])}</pre>"
        if entry["reference"] is not None:
            yield f"<h3>Reference</h3><pre>{escaped(entry['reference'])}</pre>"
        yield from _candidates(entry["candidates"])
        yield '<div class="pair">'
        for name in ("baseline", "candidate"):
            yield f"<div><h3>{name}: {escaped(words.said(entry[name]))}</h3>"
            for where, reason in entry[name]["reasons"].items():
                yield f"<pre>{escaped(where)}: {escaped(reason)}</pre>"
            yield "</div>"
        yield "</div></details>"


def _candidates(texts: Sequence[str]) -> Iterator[str]:
    if len(texts) == 1:
        yield f"<h3>Answer</h3><pre>{escaped(texts[0])}</pre>"
        return
    yield '<div class="pair">'
    for name, text in zip(("First", "Second"), texts, strict=True):
        yield f"<div><h3>{name}</h3><pre>{escaped(text)}</pre></div>"
    yield "</div>"


def _optional(title: str, picture: str | None) -> Iterator[str]:
    if picture is not None:
        yield f"<h3>{escaped(title)}</h3>{picture}"


def _table(rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{escaped(n)}</th><td>{escaped(v)}</td></tr>" for n, v in rows)
    return f"<table>{cells}</table>"


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escaped(name)}</th>" for name in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><tr>{top}</tr>{body}</table>"
