"""A request can name neither an address nor a file nor a module: judges come from operators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.keys.keyed import Keyed, entry, keyed
from tests.provider import FakeProvider

KEY = "key-of-ann"
CANDIDATE = {"text": "An answer.", "family": "own"}
ASSESS: dict[str, Any] = {"rubric": "quality", "prompt": "A question?", "candidate": CANDIDATE}
COMPARE: dict[str, Any] = {"rubric": "pair", "prompt": "?", "candidates": [CANDIDATE, CANDIDATE]}
BODIES = {"/v1/assess": ASSESS, "/v1/compare": COMPARE}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """A service, and a provider that it must not be led to."""
    with keyed(tmp_path_factory.mktemp("closed"), entry("ann", KEY, scopes=["admin"])) as running:
        yield running


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[FakeProvider]:
    """Where nobody should ever arrive."""
    with FakeProvider(tolerant=True) as provider:
        yield provider


FIELDS = (
    "api_base", "base_url", "api_key", "api_key_env", "api_version", "model", "model_list",
    "models", "mock_response", "mock_tool_calls", "extra_headers", "headers", "extra_body", "extra",
    "custom_llm_provider", "organization", "aws_region_name", "vertex_project", "fallbacks",
    "callbacks", "success_callback", "num_retries", "proxy", "http_client", "client", "provider",
    "url", "path", "file", "module", "rule_modules", "rubrics_dir", "rules", "weights", "judge",
    "tenant", "cache", "cache_key", "nonce", "schema", "__proto__", "__class__", "self", "request",
)  # fmt: skip


@contextmanager
def nobody_is_asked(service: Keyed, elsewhere: FakeProvider) -> Iterator[None]:
    """No request leaves for a judge, nor for anywhere else."""
    before = _asked(service, elsewhere)
    yield
    assert _asked(service, elsewhere) == before


def _asked(service: Keyed, elsewhere: FakeProvider) -> list[int]:
    provider = service.provider
    return [len(provider.requests), len(provider.elsewhere), len(elsewhere.requests)]


def values(elsewhere: FakeProvider) -> list[Any]:
    """What a hostile caller would write."""
    url = elsewhere.base_url
    models = [{"model_name": "x", "litellm_params": {"api_base": url}}]
    return [url, models, {"api_base": url}, None]


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("field", FIELDS)
def test_no_field_names_an_upstream(
    service: Keyed, elsewhere: FakeProvider, path: str, field: str
) -> None:
    """At the top, in a candidate, in a message or in a tool call: unknown fields are refused."""
    with nobody_is_asked(service, elsewhere):
        for value in values(elsewhere):
            for body in placed(BODIES[path], field, value):
                answer = service.post(path, KEY, body)
                assert answer.status_code == 422, (body, answer.text)


def placed(body: dict[str, Any], field: str, value: Any) -> Iterator[dict[str, Any]]:
    """The body with a field more, in each of its objects."""
    yield {**body, field: value}
    message = {"role": "assistant", "content": "x", field: value}
    call = {"type": "function", "function": {"name": "f", field: value}}
    said = {"role": "assistant", "content": "x", "tool_calls": [call]}
    for candidate in ({**CANDIDATE, field: value}, {"messages": [message]}, {"messages": [said]}):
        part = {"candidates": [candidate, CANDIDATE]} if "candidates" in body else {
            "candidate": candidate
        }  # fmt: skip
        yield {**body, **part}
    yield {**body, "prompt": [message]}


NAMES = (
    "../../etc/passwd", "..", ".", "/etc/passwd", "%2e%2e", "%2e%2e%2fetc%2fpasswd", "..\\..\\x",
    "quality.toml", "./quality", "quality/", "quality\x00", "\x00", "q" * 300, "", " quality",
    "QUALITY", "con", "http://127.0.0.1/", "file:///etc/passwd", "judge_service.cli", "${HOME}",
    "{0.__class__}", "__import__('os')", "quality\n", "qualit\u0443",
)  # fmt: skip


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name[:20]))
def test_no_name_is_a_path(
    service: Keyed, elsewhere: FakeProvider, tmp_path: Path, path: str, name: str
) -> None:
    """Rubrics and judges are looked up among those that are loaded, and nowhere else."""
    with nobody_is_asked(service, elsewhere):
        rubric = service.post(path, KEY, {**BODIES[path], "rubric": name})
        judges = service.post(path, KEY, {**BODIES[path], "judges": [name]})

    assert rubric.status_code in (404, 422)
    assert judges.status_code in (404, 422)
    for answer in (rubric, judges):
        assert "root:" not in answer.text
        assert len(answer.text) < 2_000


@pytest.mark.parametrize("name", ["..%2f..%2fetc%2fpasswd", "%2e%2e", "quality%00", "q" * 300])
def test_no_address_is_a_path(service: Keyed, name: str) -> None:
    """The same for what can be looked at."""
    answer = service.service.http.get(
        f"/v1/rubrics/{name}", headers={"authorization": f"Bearer {KEY}"}
    )

    assert answer.status_code in (404, 422)
    assert "root:" not in answer.text


def test_a_judge_is_asked_at_its_own_address_only(service: Keyed, elsewhere: FakeProvider) -> None:
    """Addresses in texts and metadata are texts and metadata."""
    url = elsewhere.base_url
    body = {
        **ASSESS, "prompt": f"See {url}", "reference": url, "metadata": {"api_base": url},
        "candidate": {**CANDIDATE, "text": f"![]({url}/x.png) {url}", "id": url},
    }  # fmt: skip
    sent = {"x-forwarded-host": url, "x-api-base": url, "x-litellm-api-base": url}

    answer = service.post("/v1/assess", KEY, body, sent)

    assert answer.status_code == 200
    assert answer.json()["reward"] == 0.75
    assert not elsewhere.requests
    assert not service.provider.elsewhere
