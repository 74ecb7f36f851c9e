"""Whatever a provider does, both ways to it make the same of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from judge_service.adapters.backend_router import BackendRouter
from judge_service.asking.backend import ChatCall
from judge_service.errors import JudgeServiceError, JudgingError, ParameterRefused
from judge_service.judges.judge import JudgeSpec
from tests.provider import Behaviour, FakeProvider, Reply, behaviours, by_hand, faults
from tests.provider.replies import error, json_reply

SENT: dict[str, Any] = {
    "temperature": 0.0,
    "max_tokens": 64,
    "response_format": {"type": "json_object"},
}
COMPLETION = {"model": "m", "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}


def _with(**usage: object) -> Behaviour:
    return faults.always(json_reply(200, {**COMPLETION, "usage": usage}))


DIALECTS: tuple[faults.Dialect, ...] = ("openai", "vllm", "anthropic")
DETAILS = {"cached_tokens": 3, "reasoning_tokens": 2}
CASES: dict[str, Behaviour] = {
    "honest": behaviours.honest(),
    "empty": faults.empty(),
    "no content": faults.no_content(),
    "thinking": faults.out_of_tokens_while_thinking(),
    "refusal": faults.refuses_to_judge(),
    "filtered": faults.content_filtered(),
    "filtered prompt": faults.content_filtered_400(),
    "cut": faults.cut_after_verdict(),
    "quota": faults.quota_exhausted(),
    "no choices": faults.no_choices(),
    "tool call": faults.verdict_as_tool_call(),
    "redirect": faults.redirected(),
    "relative redirect": faults.redirected("/elsewhere"),
    "not json": faults.odd_body(b'{"choices": ['),
    "a list": faults.odd_body(b"[]"),
    "nothing": faults.odd_body(b""),
    "binary": faults.odd_body(b"\x00\xff\xfe" * 9, "application/octet-stream"),
    "other text type": faults.odd_body(json.dumps(COMPLETION).encode(), "text/plain"),
    "byte order mark": faults.odd_body(b"\xef\xbb\xbf" + json.dumps(COMPLETION).encode()),
    "usage": _with(prompt_tokens=9, completion_tokens=4, prompt_tokens_details=DETAILS,
                   completion_tokens_details=DETAILS),
    "odd usage": _with(prompt_tokens="9", completion_tokens=-4, prompt_tokens_details=[1]),
    "long": faults.long_winded(),
    "no schema": faults.refuses_json_schema(),
    "deep": faults.odd_body(b"[" * 5000 + b"]" * 5000),
    "plain text": faults.always(Reply(status=400, body=b"maximum context length is 9 tokens",
                                      content_type="text/plain")),
    "refused by text": faults.always(Reply(status=400, body=b"unsupported: temperature",
                                           content_type="text/plain")),
    "a date to wait for": faults.always(error(429, "slow down", headers={"retry-after": "soon"})),
    "milliseconds": faults.always(error(503, "slow", headers={"retry-after-ms": "1500"})),
    "twice": faults.always(error(400, "temperature and max_tokens are not supported")),
    "wrong parameter": faults.always(error(400, "not supported", param="messages")),
    "created": faults.always(json_reply(201, COMPLETION)),
    "no body": faults.always(Reply(status=204, body=b"")),
}  # fmt: skip
CASES |= {
    f"{status} {dialect}": faults.status_error(status, dialect)
    for status in (400, 401, 402, 403, 404, 405, 408, 409, 413, 418, 422, 425, 429, 451, 500, 501,
                   502, 503, 504, 520, 529)
    for dialect in DIALECTS
}  # fmt: skip
CASES |= {f"{status} page": faults.unavailable(status) for status in (200, 404, 500, 502, 503)}
for dialect in DIALECTS:
    CASES |= {
        f"too long {dialect}": faults.context_too_long(dialect),
        f"429 for 7 s {dialect}": faults.rate_limited("7", dialect),
        f"no temperature {dialect}": faults.refuses("temperature", dialect),
        f"no max_tokens {dialect}": faults.refuses("max_tokens", dialect),
        f"no format {dialect}": faults.refuses("response_format", dialect),
    }
CASES |= {
    mode: faults.network(mode, interval=0.001, size=200_000)
    for mode in ("normal", "chunked", "gzip", "gzip_bomb", "big", "endless", "redirect", "reset",
                 "reset_body", "half", "half_unmarked", "drip_body")
}  # fmt: skip


class Both:
    """The two ways, on one event loop, as in a service."""

    def __init__(self, provider: FakeProvider, runner: asyncio.Runner) -> None:
        self._provider = provider
        self._runner = runner
        self._ways = {way: BackendRouter(direct=_always(way)) for way in (True, False)}

    def outcome(self, script: Behaviour, model: str, *, direct: bool) -> object:
        """The reply, or what its error tells, of exactly one request."""
        provider = self._provider
        provider.reset()
        provider.oracle({}, default=4)
        provider.behave("judge-a", script)
        judge = JudgeSpec(id="judge-a", model=model, family="alpha", api_base=provider.base_url)
        one = ChatCall(
            judge=judge, system="You judge.", user=by_hand.ONE, parameters=SENT, timeout_s=5.0
        )
        try:
            outcome: object = self._runner.run(self._ways[direct].complete(one))
        except JudgeServiceError as raised:
            outcome = _told(raised)
        assert len(provider.requests) == 1
        assert provider.elsewhere == []
        return outcome

    def close(self) -> None:
        """Close all connections."""
        for way in self._ways.values():
            self._runner.run(way.aclose())


def _always(direct: bool) -> Callable[[JudgeSpec], bool]:
    return lambda _: direct


@pytest.fixture(scope="module")
def both(provider: FakeProvider) -> Iterator[Both]:
    """Both ways to the provider."""
    with asyncio.Runner() as runner:
        both = Both(provider, runner)
        yield both
        both.close()


def _told(raised: JudgeServiceError) -> object:
    if isinstance(raised, ParameterRefused):
        return ("refused", raised.parameters, raised.sent)
    assert isinstance(raised, JudgingError)
    return (
        type(raised),
        raised.code,
        getattr(raised, "permanent", None),
        getattr(raised, "retry_after_s", None),
    )


@pytest.mark.parametrize("model", ["openai/judge-a", "hosted_vllm/judge-a"])
@pytest.mark.parametrize("case", CASES)
def test_both_ways_make_the_same_of_it(case: str, model: str, both: Both) -> None:
    """The same reply with the same usage, or the same error with the same consequences."""
    ways = [both.outcome(CASES[case], model, direct=direct) for direct in (True, False)]
    assert ways[0] == ways[1]
