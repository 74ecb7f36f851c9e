"""Work on long texts is done beside the event loop: nobody waits for it, nor the deadline."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.harness import Judges, RunningService, judged_by, new_prompt, write_rubric
from tests.provider import FakeProvider

FAMILY = "candidate-family"
WAIT_S = 60.0
"""How long anything may take that should come at once, on a busy machine."""
POOL = "long-text"
"""How the threads for long texts are named."""


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """The provider of the judge."""
    with FakeProvider() as provider:
        provider.oracle({}, default=4)
        yield provider


@pytest.fixture(scope="module")
def service(
    provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """One judge that takes whatever is asked."""
    folder = tmp_path_factory.mktemp("long")
    write_rubric(folder)
    write_rubric(folder, "pair", kind="compare")
    write_rubric(folder, "way", judged="trajectory")
    judges = Judges(provider).add("ann", "alpha", context_tokens=10_000_000)
    with judged_by(judges, folder) as service:
        service.assess()
        rank(service, ["One.", "Two."])
        yield service


def rank(service: RunningService, candidates: list[Any], **more: Any) -> dict[str, Any]:
    """The answer to a ranking of texts or candidate objects."""
    given = [{"text": c, "family": FAMILY} if isinstance(c, str) else c for c in candidates]
    body = {"rubric": "quality", "prompt": new_prompt(), "candidates": given}
    return service.post("/v1/rank", {**body, **more})


def said(*messages: dict[str, Any]) -> dict[str, Any]:
    """A candidate of messages."""
    return {"messages": list(messages), "family": FAMILY}


def called(argument: str) -> dict[str, Any]:
    """An assistant's turn that only calls a tool."""
    function = {"name": "search", "arguments": json.dumps({"query": argument})}
    return {"role": "assistant", "content": None, "tool_calls": [{"function": function}]}


UNITS = {
    "short lines": "a\n", "code": "    total += item  # so\n", "words": "a b ", "line ends": "\n",
    "one line": "x", "markup": "<b>x</b>", "list": "- [x] a\n", "wide": "二",
    "invisible": "a\u200b", "marks": "a\u0301", "fences": "```\n",
}  # fmt: skip
SIZE = 30_000
SHAPES: dict[str, Any] = {
    **{name: "A" + unit * (SIZE // len(unit)) for name, unit in UNITS.items()},
    "messages": said(*[{"role": "assistant", "content": "a"}] * 1_500),
    "a call": said(called("a" * SIZE)),
    "calls": said(*[called("a" * 20)] * 700),
    "context": said(
        {"role": "user", "content": "a\n" * SIZE}, {"role": "assistant", "content": "Yes."}
    ),
}
STEPS = {
    "identity": "judge_service.candidate.identity.identity_key",
    "digest": "judge_service.ranking.members._digests",
    "verdict key": "judge_service.verdicts.key.verdict_key",
    "question": "judge_service.asking.ask.render_user",
    "request": "judge_service.adapters.openai_backend.body_of",
}
"""What is done with a text on its way, by the function that does it."""


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """In which threads each step is done, from now on."""
    seen: dict[str, set[str]] = {name: set() for name in STEPS}
    for name, place in STEPS.items():
        monkeypatch.setattr(place, _noting(seen[name], _found(place)))
    return seen


def _found(place: str) -> Callable[..., Any]:
    module, _, name = place.rpartition(".")
    found: Callable[..., Any] = getattr(__import__(module, fromlist=[name]), name)
    return found


def _noting(seen: set[str], work: Callable[..., Any]) -> Callable[..., Any]:
    def noting(*given: Any, **more: Any) -> Any:
        seen.add(threading.current_thread().name)
        return work(*given, **more)

    return noting


@pytest.mark.parametrize("strategy", ["assess", "pairwise"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_step_on_a_long_text_is_done_beside_the_loop(
    shape: str, strategy: str, service: RunningService, threads: dict[str, set[str]]
) -> None:
    """Whatever the text is like: a line a character, code, markup, any script, or many messages."""
    rubric = "quality" if shape == "context" else "way"
    answer = rank(service, [SHAPES[shape], "B" * SIZE], rubric=rubric, strategy=strategy)

    assert answer["status"] == "success"
    for step, names in threads.items():
        assert names, step
        assert all(name.startswith(POOL) for name in names), step


@pytest.mark.parametrize("field", ["prompt", "reference"])
def test_a_long_prompt_or_reference_is_a_long_text(
    field: str, service: RunningService, threads: dict[str, set[str]]
) -> None:
    """However short the candidates are."""
    rank(service, ["One.", "Two."], **{field: new_prompt() + "a\n" * SIZE})

    for step in ("identity", "verdict key", "question", "request"):
        assert threads[step], step
        assert all(name.startswith(POOL) for name in threads[step]), step


def test_short_texts_take_no_thread(service: RunningService, threads: dict[str, set[str]]) -> None:
    """A thread costs more than they do."""
    rank(service, ["a\n" * 500, "b\n" * 500])

    names = set().union(*threads.values())
    assert len(names) == 1
    assert not any(name.startswith(POOL) for name in names)


class Held:
    """A step that does not go on before it is let."""

    def __init__(self, work: Callable[..., Any]) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self._work = work

    def __call__(self, *given: Any, **more: Any) -> Any:
        """The step."""
        self.begun.set()
        assert self.go_on.wait(WAIT_S)
        return self._work(*given, **more)


@pytest.fixture(params=STEPS)
def held(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """Each of the steps in turn, held up."""
    place = STEPS[request.param]
    held = Held(_found(place))
    monkeypatch.setattr(place, held)
    yield held
    held.go_on.set()


def test_a_long_text_holds_up_nobody(held: Held, service: RunningService) -> None:
    """While a step on it takes its time, others are answered."""
    with ThreadPoolExecutor(1) as pool:
        ranked: Future[Any] = pool.submit(rank, service, ["a\n" * SIZE, "b\n" * SIZE])
        assert held.begun.wait(WAIT_S)
        others = service.http.get("/healthz")
        waiting = not ranked.done()
        held.go_on.set()
        answer = ranked.result(WAIT_S)

    assert others.status_code == 200
    assert waiting
    assert answer["status"] == "success"


def test_a_long_text_does_not_make_the_answer_late(held: Held, service: RunningService) -> None:
    """The time is up in the middle of a step: that is the answer, and nobody waits for its end."""
    answer = rank(service, ["a\n" * SIZE, "b\n" * SIZE], timeout_s=0.5)

    assert held.begun.is_set()
    assert not held.go_on.is_set()
    assert answer["error"]["code"] == "deadline_exceeded"
    assert answer["rewards"] is None


def test_the_prompt_of_a_group_is_hashed_once(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for every member."""
    asked: list[object] = []
    place = "judge_service.case.prompt_identity"
    hashed = _found(place)

    def noted(prompt: Any) -> bytes:
        asked.append(prompt)
        found: bytes = hashed(prompt)
        return found

    monkeypatch.setattr(place, noted)
    rank(
        service, [f"An answer that is long enough to be remembered, number {n}." for n in range(8)]
    )

    assert len(asked) == 1


def test_an_identity_is_found_once_for_each_candidate(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flags, pairs, histories and charts all go by what the inspection has found."""
    place = STEPS["identity"]
    asked: list[str] = []
    found = _found(place)

    def noted(text: str) -> str:
        asked.append(text)
        key: str = found(text)
        return key

    monkeypatch.setattr(place, noted)
    rank(service, ["One answer.", "Another one.", "A third."], strategy="pairwise")

    assert sorted(asked) == ["A third.", "Another one.", "One answer."]
