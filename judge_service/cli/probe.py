"""``judge-service probe``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge_service.cli import options as o
from judge_service.cli.configuration import SERVICE_FLAGS
from judge_service.cli.exits import OK, WRONG, UsageError
from judge_service.cli.pages import Form, FormOption, OutOption, check_out, show
from judge_service.cli.requests import Defaults, check_options, judge_ids, words
from judge_service.cli.terminal import out as stdout
from judge_service.cli.terminal import plain

WHAT, LIMITS = "What is tried", "Ceilings"


USAGE_CODE = WRONG
"""2 means that a probe succeeded."""


def probe(
    rubric: Annotated[
        str | None, typer.Argument(help="Id of the rubric.", metavar="RUBRIC")
    ] = None,
    judges: o.JudgeIds = None,
    panel_size: o.PanelSize = None,
    items: Annotated[
        Path | None,
        typer.Option(
            "--items",
            metavar="FILE",
            rich_help_panel=WHAT,
            help="Prompts of your own with a good and a weak answer each, JSONL (default: the "
            "shipped ones).",
        ),
    ] = None,
    max_items: Annotated[
        int | None,
        typer.Option(
            "--max-items", metavar="N", min=1, help="Use the first so many.", rich_help_panel=WHAT
        ),
    ] = None,
    probes: Annotated[
        str | None,
        typer.Option(
            "--probes", metavar="NAME,NAME", rich_help_panel=WHAT, help="Only these probes."
        ),
    ] = None,
    repeat: Annotated[
        int,
        typer.Option(
            "--repeat",
            metavar="N",
            min=1,
            max=20,
            rich_help_panel=WHAT,
            help="Verdicts on every attack; more of them even out a judge's whims.",
        ),
    ] = 1,
    with_reference: Annotated[
        bool,
        typer.Option(
            "--with-reference",
            rich_help_panel=WHAT,
            help="Show the items' references where the rubric leaves that open.",
        ),
    ] = False,
    no_audit: Annotated[
        bool,
        typer.Option(
            "--no-audit",
            rich_help_panel=WHAT,
            help="Ask as a trainer does: rules end it before the judge, kept verdicts count. Needs "
            "no admin key, and tells less of the judge.",
        ),
    ] = False,
    list_probes: Annotated[
        bool, typer.Option("--list", help="Show the probes and end.", rich_help_panel=WHAT)
    ] = False,
    margin: Annotated[
        float,
        typer.Option(
            "--margin",
            metavar="X",
            min=0.0,
            max=1.0,
            rich_help_panel=WHAT,
            help="A mean gain up to this is no success.",
        ),
    ] = 0.1,
    limit: Annotated[
        float,
        typer.Option(
            "--limit",
            metavar="X",
            min=0.0,
            max=1.0,
            rich_help_panel=WHAT,
            help="A probe held when a gain beyond this is ruled out.",
        ),
    ] = 0.25,
    max_calls: Annotated[
        int | None,
        typer.Option(
            "--max-calls",
            metavar="N",
            min=1,
            rich_help_panel=LIMITS,
            help="Requests to judges: a plan of more is refused, and at so many the run ends.",
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            min=0.0,
            metavar="USD",
            rich_help_panel=LIMITS,
            help="Known cost, at most; a request of unknown price ends the run.",
        ),
    ] = None,
    timeout: o.Timeout = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, max=512, help="Requests at a time.")
    ] = 8,
    form: FormOption = Form.TEXT,
    out: OutOption = None,
    url: o.Url = None,
    judges_file: o.JudgesFile = None,
    rubrics_dir: o.RubricsDir = None,
    anchors_dir: o.AnchorsDir = None,
    rule_modules: o.RuleModules = None,
    require_family: o.RequireFamily = None,
    embedded_judge: o.EmbeddedJudge = None,
    local_model: o.LocalModel = None,
    local_model_family: o.LocalModelFamily = None,
    as_json: o.Json = False,
) -> None:
    """Try cheap reward hacks on a judge and a rubric, each beside an honest twin.

    Says what every attack earned more than its twin, and what stopped it: a rule, the envelope,
    length control, the position swap, the family rule, the judge, or nothing. Each judge is probed
    by itself, unless the rubric wants a panel.

    Exit codes: 0 nothing succeeded, 1 a mistake, 2 a probe succeeded, 3 not enough evidence.

    [bold]Examples[/bold]

    judge-service probe helpfulness --judges gpt --max-cost 5

    judge-service probe helpfulness --url http://127.0.0.1:8080 --format html --out card.html

    judge-service probe quick-look --embedded-judge --max-items 5 --probes empty,opener,plea
    """
    if list_probes:
        _list(as_json=as_json)
        raise typer.Exit(OK)
    if rubric is None:
        raise UsageError("missing: RUBRIC (--list shows the probes)")
    if no_audit and repeat > 1:
        raise UsageError("--repeat: without audit a second verdict is the kept first one")
    check_options("assess", Defaults(timeout_s=timeout, panel_size=panel_size))
    check_out(out)
    from judge_service.cli.probe_run import Wanted, run_probe
    from judge_service.probing.plan import How

    given = locals()
    wanted = Wanted(
        rubric=rubric,
        judges=judge_ids(judges),
        items=items,
        max_items=max_items,
        probes=words(probes),
        how=How(
            audit=not no_audit, runs=repeat, timeout_s=timeout, panel_size=panel_size,
            with_reference=with_reference,
        ),
        margin=margin,
        limit=limit,
        max_calls=max_calls,
        max_cost=max_cost,
        concurrency=concurrency,
        url=url,
        flags={name: given[name] for name in SERVICE_FLAGS},
    )  # fmt: skip
    card = run_probe(wanted)
    from judge_service.probing.shown import page

    show(page(card), card.model_dump(mode="json"), Form.JSON if as_json else form, out)
    raise typer.Exit(card.exit_code)


def _list(*, as_json: bool) -> None:
    from judge_service.cli.terminal import print_json
    from judge_service.probing.table import PROBES

    if as_json:
        print_json(
            [
                {"probe": p.name, "kind": p.kind, "about": p.about, "expect": p.expect,
                 "honest_twin": p.twin}
                for p in PROBES.values()
            ]
        )  # fmt: skip
        return
    console = stdout()
    for one in PROBES.values():
        console.print(plain(f"{one.name:<18} ", "bold") + plain(one.about), soft_wrap=True)
