"""The shape that the judging commands share: options around what each of them brings itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

import typer

from judge_service.cli import options as o
from judge_service.cli.judging import run
from judge_service.cli.requests import Kind

Command = Callable[..., None]


def judging_command(kind: Kind, candidates: Sequence[str]) -> Callable[[Command], Command]:
    """Make a command of a function that has its own options as parameters, a docstring as its help
    and nothing to do.

    ``candidates`` are the names of those options that bring what is judged. They come after the
    prompt, the function's other options after the reference.
    """

    def made(described: Command) -> Command:
        def command(**given: object) -> None:
            raise typer.Exit(run(kind, given, candidates))

        own = _parameters(described)
        brought = [one for one in own if one.name in candidates]
        more = [one for one in own if one.name not in candidates]
        parameters = [*_parameters(_asked), *brought, *_parameters(_known), *more,
                      *_parameters(_judged)]  # fmt: skip
        command.__name__, command.__doc__ = described.__name__, described.__doc__
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        signature = inspect.Signature(parameters)
        command.__signature__ = signature  # type: ignore[attr-defined]  # inspect's own name
        return command

    return made


def _parameters(function: Command) -> list[inspect.Parameter]:
    return list(inspect.signature(function, eval_str=True).parameters.values())


def _asked(rubric: o.RubricArgument = None, prompt: o.PromptText = None) -> None:
    """What comes before the candidates."""


def _known(reference: o.ReferenceText = None) -> None:
    """What comes right after them."""


def _judged(
    policy_model: o.PolicyModel = None,
    family: o.Family = None,
    judges: o.JudgeIds = None,
    panel_size: o.PanelSize = None,
    purpose: o.PurposeWord = None,
    timeout: o.Timeout = None,
    batch: o.BatchFile = None,
    out: o.OutFile = None,
    concurrency: o.Concurrency = 8,
    retry_failed: o.RetryFailed = False,
    overwrite: o.Overwrite = False,
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
    """By whom, from where to where, and in which process."""
