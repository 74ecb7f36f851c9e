"""What each judge's provider accepts, learnt from its refusals and remembered.

A provider that refuses a parameter says so in an error of its own wording. The parameter is then
left out, once, and stays out for that judge until the process ends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from judge_service.judges.judge import JudgeSpec

ReplyMode = Literal["json_schema", "json_object", "text"]
_STEPS: dict[ReplyMode, ReplyMode] = {"json_schema": "json_object", "json_object": "text"}

DROPPABLE = frozenset(
    {
        "temperature", "top_p", "max_tokens", "max_completion_tokens", "reasoning_effort",
        "response_format", "seed", "logprobs", "top_logprobs",
    }
)  # fmt: skip
BUDGET_FACTOR = 4
MAX_BUDGET = 32_768


@dataclass(slots=True)
class Capability:
    """What is known of one judge's provider. Mutable, shared by all calls to that judge."""

    mode: ReplyMode
    refused: set[str] = field(default_factory=set)
    budget_name: str = "max_tokens"
    reasons: bool = False
    window: int | None = None

    @classmethod
    def of(cls, judge: JudgeSpec) -> Capability:
        """What a judge's spec says before the first call."""
        mode: ReplyMode = "json_schema" if judge.reply == "auto" else judge.reply
        return cls(mode=mode, reasons=judge.reasoning_effort is not None)

    def parameters(
        self, judge: JudgeSpec, schema: dict[str, Any], *, larger: bool
    ) -> dict[str, Any]:
        """The parameters of the next request. ``larger`` asks for the larger token budget."""
        budget = judge.max_output_tokens
        for more in (self.reasons, larger):
            budget = min(max(MAX_BUDGET, judge.max_output_tokens), budget * BUDGET_FACTOR**more)
        wanted: dict[str, Any] = {
            "temperature": judge.temperature,
            self.budget_name: budget,
            "reasoning_effort": judge.reasoning_effort,
            "response_format": self._response_format(schema),
            **self._logprobs(judge),
            **judge.extra,
        }
        return {k: v for k, v in wanted.items() if v is not None and k not in self.refused}

    def _logprobs(self, judge: JudgeSpec) -> dict[str, Any]:
        """One is of no use without the other, and most providers refuse it so."""
        if judge.top_logprobs is None or {"logprobs", "top_logprobs"} & self.refused:
            return {}
        return {"logprobs": True, "top_logprobs": judge.top_logprobs}

    def learn(self, parameters: frozenset[str], message: str, sent: Mapping[str, Any]) -> None:
        """Take note that ``parameters`` of those that were ``sent`` were refused.

        Calls run side by side: a refusal of what another call has already given up teaches
        nothing new.
        """
        for name in parameters & DROPPABLE & sent.keys():
            if name == "response_format":
                if isinstance(sent[name], dict) and sent[name].get("type") == self.mode:
                    self._step_down(message)
            elif name in ("max_tokens", "max_completion_tokens"):
                self._rename_budget(name)
            else:
                self.refused.add(name)

    def _response_format(self, schema: dict[str, Any]) -> dict[str, Any] | None:
        if self.mode == "json_schema":
            return {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": schema},
            }
        return {"type": "json_object"} if self.mode == "json_object" else None

    def _step_down(self, message: str) -> None:
        # Only a complaint about the schema itself leaves hope for the plain JSON mode.
        about_schema = re.search(r"schema", message, re.IGNORECASE) is not None
        self.mode = _STEPS[self.mode] if about_schema else "text"

    def _rename_budget(self, name: str) -> None:
        if name != self.budget_name:
            return
        if name == "max_tokens":
            self.budget_name = "max_completion_tokens"
        else:
            self.refused.add(name)


_REFUSAL = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not allowed|not permitted|"
    r"invalid|extra (?:fields|inputs)|deprecated|unavailable|only the default|must be|should be|"
    r"not available|not enabled|failed to parse|may only|cannot|not accept|not one of|"
    r"(?:un|not )implemented",
    re.IGNORECASE,
)


def refused_parameters(
    message: str, sent: frozenset[str], named: str | None = None
) -> frozenset[str]:
    """Which of the parameters that were sent an error message of a provider refuses.

    ``named`` is the error's own ``param`` field, as OpenAI's protocol has it. Only parameters that
    can be left out are returned; an empty set means the error is about something else.
    """
    can_drop = sent & DROPPABLE
    if named:
        root = re.split(r"[.\[]", named, maxsplit=1)[0]
        if root in can_drop:
            return frozenset({root})
    if not _REFUSAL.search(message):
        return frozenset()
    found = {name for name in can_drop if re.search(rf"\b{name}\b", message)}
    if "response_format" in can_drop and re.search(
        r"json[_ ]?(?:schema|object|mode)|response[_ ]schema|structured output|guided|grammar",
        message,
        re.IGNORECASE,
    ):
        found.add("response_format")
    if "max_completion_tokens" in message and "max_tokens" in found:
        found.discard("max_completion_tokens")
    return frozenset(found)
