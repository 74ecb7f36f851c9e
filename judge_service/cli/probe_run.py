"""What ``judge-service probe`` does: finds out who is asked what, asks, and reads the outcomes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from judge_service.cli.batch import patiently
from judge_service.cli.exits import UserError
from judge_service.cli.progress import Tally, progress
from judge_service.cli.remote import Remote
from judge_service.cli.remote_answers import JudgesShape, RubricContentShape
from judge_service.cli.requests import asked
from judge_service.cli.target import InProcess, Target, open_target
from judge_service.cli.terminal import note
from judge_service.probing.card import EXIT_CODES, Card, Spent, worst
from judge_service.probing.estimate import Estimate, Rates, estimate
from judge_service.probing.item import ProbeItem, parse_items, shipped_items
from judge_service.probing.plan import How, Key, Plan, Question, Subject, plan
from judge_service.probing.probe import Probe
from judge_service.probing.result import subject_result
from judge_service.probing.run import ask_all
from judge_service.probing.table import PROBES
from judge_service.probing.view import NoRubric, RubricView, view_of
from judge_service.text.counted import count_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the options say."""

    rubric: str
    judges: list[str] | None
    items: Path | None
    max_items: int | None
    probes: list[str] | None
    how: How
    margin: float
    limit: float
    max_calls: int | None
    max_cost: float | None
    concurrency: int
    url: str | None
    flags: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judge:
    id: str
    families: tuple[str, ...]
    purpose: str
    rates: Rates | None = None


def run_probe(wanted: Wanted) -> Card:
    """Probe, and say what came of it. Raises UserError and ConfigError."""
    items = _items(wanted)
    probes = _probes(wanted.probes)
    return asyncio.run(_run(wanted, items, probes))


async def _run(wanted: Wanted, items: Sequence[ProbeItem], probes: Mapping[str, Probe]) -> Card:
    async with open_target(wanted.url, wanted.flags) as target:
        content = await _content(target, wanted.rubric)
        try:
            rubric = view_of(content)
        except NoRubric as error:
            raise UserError(str(error)) from None
        judges = _chosen(await _judges(target), wanted)
        plans = [
            plan(rubric, items, probes.values(), subject, wanted.how)
            for subject in _subjects(rubric, judges, wanted)
        ]
        expected = estimate(plans, content, {j.id: j.rates for j in judges if j.rates is not None})
        _check_ceilings(expected, wanted)
        note(_said(expected, plans, items, wanted))
        tally = Tally(total=0, to_ask=sum(len(one.questions) for one in plans))
        answers, stopped = await _ask(target, plans, wanted, tally)
    return _card(wanted, rubric, items, probes, plans, answers, stopped, expected, tally)


async def _content(target: Target, rubric: str) -> Mapping[str, Any]:
    """The rubric's content. Raises UserError, which of a service says why."""
    if isinstance(target, Remote):
        return await target.get(f"/v1/rubrics/{quote(rubric, safe='')}", RubricContentShape)
    found = await target.rubric(rubric)
    if found is None:
        raise UserError(f"there is no rubric {rubric!r}")
    return found


async def _ask(
    target: Target, plans: Sequence[Plan], wanted: Wanted, tally: Tally
) -> tuple[list[dict[Key, Mapping[str, Any]]], str | None]:
    """The outcomes of every plan, and why not all was asked."""
    answers: list[dict[Key, Mapping[str, Any]]] = []
    stopped: str | None = None
    with progress(tally) as moved:

        async def ask(question: Question) -> Mapping[str, Any]:
            try:
                return await patiently(asked(question.kind, question.body), target)
            except UserError as error:
                if "admin key" not in str(error):
                    raise
                raise UserError(f"{error}; --no-audit asks without it") from None

        def after(outcome: Mapping[str, Any]) -> str | None:
            tally.count(outcome)
            moved()
            return _over(tally, wanted)

        for one in plans:
            outcomes: dict[Key, Mapping[str, Any]] = {}
            if stopped is None:
                outcomes, stopped = await ask_all(
                    one.questions, ask, after, concurrency=wanted.concurrency
                )
            answers.append(outcomes)
            if stopped is None and one is not plans[-1]:
                stopped = _over(tally, wanted)
    return answers, stopped


def _over(tally: Tally, wanted: Wanted) -> str | None:
    """Why no more may be asked."""
    if wanted.max_calls is not None and tally.requests >= wanted.max_calls:
        return f"requests sent: {tally.requests}, --max-calls is {wanted.max_calls}"
    if wanted.max_cost is not None:
        if tally.unknown_cost_calls:
            return "a request came without a price, so --max-cost cannot be kept"
        if tally.cost_usd >= wanted.max_cost > 0.0 or tally.cost_usd > wanted.max_cost:
            return f"${tally.cost_usd:.4f} were spent, --max-cost is ${wanted.max_cost:g}"
    return None


def _check_ceilings(expected: Estimate, wanted: Wanted) -> None:
    if wanted.max_calls is not None and expected.verdicts > wanted.max_calls:
        raise UserError(
            f"--max-calls {wanted.max_calls}: the plan takes {expected.verdicts} verdicts; fewer "
            "items (--max-items) or probes (--probes) take fewer"
        )
    if wanted.max_cost is not None and expected.usd is not None and expected.usd > wanted.max_cost:
        raise UserError(f"--max-cost {wanted.max_cost:g}: the plan takes about ${expected.usd:.2f}")


def _said(
    expected: Estimate, plans: Sequence[Plan], items: Sequence[ProbeItem], wanted: Wanted
) -> str:
    who = ", ".join(one.subject.name for one in plans)
    money = (
        "at a price that is not known beforehand" if expected.usd is None
        else f"about ${expected.usd:.4f}"
    )  # fmt: skip
    audit = "" if wanted.how.audit else ", without audit"
    return (
        f"probing {who} on {wanted.rubric}: {count_of(len(plans[0].items), 'probe')}, "
        f"{count_of(len(items), 'item')}, "
        f"{expected.verdicts} verdicts (at most {3 * expected.verdicts} requests), about "
        f"{expected.tokens:,} tokens, {money}{audit}"
    )


def _items(wanted: Wanted) -> Sequence[ProbeItem]:
    if wanted.items is None:
        found = shipped_items()
    else:
        try:
            text = wanted.items.expanduser().read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"--items: {wanted.items}: cannot be read ({error})") from None
        found = parse_items(text.split("\n"), str(wanted.items))
    return found[: wanted.max_items]


def _probes(names: Sequence[str] | None) -> Mapping[str, Probe]:
    if names is None:
        return PROBES
    unknown = [name for name in names if name not in PROBES]
    if unknown:
        raise UserError(f"--probes: there is no probe {unknown[0]!r}; --list shows them")
    return {name: probe for name, probe in PROBES.items() if name in names}


async def _judges(target: Target) -> list[_Judge]:
    if isinstance(target, InProcess):
        from judge_service.adapters.prices import PriceList

        prices = PriceList()
        bench = target.service.engine.bench
        return [
            _Judge(
                id=spec.id, families=tuple(sorted(spec.families)), purpose=spec.purpose,
                rates=await asyncio.to_thread(_rates, spec, prices, trial=spec.id in bench.trial),
            )
            for spec in bench.values()
        ]  # fmt: skip
    assert isinstance(target, Remote)  # noqa: S101 - there are no others
    shown = (await target.get("/v1/judges", JudgesShape))["judges"]
    return [
        _Judge(id=j["id"], families=tuple(j["family"].split("+")), purpose=j["purpose"])
        for j in shown
    ]


def _rates(spec: Any, prices: Any, *, trial: bool) -> Rates | None:
    """USD per token of a question and of a reply, where they are known beforehand."""
    if trial:
        return (0.0, 0.0)
    if spec.price is not None:
        return (spec.price.input / 1e6, spec.price.output / 1e6)
    row = prices.row(spec)
    rates = None if row is None else row.rates.get("")
    return None if rates is None else (rates.input, rates.output)


def _chosen(judges: Sequence[_Judge], wanted: Wanted) -> Sequence[_Judge]:
    if wanted.judges is None:
        found = [judge for judge in judges if judge.purpose == "train"]
        if not found:
            raise UserError("no judge has the purpose train; name one with --judges")
        return found
    known = {judge.id: judge for judge in judges}
    unknown = [name for name in wanted.judges if name not in known]
    if unknown:
        raise UserError(f"there is no judge {unknown[0]!r}; configured: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(wanted.judges)]


def _subjects(rubric: RubricView, judges: Sequence[_Judge], wanted: Wanted) -> Sequence[Subject]:
    if (wanted.how.panel_size or rubric.panel_size) > 1:
        families = sorted({family for judge in judges for family in judge.families})
        ids = tuple(judge.id for judge in judges)
        return [Subject(name=", ".join(ids), judges=ids, families=tuple(families), panel=True)]
    return [Subject(name=judge.id, judges=(judge.id,), families=judge.families) for judge in judges]


def _card(
    wanted: Wanted,
    rubric: RubricView,
    items: Sequence[ProbeItem],
    probes: Mapping[str, Probe],
    plans: Sequence[Plan],
    answers: Sequence[Mapping[Key, Mapping[str, Any]]],
    stopped: str | None,
    expected: Estimate,
    tally: Tally,
) -> Card:
    subjects = [
        subject_result(rubric, probes, one, outcomes, margin=wanted.margin, limit=wanted.limit)
        for one, outcomes in zip(plans, answers, strict=True)
    ]
    result = worst([subject.result for subject in subjects])
    outcomes = [outcome for one in answers for outcome in one.values()]
    return Card(
        rubric=rubric.id,
        rubric_hash=next((str(o["rubric_hash"]) for o in outcomes), rubric.rubric_hash),
        kind=rubric.kind,
        audit=wanted.how.audit,
        margin=wanted.margin,
        limit=wanted.limit,
        items=len(items),
        result=result,
        exit_code=EXIT_CODES[result],
        stopped=stopped,
        notes=_notes(wanted),
        subjects=subjects,
        spent=Spent(
            verdicts_planned=expected.verdicts,
            estimated_usd=expected.usd,
            requests=tally.requests,
            prompt_tokens=sum(o["usage"]["prompt_tokens"] for o in outcomes),
            completion_tokens=sum(o["usage"]["completion_tokens"] for o in outcomes),
            cost_usd=tally.cost_usd,
            unknown_cost_calls=tally.unknown_cost_calls,
            seconds=round(time.monotonic() - tally.started, 3),
        ),
    )


def _notes(wanted: Wanted) -> list[str]:
    if wanted.how.audit:
        return []
    return [
        "Without audit: where a rule ended it the judge was not asked, and kept verdicts were "
        "taken as they are, so less is known of the judge alone."
    ]
