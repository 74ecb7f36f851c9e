"""judge_service: LLM-as-judge scoring with bias controls.

The names of a library's user. Each is imported when it is first used, so that ``import
judge_service`` costs nothing and does nothing:

    async with open_service(Settings(judges=Path("judges.toml")), os.environ) as service:
        outcome = await service.engine.assess(
            AssessRequest(rubric="helpfulness", prompt="…", candidate=Candidate(text="…"))
        )
    if isinstance(outcome, Assessed):
        print(outcome.reward)

A failed outcome is a type of its own, ``AssessFailed``, and has no reward.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge_service.asking.ask import Asker
    from judge_service.asking.backend import Backend, ChatCall, ChatReply
    from judge_service.engine import Engine
    from judge_service.errors import ConfigError, JudgeServiceError, JudgingError, RequestError
    from judge_service.flags import Flag
    from judge_service.judges.judge import Bench, JudgeSpec, load_bench
    from judge_service.outcome import (
        Assessed,
        AssessFailed,
        AssessOutcome,
        Compared,
        CompareFailed,
        CompareOutcome,
        CriterionResult,
        OrderChoice,
        Verdict,
    )
    from judge_service.request import AssessRequest, CompareRequest
    from judge_service.rubric.anchor import Anchor
    from judge_service.rubric.library import Library, load_library, load_rubric, parse_rubric
    from judge_service.rubric.rubric import Criterion, Rubric
    from judge_service.rubric.scale import Point
    from judge_service.rules import Finding, Rule, RuleInput, RuleResult, RulesReport
    from judge_service.service import Service, open_service
    from judge_service.settings import Settings
    from judge_service.types import Candidate, Message, Prompt, ToolCall
    from judge_service.usage import Usage
    from judge_service.wire import assess_wire, compare_wire

__version__ = "0.1.0"

__all__ = [
    "Anchor",
    "Asker",
    "AssessFailed",
    "AssessOutcome",
    "AssessRequest",
    "Assessed",
    "Backend",
    "Bench",
    "Candidate",
    "ChatCall",
    "ChatReply",
    "CompareFailed",
    "CompareOutcome",
    "CompareRequest",
    "Compared",
    "ConfigError",
    "Criterion",
    "CriterionResult",
    "Engine",
    "Finding",
    "Flag",
    "JudgeServiceError",
    "JudgeSpec",
    "JudgingError",
    "Library",
    "Message",
    "OrderChoice",
    "Point",
    "Prompt",
    "RequestError",
    "Rubric",
    "Rule",
    "RuleInput",
    "RuleResult",
    "RulesReport",
    "Service",
    "Settings",
    "ToolCall",
    "Usage",
    "Verdict",
    "__version__",
    "assess_wire",
    "compare_wire",
    "load_bench",
    "load_library",
    "load_rubric",
    "open_service",
    "parse_rubric",
]

_NAMES_BY_MODULE = {
    "rubric.anchor": ("Anchor",),
    "asking.ask": ("Asker",),
    "asking.backend": ("Backend", "ChatCall", "ChatReply"),
    "engine": ("Engine",),
    "errors": ("ConfigError", "JudgeServiceError", "JudgingError", "RequestError"),
    "flags": ("Flag",),
    "judges.judge": ("Bench", "JudgeSpec", "load_bench"),
    "rubric.library": ("Library", "load_library", "load_rubric", "parse_rubric"),
    "outcome": (
        "AssessFailed",
        "AssessOutcome",
        "Assessed",
        "CompareFailed",
        "CompareOutcome",
        "Compared",
        "CriterionResult",
        "OrderChoice",
        "Verdict",
    ),
    "request": ("AssessRequest", "CompareRequest"),
    "rubric.rubric": ("Criterion", "Rubric"),
    "rules": ("Finding", "Rule", "RuleInput", "RuleResult", "RulesReport"),
    "rubric.scale": ("Point",),
    "service": ("Service", "open_service"),
    "settings": ("Settings",),
    "types": ("Candidate", "Message", "Prompt", "ToolCall"),
    "usage": ("Usage",),
    "wire": ("assess_wire", "compare_wire"),
}
_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name on its first use."""
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted({*globals(), *__all__})
