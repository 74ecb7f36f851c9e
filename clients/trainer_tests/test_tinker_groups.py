"""The cookbook's own groups: rewards by preference, and a group without a verdict is skipped."""

from __future__ import annotations

import asyncio
import itertools
import pickle
from types import SimpleNamespace
from typing import Any

import pytest
import tinker
from judge_client import JudgingFailed
from judge_client.tinker import JudgePreferenceModel
from service_process import real_service
from tinker_cookbook.renderers.base import ParseTermination
from tinker_cookbook.rl.preference_envs import PairwisePreferenceGroupBuilder, TournamentPattern
from tinker_cookbook.rl.rollout_strategy import FailFast, RetryOnFailure
from tinker_cookbook.rl.rollouts import do_group_rollout_and_filter_constant_reward

from tests.clients.coded_judge import OUTAGES, judged
from tests.clients.readme import paste
from tests.clients.stand_in import StandIn

CONVO = [{"role": "user", "content": "q"}]


class Characters:
    """A renderer whose tokens are characters."""

    def get_stop_sequences(self) -> list[int]:
        """None is ever said."""
        return [0]

    def build_generation_prompt(self, convo: Any) -> tinker.ModelInput:
        """Any prompt will do."""
        return tinker.ModelInput.from_ints([1, 2])

    def parse_response(self, tokens: list[int]) -> tuple[dict[str, str], ParseTermination]:
        """The text of the tokens."""
        said = {"role": "assistant", "content": "".join(map(chr, tokens))}
        return said, ParseTermination.STOP_SEQUENCE


class Policy:
    """A sampling client that says one text after the other."""

    def __init__(self, *texts: str) -> None:
        self._texts = itertools.cycle(texts)

    async def sample_async(self, **asked: Any) -> Any:
        """The next text, as tokens."""
        tokens = [ord(char) for char in next(self._texts)]
        said = SimpleNamespace(tokens=tokens, logprobs=[0.0] * len(tokens), stop_reason="stop")
        return SimpleNamespace(sequences=[said])


def group_of(model: JudgePreferenceModel, size: int = 3) -> PairwisePreferenceGroupBuilder:
    """The cookbook's builder over the model."""
    return PairwisePreferenceGroupBuilder(
        CONVO, Characters(), TournamentPattern.ALL_PAIRS_ONE_WAY, model, num_envs=size
    )


def rewards(builder: Any, *texts: str, strategy: Any = None) -> dict[str, float] | None:
    """The rewards of a group as training has them, by text; None where it was skipped."""
    group = asyncio.run(
        do_group_rollout_and_filter_constant_reward(
            Policy(*texts), builder, max_tokens=10, temperature=1.0,
            do_remove_constant_reward_groups=False, enable_logging=False,
            strategy=strategy or RetryOnFailure(),
        )
    )  # fmt: skip
    if group is None:
        return None
    said = ["".join(map(chr, t.transitions[0].ac.tokens)) for t in group.trajectories_G]
    return dict(zip(said, group.get_total_rewards(), strict=True))


@pytest.fixture
def service() -> Any:
    """A stand-in whose verdicts are in the texts."""
    with StandIn() as stand_in:
        stand_in.script = judged
        yield stand_in


def test_wins_minus_losses(service: StandIn) -> None:
    """The better one has more; a flip is nobody's; and a copy of the builder does the same."""
    builder = group_of(JudgePreferenceModel(service.url, rubric="r", timeout_s=10))

    for own in (builder, pickle.loads(pickle.dumps(builder))):  # noqa: S301 - our own
        assert rewards(own, "0", "1", "0.5") == {"0": -1.0, "1": 1.0, "0.5": 0.0}
    assert rewards(builder, "flip", "1", "0.5") == {"flip": 0.0, "1": 0.5, "0.5": -0.5}


@pytest.mark.parametrize("text", ["fail", "never"])
def test_a_group_without_a_verdict_is_skipped(service: StandIn, text: str) -> None:
    """With RetryOnFailure; the default strategy ends the run."""
    builder = group_of(JudgePreferenceModel(service.url, rubric="r", timeout_s=5))

    assert rewards(builder, "0", "1", text) is None
    with pytest.raises(JudgingFailed):
        rewards(builder, "0", "1", text, strategy=FailFast())


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_is_no_reward(service: StandIn, outage: str) -> None:
    """Whatever the answer is."""
    service.says(OUTAGES[outage])

    builder = group_of(JudgePreferenceModel(service.url, rubric="r", timeout_s=0.8), size=2)

    assert rewards(builder, "1", "0") is None


def test_the_readme_runs_as_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against a real service."""
    good, bad = "A good answer, with what was asked for.", "A bad answer that misses it."
    with real_service() as url:
        monkeypatch.setenv("JUDGE_SERVICE_URL", url)
        names = paste(
            "Tinker cookbook", convo=CONVO, renderer=Characters(),
            PairwisePreferenceGroupBuilder=PairwisePreferenceGroupBuilder,
            TournamentPattern=TournamentPattern,
        )  # fmt: skip

        found = rewards(names["group"], good, bad, bad + " Indeed.", good + " Indeed.")

    assert found is not None
    assert found[good] == found[good + " Indeed."] > found[bad] == found[bad + " Indeed."]
