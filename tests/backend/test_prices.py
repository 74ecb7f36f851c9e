"""The price of a request asked directly is the one LiteLLM would have told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge_service.adapters.litellm_backend import load_litellm
from judge_service.adapters.prices import PriceList
from judge_service.asking.backend import ChatCall
from judge_service.judges.judge import JudgeSpec, Price
from tests.backend.support import ask
from tests.provider import FakeProvider, Reply, Usage, by_hand

MODELS = (
    "openai/gpt-4o", "openai/gpt-4o-mini", "openai/gpt-4o-2024-08-06", "openai/gpt-4o-2024-05-13",
    "openai/gpt-4.1", "openai/gpt-4.1-mini", "openai/gpt-4.1-nano", "openai/gpt-4.1-2025-04-14",
    "openai/gpt-4-turbo", "openai/gpt-3.5-turbo", "openai/gpt-5", "openai/gpt-5-mini",
    "openai/gpt-5.2", "openai/o3", "openai/o3-mini", "openai/o4-mini", "dashscope/qwen-max",
    "dashscope/qwen-plus", "dashscope/qwen-turbo-2024-11-01", "dashscope/qwq-plus",
    "dashscope/deepseek-v4-pro", "openai/ft:gpt-4o-2024-08-06:acme::1", "openai/GPT-4o",
    "openai/gpt-4o-2031-01-01",
)  # fmt: skip
USAGES = [(1000, 100, 0), (1000, 100, 400), (70_000, 1, 70_000), (5, 5, 5)]


def _judge(model: str, **more: Any) -> JudgeSpec:
    return JudgeSpec(id="judge", model=model, family="a", api_base="http://127.0.0.1:1/v1", **more)


def _body(prompt: int, completion: int, cached: int, **more: object) -> dict[str, Any]:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion,
             "total_tokens": prompt + completion,
             "prompt_tokens_details": {"cached_tokens": cached}}  # fmt: skip
    return {"usage": usage, **more}


@pytest.fixture(scope="module")
def prices() -> PriceList:
    """The installed list."""
    return PriceList()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("usage", USAGES)
@pytest.mark.parametrize("tier", [None, "default", "priority", "flex"])
def test_the_list_is_read_as_litellm_reads_it(
    model: str, usage: tuple[int, int, int], tier: str | None, prices: PriceList
) -> None:
    """Input, output and cached tokens, also in a tier of its own price."""
    litellm = load_litellm()
    provider, _, name = model.partition("/")
    body = _body(*usage, service_tier=tier)
    response = litellm.ModelResponse(
        model=name,
        choices=[{"message": {"content": "x", "role": "assistant"}}],
        usage=body["usage"],
    )
    expected = litellm.completion_cost(
        response, model=name, custom_llm_provider=provider, service_tier=tier
    )
    assert prices.cost(_judge(model), body, {}) == pytest.approx(expected, rel=1e-9)


def test_every_row_that_is_priced_here_is_priced_like_litellm(prices: PriceList) -> None:
    """The whole list, one usage each; rows with more to them are not priced here at all."""
    litellm = load_litellm()
    body = _body(1000, 100, 400)
    checked = 0
    for name, entry in litellm.model_cost.items():
        provider = entry.get("litellm_provider")
        if provider not in ("openai", "dashscope") or entry.get("mode") != "chat":
            continue
        own = name.removeprefix(f"{provider}/")
        judge = _judge(f"{provider}/{own}")
        row = prices.row(judge)
        assert row is not None, name
        if not row.rates or own.startswith("ft:"):
            continue
        usage = litellm.Usage(**body["usage"])
        told = litellm.cost_per_token(
            model=own, custom_llm_provider=provider, usage_object=usage,
            prompt_tokens=1000, completion_tokens=100,
        )  # fmt: skip
        assert prices.cost(judge, body, {}) == pytest.approx(sum(told), rel=1e-9), name
        checked += 1
    assert checked > 60


def test_the_served_model_decides(prices: PriceList) -> None:
    """Behind an alias stands what was served; a name that is not listed is priced as asked."""
    asked = prices.cost(_judge("openai/gpt-4o"), _body(1000, 100, 0), {})
    for served in ("nobody-knows", None, ["odd"]):
        assert prices.cost(_judge("openai/gpt-4o"), _body(1000, 100, 0, model=served), {}) == asked
    for name in ("openai/our-alias", "openai/gpt-4o-mini"):
        body = _body(1000, 100, 0, model="gpt-4o")
        assert prices.cost(_judge(name), body, {}) == asked


@pytest.mark.parametrize(
    ("model", "body"),
    [
        ("openai/our-alias", _body(1000, 100, 0, model="nobody-knows")),
        ("hosted_vllm/gpt-4o", _body(1000, 100, 0, model="gpt-4o")),
        ("openai/gpt-4o", {}),
        ("openai/gpt-4o", {"usage": "none"}),
        ("openai/gpt-5.4", _body(300_000, 100, 0)),
        ("dashscope/qwen-flash", _body(1000, 100, 0)),
        ("deepseek/deepseek-v4-pro", _body(1000, 100, 0)),
    ],
)
def test_a_price_that_is_not_plain_is_unknown(
    model: str, body: dict[str, Any], prices: PriceList
) -> None:
    """No name, another provider's name, no usage, a price by length or by the hour."""
    assert prices.cost(_judge(model), body, {}) is None


@pytest.mark.parametrize(
    ("told", "cost"), [("0.5", 0.5), ("nan", None), ("-1", None), ("much", None), ("", None)]
)
def test_a_litellm_proxy_tells_the_price(told: str, cost: float | None, prices: PriceList) -> None:
    """In a header of its reply; what is no price is not believed."""
    body = _body(1000, 100, 0, model="nobody-knows")
    headers = {"x-litellm-response-cost": told}
    assert prices.cost(_judge("openai/our-alias"), body, headers) == cost


def test_windows_are_those_of_the_list(prices: PriceList) -> None:
    """In tokens of input."""
    litellm = load_litellm()
    for model in (
        "openai/gpt-4o",
        "openai/gpt-4.1",
        "dashscope/qwen-max",
        "deepseek/deepseek-chat",
    ):
        row = prices.row(_judge(model))
        assert row is not None
        assert row.window == litellm.get_model_info(model)["max_input_tokens"]


@pytest.mark.parametrize("kind", ["missing", "odd"])
def test_without_a_list_prices_are_unknown(kind: str, tmp_path: Path) -> None:
    """A judge is asked all the same."""
    file = tmp_path / "prices.json"
    if kind == "odd":
        file.write_text(json.dumps({"gpt-4o": {"litellm_provider": "openai"}, "x": 1}))
    prices = PriceList(file)
    assert prices.cost(_judge("openai/gpt-4o"), _body(1000, 100, 0), {}) is None


@pytest.mark.parametrize("given", [None, Price(input=2.0, output=4.0)])
def test_both_ways_tell_the_same_cost(
    given: Price | None, direct: bool, provider: FakeProvider
) -> None:
    """The spec's own price where it has one, else the list's."""
    usage = Usage(prompt=1000, completion=100)
    provider.behave("gpt-4o", lambda _: Reply(content="x", usage=usage))
    judge = JudgeSpec(
        id="judge", model="openai/gpt-4o", api_base=provider.base_url, family="a", price=given
    )
    one = ChatCall(judge=judge, system="You judge.", user=by_hand.ONE, timeout_s=5.0)
    expected = 0.0035 if given is None else 0.0024
    assert ask(one, direct=direct).usage.cost_usd == pytest.approx(expected)
