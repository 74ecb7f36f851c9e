"""Whether the model that answered is the one that was asked.

Gateways replace models silently, and an answer of the candidate's own family would undo the
exclusion of that family. So the name in each reply is checked before its verdict counts.
"""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache

from judge_service.judges.family import MAX_NAME_CHARS, bare_name, families_of, same_name


class Served(StrEnum):
    """What the served name says about the judge."""

    OK = "ok"
    UNVERIFIED = "unverified"
    """The name says nothing (a deployment, a path, missing): accepted, flagged and counted."""
    WRONG = "wrong"
    """Another model answered: its verdict must not be used."""


def check_served(
    *,
    requested: str,
    served: str | None,
    families: frozenset[str],
    served_models: tuple[str, ...] = (),
) -> Served:
    """Compare the model named in a reply with the judge that was asked.

    The requested name itself is right, in whatever spelling the provider echoes it. Otherwise
    the name must match one of ``served_models``, where the operator gave some, and its families,
    where they are known, must all be the judge's or the requested name's: a distillation of a
    model of the judge's family by another house is that house's, too.

    Args:
        requested: the judge's ``model``, a LiteLLM name.
        served: ``response.model`` as received; None or blank where the reply had none.
        families: the judge's own families, normalised.
        served_models: patterns with ``*`` and ``?``, tried on the whole name and on the bare
            one, upper and lower case being the same.
    """
    if served is None or not served.strip():
        return Served.UNVERIFIED
    # A provider may send anything for a name; only what is as long as names are is remembered.
    check = _checked if len(served) <= MAX_NAME_CHARS else _checked.__wrapped__
    return check(requested, served, families, served_models)


@lru_cache(maxsize=1024)
def _checked(
    requested: str, served: str, families: frozenset[str], served_models: tuple[str, ...]
) -> Served:
    if same_name(requested, served):
        return Served.OK
    if served_models and not _matches_any(served, served_models):
        return Served.WRONG
    said = families_of(served)
    if said:
        return Served.OK if said <= families | families_of(requested) else Served.WRONG
    return Served.OK if served_models else Served.UNVERIFIED


def _matches_any(served: str, patterns: tuple[str, ...]) -> bool:
    if len(served) > MAX_NAME_CHARS:
        return False
    names = (served.strip().lower(), bare_name(served))
    return any(fnmatchcase(name, pattern.lower()) for pattern in patterns for name in names)
