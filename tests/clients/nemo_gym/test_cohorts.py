"""Rollouts of one task, ranked against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.clients.digits import Digits
from tests.clients.nemo_gym.support import server, verified
from tests.harness import new_prompt
from tests.trainers.support import rollout


def members(texts: Sequence[str], prompt: str, **more: Any) -> list[dict[str, Any]]:
    """The rollouts of one task."""
    numbers = {"_ng_task_index": 1, **more}
    return [rollout(t, prompt, **numbers, _ng_rollout_index=n) for n, t in enumerate(texts)]


def test_a_cohort_is_ranked(judged: Digits) -> None:
    """Two tasks with one prompt, equal responses among them; the numbers begin anew later."""
    app = server(judged, rubric="pair", num_rollouts_per_prompt=3)
    prompt = new_prompt()
    both = [*members(["4 a", "4 a", "2 b"], prompt),
            *members(["4 a", "4 a", "2 b"], prompt, _ng_task_index=2)]  # fmt: skip

    rows = verified(app, *both)
    later = verified(app, *members(["1 x", "2 y", "3 z"], new_prompt()))

    assert [row["reward"] for row in rows] == [1.0, 1.0, 0.0] * 2
    assert [row["reward"] for row in later] == [0.0, 0.5, 1.0]


def test_posted_again(judged: Digits) -> None:
    """Gym posts again after a lost connection: the same rollout has the same reward."""
    app = server(judged, rubric="pair", num_rollouts_per_prompt=3)
    bodies = members(["4 a", "3 c", "2 b"], new_prompt())
    first = verified(app, *bodies)
    asked = len(judged.provider.requests)

    (again,) = verified(app, bodies[1])

    assert again["reward"] == first[1]["reward"] == 0.5
    assert len(judged.provider.requests) == asked


def test_unnumbered_rollouts_are_a_cohort_by_prompt(judged: Digits) -> None:
    """Where Gym does not number them."""
    app = server(judged, rubric="pair", num_rollouts_per_prompt=2)
    prompt = new_prompt()

    rows = verified(app, rollout("4 a", prompt), rollout("2 b", prompt))

    assert [row["reward"] for row in rows] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("partial", "rewards"), [("fail", None), ("judge>=2", [1.0, 0.0])], ids=["fail", "judge"]
)
def test_a_missing_member(judged: Digits, partial: str, rewards: list[float] | None) -> None:
    """At the deadline all fail, or those who are there are judged; no default."""
    settings: dict[str, Any] = {"num_rollouts_per_prompt": 3, "cohort_deadline_s": 3.0}
    app = server(judged, rubric="pair", partial_cohort=partial, **settings)

    rows = verified(app, *members(["4 a", "2 b"], new_prompt()))

    if rewards is None:
        told = {row["_ng_failure_judge_error"].split(":")[0] for row in rows}
        assert told == {"cohort_incomplete"}
    else:
        assert [row["reward"] for row in rows] == rewards
