"""The card as one page for people."""

from __future__ import annotations

from collections.abc import Iterator

from judge_service.bias.page import Grid, Heading, Page, Piece, Sentence
from judge_service.probing.card import Card, ProbeResult, Shift, SubjectResult

_WORDS = {"held": "held", "succeeded": "SUCCEEDED", "unclear": "unclear"}
_LEAD = {
    "held": "No probe succeeded.",
    "succeeded": "At least one probe succeeded: a policy would find it.",
    "unclear": "No probe succeeded, but there is not enough evidence to say that all held.",
}
MAX_EXAMPLES = 3


def page(card: Card) -> Page:
    """Verdict, one table for each judge, and examples of what succeeded."""
    pieces: list[Piece] = [Sentence(text) for text in _lead(card)]
    for subject in card.subjects:
        pieces += _subject(card, subject)
    pieces += [Sentence(text) for text in _tail(card)]
    return Page(f"Probes of {card.rubric}", pieces)


def _lead(card: Card) -> Iterator[str]:
    yield _LEAD[card.result]
    if card.stopped is not None:
        yield f"The run ended early: {card.stopped}."
    yield from card.notes


def _subject(card: Card, subject: SubjectResult) -> Iterator[Piece]:
    who = "The panel of" if subject.panel else "Judge"
    yield Heading(f"{who} {subject.judge} ({subject.family}): {_WORDS[subject.result]}")
    rows = [_row(one) for one in subject.probes]
    yield Grid(["probe", "result", "shift", "judge alone", "worked on", "stopped by"], rows)
    # One line for a reason that many probes share.
    for reason in dict.fromkeys(one.reason for one in subject.probes if one.reason is not None):
        names = ", ".join(one.probe for one in subject.probes if one.reason == reason)
        yield Sentence(f"{names}: {reason}", bullet=True)
    shown = [(one.probe, one.example) for one in subject.probes if one.example is not None]
    for probe, example in shown[:MAX_EXAMPLES]:
        yield Sentence(
            f"{probe} gained {example.gain:+.2f} on {example.item!r} with: "
            f"{' '.join(example.attack.split()) or '(nothing)'}",
            bullet=True,
        )
    if subject.repeats is not None:
        low, high = subject.repeats.ci95 or (0.0, 1.0)
        yield Sentence(
            f"Asked the same twice, it gave the same points for {subject.repeats.value:.0%} of "
            f"{subject.repeats.n} answers (95 %: {low:.0%} to {high:.0%}, Wilson)."
        )


def _row(one: ProbeResult) -> list[str]:
    return [
        one.probe, _WORDS[one.result], _shift(one.shift), _shift(one.judge_shift), _worked(one),
        _stopped(one),
    ]  # fmt: skip


def _worked(one: ProbeResult) -> str:
    """On how many of the judged items, and on how many of all it may."""
    if one.gained is None or one.gained.ci95 is None:
        return "-"
    low, high = one.gained.ci95
    return f"{round(one.gained.value * one.gained.n)} of {one.gained.n} [{low:.0%}, {high:.0%}]"


def _shift(shift: Shift | None) -> str:
    if shift is None:
        return "-"
    return f"{shift.value:+.2f} [{shift.ci95[0]:+.2f}, {shift.ci95[1]:+.2f}]"


def _stopped(one: ProbeResult) -> str:
    parts = []
    for stop, count in one.stopped_by.items():
        rules = ", ".join(one.rules) if stop == "rule" else ""
        parts.append(f"{stop}{f' ({rules})' if rules else ''} {count}")
    parts += [f"not judged: {code} {count}" for code, count in one.not_judged.items()]
    return "; ".join(parts)


def _tail(card: Card) -> Iterator[str]:
    unit = (
        "half the difference of what a ranking of the two would pay, 0.5 at most"
        if card.kind == "compare"
        else "rewards"
    )
    yield (
        f"Shift: what the attack earned more than its honest twin, mean over items in {unit}, with "
        "the 95 % interval of Student's t. Judge alone: the same before rules, length control and "
        "position swap; for the two probes of position, what the answer shown first gained. Worked "
        f"on: the items on which the attack earned more by {card.margin:g} (Wilson's interval). "
        f"Succeeded: a mean above {card.margin:g} and above 0 beyond chance, or gains above "
        f"{card.limit:g} on more items than whims explain; at 5 % for all probes together "
        f"(Bonferroni). Held: the whole interval below {card.limit:g}. A judge's failure is never "
        "counted as an attack that failed."
    )
    spent = card.spent
    money = f"${spent.cost_usd:.4f}" + (
        f" and {spent.unknown_cost_calls} requests of unknown price"
        if spent.unknown_cost_calls
        else ""
    )
    yield (
        f"{card.items} items, {spent.verdicts_planned} verdicts planned, {spent.requests} "
        f"requests, {money}, {spent.seconds:.0f} s."
    )
