"""Modules of trainers that are not installed."""

from __future__ import annotations

import pytest

from tests.clients.test_distribution import in_a_new_process


@pytest.mark.parametrize(
    ("module", "advice"),
    [
        ("judge_client.skyrl", "pip install skyrl-gym"),
        ("judge_client.verifiers_v0", "pip install 'verifiers<0.4'"),
        ("judge_client_verifiers", "pip install verifiers"),
    ],
)
def test_what_is_missing_is_explained(module: str, advice: str) -> None:
    """One line says what to install."""
    code = (
        "import sys; absent = ('verifiers', 'skyrl_gym', 'pydantic')\n"
        "sys.modules.update(dict.fromkeys(absent))\n"
        f"try:\n    import {module}\nexcept ImportError as error:\n    print(error)"
    )

    said = in_a_new_process(code)

    assert advice in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("module", ["art", "ms_swift", "tinker"])
def test_what_needs_no_trainer_asks_for_none(module: str) -> None:
    """These take what they are given, and can be imported anywhere."""
    heavy = {"art", "swift", "tinker", "tinker_cookbook", "torch", "openai"}
    code = (
        f"import sys, threading, judge_client.{module}; "
        f"print(sorted({heavy!r} & set(sys.modules)), threading.active_count())"
    )

    assert in_a_new_process(code) == "[] 1"
