"""judge_service: LLM-as-judge scoring with bias controls."""

from __future__ import annotations

__version__ = "0.1.0"
