"""The client of judge_service: a verdict has a reward, a failure has none.

from judge_client import Assessed, JudgeClient

client = JudgeClient(rubric="helpfulness", policy_model="qwen3-4b")
result = client.assess("How do I keep basil alive?", "Six hours of light, water when it is dry.")
if isinstance(result, Assessed):
    print(result.reward)
else:
    print(result.error.code, result.error.message)
"""

from __future__ import annotations

from judge_client.async_client import AsyncJudgeClient
from judge_client.candidate import Candidate
from judge_client.client import JudgeClient
from judge_client.errors import (
    AccessDenied,
    ConfigError,
    InvalidRequest,
    JudgeClientError,
    JudgingFailed,
    NotFound,
    RequestRefused,
)
from judge_client.requests import Assess, Compare, Join, Rank, Request
from judge_client.results import (
    Assessed,
    AssessFailed,
    AssessOutcome,
    Compared,
    CompareFailed,
    CompareOutcome,
    Failure,
    Joined,
    JoinFailed,
    JoinOutcome,
    Ranked,
    RankFailed,
    RankOutcome,
)

__version__ = "0.1.0"
__all__ = [
    "AccessDenied",
    "Assess",
    "AssessFailed",
    "AssessOutcome",
    "Assessed",
    "AsyncJudgeClient",
    "Candidate",
    "Compare",
    "CompareFailed",
    "CompareOutcome",
    "Compared",
    "ConfigError",
    "Failure",
    "InvalidRequest",
    "Join",
    "JoinFailed",
    "JoinOutcome",
    "Joined",
    "JudgeClient",
    "JudgeClientError",
    "JudgingFailed",
    "NotFound",
    "Rank",
    "RankFailed",
    "RankOutcome",
    "Ranked",
    "Request",
    "RequestRefused",
]
