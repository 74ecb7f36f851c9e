"""What a provider accepts is learnt once and remembered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from judge_service.adapters.exchange import Exchange
from judge_service.adapters.litellm_errors import translate
from judge_service.errors import ConfigError, ParameterRefused
from judge_service.judges.capability import refused_parameters
from judge_service.judges.judge import load_bench
from tests.backend.support import assess, exceptions
from tests.harness import Judges, RunningService
from tests.provider import Behaviour, FakeProvider, Reply, Seen, behaviours, faults
from tests.provider.replies import error, json_reply


def _bodies(provider: FakeProvider) -> list[Mapping[str, Any]]:
    return [request.body for request in provider.requests]


def _mode(body: Mapping[str, Any]) -> str:
    form: Mapping[str, str] = body.get("response_format", {"type": "text"})
    return form["type"]


def _knows(*modes: str) -> Behaviour:
    """Refuses every reply form but ``modes``, and says which."""

    def reply(seen: Seen) -> Reply:
        mode = _mode(seen.body)
        if mode in modes:
            return behaviours.honest()(seen)
        return error(400, f"'{mode}' is not supported", param="response_format.type")

    return reply


@pytest.mark.parametrize(
    ("judge", "script", "seen"),
    [
        ("stepper", _knows("text"), ["json_schema", "json_object", "text"]),
        ("worded", _knows("json_object"), ["json_schema", "json_object"]),
        ("text", _knows("text"), ["text"]),
        ("object", _knows("json_object"), ["json_object"]),
    ],
)
def test_the_reply_form_steps_down_and_stays(
    judge: str, script: Behaviour, seen: list[str], service: RunningService, provider: FakeProvider
) -> None:
    """JSON schema, then JSON object, then text; the next verdict costs one request."""
    provider.behave(judge, script)
    assert assess(service, judge)["reward"] == 0.75
    assert assess(service, judge)["reward"] == 0.75
    assert [_mode(body) for body in _bodies(provider)] == [*seen, seen[-1]]
    (listed,) = (j for j in service.http.get("/v1/judges").json()["judges"] if j["id"] == judge)
    assert listed["reply"] == seen[-1]


@pytest.mark.parametrize(
    ("judge", "script", "gone", "new"),
    [
        ("warm", faults.refuses("temperature"), "temperature", None),
        ("renamed", faults.refuses_max_tokens(), "max_tokens", "max_completion_tokens"),
        ("effort", faults.refuses("reasoning_effort"), "reasoning_effort", None),
    ],
)
def test_a_refused_parameter_is_left_out_for_good(
    judge: str,
    script: Behaviour,
    gone: str,
    new: str | None,
    service: RunningService,
    provider: FakeProvider,
) -> None:
    """Dropped, or sent under its other name; remembered for the next verdict."""
    provider.behave(judge, script)
    first, second = assess(service, judge), assess(service, judge)
    assert first["usage"]["upstream_requests"] == 2
    assert second["usage"]["upstream_requests"] == 1
    refused, *rest = _bodies(provider)
    assert gone in refused
    for body in rest:
        assert gone not in body
        assert new is None or body[new] == refused[gone]


def test_a_provider_without_any_budget_parameter(
    service: RunningService, provider: FakeProvider
) -> None:
    """Neither name is known: the limit is left to the provider."""
    both = faults.refuses("max_tokens", then=faults.refuses("max_completion_tokens"))
    provider.behave("budget", both)
    assert assess(service, "budget")["reward"] == 0.75
    assert [sorted(_limits(body)) for body in _bodies(provider)] == [
        ["max_tokens"], ["max_completion_tokens"], [],
    ]  # fmt: skip


def _limits(body: Mapping[str, Any]) -> set[str]:
    return {"max_tokens", "max_completion_tokens"} & body.keys()


def test_learning_goes_on_where_a_verdict_ran_out_of_requests(
    service: RunningService, provider: FakeProvider
) -> None:
    """Three refusals are one failure; the next verdict starts from what they taught."""
    fussy = faults.refuses("temperature", then=faults.refuses("max_tokens", then=_knows("text")))
    provider.behave("both", fussy)
    assert assess(service, "both")["error"]["code"] == "upstream_error"
    assert assess(service, "both")["reward"] == 0.75
    assert len(provider.requests) == 5


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        ("routed", json_reply(400, {"error": {"message": "Provider returned error", "metadata": {
            "raw": '{"error": {"message": "Unsupported parameter", "param": "temperature"}}'}}})),
        ("plain", json_reply(400, {"error": {"message": "Provider returned error", "metadata": {
            "raw": "temperature is not supported by this model"}}})),
        ("lengthy", error(400, f"In the request {'of yours ' * 50}: unknown field temperature")),
        ("lacking", error(501, "temperature is not implemented")),
    ],
)  # fmt: skip
def test_a_refusal_is_found_where_a_gateway_puts_it(
    judge: str, told: Reply, service: RunningService, provider: FakeProvider
) -> None:
    """In what the provider behind it said, far into the message, under a status of its own."""
    honest = behaviours.honest()
    provider.behave(judge, lambda seen: told if "temperature" in seen.body else honest(seen))
    assert assess(service, judge)["reward"] == 0.75
    assert ["temperature" in body for body in _bodies(provider)] == [True, False]


def test_a_parameter_that_cannot_be_left_out_is_an_error(
    service: RunningService, provider: FakeProvider
) -> None:
    """The message is the provider's; nothing is tried again."""
    wrong = error(400, "Invalid value for 'messages'", param="messages")
    provider.behave("stubborn", faults.always(wrong))
    answer = assess(service, "stubborn")
    assert answer["error"]["code"] == "upstream_error"
    assert "messages" in answer["error"]["message"]
    assert len(provider.requests) == 1


SENT = frozenset({"temperature", "max_tokens", "response_format", "reasoning_effort", "seed"})


@pytest.mark.parametrize(
    ("message", "named", "refused"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
         "'max_completion_tokens' instead.", "max_tokens", {"max_tokens"}),
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
         "'max_completion_tokens' instead.", None, {"max_tokens"}),
        ("`temperature` is deprecated for this model.", None, {"temperature"}),
        ("temperature: Extra inputs are not permitted", None, {"temperature"}),
        ("This response_format type is unavailable now", None, {"response_format"}),
        ("This model does not support response format `json_schema`", None, {"response_format"}),
        ("body.response_format.type: Input should be 'text' or 'json_object'", None,
         {"response_format"}),
        ("Failed to parse grammar", None, {"response_format"}),
        ("Structured outputs are not available for this model", None, {"response_format"}),
        ('Invalid JSON payload received. Unknown name "seed": Cannot find field.', None, {"seed"}),
        ("Argument not supported on this model: reasoning_effort", None, {"reasoning_effort"}),
        ("`temperature` may only be set to 1 when thinking is enabled.", None, {"temperature"}),
        ("`temperature` and `top_p` cannot both be specified", None, {"temperature"}),
        ("Model does not accept the parameter seed", None, {"seed"}),
        ("response_format: value is not one of the allowed values ['text']", None,
         {"response_format"}),
        ('Invalid JSON payload received. Unknown name "response_schema"', None,
         {"response_format"}),
        ('Grammar error: Unimplemented keys: ["pattern"]', None, {"response_format"}),
        ("The model is not available in your region", None, set()),
        ("The temperature in Denver is 20 degrees", None, set()),
        ("no such model", "model", set()),
    ],
)  # fmt: skip
def test_a_refusal_is_understood_in_many_words(
    message: str, named: str | None, refused: set[str]
) -> None:
    """Only parameters that were sent, can be left out and are meant."""
    assert refused_parameters(message, SENT, named) == refused


def test_a_reasoning_model_gets_more_room(service: RunningService, provider: FakeProvider) -> None:
    """Cut off while thinking: the re-ask may be longer, and so may every later question."""
    provider.behave("thinker", [faults.out_of_tokens_while_thinking(), behaviours.honest()])
    answer = assess(service, "thinker")
    assert answer["reward"] == 0.75
    assert assess(service, "thinker")["reward"] == 0.75
    first, again, later = (body["max_tokens"] for body in _bodies(provider))
    assert first < later <= again


def test_parameters_of_the_spec_are_sent(service: RunningService, provider: FakeProvider) -> None:
    """Sampling, limits and extras; no other than these."""
    assess(service, "extra")
    (body,) = _bodies(provider)
    assert (body["temperature"], body["max_tokens"]) == (0.3, 77)
    assert (body["top_p"], body["seed"]) == (0.5, 7)
    assert body.keys() == {
        "model", "messages", "temperature", "max_tokens", "top_p", "seed", "response_format",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["timeout", "num_retries", "fallbacks", "api_key", "model"])
def test_an_extra_parameter_cannot_undo_the_services_own(
    name: str, provider: FakeProvider, tmp_path: Path
) -> None:
    """It is refused when the file is read, with the judge and the field."""
    file = Judges(provider).add("main", "alpha", extra={name: 1}).write(tmp_path)
    with pytest.raises(ConfigError, match=rf"judges\[main\]: extra.*{name}"):
        load_bench(file)


def test_a_refusal_before_any_request_costs_none() -> None:
    """LiteLLM's own check of parameters is no upstream request."""
    found = exceptions()["UnsupportedParamsError"]
    made = type("UnsupportedParamsError", (found,), {
        "__init__": lambda self: None,
        "__str__": lambda self: "model does not support parameters: ['reasoning_effort']",
    })  # fmt: skip
    mapped = translate(made(), Exchange(), judge="a", sent=SENT)
    assert isinstance(mapped, ParameterRefused)
    assert mapped.parameters == {"reasoning_effort"}
    assert mapped.sent is False


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("response_format is not supported with this model", "upstream_error"),
        ("the parameter temperature is unsupported here", "upstream_error"),
        ("insufficient_quota: you have no credits", "upstream_error"),
        ("blocked by the content filter of the provider", "upstream_error"),
        ("incorrect api key, it is invalid", "upstream_error"),
    ],
)
def test_what_an_error_quotes_teaches_nothing(
    service: RunningService, provider: FakeProvider, said: str, code: str
) -> None:
    """A provider repeats its input: the words are the candidate's, not the provider's."""

    def quotes(seen: Seen) -> Reply:
        return error(400, f"Invalid message content: {seen.candidate[:300]!r} (code 17)")

    provider.behave("main", quotes)
    answer = assess(service, candidate=f"Well, {said}. So it is.")
    provider.behave("main", behaviours.honest())
    assess(service)

    assert answer["error"]["code"] == code
    sent = [seen.body for seen in provider.requests]
    assert all(body["response_format"]["type"] == "json_schema" for body in sent)
    assert all("temperature" in body for body in sent)
