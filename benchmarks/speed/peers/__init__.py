"""The row ``peers``: the service beside the libraries that judge with a model."""

from benchmarks.speed.peers.contest import measure
from benchmarks.speed.peers.roster import PEERS

__all__ = ["PEERS", "measure"]
