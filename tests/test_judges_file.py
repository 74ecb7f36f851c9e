"""``judges.toml``: what may stand in it, and what is told of what may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_service.errors import ConfigError
from judge_service.judges.judge import Bench, JudgeSpec, load_bench
from judge_service.settings import Settings
from tests.harness import serve


def judge(more: str = "", *, judge_id: str = "gpt", model: str = "openai/gpt-5-mini") -> str:
    """A ``[[judges]]`` table."""
    return f'[[judges]]\nid = "{judge_id}"\nmodel = "{model}"\n{more}\n'


def load(at: Path, text: str | bytes) -> Bench:
    """The judges of a file with this text."""
    file = at / "judges.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_bench(file)


BROKEN: dict[str, tuple[str | bytes, str]] = {
    "empty file": ("", "judges: no [[judges]] table"),
    "no judges": ("judges = []", "judges: no [[judges]] table"),
    "one table": ('[judges]\nid = "gpt"', "judges: no [[judges]] table"),
    "texts": ('judges = ["gpt"]', "judges[1]: must be a table"),
    "no TOML": ("[[judges", "not TOML"),
    "no UTF-8": (b"\xff", "cannot be read"),
    "deep": ("x = " + "[" * 5000, "not TOML"),
    "unknown table": (judge() + "[limits]\nrpm = 1", "limits: unknown field"),
    "unknown field": (judge("colour = 1"), "judges[gpt]: colour: unknown field"),
    "id twice": (judge() + judge(), "judges: the id 'gpt' is used twice"),
    "no id": ('[[judges]]\nmodel = "openai/gpt-5"', "judges[1]: id: missing"),
    "id in capitals": (judge(judge_id="GPT"), "judges[GPT]: id: "),
    "path for an id": (judge(judge_id="../gpt"), "judges[../gpt]: id: "),
    "long id": (judge(judge_id="g" * 65), "id: "),
    "no model": ('[[judges]]\nid = "gpt"', "judges[gpt]: model: missing"),
    "empty model": (judge(model=""), "judges[gpt]: model: "),
    "unknown family": (judge(model="openai/x"), "judges[gpt]: family: not known for 'openai/x'"),
    "empty family": (judge('family = ""'), "judges[gpt]: family: "),
    "blank family": (judge('family = " "'), "judges[gpt]: family: "),
    "half a family": (judge('family = "qwen+"'), "judges[gpt]: family: "),
    "list of families": (judge('family = ["qwen"]'), "judges[gpt]: family: "),
    "ftp": (judge('api_base = "ftp://h/v1"'), "judges[gpt]: api_base: "),
    "file": (judge('api_base = "file:///etc/passwd"'), "judges[gpt]: api_base: "),
    "no scheme": (judge('api_base = "localhost:8000/v1"'), "judges[gpt]: api_base: "),
    "no host": (judge('api_base = "http:///v1"'), "judges[gpt]: api_base: "),
    "space in address": (judge('api_base = "http://h /v1"'), "judges[gpt]: api_base: "),
    "line break in address": (judge('api_base = "http://h/\\nv1"'), "judges[gpt]: api_base: "),
    "half an IPv6 address": (judge('api_base = "http://[::1/v1"'), "judges[gpt]: api_base: "),
    "no such port": (judge('api_base = "http://h:99999/v1"'), "judges[gpt]: api_base: "),
    "empty address": (judge('api_base = ""'), "judges[gpt]: api_base: "),
    "empty key variable": (judge('api_key_env = ""'), "judges[gpt]: api_key_env: "),
    "key itself": (judge('api_key = "sk-1"'), "judges[gpt]: api_key: unknown field"),
    "other purpose": (judge('purpose = "test"'), "judges[gpt]: purpose: "),
    "other reply": (judge('reply = "xml"'), "judges[gpt]: reply: "),
    "temperature below 0": (judge("temperature = -0.1"), "judges[gpt]: temperature: "),
    "temperature above 2": (judge("temperature = 2.1"), "judges[gpt]: temperature: "),
    "NaN for temperature": (judge("temperature = nan"), "judges[gpt]: temperature: "),
    "text for temperature": (judge('temperature = "0"'), "judges[gpt]: temperature: "),
    "no tokens": (judge("max_output_tokens = 0"), "judges[gpt]: max_output_tokens: "),
    "bool for tokens": (judge("max_output_tokens = true"), "judges[gpt]: max_output_tokens: "),
    "no concurrency": (judge("max_concurrency = 0"), "judges[gpt]: max_concurrency: "),
    "no requests": (judge("rpm = 0"), "judges[gpt]: rpm: "),
    "fraction of a token": (judge("tpm = 0.5"), "judges[gpt]: tpm: "),
    "no time": (judge("attempt_timeout_s = 0"), "judges[gpt]: attempt_timeout_s: "),
    "endless time": (judge("attempt_timeout_s = inf"), "judges[gpt]: attempt_timeout_s: "),
    "no weight": (judge("weight = 0"), "judges[gpt]: weight: "),
    "infinite weight": (judge("weight = inf"), "judges[gpt]: weight: "),
    "one served model": (judge('served_models = "gpt-*"'), "judges[gpt]: served_models: "),
    "empty served model": (judge('served_models = [""]'), "judges[gpt]: served_models[0]: "),
    "half a price": (judge("price = {input = 1.0}"), "judges[gpt]: price.output: missing"),
    "negative price": (
        judge("price = {input = -1.0, output = 1.0}"), "judges[gpt]: price.input: ",
    ),
    "NaN in extra": (judge("extra = {top_p = nan}"), "judges[gpt]: extra: cannot be sent as JSON"),
    "date in extra": (
        judge("extra = {day = 1979-05-27}"), "judges[gpt]: extra: cannot be sent as JSON",
    ),
    "second judge": (judge() + judge("rpm = 0", judge_id="two"), "judges[two]: rpm: "),
}  # fmt: skip


@pytest.mark.parametrize(("text", "told"), BROKEN.values(), ids=BROKEN)
def test_a_broken_judges_file(tmp_path: Path, text: str | bytes, told: str) -> None:
    """The message names the file, the judge and the field."""
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)

    first = str(raised.value).splitlines()[0]
    assert first.startswith(f"{tmp_path}/judges.toml: ")
    assert told in first


@pytest.mark.parametrize(
    "name",
    ["model", "messages", "api_base", "base_url", "api_key", "stream", "n", "timeout",
     "max_retries", "num_retries", "fallbacks", "mock_response"],
)  # fmt: skip
def test_extra_parameters_do_not_undo_the_service(tmp_path: Path, name: str) -> None:
    """What the service decides for itself cannot be set as an extra parameter."""
    with pytest.raises(ConfigError, match=rf"judges\[gpt\]: extra: '{name}'"):
        load(tmp_path, judge(f"extra = {{{name} = 1}}"))


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    """All that is wrong with all judges is told together."""
    text = judge("rpm = 0\ntpm = 0") + judge("colour = 1", judge_id="two")

    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)

    assert [line.split(": ", 1)[1].split(": ")[:2] for line in str(raised.value).splitlines()] == [
        ["judges[gpt]", "rpm"], ["judges[gpt]", "tpm"], ["judges[two]", "colour"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "model", "families"),
    [
        (None, "openai/gpt-5-mini", {"openai"}),
        (None, "anthropic/claude-sonnet-4-5", {"anthropic"}),
        ("Meta", "openai/my-deployment", {"llama"}),
        ("house-blend", "openai/my-deployment", {"house-blend"}),
        ("deepseek+qwen", "openai/my-deployment", {"deepseek", "qwen"}),
        ("qwen + deepseek", "openai/my-deployment", {"deepseek", "qwen"}),
        ("openai", "openai/qwen3-32b", {"openai"}),
    ],
)
def test_families(tmp_path: Path, given: str | None, model: str, families: set[str]) -> None:
    """A family is derived from the model's name, or given: any word, or several with +."""
    bench = load(tmp_path, judge(f'family = "{given}"' if given else "", model=model))

    assert bench["gpt"].families == families
    assert bench["gpt"].family_label == "+".join(sorted(families))


def test_defaults(tmp_path: Path) -> None:
    """Id and model are enough for a judge that trains, at temperature 0."""
    spec = load(tmp_path, judge())["gpt"]

    assert (spec.purpose, spec.temperature, spec.weight, spec.reply) == ("train", 0.0, 1.0, "auto")
    assert (spec.api_base, spec.api_key_env, spec.extra) == (None, None, {})


def test_the_order_of_the_file_is_kept(tmp_path: Path) -> None:
    """Judges are listed as they stand in the file."""
    bench = load(tmp_path, "".join(judge(judge_id=name) for name in ("c", "a", "b")))

    assert list(bench) == ["c", "a", "b"]


def test_validating_judges_stay_out_of_training(tmp_path: Path) -> None:
    """Judges for validation are asked only by name, unless there are no others."""
    claude = judge('purpose = "validate"', judge_id="claude", model="anthropic/claude-sonnet-4-5")

    assert [j.id for j in load(tmp_path, judge() + claude).rotation()] == ["gpt"]
    assert [j.id for j in load(tmp_path, claude).rotation()] == ["claude"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (judge(model="openai/chatgpt-4o-latest"), "floating alias"),
        (
            judge() + judge('purpose = "validate"', judge_id="two", model="azure/gpt-5"),
            "validation would repeat training's errors",
        ),
        (
            judge('family = "a+b"', model="x/y")
            + judge('purpose = "validate"\nfamily = "b+c"', judge_id="two", model="x/z"),
            "are both b",
        ),
    ],
    ids=["floating alias", "same family", "part of a family"],
)
def test_what_is_likely_a_mistake_is_warned_about(tmp_path: Path, text: str, told: str) -> None:
    """A model that can change by itself, and one family for training and validation."""
    (warning,) = load(tmp_path, text).warnings()

    assert told in warning


def test_sound_judges_give_no_warning(tmp_path: Path) -> None:
    """Different families and fixed models are fine."""
    claude = judge('purpose = "validate"', judge_id="claude", model="anthropic/claude-sonnet-4-5")

    assert load(tmp_path, judge() + claude).warnings() == []


def test_a_service_without_a_judges_key_does_not_start(tmp_path: Path) -> None:
    """A key that is not in the environment is a start error, before anybody is served."""
    load(tmp_path, judge('api_key_env = "NO_SUCH_KEY"'))

    with (
        pytest.raises(AssertionError, match="did not start"),
        serve(Settings(judges=tmp_path / "judges.toml")),
    ):
        raise RuntimeError("the service started")


def test_what_moves_a_verdict_is_in_the_fingerprint() -> None:
    """Model, address and sampling tell judges apart; limits and names do not."""

    def part(**fields: object) -> object:
        return JudgeSpec.model_validate(
            {"id": "gpt", "model": "openai/gpt-5", **fields}
        ).fingerprint_part()

    assert part(id="other", rpm=5, weight=2.0, purpose="validate") == part()
    changes: list[dict[str, object]] = [
        {"model": "openai/gpt-5-mini"}, {"api_base": "http://h/v1"}, {"temperature": 1.0},
        {"max_output_tokens": 5}, {"reasoning_effort": "low"}, {"extra": {"seed": 1}},
        {"reply": "text"},
    ]  # fmt: skip
    assert all(part(**change) != part() for change in changes)
