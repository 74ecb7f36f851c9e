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

# For type checkers, which do not run what follows: the same names.
if TYPE_CHECKING:
    from judge_service.asking.ask import Asker as Asker
    from judge_service.asking.backend import Backend as Backend
    from judge_service.asking.backend import ChatCall as ChatCall
    from judge_service.asking.backend import ChatReply as ChatReply
    from judge_service.engine import Engine as Engine
    from judge_service.errors import ConfigError as ConfigError
    from judge_service.errors import JudgeServiceError as JudgeServiceError
    from judge_service.errors import JudgingError as JudgingError
    from judge_service.errors import RequestError as RequestError
    from judge_service.flags import Flag as Flag
    from judge_service.judges.judge import Bench as Bench
    from judge_service.judges.judge import JudgeSpec as JudgeSpec
    from judge_service.judges.judge import load_bench as load_bench
    from judge_service.outcome import Assessed as Assessed
    from judge_service.outcome import AssessFailed as AssessFailed
    from judge_service.outcome import AssessOutcome as AssessOutcome
    from judge_service.outcome import Compared as Compared
    from judge_service.outcome import CompareFailed as CompareFailed
    from judge_service.outcome import CompareOutcome as CompareOutcome
    from judge_service.outcome import CriterionResult as CriterionResult
    from judge_service.outcome import JudgeCount as JudgeCount
    from judge_service.outcome import OrderChoice as OrderChoice
    from judge_service.outcome import PairCounts as PairCounts
    from judge_service.outcome import Ranked as Ranked
    from judge_service.outcome import RankedMember as RankedMember
    from judge_service.outcome import RankFailed as RankFailed
    from judge_service.outcome import RankOutcome as RankOutcome
    from judge_service.outcome import Verdict as Verdict
    from judge_service.request import AssessRequest as AssessRequest
    from judge_service.request import CompareRequest as CompareRequest
    from judge_service.request import RankRequest as RankRequest
    from judge_service.rubric.anchor import Anchor as Anchor
    from judge_service.rubric.library import Library as Library
    from judge_service.rubric.library import load_library as load_library
    from judge_service.rubric.library import load_rubric as load_rubric
    from judge_service.rubric.library import parse_rubric as parse_rubric
    from judge_service.rubric.rubric import Criterion as Criterion
    from judge_service.rubric.rubric import Rubric as Rubric
    from judge_service.rubric.scale import Point as Point
    from judge_service.rules import Finding as Finding
    from judge_service.rules import Rule as Rule
    from judge_service.rules import RuleInput as RuleInput
    from judge_service.rules import RuleResult as RuleResult
    from judge_service.rules import RulesReport as RulesReport
    from judge_service.service import Service as Service
    from judge_service.service import open_service as open_service
    from judge_service.settings import Settings as Settings
    from judge_service.types import Candidate as Candidate
    from judge_service.types import Message as Message
    from judge_service.types import Prompt as Prompt
    from judge_service.types import ToolCall as ToolCall
    from judge_service.usage import Usage as Usage
    from judge_service.wire import assess_wire as assess_wire
    from judge_service.wire import compare_wire as compare_wire
    from judge_service.wire import rank_wire as rank_wire

__version__ = "0.1.0"

_NAMES = {
    "asking.ask": ("Asker",),
    "asking.backend": ("Backend", "ChatCall", "ChatReply"),
    "engine": ("Engine",),
    "errors": ("ConfigError", "JudgeServiceError", "JudgingError", "RequestError"),
    "flags": ("Flag",),
    "judges.judge": ("Bench", "JudgeSpec", "load_bench"),
    "outcome": (
        "AssessFailed",
        "AssessOutcome",
        "Assessed",
        "CompareFailed",
        "CompareOutcome",
        "Compared",
        "CriterionResult",
        "JudgeCount",
        "OrderChoice",
        "PairCounts",
        "RankFailed",
        "RankOutcome",
        "Ranked",
        "RankedMember",
        "Verdict",
    ),
    "request": ("AssessRequest", "CompareRequest", "RankRequest"),
    "rubric.anchor": ("Anchor",),
    "rubric.library": ("Library", "load_library", "load_rubric", "parse_rubric"),
    "rubric.rubric": ("Criterion", "Rubric"),
    "rubric.scale": ("Point",),
    "rules": ("Finding", "Rule", "RuleInput", "RuleResult", "RulesReport"),
    "service": ("Service", "open_service"),
    "settings": ("Settings",),
    "types": ("Candidate", "Message", "Prompt", "ToolCall"),
    "usage": ("Usage",),
    "wire": ("assess_wire", "compare_wire", "rank_wire"),
}
"""The public names by the module that has them."""
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(["__version__", *_MODULE_OF])


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
