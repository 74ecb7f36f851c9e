"""What the service says when it is ready, and what to try next."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from judge_service.api.schemas import ASSESS_EXAMPLE, COMPARE_EXAMPLE
from judge_service.cli.preflight import Prepared
from judge_service.cli.target import KEY_VARIABLE, TRIAL_TIMEOUT_S
from judge_service.cli.terminal import clean, out, print_json
from judge_service.judges.family import families_of
from judge_service.rubric.rubric import Rubric
from judge_service.service import FIRST_ASSESS, FIRST_COMPARE

PROGRAM = "judge-service"
_POLICY_MODELS = ("qwen3-4b", "llama-3.1-8b-instruct", "mistral-7b-instruct", "gpt-4o-mini")
_ANY_HOST = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - how to reach it  # nosec B104


def announce(prepared: Prepared, port: int, *, as_json: bool) -> None:
    """Print where the service listens, who judges what, and the first things to try."""
    url = address(prepared.settings.host, port)
    if as_json:
        print_json(
            {
                "ready": True,
                "url": url,
                "judges": [_judge(j.id, j.model, j.family_label) for j in prepared.judges],
                "trial_model": prepared.trial,
                "rubrics": list(prepared.library),
                "warnings": list(prepared.warnings),
            }
        )
        return
    from rich.text import Text

    console = out()
    console.print(Text("judge-service is ready on ") + Text(url, "bold green"), soft_wrap=True)
    for head, text in _facts(prepared):
        console.print(Text(f"  {head:<9}", "dim") + Text(clean(text)), soft_wrap=True)
    for warning in prepared.warnings:
        console.print(Text("  warning  ", "bold yellow") + Text(clean(warning)), soft_wrap=True)
    for what, line in suggestions(prepared, url):
        console.print(Text(f"\n{what}:", "dim"))
        console.print(Text(line), soft_wrap=True)
    console.print(Text("\nCtrl-C ends it.", "dim"))
    sys.stdout.flush()


def address(host: str, port: int) -> str:
    """The URL that reaches the service from this machine."""
    reached = _ANY_HOST.get(host, host)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"


def _judge(judge_id: str, model: str, family: str) -> dict[str, str]:
    return {"id": judge_id, "model": model, "family": family}


def _facts(prepared: Prepared) -> list[tuple[str, str]]:
    judges = [f"{j.id} ({j.model}, {j.family_label}, {j.purpose})" for j in prepared.judges]
    keys = prepared.settings.api_keys_file
    return [
        ("judges", ", ".join(judges) or f"local ({prepared.trial}, embedded, for trial)"),
        ("rubrics", ", ".join(prepared.library)),
        ("callers", "with a key of " + str(keys) if keys else "this machine, without a key"
         if prepared.settings.on_loopback else "anyone who can reach it, without a key"),
    ]  # fmt: skip


def suggestions(prepared: Prepared, url: str) -> list[tuple[str, str]]:
    """What to try next: a heading and a line that works when pasted."""
    found: list[tuple[str, str]] = []
    assess = _pick(prepared, "assess", FIRST_ASSESS if prepared.trial else "helpfulness")
    pair = _pick(prepared, "compare", FIRST_COMPARE) or assess
    if assess is not None:
        found.append(("Try", _curl(prepared, f"{url}/v1/assess", _assess_body(prepared, assess))))
    elif pair is not None:
        body = {**COMPARE_EXAMPLE, "rubric": pair.id, **_reference(pair)}
        found.append(("Try", _curl(prepared, f"{url}/v1/compare", body)))
    if pair is not None:
        first, second = (candidate["text"] for candidate in COMPARE_EXAMPLE["candidates"])
        words = [_program(), "compare", pair.id, "--url", url]
        words += ["--prompt", COMPARE_EXAMPLE["prompt"], "--first", first, "--second", second]
        words += ["--reference", _REFERENCE] if pair.judging.reference == "required" else []
        words += ["--timeout", f"{TRIAL_TIMEOUT_S:g}"] if prepared.trial else []
        found.append(("Both orders of a pair, as a table", shlex.join(words)))
    found.append(("All requests, to try in the browser", f"{url}/docs"))
    return found


def _program() -> str:
    """How this program is called here: by its name, or by its path where it is not on the path."""
    if shutil.which(PROGRAM) is None and Path(sys.argv[0]).name == PROGRAM:
        return sys.argv[0]
    return PROGRAM


_REFERENCE = "Light for six hours a day, water when the soil is dry, and regular pinching."


def _pick(prepared: Prepared, kind: str, favourite: str) -> Rubric | None:
    """A rubric for the example: the usual one, else one that takes a plain prompt and answer."""
    fitting = [r for r in prepared.library.values() if r.kind == kind]
    fitting.sort(
        key=lambda r: (
            r.id != favourite,
            r.judging.judged == "trajectory",
            r.judging.reference == "required",
        )
    )
    return fitting[0] if fitting else None


def _reference(rubric: Rubric) -> dict[str, str]:
    return {"reference": _REFERENCE} if rubric.judging.reference == "required" else {}


def _assess_body(prepared: Prepared, rubric: Rubric) -> dict[str, Any]:
    """The example request, written by a model that leaves a judge of another family."""
    candidate = {**ASSESS_EXAMPLE["candidate"], "policy_model": _policy_model(prepared)}
    example = {**ASSESS_EXAMPLE, "rubric": rubric.id, "candidate": candidate}
    return {**example, **_reference(rubric)}


def _policy_model(prepared: Prepared) -> str:
    judges = prepared.judges
    for name in _POLICY_MODELS:
        family = families_of(name)
        if not judges or any(not judge.families & family for judge in judges):
            return name
    return _POLICY_MODELS[0]


def _curl(prepared: Prepared, url: str, body: dict[str, Any]) -> str:
    words = ["curl", "-s", url, "-H", "Content-Type: application/json"]
    line = shlex.join([*words, "-d", json.dumps(body, ensure_ascii=False)])
    if prepared.settings.api_keys_file is None:
        return line
    return f'{line} -H "Authorization: Bearer ${KEY_VARIABLE}"'
