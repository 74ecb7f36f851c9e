"""The bias report as a page for people."""

from __future__ import annotations

from collections.abc import Iterator

from judge_service.bias.figure import Figure
from judge_service.bias.page import Grid, Heading, Page, Piece, Sentence
from judge_service.bias.report import BiasReport, JudgeBias
from judge_service.text.counted import count_of

_ROWS: tuple[tuple[str, str, str], ...] = (
    ("position.consistent", "pairs that survive the swap", "share"),
    ("position.ties", "pairs that are a tie in both orders", "share"),
    ("position.primacy", "pairs that flip in favour of the first shown", "share"),
    ("position.recency", "pairs that flip in favour of the last shown", "share"),
    ("position.preference_fairness", "preference fairness (0 is fair, below: primacy)", "signed"),
    ("position.first_position_share", "orders won by the first shown (0.5 is fair)", "share"),
    ("length.longer_won_share", "wins that the longer answer has", "share"),
    ("length.correlation", "preference and length, rho", "signed"),
    ("length.first_won_share", "wins of the caller's first answer", "share"),
    ("length.controlled_first_won_share", "the same at equal length", "share"),
    ("length.effect", "chance of the longer of two equals (0.5 is fair)", "share"),
    ("length.point_correlation", "points and length, rho", "signed"),
    ("own_family.gap", "own family in pairs, beyond other judges", "signed"),
    ("own_family.point_gap", "own family in points, beyond other judges", "signed"),
    ("style.more_markup_won_share", "wins that the answer with more markup has", "share"),
    ("style.effect", "chance of more markup at equal length (0.5 is fair)", "share"),
    ("style.point_correlation", "points and markup at equal length, rho", "signed"),
    ("stability.choices", "same choice when asked again", "share"),
    ("stability.points", "same points when asked again", "share"),
)
_OF_POINTS = frozenset(
    {"length.point_correlation", "own_family.point_gap", "style.point_correlation",
     "stability.points"}
)  # fmt: skip
"""The figures that scored answers tell; all others are told by pairs."""
METHODS = (
    "Intervals are 95 %: Wilson's for shares of independent cases, else a seeded bootstrap over "
    "items, and the robust variance of a logistic regression for what holds at equal "
    "length and for the chance of the longer answer and of the one with more markup."
)


def page(report: BiasReport) -> Page:
    """All judges, the panel last."""
    pieces: list[Piece] = [Sentence(text) for text in _lead(report)]
    for judge in report.judges:
        name = f"{judge.judge} ({judge.family})" if judge.family else judge.judge
        pieces += _judge(name, judge)
    if report.panel is not None:
        pieces += _judge("The panel together", report.panel)
    pieces.append(Sentence(METHODS))
    return Page("Bias of the judges", pieces)


def _lead(report: BiasReport) -> Iterator[str]:
    if report.source == "live":
        whole = "processes" if (report.processes or 1) > 1 else "process"
        yield (
            f"Live traffic of {report.processes or 1} {whole}: the last {report.window} pairs and "
            "as many scored answers of each judge in a process."
        )
    elif report.outcomes:
        counts = ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in report.outcomes.items())
        yield f"From results: {counts}."
    yield from report.notes


def _judge(name: str, judge: JudgeBias) -> list[Piece]:
    lost = judge.failed_pairs
    failed = f", {count_of(lost, 'pair')} without a verdict" if lost else ""
    counted = f"{count_of(judge.pairs, 'pair')}, {count_of(judge.answers, 'scored answer')}"
    rows, folded = [], _untold(judge)
    for path, words, form in _ROWS:
        section, _, field = path.partition(".")
        figure: Figure | None = getattr(getattr(judge, section), field)
        if figure is None and (path in _OF_POINTS) in folded:
            continue
        if figure is None:
            rows.append([words, "not said", "", "", judge.reasons.get(path, "")])
        else:
            rows.append([words, *_numbers(figure, signed=form == "signed"), ""])
    rows += [[words, "not said", "", "", why] for words, why in folded.values()]
    findings = [Sentence(text, bullet=True) for text in judge.findings]
    table = Grid(["figure", "value", "95 %", "n", "why not"], rows)
    return [Heading(name), Sentence(f"{counted}{failed}."), *findings, table]


def _untold(judge: JudgeBias) -> dict[bool, tuple[str, str]]:
    """One row for all that nothing was judged for: under True of points, under False of pairs."""
    folded = {}
    if not judge.pairs:
        folded[False] = ("everything that pairs tell", "no pairs")
    if not judge.answers:
        folded[True] = ("everything that points tell", "no scored answers")
    return folded


def _numbers(figure: Figure, *, signed: bool) -> list[str]:
    form = "+.2f" if signed else ".2f"
    bounds = "none" if figure.ci95 is None else " to ".join(format(b, form) for b in figure.ci95)
    return [format(figure.value, form), bounds, str(figure.n)]
