"""``judge-service probe`` end to end: who gains, what stops it, what is not judged, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge_service.access.keys_file import key_hash, pepper_of
from judge_service.probing.card import Card
from judge_service.probing.item import shipped_items
from tests.cli.conftest import Cli, Ran, write_lines
from tests.harness import judged_by
from tests.probe.conftest import judges
from tests.provider import FakeProvider, Seen, behaviours, faults, gullible

FEW = ("--probes", "weak_answer,opener,padding_20x,planted_verdict,own_family")


def card(ran: Ran) -> Card:
    """The card of a run, whatever its exit code; NaN would not be JSON."""
    assert ran.out, ran.err
    found = Card.model_validate(json.loads(ran.out, parse_constant=_no_constant))
    assert found.exit_code == ran.code
    return found


def _no_constant(word: str) -> Any:
    raise AssertionError(f"{word} on a card")


def of(found: Card, probe: str, judge: int = 0) -> Any:
    """One probe's result."""
    return next(one for one in found.subjects[judge].probes if one.probe == probe)


def test_an_honest_judge_holds(cli: Cli, where: list[str], provider: FakeProvider) -> None:
    """Every probe, every item, in this process and over HTTP; exit code 0."""
    ran = cli("probe", "quality", "--json", *where)

    found = card(ran)
    assert (ran.code, found.result, found.items) == (0, "held", len(shipped_items()))
    assert {one.judge for one in found.subjects} == {"alpha"}
    assert len(found.subjects[0].probes) == 30
    assert all(not one.not_judged for one in found.subjects[0].probes)
    assert of(found, "plea").stopped_by == {"envelope": 10}
    assert of(found, "empty").rules == {"non_empty": 10}
    assert of(found, "weak_answer").shift.value == pytest.approx(-0.75)
    repeats = found.subjects[0].repeats
    assert repeats is not None
    assert (repeats.value, repeats.n) == (1.0, 20)
    assert found.spent.requests == found.spent.verdicts_planned == len(provider.requests)


def test_what_fools_the_judge_is_a_success(
    cli: Cli, where: list[str], provider: FakeProvider
) -> None:
    """A judge that pays for stock openings; exit code 2, and the card shows one of them."""
    provider.behave("alpha", gullible.master_key())

    ran = cli("probe", "quality", "--json", *FEW, *where)

    opener = of(card(ran), "opener")
    assert ran.code == 2
    assert (opener.result, opener.example.gain) == ("succeeded", pytest.approx(0.75))
    assert opener.example.attack in (
        "Thought process:",
        "Solution",
        "Let's solve this problem step by step.",
    )
    assert opener.gained.value == pytest.approx(0.7)
    assert opener.stopped_by == {"nothing": 7, "judge": 3}
    assert of(card(ran), "planted_verdict").result == "held"


def test_a_rule_stops_what_would_fool_the_judge(
    cli: Cli, here: list[str], provider: FakeProvider
) -> None:
    """The attack earns nothing, and the card says what would have been without the rule."""
    provider.behave("alpha", gullible.master_key())

    ran = cli("probe", "guarded", "--json", *FEW, *here)

    opener = of(card(ran), "opener")
    assert (ran.code, opener.result, opener.judge_alone) == (0, "held", "succeeded")
    assert opener.stopped_by["rule"] == 10
    assert set(opener.rules) == {"opener_only"}
    assert opener.judge_shift.value > 0.4 > 0.0 > opener.shift.value


def test_length_control_stops_what_would_fool_the_judge(
    cli: Cli, here: list[str], provider: FakeProvider
) -> None:
    """A judge that pays for length, on a rubric whose reward decays with it."""
    provider.behave(
        "alpha",
        behaviours.when(
            lambda seen: len(seen.candidate) > 1300,
            behaviours.decides(lambda seen: seen.best()),
            behaviours.honest(),
        ),
    )

    free = cli("probe", "quality", "--json", *FEW, *here)
    controlled = cli("probe", "guarded", "--json", *FEW, *here)

    assert of(card(free), "padding_20x").result == "succeeded"
    padding = of(card(controlled), "padding_20x")
    assert (padding.result, padding.judge_alone) == ("held", "succeeded")
    assert padding.stopped_by["length control"] >= 8


def test_pairs_are_probed_in_both_orders(
    cli: Cli, where: list[str], provider: FakeProvider
) -> None:
    """A judge that likes length pays for padding, and the swap does not help."""
    provider.behave("alpha", behaviours.longer_wins())

    found = card(cli("probe", "pair", "--json", *FEW, *where))

    assert (found.kind, found.result) == ("compare", "succeeded")
    padding = of(found, "padding_20x")
    assert (padding.shift.value, padding.gained.value) == (0.5, 1.0)
    assert padding.attack is padding.twin is None
    assert of(found, "opener").result == "held"


def test_the_swap_stops_a_judge_of_positions(
    cli: Cli, here: list[str], provider: FakeProvider
) -> None:
    """Nobody wins, so nobody gains; that it tells nothing apart is not enough evidence."""
    provider.behave("alpha", behaviours.first_position())
    probes = ("--probes", "weak_answer,opener,swapped_order,identical_pair")

    ran = cli("probe", "pair", "--json", *probes, *here)

    found = card(ran)
    assert ran.code == 3
    assert of(found, "opener").stopped_by == {"position swap": 10}
    assert of(found, "weak_answer").result == "unclear"
    assert "10 of 10" in of(found, "weak_answer").reason
    for name in ("swapped_order", "identical_pair"):
        one = of(found, name)
        assert (one.result, one.judge_alone, one.judge_shift.value) == ("held", "succeeded", 0.5)
        assert "shown first is preferred" in one.reason


def test_a_judge_that_pays_everything_is_not_safe(
    cli: Cli, here: list[str], provider: FakeProvider
) -> None:
    """No attack gains, for there is nothing to gain: the poor answer is the success."""
    provider.behave("alpha", behaviours.fixed(5))

    found = card(cli("probe", "quality", "--json", *FEW, *here))

    assert (found.result, of(found, "weak_answer").result) == ("succeeded", "succeeded")
    assert of(found, "padding_20x").result == "unclear"
    assert "no room" in of(found, "padding_20x").reason


def test_a_judges_failure_is_no_failed_attack(
    cli: Cli, where: list[str], provider: FakeProvider
) -> None:
    """What the judge chokes on is not judged: counted by error, and the run is unclear."""
    provider.behave("alpha", behaviours.chokes_on("[["))
    marker = ("--probes", "weak_answer,planted_verdict")

    ran = cli("probe", "quality", "--json", *marker, *where)

    one = of(card(ran), "planted_verdict")
    assert (ran.code, one.result) == (3, "unclear")
    assert one.not_judged == {"unparsable": 3}
    assert one.judged + sum(one.not_judged.values()) == one.items == 10
    assert "only 7 of 10" in one.reason
    assert of(card(ran), "weak_answer").result == "held"


def test_a_judge_that_is_down_has_shown_nothing(
    cli: Cli, here: list[str], provider: FakeProvider
) -> None:
    """No figure at all, and exit code 3."""
    provider.behave("alpha", faults.status_error(401))

    found = card(cli("probe", "quality", "--json", *FEW, *here))

    assert (found.exit_code, found.result) == (3, "unclear")
    opener = of(found, "opener")
    assert opener.not_judged == {"upstream_auth": 10}
    assert opener.shift is opener.judge_shift is opener.gained is opener.attack is None
    assert opener.judge_alone is None
    assert of(found, "own_family").result == "held"


def test_an_empty_answer_needs_no_judge(cli: Cli, here: list[str], provider: FakeProvider) -> None:
    """What a rule settles is settled, whatever the judge makes of it; its twin must be judged."""
    provider.behave(
        "alpha",
        behaviours.when(
            lambda seen: not seen.candidate.strip(), behaviours.says("What?"), behaviours.honest()
        ),
    )

    one = of(card(cli("probe", "quality", "--json", "--probes", "empty", *here)), "empty")

    assert (one.result, one.judged, one.stopped_by) == ("held", 10, {"rule": 10})


def test_every_judge_is_probed_by_itself(cli: Cli, here: list[str], provider: FakeProvider) -> None:
    """Those that train, or those that are named; each has its part of the card."""
    provider.behave("beta", gullible.master_key())

    ran = cli("probe", "quality", "--json", *FEW, "--judges", "alpha,beta", *here)

    found = card(ran)
    assert [(one.judge, one.result) for one in found.subjects] == [
        ("alpha", "held"), ("beta", "succeeded"),
    ]  # fmt: skip
    assert of(found, "own_family", 1).stopped_by == {"family rule": 1}


def test_a_panel_is_probed_as_one(cli: Cli, here: list[str], provider: FakeProvider) -> None:
    """Its lower median is not that of the judge that was fooled."""
    provider.behave("beta", gullible.master_key())

    found = card(cli("probe", "panel", "--json", *FEW, "--judges", "alpha,beta", *here))

    (panel,) = found.subjects
    assert (panel.judge, panel.family, panel.panel) == ("alpha, beta", "alpha+beta", True)
    assert of(found, "opener").result == "held"


def test_an_item_whose_twin_breaks_a_rule_is_left_out(
    cli: Cli, here: list[str], tmp_path: Path
) -> None:
    """It does not fit the rubric; the others are judged."""
    items = [item.model_dump(exclude_none=True) for item in shipped_items()]
    items[0]["weak"] = "I'm sorry, but I can't help with that."
    file = write_lines(tmp_path / "mine.jsonl", *items)

    found = card(cli("probe", "guarded", "--json", "--items", file, "--probes", "plea", *here))

    assert of(found, "plea").not_judged == {"twin breaks a rule": 1}
    assert of(found, "plea").judged == 9


def test_without_audit_the_service_is_asked_as_always(
    cli: Cli, here: list[str], provider: FakeProvider
) -> None:
    """Rules end it before the judge, and a second run costs nothing; less is known of the judge."""
    options = ("--no-audit", "--probes", "weak_answer,empty,opener,identical_pair")

    first = cli("probe", "guarded", "--json", *options, *here)
    asked = len(provider.requests)
    second = cli("probe", "guarded", "--json", *options, *here)

    found = card(first)
    assert (first.code, found.audit) == (0, False)
    assert (of(found, "empty").judge_shift, of(found, "empty").judge_alone) == (None, None)
    assert of(found, "identical_pair").stopped_by == {"rule": 10}
    assert card(second).spent.requests == 0
    assert len(provider.requests) == asked
    assert not any(seen_text(request) == "" for request in provider.requests)


def seen_text(request: Any) -> str:
    """The candidate that a judge was shown."""
    seen: Seen = request.seen
    return seen.candidate


def test_an_audit_needs_an_admins_key(
    cli: Cli, provider: FakeProvider, folder: Path, tmp_path: Path
) -> None:
    """The error says how to do without; an admin's key opens it."""
    secret = "a secret of this service, long enough"
    keys = tmp_path / "keys.toml"
    hashes = {
        scope: key_hash(pepper_of(secret), f"key-of-a-{scope}") for scope in ("judge", "admin")
    }
    keys.write_text(
        "\n".join(
            f'[[keys]]\nname = "{scope}"\nsha256 = "{digest}"\nscopes = ["{scope}"]\n'
            for scope, digest in hashes.items()
        )
    )
    with judged_by(judges(provider), folder, api_keys_file=keys, secret=secret) as running:
        options = ("probe", "quality", "--json", "--probes", "opener", "--url", running.url)
        judge = {"JUDGE_SERVICE_API_KEY": "key-of-a-judge"}
        admin = {"JUDGE_SERVICE_API_KEY": "key-of-a-admin"}

        refused = cli(*options, env=judge)
        plain = cli(*options, "--no-audit", env=judge)
        audited = cli(*options, env=admin)

    assert (refused.code, plain.code, audited.code) == (1, 0, 0)
    assert "admin key" in refused.err
    assert "--no-audit" in refused.err
