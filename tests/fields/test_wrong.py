"""Fields that are wrong, unknown or out of range: refused as 4xx."""

from __future__ import annotations

import json

import pytest

from tests.harness import RunningService
from tests.http_bodies import (
    MAX_ECHO,
    assistant,
    candidate,
    changed,
    pair,
    refused,
    spliced,
)
from tests.provider import FakeProvider

WRONG_TYPES = {
    "text for timeout_s": changed(timeout_s="30"),
    "inf as text": changed(timeout_s="inf"),
    "NaN as text": changed(timeout_s="nan"),
    "bool for timeout_s": changed(timeout_s=True),
    "null for timeout_s": changed(timeout_s=None),
    "bool for panel_size": changed(panel_size=True),
    "float for panel_size": changed(panel_size=1.0),
    "text for panel_size": changed(panel_size="1"),
    "number for audit": changed(audit=1),
    "text for audit": changed(audit="true"),
    "number for rubric": changed(rubric=5),
    "list for rubric": changed(rubric=["quality"]),
    "number for prompt": changed(prompt=5),
    "null for prompt": changed(prompt=None),
    "object for prompt": changed(prompt={"role": "user", "content": "x"}),
    "texts in prompt": changed(prompt=["a", "b"]),
    "number for reference": changed(reference=5),
    "list for metadata": changed(metadata=[1]),
    "text for metadata": changed(metadata="x"),
    "text for judges": changed(judges="alpha"),
    "numbers in judges": changed(judges=[1]),
    "text for candidate": changed(candidate="x"),
    "list for candidate": changed(candidate=[{"text": "x"}]),
    "null for candidate": changed(candidate=None),
    "number for text": candidate(text=5),
    "list for text": candidate(text=["x"]),
    "object for messages": candidate(messages={"role": "user"}),
    "texts in messages": candidate(messages=["x"]),
    "number for family": candidate(text="x", family=5),
    "numbers in family": candidate(text="x", family=[5]),
    "number for id": candidate(text="x", id=5),
    "number for policy_model": candidate(text="x", policy_model=5),
    "number for finish_reason": candidate(text="x", finish_reason=5),
    "number for content": assistant(content=5),
    "object for content": assistant(content={"type": "text", "text": "x"}),
    "text among the parts": assistant(content=["x"]),
    "number for a part's text": assistant(content=[{"type": "text", "text": 5}]),
    "object for a call": assistant(tool_calls={"function": {"name": "f"}}),
    "object for arguments": assistant(tool_calls=[{"function": {"name": "f", "arguments": {}}}]),
    "other type of call": assistant(tool_calls=[{"type": "x", "function": {"name": "f"}}]),
}


@pytest.mark.parametrize("body", WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_types_are_not_converted(service: RunningService, body: bytes) -> None:
    """A value of another type is refused, never converted."""
    problem = refused(service, body).error

    assert problem.code == "invalid_request"
    assert problem.field


FORBIDDEN = (
    "api_base",
    "base_url",
    "api_key",
    "model_list",
    "mock_response",
    "extra_headers",
    "model",
    "temperature",
    "__class__",
    "",
)
LEVELS = {
    "request": lambda name: changed(**{name: "http://127.0.0.1:1/"}),
    "candidate": lambda name: candidate(text="x", **{name: "http://127.0.0.1:1/"}),
    "message": lambda name: assistant(content="x", **{name: "http://127.0.0.1:1/"}),
    "prompt": lambda name: changed(prompt=[{"role": "user", "content": "x", name: 1}]),
    "tool call": lambda name: assistant(tool_calls=[{"function": {"name": "f"}, name: 1}]),
    "function": lambda name: assistant(tool_calls=[{"function": {"name": "f", name: 1}}]),
}


@pytest.mark.parametrize("name", FORBIDDEN, ids=lambda name: name or "nameless")
@pytest.mark.parametrize("level", LEVELS)
def test_unknown_fields(
    service: RunningService, provider: FakeProvider, level: str, name: str
) -> None:
    """An unknown field is refused at every level, and no judge is asked."""
    problem = refused(service, LEVELS[level](name)).error

    assert problem.field is not None or name == ""
    assert (problem.field or "").endswith(name)
    assert "unknown field" in problem.message
    assert not provider.requests


@pytest.mark.parametrize("name", ["k" * 100_000, "\x1b[31m\n\0" * 50, "é\U0001f600" * 1000])
@pytest.mark.parametrize("level", ["request", "candidate", "message", "function"])
def test_names_are_not_repeated_at_length(service: RunningService, level: str, name: str) -> None:
    """The name of an unknown field is shown short: all in all at most 200 characters of it."""
    body = LEVELS[level](name)

    text = json.dumps(refused(service, body).model_dump(), ensure_ascii=False)

    assert text.count(name[0]) <= MAX_ECHO


def test_many_names_are_not_repeated_at_length(service: RunningService) -> None:
    """Many unknown fields together are not an echo either."""
    answer = refused(service, changed(**{f"{n}" + "k" * 90: 1 for n in range(100)}))

    assert json.dumps(answer.model_dump()).count("k") <= MAX_ECHO + len("unknown") * 20
    assert "99 more" in answer.error.message


VALUES = {
    "long rubric": changed(rubric="q" * 300),
    "no rubric": changed(rubric=""),
    "no messages in prompt": changed(prompt=[]),
    "both forms": candidate(text="x", messages=[]),
    "neither form": candidate(id="x"),
    "both null": candidate(text=None, messages=None),
    "timeout 0": changed(timeout_s=0),
    "timeout negative": changed(timeout_s=-1),
    "timeout 601": changed(timeout_s=601),
    "timeout barely too long": changed(timeout_s=600.001),
    "timeout vanishing": spliced('"timeout_s":1e-400'),
    "no judges": changed(judges=[]),
    "unknown judge": changed(judges=["gamma"]),
    "one unknown judge": changed(judges=["alpha", "gamma"]),
    "path for a judge": changed(judges=["../alpha"]),
    "NUL in a judge": changed(judges=["alpha\0"]),
    "long judge": changed(judges=["a" * 300]),
    "panel of 0": changed(panel_size=0),
    "panel of 10": changed(panel_size=10),
    "panel below the quorum": changed(rubric="panel", panel_size=1),
    "NUL in id": candidate(text="x", id="a\0"),
    "line break in id": candidate(text="x", id="a\n"),
    "escape in id": candidate(text="x", id="\x1b[31m"),
    "DEL in id": candidate(text="x", id="\x7f"),
    "no id": candidate(text="x", id=""),
    "long id": candidate(text="x", id="a" * 129),
    "no family": candidate(text="x", family=""),
    "empty list of families": candidate(text="x", family=[]),
    "blank family": candidate(text="x", family=" "),
    "NUL in family": candidate(text="x", family="a\0b"),
    "long family": candidate(text="x", family="a" * 65),
    "no policy model": candidate(text="x", policy_model=""),
    "NUL in the policy model": candidate(text="x", policy_model="a\0b"),
    "escape in the policy model": candidate(text="x", policy_model="\x1b[31m"),
    "line break after the policy model": candidate(text="x", policy_model="a\n"),
    "long policy model": candidate(text="x", policy_model="a" * 513),
    "long finish reason": candidate(text="x", finish_reason="a" * 65),
    "role in capitals": candidate(messages=[{"role": "USER", "content": "x"}]),
    "no role": candidate(messages=[{"content": "x"}]),
    "role with a line break": candidate(messages=[{"role": "user]\n[system", "content": "x"}]),
    "NUL in a call's name": assistant(tool_calls=[{"function": {"name": "f\0"}}]),
    "line break in a call's name": assistant(tool_calls=[{"function": {"name": "f\ng"}}]),
    "NUL in a call's id": assistant(content="x", tool_call_id="\0"),
    "line break in a name": assistant(content="x", name="a\nb"),
    "text part without text": assistant(content=[{"type": "text"}]),
    "part without anything": assistant(content=[{}]),
    "line break in a part's type": assistant(content=[{"type": "a\nb"}]),
    "compare rubric": changed(rubric="pair"),
}


@pytest.mark.parametrize("body", VALUES.values(), ids=VALUES)
def test_values_that_cannot_be_right(service: RunningService, body: bytes) -> None:
    """A value out of its range is refused, and the field is named."""
    problem = refused(service, body).error

    assert problem.field
    assert problem.message


@pytest.mark.parametrize(
    "candidates",
    [[], [{"text": "a"}], [{"text": "a"}] * 3, [{"text": "a"}, {}], {"0": {"text": "a"}}, None],
    ids=["none", "one", "three", "one empty", "object", "null"],
)
def test_a_comparison_has_two_candidates(service: RunningService, candidates: object) -> None:
    """Any other number of candidates is refused."""
    problem = refused(service, pair(candidates), path="/v1/compare").error

    assert (problem.field or "").startswith("candidates")


def test_two_candidates_have_not_one_id(service: RunningService) -> None:
    """Of a pair as of a group."""
    twice = [{"text": "a", "id": "x"}, {"text": "b", "id": "x"}]
    compared = refused(service, pair(twice), path="/v1/compare").error
    ranked = refused(service, pair(twice), path="/v1/rank").error

    assert (compared.message, compared.field) == (ranked.message, ranked.field)
    assert compared.field == "candidates"


@pytest.mark.parametrize("field", ["group", "member", "run"])
@pytest.mark.parametrize("name", ["a\0", "a\n", "\x1b[31m", "\x7f"])
def test_names_of_groups_have_no_controls(service: RunningService, field: str, name: str) -> None:
    """They stand in log lines and messages, as ids do."""
    body = {
        "group": "g", "member": "m", "size": 2, "rubric": "quality", "prompt": "?",
        "deadline_s": 0.1, "candidate": {"text": "x"}, field: name,
    }  # fmt: skip
    problem = refused(service, json.dumps(body).encode(), path="/v1/groups/join").error

    assert problem.field == field


@pytest.mark.parametrize(
    "rubric",
    ["../../etc/passwd", "%2e%2e", "/etc/passwd", "..", ".", "con", "quality\0", "quality\n",
     "QUALITY", " quality", "quality.toml", "quality/../quality", "{rubric}"],
)  # fmt: skip
def test_rubric_ids_are_no_paths(service: RunningService, rubric: str) -> None:
    """A rubric that is not in the library is unknown, whatever it looks like."""
    assert refused(service, changed(rubric=rubric), 404).error.code == "unknown_rubric"
