"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge_service.cli.configuration import setting

REQUEST, BATCH, WHERE = "Request", "Batch", "Where it is judged"
IN_PROCESS = "In process (as for serve)"

Json = Annotated[bool, typer.Option("--json", help="JSON for machines instead of tables.")]
RubricArgument = Annotated[
    str | None,
    typer.Argument(help="Id of the rubric. Items of a batch may name their own.", metavar="RUBRIC"),
]
PromptText = Annotated[
    str | None,
    typer.Option(
        "--prompt", "-p", metavar="TEXT", help="What was asked: a text, @file or - for stdin.",
        rich_help_panel=REQUEST,
    ),
]  # fmt: skip
ReferenceText = Annotated[
    str | None,
    typer.Option(
        "--reference", "-r", metavar="TEXT", help="The known right answer, shown to the judge.",
        rich_help_panel=REQUEST,
    ),
]  # fmt: skip
PolicyModel = Annotated[
    str | None,
    typer.Option(
        "--policy-model", metavar="MODEL", rich_help_panel=REQUEST,
        help="The model that wrote the candidate; judges of its family are not asked.",
    ),
]  # fmt: skip
Family = Annotated[
    list[str] | None,
    typer.Option(
        "--family", metavar="WORD", rich_help_panel=REQUEST, show_default=False,
        help="Family of that model, said outright (repeat it, or separate by commas).",
    ),
]  # fmt: skip
JudgeIds = Annotated[
    str | None,
    typer.Option(
        "--judges", metavar="ID,ID", rich_help_panel=REQUEST,
        help="Ask only the judges with these ids; --judges-file is the file that defines them.",
    ),
]  # fmt: skip
PanelSize = Annotated[
    int | None,
    typer.Option(
        "--panel-size", metavar="N", help="How many judges are asked (default: the rubric's).",
        rich_help_panel=REQUEST,
    ),
]  # fmt: skip
PurposeWord = Annotated[
    str | None,
    typer.Option(
        "--purpose", metavar="train|validate", rich_help_panel=REQUEST,
        help="What the verdict is for: only judges with that purpose are asked.",
    ),
]  # fmt: skip
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout", metavar="SECONDS",
        help="Time for a request, at most 600 (default 30; the embedded trial model has 120).",
        rich_help_panel=REQUEST,
    ),
]  # fmt: skip
BatchFile = Annotated[
    str | None,
    typer.Option(
        "--batch", metavar="FILE", rich_help_panel=BATCH,
        help="Judge every line of a JSONL file (- for stdin): each an HTTP request body, with an "
        "optional id. What a line lacks is taken from the options.",
    ),
]  # fmt: skip
OutFile = Annotated[
    str | None,
    typer.Option(
        "--out", metavar="FILE", rich_help_panel=BATCH,
        help="Where results go, a line each. An existing file is continued (default: stdout).",
    ),
]  # fmt: skip
Concurrency = Annotated[
    int,
    typer.Option(
        "--concurrency", metavar="N", min=1, max=512, help="Items at a time.",
        rich_help_panel=BATCH,
    ),
]  # fmt: skip
RetryFailed = Annotated[
    bool,
    typer.Option(
        "--retry-failed", rich_help_panel=BATCH,
        help="Ask again where the file holds a failed outcome that is retryable.",
    ),
]  # fmt: skip
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Start the file anew.", rich_help_panel=BATCH),
]
Url = Annotated[
    str | None,
    typer.Option(
        "--url", metavar="URL", envvar="JUDGE_SERVICE_URL", rich_help_panel=WHERE,
        help="A running service. Its key is read from JUDGE_SERVICE_API_KEY. Without a URL the "
        "judging is done in this process.",
    ),
]  # fmt: skip

RunningUrl = Annotated[
    str | None,
    typer.Option(
        "--url", metavar="URL", envvar="JUDGE_SERVICE_URL",
        help="The running service. Its key is read from JUDGE_SERVICE_API_KEY.",
    ),
]  # fmt: skip

JudgesFile = Annotated[
    Path | None,
    setting("--judges-file", var="JUDGES", text="The file of judges.", default="judges.toml if "
            "there is one, else the embedded trial model", panel=IN_PROCESS),
]  # fmt: skip
JudgesFileShort = Annotated[
    Path | None,
    setting("--judges-file", "--judges", var="JUDGES", text="The file of judges.",
            default="judges.toml if there is one"),
]  # fmt: skip
RubricsDir = Annotated[
    Path | None,
    setting("--rubrics-dir", var="RUBRICS_DIR", text="Folder of rubrics.",
            default="the shipped ones", panel=IN_PROCESS),
]  # fmt: skip
AnchorsDir = Annotated[
    Path | None,
    setting("--anchors-dir", var="ANCHORS_DIR", text="Folder of anchors.",
            default="the shipped ones", panel=IN_PROCESS),
]  # fmt: skip
RuleModules = Annotated[
    list[str] | None,
    setting("--rule-modules", var="RULE_MODULES",
            text="Modules that rubrics may take rules from; repeat it, or separate by commas.",
            panel=IN_PROCESS),
]  # fmt: skip
RequireFamily = Annotated[
    bool | None,
    setting("--require-family", var="REQUIRE_FAMILY",
            text="Refuse candidates of unknown family.", panel=IN_PROCESS),
]  # fmt: skip
EmbeddedJudge = Annotated[
    bool | None,
    setting("--embedded-judge", var="EMBEDDED_JUDGE",
            text="Let the small trial model judge even where judges.toml exists or is expected.",
            panel=IN_PROCESS),
]  # fmt: skip
LocalModel = Annotated[
    Path | None,
    setting("--local-model", var="LOCAL_MODEL", text="GGUF file of the embedded judge.",
            default="SmolLM2-135M-Instruct", panel=IN_PROCESS),
]  # fmt: skip
LocalModelFamily = Annotated[
    str | None,
    setting("--local-model-family", var="LOCAL_MODEL_FAMILY",
            text="Family of that file, where its name does not tell.", panel=IN_PROCESS),
]  # fmt: skip
