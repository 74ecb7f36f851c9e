"""The report of a drift run: everything that is found, as JSON-ready values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge_service.drift import bias, humans
from judge_service.drift.criterion import Compared, compare_criterion
from judge_service.drift.data import Lined, labels, line_up, spent
from judge_service.drift.flips import group_flips
from judge_service.drift.floor import NO_FLOOR
from judge_service.drift.judgement import Judgement
from judge_service.drift.plan import SIDES, RunData, SideName, same_items, same_question
from judge_service.drift.review import extremes, most_changed
from judge_service.drift.summary import side_summary
from judge_service.drift.verdict import Verdict, decide
from judge_service.gold.item import GoldItem, GoldSet
from judge_service.statistics.bootstrap import SEED, Bootstrap
from judge_service.statistics.correlation import kendall, spearman
from judge_service.statistics.estimate import Estimate, wire
from judge_service.statistics.shift import mean_shift

DEFAULT_TOP = 10
EACH_ITS_OWN = "labels of several criteria have no agreement of their own; each has its floor"
OF_LABELS = (
    "noise_floor", "kappa_paradox", "confusion", "mcnemar", "stuart_maxwell",
    "agreement", "kappa", "quadratic_kappa", "spearman", "kendall", "mean_shift",
    "within_group_flips",
)  # fmt: skip
"""What is said of labels on one criterion, or of the outcomes of pairs."""


def make_report(
    gold: GoldSet,
    baseline: RunData,
    candidate: RunData,
    *,
    top: int = DEFAULT_TOP,
    seed: int = SEED,
    stopped: str | None = None,
) -> dict[str, Any]:
    """Compare two sides. ``stopped`` is why not everything was asked, if so; what was not asked
    may have drifted, so that "no drift" is not said then.

    The same runs always give the same report. Raises ConfigError where the runs are not of these
    items or cannot be compared.
    """
    for data in (baseline, candidate):
        same_items(gold, data, f"runs of {data.side.judge!r}") if data.recorded else None
    same_question(baseline.side, candidate.side)
    lined = line_up(gold, baseline, candidate)
    names = _criteria(baseline, candidate)
    found = [
        compare_criterion(lined, n, () if n is None else baseline.side.scales[n], seed=seed)
        for n in names
    ]
    verdict = decide(lined, found, stopped)
    parts = [_part(lined, one, verdict, seed=seed) for one in found]
    report: dict[str, Any] = {
        "n": lined.n,
        "judged": len(lined.judged),
        "failed": lined.failed,
        "short_circuited": lined.short_circuited,
        "drift": verdict.drift,
        "reasons": list(verdict.reasons),
        **(parts[0] if len(parts) == 1 else _whole(lined, found, seed=seed)),
        "position": {n: bias.position(d, gold.items) for n, d in _sides(lined)},
        "changed": most_changed(lined, top),
        "highest": extremes(lined, top, highest=True),
        "lowest": extremes(lined, top, highest=False),
        "usage": spent([*baseline.runs, *candidate.runs]),
        **{name: side_summary(lined, data, seed=seed) for name, data in _sides(lined)},
    }
    if len(parts) > 1:
        report["criteria"] = {
            str(one.criterion): {
                "n": lined.n,
                "judged": one.n,
                "failed": lined.failed,
                "short_circuited": lined.short_circuited,
                "drift": None
                if verdict.drift is None
                else bool(verdict.by_criterion[one.criterion]),
                "reasons": list(verdict.by_criterion[one.criterion]),
                **part,
            }
            for one, part in zip(found, parts, strict=True)
        }
    return report


def _sides(lined: Lined) -> list[tuple[SideName, RunData]]:
    return list(zip(SIDES, (lined.baseline, lined.candidate), strict=True))


def _criteria(baseline: RunData, candidate: RunData) -> list[str | None]:
    if baseline.side.kind == "compare":
        return [None]
    return [name for name in baseline.side.scales if name in candidate.side.scales]


def _part(lined: Lined, one: Compared, verdict: Verdict, *, seed: int) -> dict[str, Any]:
    """What is said of one criterion, or of the outcomes of pairs."""
    figures = dict(one.figures)
    _note_adjusted(figures, one, verdict)
    return {
        **figures,
        "humans": _humans(lined, one.criterion, seed=seed),
        "length": {n: _length(lined, d, one.criterion, seed=seed) for n, d in _sides(lined)},
        "own_family": {
            n: bias.own_family(
                d.side, bias.rows_of(lined, d, one.criterion), one.criterion, seed=seed
            )
            for n, d in _sides(lined)
        },
    }


def _note_adjusted(figures: dict[str, Any], one: Compared, verdict: Verdict) -> None:
    """Beside the p-value of the deciding test, the one after Holm's correction."""
    adjusted = verdict.adjusted.get(one.criterion)
    if one.test is None or adjusted is None:
        return
    if one.criterion is None:
        figures["stuart_maxwell"] = {**figures["stuart_maxwell"], "p_adjusted": adjusted}
    else:
        shift = figures["mean_shift"]
        figures["mean_shift"] = {**shift, "test": {**shift["test"], "p_adjusted": adjusted}}


def _length(lined: Lined, data: RunData, criterion: str | None, *, seed: int) -> dict[str, Any]:
    rows = bias.rows_of(lined, data, criterion)
    if criterion is None:
        return bias.length_of_pairs(rows)
    return bias.length_of_points(rows, criterion, seed=seed)


def _humans(lined: Lined, criterion: str | None, *, seed: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, data in _sides(lined):
        rows = bias.rows_of(lined, data, criterion)
        if criterion is None:
            chosen = [(j.outcome, c) for i, j in rows if (c := i.human_choice) and j.outcome]
            found[name] = humans.against_choices(
                [o for o, _ in chosen], [c for _, c in chosen], seed=seed
            )
        else:
            scored = [
                (j.points[criterion], h) for i, j in rows if (h := i.human(criterion)) is not None
            ]
            found[name] = humans.against_points(
                [p for p, _ in scored],
                [h for _, h in scored],
                data.side.scales[criterion],
                repeat_rho=_repeat_rho(data, lined.gold.items, criterion, seed=seed),
                seed=seed,
            )
    found["change"] = _human_change(lined, criterion, seed=seed)
    return found


def _human_change(lined: Lined, criterion: str | None, *, seed: int) -> dict[str, Any] | None:
    """Whether the new judge is nearer to people, over the items that both have a label for."""
    if criterion is None:
        triples = [
            (r.baseline.outcome, r.candidate.outcome, choice)
            for r in lined.judged
            if (choice := r.item.human_choice) and r.baseline.outcome and r.candidate.outcome
        ]
        return humans.change(
            [a for a, _, _ in triples],
            [b for _, b, _ in triples],
            [c for _, _, c in triples],
            seed=seed,
        )
    rows = [
        (float(r.baseline.points[criterion]), float(r.candidate.points[criterion]), human)
        for r in lined.judged
        if (human := r.item.human(criterion)) is not None
    ]
    columns = [[row[place] for row in rows] for place in range(3)]
    found = humans.change(*(humans.names(column) for column in columns), seed=seed)
    if found is not None:
        found["spearman"] = wire(humans.rho_change(*columns, seed=seed))
    return found


def _repeat_rho(
    data: RunData, items: Sequence[GoldItem], criterion: str, *, seed: int
) -> Estimate | None:
    """A judge's correlation with itself; None with one run."""
    if len(data.runs) < 2:
        return None
    columns = [labels(run, items, criterion) for run in data.runs[:2]]
    both = [(a, b) for a, b in zip(*columns, strict=True) if a is not None and b is not None]
    return spearman(
        [float(a) for a, _ in both],
        [float(b) for _, b in both],
        draws=Bootstrap(len(both), seed=seed),
    )


def _whole(lined: Lined, found: Sequence[Compared], *, seed: int) -> dict[str, Any]:
    """What can be said of several criteria together: their weighted score and the rewards.

    Labels of several criteria have no agreement of their own; those stand under ``criteria``.
    """
    scored = [
        (row.baseline.score, row.candidate.score)
        for row in lined.judged
        if row.baseline.score is not None and row.candidate.score is not None
    ]
    old, new = [a for a, _ in scored], [b for _, b in scored]
    draws = Bootstrap(len(scored), seed=seed)
    shift = mean_shift(old, new, draws=draws)
    return {
        **dict.fromkeys(OF_LABELS),
        "noise_floor": _no_floor(lined, found),
        "kappa_paradox": any(one.figures["kappa_paradox"] for one in found),
        "spearman": wire(spearman(old, new, draws=draws)),
        "kendall": wire(kendall(old, new, draws=draws)),
        "mean_shift": None if shift is None else {**(wire(shift) or {}), "test": None},
        "within_group_flips": _reward_flips(lined, seed=seed),
        "humans": dict.fromkeys(("baseline", "candidate", "change")),
        "length": dict.fromkeys(SIDES),
        "own_family": dict.fromkeys(SIDES),
    }


def _no_floor(lined: Lined, found: Sequence[Compared]) -> dict[str, Any]:
    """The floor of several criteria together: there is none, each has its own."""
    repeats = len(lined.baseline.runs)
    return {
        "agreement": None,
        "kappa": None,
        "repeats": repeats,
        "n": None,
        "exact": all(one.floor.exact for one in found),
        "below": {},
        "note": EACH_ITS_OWN if repeats > 1 else NO_FLOOR,
    }


def _reward_flips(lined: Lined, *, seed: int) -> dict[str, Any] | None:
    """Orderings by reward, rules included: what a trainer gets. Beside them those that the baseline
    turns round by itself.
    """
    found = _flips_of([(r.item.group, r.baseline, r.candidate) for r in lined.all_rows], seed=seed)
    if found is None:
        return None
    noise = None
    if len(lined.baseline.runs) > 1:
        first, second = lined.baseline.runs[:2]
        both = [i for i in lined.gold.items if i.id in first and i.id in second]
        noise = _flips_of([(i.group, first[i.id], second[i.id]) for i in both], seed=seed)
    return {**found, "noise": noise}


def _flips_of(
    pairs: Sequence[tuple[str, Judgement, Judgement]], *, seed: int
) -> dict[str, Any] | None:
    known = [
        (group, a.reward, b.reward)
        for group, a, b in pairs
        if a.reward is not None and b.reward is not None
    ]
    return group_flips(
        [group for group, _, _ in known],
        [before for _, before, _ in known],
        [after for _, _, after in known],
        seed=seed,
    ).wire()
