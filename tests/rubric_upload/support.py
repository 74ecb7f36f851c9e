"""What the tests of uploaded rubrics share: rubrics, a service that takes them, and putting one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.harness import Judges, RunningService, judged_by, write_rubric
from tests.provider import FakeProvider

SCALE = [{"point": point, "means": f"worth {point}"} for point in (1, 2, 3)]
ANCHOR = {
    "criterion": "quality",
    "point": 1,
    "prompt": "A question?",
    "candidate": "No answer.",
    "reason": "It does not answer.",
}


def rubric(version: str = "2", rubric_id: str = "quality", **more: Any) -> dict[str, Any]:
    """A rubric as JSON, on three points."""
    criterion = {"name": "quality", "weight": 1.0, "question": "How good?", "scale": SCALE}
    made = {
        "id": rubric_id,
        "version": version,
        "description": "A rubric.",
        "criteria": [criterion],
    }
    return {**made, **more}


@contextmanager
def open_folder(folder: Path, **settings: Any) -> Iterator[tuple[RunningService, FakeProvider]]:
    """A service over ``folder/rubrics`` that lets rubrics be put; every text is worth 3."""
    with FakeProvider(hold_s=20.0) as provider:
        provider.oracle({}, default=3)
        with over(folder, provider, **settings) as service:
            yield service, provider


@contextmanager
def over(folder: Path, provider: FakeProvider, **settings: Any) -> Iterator[RunningService]:
    """One more service over the same folder."""
    if not (folder / "rubrics").is_dir():
        write_rubric(folder)
    judges = Judges(provider).add("ann", "alpha")
    with judged_by(judges, folder, **{"allow_rubric_put": True, **settings}) as service:
        yield service


def put(
    service: RunningService,
    body: Any,
    path: str | None = None,
    status: int | None = None,
    **more: Any,
) -> httpx.Response:
    """The answer to a PUT; ``status`` is the one that must come."""
    name = path if path is not None else body["id"]
    answer = service.http.put(f"/v1/rubrics/{name}", json=body, **more)
    if status is not None:
        assert answer.status_code == status, answer.text[:500]
    return answer


def loaded(service: RunningService, rubric_id: str = "quality") -> dict[str, Any]:
    """The rubric as GET gives it."""
    answer = service.http.get(f"/v1/rubrics/{rubric_id}")
    assert answer.status_code == 200, answer.text
    data: dict[str, Any] = answer.json()
    return data


def version(service: RunningService, rubric_id: str = "quality") -> str:
    """The version that is loaded; "" where there is no such rubric."""
    answer = service.http.get(f"/v1/rubrics/{rubric_id}")
    return str(answer.json().get("version", ""))
