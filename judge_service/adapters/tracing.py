"""Traces by OpenTelemetry, off unless an operator wants them: the only module that imports it.

A server span per HTTP request and, below it, a client span per upstream request by the GenAI
conventions. Where they go is configured by the standard ``OTEL_*`` variables. No texts, ever.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judge_service.errors import ConfigError
from judge_service.events import Attempted, Event, Judged
from judge_service.judges.judge import JudgeSpec

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span

INSTALL_HINT = "install the extra 'otel': pip install '.[otel]' in the checkout"
NAME = "judge_service"
MAX_NAME = 128
CLOSE_S = 5.0
"""How long the last spans may take to leave at the end, in seconds."""
# LiteLLM's word for a provider, where the conventions have another one.
_PROVIDERS = {
    "azure": "azure.ai.openai", "azure_ai": "azure.ai.inference", "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock", "gemini": "gcp.gemini", "vertex_ai": "gcp.vertex_ai",
    "mistral": "mistral_ai", "xai": "x_ai", "watsonx": "ibm.watsonx.ai",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ActiveRequest:
    """A request's span, and what gives the context back at its end."""

    span: Span
    token: Any


class Tracing:
    """Makes spans. ``processor`` takes them in place of the exporter (for tests).

    Raises ConfigError where the packages are not installed or their settings cannot be right.
    """

    def __init__(self, version: str, processor: SpanProcessor | None = None) -> None:
        require_opentelemetry()
        from opentelemetry import context, trace
        from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        resource = Resource.create({SERVICE_VERSION: version})
        if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
            resource = resource.merge(Resource({SERVICE_NAME: NAME}))
        # Not the global provider: what other libraries would trace may hold texts.
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(processor or _exporting())
        self._tracer = self._provider.get_tracer(NAME, version)
        self._context, self._trace = context, trace
        self._propagator = TraceContextTextMapPropagator()
        self._judges: Mapping[str, JudgeSpec] = {}

    def know(self, judges: Mapping[str, JudgeSpec]) -> None:
        """The judges whose requests will be told of."""
        self._judges = judges

    def begin(self, method: str, headers: Iterable[tuple[bytes, bytes]]) -> ActiveRequest:
        """Begin a request's span, in the caller's trace if the headers name one."""
        carrier = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in headers
            if name in (b"traceparent", b"tracestate")
        }
        parent = self._propagator.extract(carrier, context=self._context.Context())
        span = self._tracer.start_span(
            method,
            context=parent,
            kind=self._trace.SpanKind.SERVER,
            attributes={"http.request.method": method},
        )
        token = self._context.attach(self._trace.set_span_in_context(span, parent))
        return ActiveRequest(span, token)

    def end(self, active: ActiveRequest, method: str, route: str, status: int) -> None:
        """End it, in the task that began it. ``route`` is a path's template, never the path."""
        span = active.span
        span.update_name(f"{method} {route}")
        span.set_attribute("http.route", route)
        span.set_attribute("http.response.status_code", status)
        if status >= 500:
            span.set_attribute("error.type", str(status))
            span.set_status(self._trace.StatusCode.ERROR)
        span.end()
        self._context.detach(active.token)

    def observe(self, event: Event) -> None:
        """Take note of an event that belongs into a trace; an ``Observer``."""
        if isinstance(event, Attempted):
            self._attempted(event)
        elif isinstance(event, Judged):
            self._judged(event)

    def close(self) -> None:
        """Send what is left, for at most ``CLOSE_S``; blocks."""
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(CLOSE_S)

    def _attempted(self, event: Attempted) -> None:
        judge = self._judges.get(event.judge)
        # What is known of a request is known at its end, so the span is made then.
        end = time.time_ns()
        model = judge.model.partition("/")[2] or judge.model if judge else event.judge
        span = self._tracer.start_span(
            f"chat {model[:MAX_NAME]}",
            kind=self._trace.SpanKind.CLIENT,
            start_time=end - int(event.seconds * 1e9),
            attributes={"judge_service.judge": event.judge, **_request_attributes(judge, model)},
        )
        span.set_attributes(_reply_attributes(event))
        if event.code is not None:
            span.set_attribute("error.type", event.code)
            span.set_status(self._trace.StatusCode.ERROR)
        span.end(end)

    def _judged(self, event: Judged) -> None:
        attributes = {
            "judge_service.kind": event.kind,
            "judge_service.rubric": event.rubric,
            "judge_service.status": "success" if event.code is None else "failed",
        }
        if event.code is not None:
            attributes["judge_service.code"] = event.code
        self._trace.get_current_span().add_event("judge_service.judged", attributes)


def require_opentelemetry() -> None:
    """Raise ConfigError where the packages are not installed."""
    try:
        import opentelemetry.exporter.otlp.proto.http
        import opentelemetry.sdk.trace  # noqa: F401 - both are looked for
    except ImportError:
        raise ConfigError(
            f"JUDGE_SERVICE_OTEL: OpenTelemetry is not installed; {INSTALL_HINT}"
        ) from None


def _exporting() -> SpanProcessor:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    try:
        return BatchSpanProcessor(OTLPSpanExporter())
    except (ValueError, OSError) as error:
        raise ConfigError(f"JUDGE_SERVICE_OTEL: an OTEL_* variable is wrong: {error}") from None


def _request_attributes(judge: JudgeSpec | None, model: str) -> dict[str, str]:
    found = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model[:MAX_NAME]}
    if judge is None:
        return found
    prefix = judge.model.partition("/")[0] if "/" in judge.model else judge.family_label
    found["gen_ai.provider.name"] = _PROVIDERS.get(prefix, prefix)[:MAX_NAME]
    host = urlsplit(judge.api_base).hostname if judge.api_base else None
    if host:
        found["server.address"] = host
    return found


def _reply_attributes(event: Attempted) -> dict[str, str | int]:
    usage = event.usage
    found: dict[str, str | int] = {}
    if event.model_served:
        found["gen_ai.response.model"] = event.model_served[:MAX_NAME]
    if usage.prompt_tokens or usage.completion_tokens:
        found["gen_ai.usage.input_tokens"] = usage.prompt_tokens
        found["gen_ai.usage.output_tokens"] = usage.completion_tokens
    return found
