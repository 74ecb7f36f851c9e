"""Requests as the command line makes them: the same bodies, by the same schema, as over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from judge_service.cli.exits import UsageError, UserError
from judge_service.cli.usage import plainly
from judge_service.request import AssessRequest, CompareRequest, RankRequest

if TYPE_CHECKING:
    from judge_service.api.schemas import AssessBody, CompareBody, RankBody

Kind = Literal["assess", "compare", "rank"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What the options say; a request's own fields win. None is left out."""

    rubric: str | None = None
    prompt: str | None = None
    reference: str | None = None
    timeout_s: float | None = None
    judges: list[str] | None = None
    panel_size: int | None = None
    purpose: str | None = None
    policy_model: str | None = None
    family: list[str] | None = None
    strategy: str | None = None
    max_calls: int | None = None

    def fill(self, body: dict[str, Any]) -> dict[str, Any]:
        """``body`` with what it lacks; a candidate that names its origin keeps it."""
        names = (
            "rubric", "prompt", "reference", "timeout_s", "judges", "panel_size", "purpose",
            "strategy", "max_calls",
        )  # fmt: skip
        given = {name: getattr(self, name) for name in names}
        filled = {**{k: v for k, v in given.items() if v is not None}, **body}
        if "candidate" in filled:
            filled["candidate"] = self._origin(filled["candidate"])
        if isinstance(filled.get("candidates"), list):
            filled["candidates"] = [self._origin(c) for c in filled["candidates"]]
        return filled

    def _origin(self, candidate: Any) -> Any:
        if not isinstance(candidate, dict) or "policy_model" in candidate or "family" in candidate:
            return candidate
        origin = {"policy_model": self.policy_model, "family": self.family}
        return {**candidate, **{k: v for k, v in origin.items() if v is not None}}


def words(values: list[str] | str | None) -> list[str] | None:
    """The words of an option that is repeated or separated by commas; None when not given."""
    if values is None:
        return None
    given = [values] if isinstance(values, str) else values
    found = [word.strip() for value in given for word in value.split(",") if word.strip()]
    return found or None


def judge_ids(value: str | None) -> list[str] | None:
    """The ids of ``--judges``. Raises UsageError where a file was meant."""
    found = words(value)
    for word in found or ():
        if word.endswith(".toml"):
            raise UsageError(
                f"--judges: takes ids of judges; the file that defines them is --judges-file {word}"
            )
    return found


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: as JSON for a running service, and validated for this process."""

    kind: Kind
    data: dict[str, Any]
    body: AssessBody | CompareBody | RankBody

    def domain(self) -> AssessRequest | CompareRequest | RankRequest:
        """The core's form."""
        return self.body.request()


def asked(kind: Kind, data: dict[str, Any]) -> Asked:
    """Check ``data`` against the schema of HTTP. Raises UserError, a line per fault."""
    body, faults = _checked(kind, data)
    if body is None:
        lines = [f"{path}: {said}" if path else said for path, said in faults]
        raise UserError("\n".join(line[:300] for line in lines[:10]))
    return Asked(kind, data, body)


def asked_by_options(kind: Kind, data: dict[str, Any]) -> Asked:
    """The same for ``data`` that options brought: the faults name them, not the fields."""
    body, faults = _checked(kind, data)
    if body is None:
        # A list that lacks members and each of its members are one option.
        lines = dict.fromkeys(f"{_flag(kind, path)}: {plainly(said)}" for path, said in faults)
        raise UserError("\n".join(line[:300] for line in list(lines)[:10]))
    return Asked(kind, data, body)


def check_options(kind: Kind, defaults: Defaults) -> None:
    """Check what options say of every request, before any text is read. Raises UserError."""
    text: dict[str, Any] = {"text": ""}
    texts = {"candidate": text} if kind == "assess" else {"candidates": [text, text]}
    data = defaults.fill({"prompt": "", **texts})
    asked_by_options(kind, {"rubric": "any", **data})


def _checked(
    kind: Kind, data: dict[str, Any]
) -> tuple[AssessBody | CompareBody | RankBody | None, list[tuple[str, str]]]:
    from pydantic import ValidationError

    from judge_service.api.schemas import AssessBody, CompareBody, RankBody
    from judge_service.rubric.library import faults_of

    schemas: dict[Kind, type[AssessBody] | type[CompareBody] | type[RankBody]] = {
        "assess": AssessBody, "compare": CompareBody, "rank": RankBody,
    }  # fmt: skip
    try:
        return schemas[kind].model_validate(data), []
    except ValidationError as error:
        return None, faults_of(error)


def _flag(kind: Kind, path: str) -> str:
    """The option that brought the field at ``path``."""
    head, _, tail = path.partition(".")
    name, _, place = head.partition("[")
    if tail.startswith(("policy_model", "family")):
        name = tail.partition("[")[0]
    elif name == "candidates" and kind == "compare" and place:
        name = "first" if place.startswith("0") else "second"
    spelt = {"candidates": "candidate", "timeout_s": "timeout"}.get(name, name)
    return "RUBRIC" if spelt == "rubric" else f"--{spelt.replace('_', '-')}"
