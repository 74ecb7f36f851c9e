"""The names of verifiers that are used, from its v1 API, and of pydantic, which comes with it."""

from __future__ import annotations

try:
    from pydantic import Field, model_validator
    from verifiers.v1.configs.judge import JudgeConfig
    from verifiers.v1.errors import RolloutError
    from verifiers.v1.judge import Judge
except ImportError as missing:
    raise ImportError(
        f"judge_client_verifiers needs verifiers and its v1 API: pip install verifiers ({missing})"
    ) from missing

__all__ = ["Field", "Judge", "JudgeConfig", "RolloutError", "model_validator"]
