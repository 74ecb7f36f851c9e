"""A rollout workflow for AReaL whose reward a judge gives.

    trainer.train(workflow="judge_client.areal.JudgeRLVRWorkflow", workflow_kwargs={...})

AReaL's own wrapper of reward functions makes 0 of a reward that takes longer than 15 seconds. This
workflow asks the judge itself; a sample without a verdict is None, which AReaL rejects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge_client._areal.workflow import JudgeRLVRWorkflow

__all__ = ["JudgeRLVRWorkflow"]


def __getattr__(name: str) -> Any:
    """The workflow, whose base class is AReaL's: imported when it is asked for."""
    if name == "JudgeRLVRWorkflow":
        from judge_client._areal.workflow import JudgeRLVRWorkflow

        return JudgeRLVRWorkflow
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
