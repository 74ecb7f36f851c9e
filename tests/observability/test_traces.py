"""OpenTelemetry: off by default; spans of requests and of what is sent for them, without texts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from judge_service.adapters import tracing
from judge_service.adapters.tracing import Tracing, require_opentelemetry
from judge_service.errors import ConfigError
from judge_service.events import Attempted
from judge_service.judges.judge import JudgeSpec
from judge_service.settings import Settings
from judge_service.usage import Usage
from tests.harness import RunningService, judged_by
from tests.observability.conftest import two_judges
from tests.provider import FakeProvider, behaviours

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CANARY = "canary-of-a-text"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What the service's spans are sent to."""
    made = InMemorySpanExporter()
    monkeypatch.setattr(tracing, "_exporting", lambda: SimpleSpanProcessor(made))
    return made


@pytest.fixture
def traced(
    provider: FakeProvider, folder: Path, exporter: InMemorySpanExporter
) -> Iterator[RunningService]:
    """A service with traces."""
    with judged_by(two_judges(provider), folder, otel=True) as running:
        yield running


def finished(exporter: InMemorySpanExporter, kind: SpanKind) -> list[ReadableSpan]:
    """The spans of a kind, in the order of their ends."""
    return [span for span in exporter.get_finished_spans() if span.kind is kind]


def attributes(span: ReadableSpan) -> dict[str, object]:
    """Its attributes as a dictionary."""
    return dict(span.attributes or {})


def test_a_request_is_a_span_in_the_callers_trace(
    traced: RunningService, exporter: InMemorySpanExporter
) -> None:
    """Named by its route; what is sent upstream stands below it, with model, tokens and times."""
    body = {
        "rubric": "quality",
        "prompt": CANARY,
        "candidate": {"text": CANARY, "family": "other"},
    }
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01"}

    traced.http.post("/v1/assess?token=x", json=body, headers=headers)

    (server,) = finished(exporter, SpanKind.SERVER)
    (client,) = finished(exporter, SpanKind.CLIENT)
    assert server.name == "POST /v1/assess"
    assert server.parent is not None
    assert f"{server.parent.span_id:016x}" == PARENT
    assert client.parent is not None
    assert client.parent.span_id == server.context.span_id
    assert f"{client.context.trace_id:032x}" == f"{server.context.trace_id:032x}" == TRACE
    assert attributes(server) == {
        "http.request.method": "POST",
        "http.route": "/v1/assess",
        "http.response.status_code": 200,
    }
    (event,) = server.events
    assert dict(event.attributes or {}) == {
        "judge_service.kind": "assess",
        "judge_service.rubric": "quality",
        "judge_service.status": "success",
    }
    assert client.name == "chat alpha"
    found = attributes(client)
    assert int(str(found.pop("gen_ai.usage.input_tokens"))) > 0
    assert int(str(found.pop("gen_ai.usage.output_tokens"))) > 0
    assert found == {
        "judge_service.judge": "alpha",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "alpha",
        "gen_ai.response.model": "alpha",
        "server.address": "127.0.0.1",
    }
    assert server.start_time
    assert client.start_time
    assert client.end_time
    assert server.end_time
    assert server.start_time <= client.start_time <= client.end_time <= server.end_time
    everything = "".join(span.to_json() for span in exporter.get_finished_spans())
    assert CANARY not in everything
    assert "token=x" not in everything


def test_a_failure_is_told(
    traced: RunningService, provider: FakeProvider, exporter: InMemorySpanExporter
) -> None:
    """By its code, on each request that was sent, and on the outcome."""
    provider.behave_by_default(behaviours.says(CANARY))

    traced.assess()

    sent = finished(exporter, SpanKind.CLIENT)
    assert [attributes(span)["error.type"] for span in sent] == ["unparsable"] * 2
    assert all(span.status.status_code is StatusCode.ERROR for span in sent)
    (server,) = finished(exporter, SpanKind.SERVER)
    assert dict(server.events[0].attributes or {})["judge_service.code"] == "unparsable"
    assert server.status.status_code is StatusCode.UNSET
    assert CANARY not in "".join(span.to_json() for span in exporter.get_finished_spans())


@pytest.mark.parametrize(
    "parent", ["", "nonsense", f"00-{'0' * 32}-{PARENT}-01", "00-" + "f" * 500]
)
def test_a_trace_that_is_none_begins_a_new_one(
    traced: RunningService, exporter: InMemorySpanExporter, parent: str
) -> None:
    """Whatever stands in the header, the request is answered."""
    assert traced.http.get("/nowhere", headers={"traceparent": parent}).status_code == 404

    (server,) = finished(exporter, SpanKind.SERVER)
    assert server.parent is None
    assert server.name == "GET unmatched"
    assert "nowhere" not in server.to_json()


def test_off_by_default(service: RunningService, exporter: InMemorySpanExporter) -> None:
    """Without the setting there is no span."""
    service.assess()

    assert not Settings().otel
    assert not exporter.get_finished_spans()


def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, before anything starts."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)

    with pytest.raises(ConfigError, match=r"pip install '\.\[otel\]'") as caught:
        require_opentelemetry()

    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("model", "provider_name", "name"),
    [
        ("anthropic/claude-haiku-4-5", "anthropic", "claude-haiku-4-5"),
        ("bedrock/anthropic.claude-v2", "aws.bedrock", "anthropic.claude-v2"),
        ("hosted_vllm/Qwen/Qwen3-32B", "hosted_vllm", "Qwen/Qwen3-32B"),
        ("gpt-4o-mini", "openai", "gpt-4o-mini"),
    ],
)
def test_providers_are_named_as_the_conventions_do(
    model: str, provider_name: str, name: str
) -> None:
    """As far as LiteLLM's model name tells."""
    exporter = InMemorySpanExporter()
    made = Tracing("1", SimpleSpanProcessor(exporter))
    made.know({"j": JudgeSpec(id="j", model=model)})

    made.observe(Attempted("j", None, 1.5, Usage(upstream_requests=1)))

    (span,) = exporter.get_finished_spans()
    found = attributes(span)
    assert (found["gen_ai.provider.name"], found["gen_ai.request.model"]) == (provider_name, name)
    assert "gen_ai.usage.input_tokens" not in found
    assert span.end_time
    assert span.start_time
    assert span.end_time - span.start_time == 1_500_000_000
    made.close()
