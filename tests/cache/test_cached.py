"""What a caller sees of the verdict cache."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cache.conftest import Open
from tests.door.support import wait_for
from tests.harness import RunningService, write_rubric
from tests.provider import FakeProvider, behaviours, faults

SAME: dict[str, Any] = {"prompt": "What is the capital of France?", "judges": ["main"]}


def test_the_same_question_is_asked_once(service: RunningService, provider: FakeProvider) -> None:
    """The second answer has the first one's verdict, says so, and costs nothing."""
    first, second = service.assess("Paris.", **SAME), service.assess("Paris.", **SAME)

    assert len(provider.requests) == 1
    assert first["reward"] == second["reward"] == 0.75
    assert first["verdicts"][0]["cached"] is False
    (verdict,) = second["verdicts"]
    assert (verdict["cached"], verdict["attempts"]) == (True, 0)
    assert verdict["reason"] == first["verdicts"][0]["reason"]
    assert verdict["model_served"] == first["verdicts"][0]["model_served"]
    assert second["usage"]["upstream_requests"] == verdict["usage"]["prompt_tokens"] == 0
    assert second["usage"]["cost_usd"] == 0.0
    assert (first["metrics"]["cached"], second["metrics"]["cached"]) == (0.0, 1.0)
    assert first["fingerprint"] == second["fingerprint"]


def test_a_verdict_survives_a_restart(opened: Open, provider: FakeProvider) -> None:
    """What one process was told, the next one knows."""
    with opened() as service:
        service.assess("Paris.", **SAME)
    with opened() as service:
        again = service.assess("Paris.", **SAME)

    assert len(provider.requests) == 1
    assert again["verdicts"][0]["cached"]


def test_both_orders_of_a_pair_are_kept(service: RunningService, provider: FakeProvider) -> None:
    """A pair asked again, or with its candidates swapped, costs no call."""
    provider.behave("main", behaviours.first_position())
    once = service.compare("One.", "Two.", **SAME)
    again = service.compare("One.", "Two.", **SAME)
    swapped = service.compare("Two.", "One.", **SAME)

    assert len(provider.requests) == 2
    assert [o["outcome"] for o in (once, again, swapped)] == ["inconsistent"] * 3
    assert all(verdict["cached"] for verdict in again["verdicts"] + swapped["verdicts"])


@pytest.mark.parametrize(
    "fault",
    [
        faults.status_error(500), faults.status_error(401), faults.empty(),
        behaviours.says("Hm."), behaviours.raw_value("9"), behaviours.wrong_model(),
        faults.refuses_to_judge(), faults.cut_after_verdict(), faults.content_filtered(),
    ],
    ids=["500", "401", "empty", "no verdict", "off scale", "wrong model", "refused", "cut off",
         "filtered"],
)  # fmt: skip
def test_a_failure_is_never_kept(
    service: RunningService, provider: FakeProvider, fault: behaviours.Behaviour
) -> None:
    """After a failure the judge is asked anew, and its verdict counts."""
    provider.behave("main", fault)
    failed = service.assess("Paris.", **SAME)
    provider.behave("main", behaviours.honest())
    judged = service.assess("Paris.", **SAME)

    assert (failed["status"], failed["reward"]) == ("failed", None)
    assert (judged["status"], judged["reward"]) == ("success", 0.75)
    assert judged["verdicts"][0]["cached"] is False


def test_the_good_order_of_a_failed_pair_is_kept(
    service: RunningService, provider: FakeProvider
) -> None:
    """A retry of the pair asks for the missing order only."""
    order_ab = behaviours.when(
        lambda seen: seen.slots["candidate_1"] == "One.", behaviours.says("Hm."),
        behaviours.honest(),
    )  # fmt: skip
    provider.behave("main", order_ab)
    assert service.compare("One.", "Two.", **SAME)["status"] == "failed"
    before = len(provider.requests)
    provider.behave("main", behaviours.honest())
    again = service.compare("One.", "Two.", **SAME)

    assert again["status"] == "success"
    assert len(provider.requests) == before + 1
    assert sorted(v["cached"] for v in again["verdicts"]) == [False, True]


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": "What is the capital of Italy?"},
        {"reference": "Paris"},
        {"reference": ""},
        {"candidate": {"text": "Paris", "family": "x"}},
        {"candidate": {"text": "Paris. ", "family": "x"}},
        {"prompt": [{"role": "user", "content": "What is the capital of France?"}]},
        {"judges": ["other"]},
    ],
    ids=["prompt", "reference", "empty reference", "candidate", "a space", "form", "judge"],
)
def test_another_question_is_asked(
    service: RunningService, provider: FakeProvider, other: dict[str, Any]
) -> None:
    """Whatever could move a verdict makes another question of it."""
    base: dict[str, Any] = {"candidate": {"text": "Paris.", "family": "x"}, **SAME}
    service.assess(**base)
    answer = service.assess(**{**base, **other})

    assert len(provider.requests) == 2
    assert answer["verdicts"][0]["cached"] is False


@pytest.mark.parametrize(
    "spec",
    [{"temperature": 0.5}, {"max_output_tokens": 77}, {"extra": {"top_p": 0.5}},
     {"model": "openai/main-2"}, {"reasoning_effort": "low"}],
    ids=["temperature", "tokens", "extra", "model", "effort"],
)  # fmt: skip
def test_another_judge_spec_is_another_question(
    opened: Open, provider: FakeProvider, spec: dict[str, Any]
) -> None:
    """A judge with other sampling or another model does not inherit verdicts."""
    with opened() as service:
        service.assess("Paris.", **SAME)
    with opened(main=spec) as service:
        assert service.assess("Paris.", **SAME)["verdicts"][0]["cached"] is False

    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    "spec",
    [{"max_concurrency": 2}, {"attempt_timeout_s": 9.0}, {"rpm": 1000}, {"purpose": "validate"}],
    ids=["concurrency", "timeout", "rpm", "purpose"],
)
def test_how_a_judge_is_reached_is_no_part_of_the_question(
    opened: Open, provider: FakeProvider, spec: dict[str, Any]
) -> None:
    """Limits and timeouts change no verdict, so they cost none."""
    with opened() as service:
        service.assess("Paris.", **SAME)
    with opened(main=spec) as service:
        assert service.assess("Paris.", **SAME, timeout_s=7.0)["verdicts"][0]["cached"]

    assert len(provider.requests) == 1


def test_other_weights_and_rules_cost_no_new_verdicts(
    opened: Open, provider: FakeProvider, tmp_path: Path
) -> None:
    """A rubric whose reward formula changed is computed anew from the same verdicts."""
    with opened() as service:
        before = service.assess("Paris is it.", **SAME)
    write_rubric(
        tmp_path,
        rules='[[rules]]\nrule = "max_words"\nlimit = 1\nweight = 1.0\n',
        length="[weights]\nrule = 0.5\nmodel = 0.5\n",
    )
    with opened() as service:
        after = service.assess("Paris is it.", **SAME)

    assert len(provider.requests) == 1
    assert after["rubric_hash"] != before["rubric_hash"]
    assert after["metrics"]["model_score"] == before["metrics"]["model_score"] == 0.75
    assert after["reward"] == pytest.approx(0.5 * after["metrics"]["rule_score"] + 0.5 * 0.75)
    assert after["verdicts"][0]["cached"]


def test_other_words_of_a_rubric_are_another_question(
    opened: Open, provider: FakeProvider, tmp_path: Path
) -> None:
    """A changed description of a point changes what the judge reads."""
    with opened() as service:
        service.assess("Paris.", **SAME)
    file = tmp_path / "rubrics" / "quality.toml"
    file.write_text(file.read_text().replace("half right", "partly right"))
    with opened() as service:
        assert service.assess("Paris.", **SAME)["verdicts"][0]["cached"] is False

    assert len(provider.requests) == 2


def test_an_audit_neither_reads_nor_writes(service: RunningService, provider: FakeProvider) -> None:
    """Repeated audits ask each time, and leave nothing behind."""
    service.assess("Paris.", **SAME, audit=True)
    service.assess("Paris.", **SAME, audit=True)
    assert len(provider.requests) == 2

    assert service.assess("Paris.", **SAME)["verdicts"][0]["cached"] is False
    assert service.assess("Paris.", **SAME, audit=True)["verdicts"][0]["cached"] is False
    assert len(provider.requests) == 4


def test_a_model_no_longer_accepted_is_asked_anew(opened: Open, provider: FakeProvider) -> None:
    """A verdict of a snapshot that the operator has since ruled out does not count."""
    provider.behave("main", behaviours.served_as(behaviours.honest(), "main-2024"))
    with opened() as service:
        service.assess("Paris.", **SAME)
    provider.behave("main", behaviours.served_as(behaviours.honest(), "main-2026"))
    with opened(main={"served_models": ["main-2026"]}) as service:
        again = service.assess("Paris.", **SAME)

    assert again["verdicts"][0]["cached"] is False
    assert again["verdicts"][0]["model_served"] == "main-2026"


def test_an_opaque_model_is_flagged_from_the_cache_too(
    service: RunningService, provider: FakeProvider
) -> None:
    """What had to be said of a verdict is said again when it is used again."""
    provider.behave("main", behaviours.served_as(behaviours.honest(), "deployment-7"))
    for _ in range(2):
        answer = service.assess("Paris.", **SAME)
        assert [f["flag"] for f in answer["flags"]] == ["served_model_unverified"]
    assert len(provider.requests) == 1


def rows(store: Path, least: int = 1) -> list[tuple[str, bytes]]:
    """Every verdict in the file, once there are so many: an answer does not wait for its record."""
    found: list[tuple[str, bytes]] = []

    def there() -> bool:
        found[:] = _rows(store)
        return len(found) >= least

    wait_for(there)
    return found


def _rows(store: Path) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    with sqlite3.connect(store) as file:
        for (name,) in file.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            if {"key", "value"} <= {c[1] for c in file.execute(f"PRAGMA table_info({name})")}:
                found += file.execute(f"SELECT key, value FROM {name}")  # noqa: S608
    return [(k, v) for k, v in found if k.startswith("jv:")]


def overwrite(store: Path, key: str, value: bytes) -> None:
    """Put other bytes under a key, as somebody with access to the file could."""
    with sqlite3.connect(store) as file:
        for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            columns = {c[1] for c in file.execute(f"PRAGMA table_info({name})")}
            if {"key", "value"} <= columns:
                file.execute(f"UPDATE {name} SET value = ? WHERE key = ?", (value, key))  # noqa: S608


@pytest.mark.parametrize(
    "forge",
    [
        lambda own, other: own.replace(b'"value":4', b'"value":5'),
        lambda own, other: other,
        lambda own, other: b"",
        lambda own, other: b"5",
        lambda own, other: own[:-7],
        lambda own, other: b"\xff\xfe" + own,
        lambda own, other: own[64:],
        lambda own, other: b"0" * 64 + own[64:],
        lambda own, other: own + b" ",
        lambda own, other: b"[" * 100_000,
        lambda own, other: own[:64] + b'{"value":5,"reason":"","model_served":null}',
    ],
    ids=["other value", "another question's", "empty", "bare number", "cut", "bytes before",
         "no signature", "made-up signature", "bytes after", "nested", "other body"],
)  # fmt: skip
def test_a_forged_entry_is_as_good_as_none(
    opened: Open, provider: FakeProvider, store: Path, forge: Any
) -> None:
    """Whatever is put in the place of a verdict, the judge is asked and its verdict counts."""
    provider.behave("main", behaviours.fixed(4))
    with opened() as service:
        service.assess("Paris.", **SAME)
        provider.behave("main", behaviours.fixed(5))
        service.assess("Rome.", **SAME)
    (first_key, first), (second_key, second) = rows(store, 2)
    (key, own), other = (
        ((first_key, first), second) if b'"value":4' in first else ((second_key, second), first)
    )
    overwrite(store, key, forge(own, other))
    provider.behave("main", behaviours.fixed(4))
    with opened() as service:
        answer = service.assess("Paris.", **SAME)
        again = service.assess("Paris.", **SAME)

    assert (answer["status"], answer["reward"]) == ("success", 0.75)
    assert answer["verdicts"][0]["cached"] is False
    assert again["reward"] == 0.75
    assert again["verdicts"][0]["cached"] is True


def test_another_secret_makes_all_entries_foreign(opened: Open, provider: FakeProvider) -> None:
    """Without the secret that signed them, verdicts do not count; as the previous one it does."""
    with opened(secret="first secret of all") as service:
        service.assess("Paris.", **SAME)
    with opened(secret="second", secret_previous="first secret of all") as service:
        assert service.assess("Paris.", **SAME)["verdicts"][0]["cached"] is True
    with opened(secret="second") as service:
        assert service.assess("Paris.", **SAME)["verdicts"][0]["cached"] is False
