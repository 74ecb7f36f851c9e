"""``python -m benchmarks.speed.peers``: the row of all peers or of one, with fewer rounds."""

from __future__ import annotations

import argparse

from benchmarks.speed.peers import PEERS, measure

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", nargs="?", default="", choices=["", *(p.name for p in PEERS)])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(measure(given.peer, rounds=given.rounds))
