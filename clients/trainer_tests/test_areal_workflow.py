"""AReaL's own engine resolves the workflow and its executor runs it, in groups."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from areal.api import ModelResponse
from areal.api.cli_args import GenerationHyperparameters, InferenceEngineConfig
from areal.infra.remote_inf_engine import GroupedRolloutWorkflow, RemoteInfEngine
from areal.infra.workflow_executor import WorkflowExecutor, check_trajectory_format
from areal.utils import stats_tracker
from service_process import real_service
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from tests.clients.readme import paste
from tests.clients.stand_in import SUCCESS, Got, StandIn, Told, failed

WORDS = ["<pad>", "<eos>", "<unk>", "good", "bad", "fail", *(str(n / 100) for n in range(101))]
TEMPLATE = "{% for message in messages %}{{ message['content'] }} {% endfor %}"


def tokenizer() -> PreTrainedTokenizerFast:
    """One of a few words, with a chat template."""
    words = {word: at for at, word in enumerate(WORDS)}
    plain = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    made = PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )
    made.chat_template = TEMPLATE
    return made


class Engine:
    """A policy that says the words of a list in turn."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self._asked = 0

    def get_version(self) -> int:
        """The policy's age."""
        return 0

    async def agenerate(self, request: Any) -> ModelResponse:
        """Its next word."""
        text = self._texts[self._asked % len(self._texts)]
        self._asked += 1
        said = [WORDS.index(text), 1]
        return ModelResponse(
            input_tokens=request.input_ids, output_tokens=said, output_logprobs=[-0.5] * 2,
            output_versions=[0] * 2, stop_reason="stop", tokenizer=request.tokenizer,
        )  # fmt: skip


def resolved(workflow: str, kwargs: dict[str, Any], size: int = 1) -> Any:
    """The workflow as AReaL's engine makes it of a path and arguments, for groups of a size."""
    engine = RemoteInfEngine.__new__(RemoteInfEngine)
    engine.logger = logging.getLogger("engine")
    found = engine._resolve_workflow(workflow, kwargs, group_size=size)
    assert isinstance(found, GroupedRolloutWorkflow) == (size > 1)
    return found


@contextmanager
def executor(engine: Engine) -> Iterator[WorkflowExecutor]:
    """AReaL's executor, on its own thread and loop."""
    config = InferenceEngineConfig(
        experiment_name="judge", trial_name="t", consumer_batch_size=64,
        max_head_offpolicyness=100, check_trajectory_format=True,
    )  # fmt: skip
    made = WorkflowExecutor(config, engine)
    made.initialize(train_data_parallel_size=1)
    try:
        yield made
    finally:
        made.destroy()


def run(workflow: Any, engine: Engine, rows: int) -> list[list[float] | None]:
    """The rewards of each row's group, None where it was rejected."""
    messages = [{"role": "user", "content": "good bad"}]
    with executor(engine) as running:
        for _ in range(rows):
            running.submit({"messages": messages, "answer": "good"}, workflow)
        found = running.wait(rows, timeout=60)
    for trajectory in found:
        assert trajectory is None or check_trajectory_format(trajectory)
    return [None if one is None else one["rewards"].flatten().tolist() for one in found]


def test_the_readme_as_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given to the trainer, through AReaL's engine and executor, with a real service."""
    given: dict[str, Any] = {}

    class Trainer:
        def train(self, **settings: Any) -> None:
            given.update(settings)

    class Config:
        gconfig = GenerationHyperparameters(max_new_tokens=4)
        tokenizer_path = tokenizer()

    paste("AReaL", trainer=Trainer(), config=Config())
    with real_service() as url:
        monkeypatch.setenv("JUDGE_SERVICE_URL", url)
        workflow = resolved(given["workflow"], given["workflow_kwargs"], size=4)

        groups = run(workflow, Engine(["good", "bad"]), rows=2)

    assert groups == [[1.0, 0.0, 1.0, 0.0]] * 2


@pytest.fixture
def judged() -> Iterator[StandIn]:
    """A service whose verdict is the number that a text says."""

    def script(got: Got) -> Told:
        text = got.body["candidate"]["text"]
        return Told(body=failed() if text == "fail" else {**SUCCESS, "reward": float(text)})

    with StandIn() as service:
        service.script = script
        yield service


def workflow_of(url: str, size: int = 1, **more: Any) -> Any:
    """The workflow over a service."""
    kwargs = {"gconfig": GenerationHyperparameters(), "tokenizer": tokenizer(), "url": url,
              "rubric": "r", "timeout_s": 20}  # fmt: skip
    return resolved("judge_client.areal.JudgeRLVRWorkflow", {**kwargs, **more}, size)


def test_failures_are_left_out_of_their_groups(judged: StandIn) -> None:
    """One of four has no verdict: the group is three; 0.0 is among them."""
    stats_tracker.export_all()

    groups = run(workflow_of(judged.url, 4), Engine(["0.0", "fail", "0.5", "1.0"]), rows=4)

    assert [sorted(group or []) for group in groups] == [[0.0, 0.5, 1.0]] * 4
    told = stats_tracker.export_all()
    assert told["rollout/judge_failed"] == 0.25
    assert told["rollout/reward"] == 0.5


@pytest.mark.parametrize("why", ["no verdict", "outage"])
def test_a_group_without_verdicts_is_rejected(judged: StandIn, why: str) -> None:
    """All failed, or nobody listens: AReaL has nothing to train on, and no number."""
    url = judged.url if why == "no verdict" else "http://127.0.0.1:1"

    groups = run(workflow_of(url, 4, timeout_s=1), Engine(["fail"]), rows=2)

    assert groups == [None, None]


def test_it_is_what_areal_makes_itself(judged: StandIn) -> None:
    """The same keys, types and shapes as the trainer's own workflow for one prompt."""
    from areal.workflow.rlvr import RLVRWorkflow

    own = RLVRWorkflow(reward_fn=half, gconfig=GenerationHyperparameters(), tokenizer=tokenizer())
    made = []
    for workflow in (own, workflow_of(judged.url)):
        with executor(Engine(["0.5"])) as running:
            running.submit({"messages": [{"role": "user", "content": "good"}]}, workflow)
            made += running.wait(1, timeout=60)

    theirs, found = made
    assert set(theirs) == set(found)
    for name, tensor in theirs.items():
        assert (found[name].dtype, found[name].tolist()) == (tensor.dtype, tensor.tolist()), name


def half(*_: Any, **__: Any) -> float:
    """A reward function of AReaL's own kind."""
    return 0.5
