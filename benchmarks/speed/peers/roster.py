"""Who is measured beside the service, and how much is asked of each in a round."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A library that judges with a model.

    ``name`` is that of its requirements, its scorer and its environment, ``package`` the
    distribution whose version is told, ``verdicts`` how many a round takes: a second's worth, and
    twice what is in flight at least.
    """

    name: str
    package: str
    verdicts: int


PEERS = (
    Peer(name="verifiers", package="verifiers", verdicts=128),
    Peer(name="verifiers_0_1", package="verifiers", verdicts=512),
    Peer(name="openjudge", package="py-openjudge", verdicts=320),
    Peer(name="mlflow", package="mlflow", verdicts=320),
    Peer(name="autorubric", package="autorubric", verdicts=192),
    Peer(name="prometheus_eval", package="prometheus-eval", verdicts=256),
    Peer(name="inspect_ai", package="inspect-ai", verdicts=256),
    Peer(name="deepeval", package="deepeval", verdicts=128),
)
"""verifiers comes twice: its judges of 0.4, and the ``JudgeRubric`` of 0.1, which is faster."""


def chosen(name: str) -> tuple[Peer, ...]:
    """The peers of that name, all for an empty one. Raises ValueError where there is none."""
    found = tuple(peer for peer in PEERS if name in ("", peer.name))
    if not found:
        names = ", ".join(peer.name for peer in PEERS)
        raise ValueError(f"no peer {name!r}; there are {names}")
    return found
