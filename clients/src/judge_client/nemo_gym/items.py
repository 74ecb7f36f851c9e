"""A rollout as Gym has it, in items of the Responses protocol, as prompt and candidate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_client import parts
from judge_client.candidate import Candidate
from judge_client.errors import InvalidRequest
from judge_client.messages import refuse
from judge_client.trainer_input import Prompt, prompt_of, reference_of
from judge_client.turns import as_text

REFERENCES = ("reference", "ground_truth", "expected_answer", "answer", "label")
"""Under which names a row may hold the known answer."""
Turn = dict[str, Any]


def prompt_of_row(row: Mapping[str, Any]) -> Prompt:
    """What was asked, with the instructions before it. Raises InvalidRequest."""
    asked = row["responses_create_params"]
    given = asked.get("input")
    if isinstance(given, str):
        turns: list[Turn] = [{"role": "user", "content": given}]
    else:
        turns = turns_of(given, "responses_create_params.input")
    if not turns:
        raise InvalidRequest("responses_create_params.input: empty", field="input")
    instructions = asked.get("instructions")
    if isinstance(instructions, str) and instructions.strip():
        turns.insert(0, {"role": "system", "content": instructions})
    elif isinstance(given, str):
        return prompt_of(given)
    return prompt_of(turns)


def candidate_of_row(row: Mapping[str, Any], *, says_who: bool) -> Candidate:
    """What the policy did: its messages, calls, and what came of them. With ``says_who`` the
    response's model is who is judged. Raises InvalidRequest.
    """
    response = row["response"]
    turns = turns_of(response.get("output"), "response.output")
    model = response.get("model")
    known = says_who and isinstance(model, str) and bool(model)
    return Candidate(
        text=None if turns else "",
        messages=prompt_of(turns) if turns else None,  # type: ignore[arg-type]  # a list of a list
        policy_model=model if known else None,
        finish_reason="length" if _was_cut(response) else None,
    )


def rollout_error(row: Mapping[str, Any]) -> str | None:
    """Why the policy's model gave no response, where the response says so: such a rollout was
    never finished, and is no candidate.
    """
    response = row["response"]
    error, status = response.get("error"), response.get("status")
    if error is None and status not in ("failed", "cancelled"):
        return None
    told = error.get("message") if isinstance(error, Mapping) else error
    return str(told or status)[:200]


def reference_of_row(row: Mapping[str, Any]) -> str | None:
    """The first of REFERENCES in the verifier's metadata, then beside it."""
    given = (row.get("verifier_metadata"), row)
    told = [
        reference_of(place.get(name))
        for place in given
        if isinstance(place, Mapping)
        for name in REFERENCES
    ]
    return next((reference for reference in told if reference is not None), None)


def turns_of(items: object, field: str) -> list[Turn]:
    """Chat messages out of items; a call belongs to the assistant's turn before it, and reasoning
    is not part of what was said. Raises InvalidRequest.
    """
    if not isinstance(items, list):
        refuse(field, "not a list of items")
    turns: list[Turn] = []
    for at, item in enumerate(items):
        if not isinstance(item, Mapping):
            refuse(f"{field}[{at}]", "no item")
        _add(turns, item, f"{field}[{at}]")
    return turns


def _add(turns: list[Turn], item: Mapping[str, Any], field: str) -> None:
    kind = item.get("type") or "message"
    if kind == "reasoning":
        return
    if kind == "message":
        role = item.get("role") or "assistant"
        turns.append({"role": role, "content": _text(item.get("content"), f"{field}.content")})
    elif str(kind).endswith("_output"):
        turns.append(
            {
                "role": "tool",
                "content": _result(item.get("output"), f"{field}.output"),
                "tool_call_id": item.get("call_id"),
            }
        )
    elif kind == "function_call":
        _called(turns, item.get("name"), item.get("arguments"), item.get("call_id"))
    else:
        # A tool that the model's server runs by itself.
        told = {name: value for name, value in item.items() if name not in ("type", "id", "status")}
        _called(turns, kind, as_text(told), item.get("id"))


def _called(turns: list[Turn], name: object, arguments: object, call_id: object) -> None:
    call = {"id": call_id, "function": {"name": name, "arguments": arguments}}
    if turns and turns[-1]["role"] == "assistant":
        turns[-1].setdefault("tool_calls", []).append(call)
    else:
        turns.append({"role": "assistant", "content": None, "tool_calls": [call]})


def _text(content: object, field: str) -> str:
    """What a message says. Raises InvalidRequest for what is neither a text nor parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        refuse(field, "neither a text nor a list of parts")
    told = (_part(part, f"{field}[{at}]") for at, part in enumerate(content))
    return "\n".join(text for text in told if text is not None)


def _part(part: object, field: str) -> str | None:
    """The text of a part, or what says that one was there; None for reasoning."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        refuse(field, "neither a text nor an object")
    text = parts.said(part, field)
    if text is not None:
        return text
    kind = parts.shown(part)
    return None if kind is None else f"({kind} part, not shown)"


def _result(output: object, field: str) -> str:
    """What came of a call: a text, parts, or data."""
    return as_text(output, field) if isinstance(output, Mapping) else _text(output, field)


def _was_cut(response: Mapping[str, Any]) -> bool:
    """Whether the policy's own limit ended the response."""
    details = response.get("incomplete_details")
    return isinstance(details, Mapping) and details.get("reason") == "max_output_tokens"
