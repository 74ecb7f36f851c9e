"""The settings of every judge."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict


class JudgeConfig(BaseModel):
    """An entry of a task's judges."""

    model_config = ConfigDict(extra="forbid")

    base_url: str = "https://models.example"
    api_key_var: str = "MODELS_KEY"
    id: str = ""
    name: str = ""
    weight: float = 1.0
    model: str = "some/model"
    prompt: Path | None = None
