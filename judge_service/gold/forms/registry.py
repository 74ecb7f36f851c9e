"""All forms by name."""

from __future__ import annotations

from pathlib import Path

from judge_service.errors import ConfigError
from judge_service.gold.forms.form import Converted, Form, Options, by_row
from judge_service.gold.forms.mtbench import mtbench
from judge_service.gold.forms.pairs import judgebench, llmbar, pandalm, rewardbench
from judge_service.gold.forms.prometheus import NOT_PEOPLE, prometheus
from judge_service.gold.forms.rows import read_rows
from judge_service.gold.forms.table import table
from judge_service.text.counted import count_of

MAX_SHOWN = 5

FORMS = {
    form.name: form
    for form in (
        Form(
            name="llmbar",
            about="LLMBar: input, output_1, output_2, label",
            convert=by_row(llmbar),
        ),
        Form(
            name="mtbench",
            about="MT-Bench: human votes with texts, or FastChat's judgments of pairs or answers",
            convert=mtbench,
        ),
        Form(
            name="judgebench",
            about="JudgeBench: question, response_A, response_B, label A>B or B>A",
            convert=by_row(judgebench),
        ),
        Form(
            name="rewardbench",
            about="RewardBench 1 and 2: prompt, chosen, rejected",
            convert=by_row(rewardbench),
        ),
        Form(
            name="pandalm",
            about="PandaLM: instruction, input, response1, response2, annotators",
            convert=by_row(pandalm),
        ),
        Form(
            name="prometheus",
            about="Prometheus feedback or preferences, and its evaluation sets",
            convert=by_row(prometheus, NOT_PEOPLE),
        ),
        Form(
            name="table",
            about="any CSV, TSV, JSON or JSONL, its columns named with --map",
            convert=by_row(table),
        ),
    )
}


def convert(form: str, file: Path, options: Options) -> Converted:
    """The items of a file. Raises ConfigError for an unknown form, a file that cannot be read, and
    one of which not a single row can be used.
    """
    if form not in FORMS:
        raise ConfigError(f"there is no form {form!r}; known: {', '.join(FORMS)}")
    rows = read_rows(file)
    try:
        found = FORMS[form].convert(rows, options)
    except ConfigError as error:
        told = str(error)
        raise ConfigError(told if told.startswith(f"{file}:") else f"{file}: {told}") from None
    if found.renamed:
        found.notes.append(f"{count_of(found.renamed, 'id')} stood more than once and got a number")
    if not found.items:
        reasons = [f"{file}: {place}: {why}" for place, why in found.skipped[:MAX_SHOWN]]
        raise ConfigError("\n".join([f"{file}: no row could be used as {form}", *reasons]))
    return found
