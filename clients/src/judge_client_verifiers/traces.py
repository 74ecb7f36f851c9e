"""From a task and its trace to what is asked."""

from __future__ import annotations

from typing import Any

from judge_client.rollouts import policy_of
from judge_client.rows import Row, row_of
from judge_client.settings import Settings


def row_of_trace(task: Any, trace: Any, reference_field: str | None) -> Row:
    """Prompt and turns of the trace's last branch, and the reference.

    The prompt ends where the policy begins to speak: what a task puts into its mouth before that is
    no turn of its own. Raises InvalidRequest.
    """
    reference = getattr(task, reference_field, None) if reference_field else None
    branches = trace.branches
    nodes = list(branches[-1].nodes) if branches else []
    start = next((at for at, node in enumerate(nodes) if node.sampled), len(nodes))
    prompt = [node.message for node in nodes[:start]] or _prompt(task)
    root_reply = getattr(trace, "root_reply", None)
    if root_reply is not None:
        # The last branch is another agent's.
        return row_of(prompt, root_reply, reference)
    return row_of(prompt, [node.message for node in nodes[start:]], reference)


def _prompt(task: Any) -> Any:
    """A task's own prompt, where no message was ever sent."""
    prompt = task.prompt if not isinstance(task.prompt, str) else [_turn("user", task.prompt)]
    system = [_turn("system", task.system_prompt)] if task.system_prompt else []
    return [*system, *(prompt or [])]


def _turn(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def told_by(trace: Any, settings: Settings) -> dict[str, Any]:
    """What a trace tells beside its texts: how the last turn ended, and who wrote it."""
    calls = [call for call in getattr(trace, "calls", ()) if not getattr(call, "error", None)]
    last = calls[-1] if calls else None
    return {
        "finish_reason": getattr(last, "finish_reason", None),
        "policy_model": policy_of(settings, getattr(last, "model", None)),
    }
