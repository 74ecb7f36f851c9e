"""The engine in this process, with a judge that is whimsical but always the same."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge_service.asking.ask import Asker
from judge_service.asking.backend import ChatCall, ChatReply
from judge_service.engine import Engine
from judge_service.errors import UpstreamAuthError
from judge_service.judges.judge import Bench, JudgeSpec
from judge_service.request import RankRequest
from judge_service.rubric.library import load_library
from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.secret import ServiceSecret
from judge_service.types import Candidate
from judge_service.usage import Usage
from judge_service.verdicts.record import Seal
from judge_service.verdicts.source import VerdictSource
from tests.provider.envelope_reader import Envelope, read
from tests.provider.odds import Odds, entries

FAMILIES = ("alpha", "beta", "gamma")


@dataclass(slots=True, kw_only=True)
class WhimsicalJudge:
    """A backend in this process. It is biased by position and has a whim for every question: what
    it says, whether it fails and whether it tells its odds depend on nothing else.

    ``fails`` and ``tells`` are shares of the questions, ``tie`` is the most a tie can get.
    """

    bias: float = 0.4
    whim: float = 0.7
    tie: float = 0.0
    fails: float = 0.0
    tells: float = 1.0
    asked: Counter[tuple[str, ...]] = field(default_factory=Counter)

    async def complete(self, call: ChatCall) -> ChatReply:
        """A verdict that only the question and the judge decide. Raises UpstreamAuthError."""
        envelope = read(call.user)
        question = (call.judge.id, call.system, *envelope.slots, *envelope.slots.values())
        self.asked[question] += 1
        draw = random.Random(repr(question))  # noqa: S311 - repeatable
        if draw.random() < self.fails:
            raise UpstreamAuthError("out of order")
        told = draw.random() < self.tells and "logprobs" in call.parameters
        odds = self._odds(draw, envelope)
        form = envelope.form
        likeliest = {name: max(chances, key=lambda value: chances[value])
                     for name, chances in odds.items()}  # fmt: skip
        points = {} if form.kind == "choice" else {k: int(v) for k, v in likeliest.items()}
        value: Any = points.get("score", points) if points else likeliest["choice"]
        reply = {"v": form.v, "reason": "", form.kind: value, "end": form.end}
        content = json.dumps(reply, separators=(",", ":"))
        tokens = tuple(entries(content, odds)) if told else ()
        return ChatReply(content=content, model=call.judge.id, usage=Usage(), logprobs=tokens)

    async def context_window(self, judge: JudgeSpec) -> int | None:
        """Not known."""
        return None

    async def aclose(self) -> None:
        """Nothing to close."""

    def _odds(self, draw: random.Random, envelope: Envelope) -> Mapping[str, Odds]:
        texts = {s: text for s, text in envelope.slots.items() if s.startswith("candidate")}
        worths = [_worth(text) for text in texts.values()]
        if envelope.form.kind == "choice":
            x = worths[0] - worths[1] + self.bias + draw.gauss(0.0, self.whim)
            chance, tie = 1.0 / (1.0 + math.exp(-x)), self.tie * draw.random()
            odds = {"candidate_1": chance * (1 - tie), "candidate_2": (1 - chance) * (1 - tie),
                    "tie": tie}  # fmt: skip
            return {"choice": {value: chance for value, chance in odds.items() if chance > 0}}
        found: dict[str, Odds] = {}
        for slot, worth in zip(texts, worths, strict=True):
            low, share = 1 + int(worth + 2 * draw.random()) % 4, draw.uniform(0.05, 0.45)
            name = "score" if envelope.form.kind == "score" else slot
            found[name] = {str(low): 1.0 - share, str(low + 1): share}
        return found


def _worth(text: str) -> float:
    first = text.split()[0] if text.split() else ""
    return int(first) / 4 if first.isdecimal() else len(text) % 7 / 2


def engine_of(
    rubrics: Path, judge: WhimsicalJudge, *, judges: int = 3, top_logprobs: int | None = 20
) -> Engine:
    """An engine with some judges of different families, all of them ``judge``."""
    source = VerdictSource(
        Asker(judge), MemoryStore(), Seal(ServiceSecret(current=b"secret")), ttl_s=86_400.0
    )
    specs = tuple(
        JudgeSpec(id=name, model=f"openai/{name}", family=name, top_logprobs=top_logprobs)
        for name in FAMILIES[:judges]
    )
    library = load_library(rubrics, rubrics.parent / "anchors")
    return Engine(library=library, bench=Bench(specs), source=source)


def group_of(texts: Sequence[str], rubric: str, **more: Any) -> RankRequest:
    """A request to rank texts of one family that judges none."""
    candidates = tuple(
        Candidate(text=text, families=frozenset({"candidate-family"})) for text in texts
    )
    return RankRequest(rubric=rubric, prompt="A question?", candidates=candidates, **more)
