"""A thousand orders of one list: the same reward for each text, and nothing asked twice."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import pytest

from judge_service.ask import Asker
from judge_service.backend import ChatCall, ChatReply
from judge_service.engine import Engine
from judge_service.judge import Bench, JudgeSpec
from judge_service.library import load_library
from judge_service.outcome import Ranked
from judge_service.request import RankRequest
from judge_service.storage.memory_store import MemoryStore
from judge_service.storage.secret import ServiceSecret
from judge_service.types import Candidate
from judge_service.usage import Usage
from judge_service.verdicts.record import Seal
from judge_service.verdicts.source import VerdictSource
from tests.harness import write_rubric
from tests.provider.envelope_reader import read

TIMES = 1_000


class WhimsicalJudge:
    """A backend in this process. It is biased by position and has a whim for every question."""

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, call: ChatCall) -> ChatReply:
        """A verdict that only the question decides."""
        self.calls += 1
        envelope = read(call.user)
        form = envelope.form
        texts = [text for slot, text in envelope.slots.items() if slot.startswith("candidate")]
        whim = random.Random(repr(texts)).gauss(0.0, 1.0)  # noqa: S311 - repeatable
        if form.kind == "choice":
            first, second = (int(text.split()[0]) for text in texts)
            value: object = "candidate_1" if first - second + 0.6 + whim > 0 else "candidate_2"
        else:
            value = 1 + (int(texts[0].split()[0]) + round(abs(whim))) % 5
        reply = {"v": form.v, "reason": "", form.kind: value, "end": form.end}
        return ChatReply(content=json.dumps(reply), model="judge", usage=Usage())

    async def context_window(self, judge: JudgeSpec) -> int | None:
        """Not known."""
        return None

    async def aclose(self) -> None:
        """Nothing to close."""


@pytest.mark.parametrize(
    ("rubric", "members"), [("quality", 16), ("pair", 4)], ids=["points", "pairs"]
)
def test_a_thousand_orders_give_the_same_rewards(tmp_path: Path, rubric: str, members: int) -> None:
    """Shuffled however often, a group has the same rewards, to the last bit."""
    write_rubric(tmp_path)
    rubrics = write_rubric(tmp_path, "pair", kind="compare")
    (tmp_path / "anchors").mkdir()
    judge = WhimsicalJudge()
    spec = JudgeSpec(id="judge", model="openai/judge", family="alpha")

    async def run() -> set[tuple[tuple[str, float], ...]]:
        source = VerdictSource(
            Asker(judge), MemoryStore(), Seal(ServiceSecret(current=b"secret")), ttl_s=60.0
        )
        engine = Engine(
            library=load_library(rubrics, tmp_path / "anchors"), bench=Bench((spec,)), source=source
        )
        texts = [f"{n} text number {n}" for n in range(members)]
        draw = random.Random(3)  # noqa: S311 - repeatable
        seen = set()
        for _ in range(TIMES):
            order = draw.sample(texts, members)
            candidates = tuple(
                Candidate(text=text, families=frozenset({"candidate-family"})) for text in order
            )
            request = RankRequest(
                rubric=rubric, prompt="A question?", candidates=candidates,
                strategy="assess" if rubric == "quality" else "pairwise",
            )  # fmt: skip
            outcome = await engine.rank(request)
            assert isinstance(outcome, Ranked)
            seen.add(tuple(sorted(zip(order, outcome.rewards, strict=True))))
        return seen

    assert len(asyncio.run(run())) == 1
    assert judge.calls == (members if rubric == "quality" else members * (members - 1))
