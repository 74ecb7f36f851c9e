"""Which judges are asked: those of another family, in weighted rendezvous order.

Weighted rendezvous hashing (Thaler and Ravishankar 1998; weights as in Schindelhauer and
Schomaker 2005): every judge draws a number from a hash of rubric, prompt and its own id, and the
largest ``weight / -ln(u)`` comes first. The same prompt always meets the same judges, and a judge
that is added takes over only its own share.
"""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Iterable, Sequence

from judge_service.errors import NoEligibleJudge
from judge_service.judges.judge import JudgeSpec


def draw(rubric_hash: str, prompt: str, judge: JudgeSpec) -> float:
    """The judge's place value for this prompt; larger comes first."""
    return _draw(hashlib.sha256(_part(rubric_hash) + _part(prompt)), judge)


def _part(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(8, "big") + data


def _draw(begun: hashlib._Hash, judge: JudgeSpec) -> float:
    digest = begun.copy()
    digest.update(_part(judge.id))
    # 53 bits, the mantissa of a float; + 0.5 keeps the value off 0 and 1.
    unit = ((int.from_bytes(digest.digest()[:8], "big") >> 11) + 0.5) / 2**53
    return judge.weight / -math.log(unit)


def eligible(judges: Iterable[JudgeSpec], excluded: frozenset[str]) -> tuple[JudgeSpec, ...]:
    """The judges that share no family with ``excluded``. Raises NoEligibleJudge if none is left."""
    pool = tuple(judges)
    left = tuple(j for j in pool if not j.families & excluded)
    if not left:
        who = ", ".join(f"{j.id} ({j.family_label})" for j in pool) or "none"
        raise NoEligibleJudge(
            f"no judge of another family than {', '.join(sorted(excluded))}; asked for: {who}"
            if excluded
            else "no judge is configured"
        )
    return left


def order(judges: Sequence[JudgeSpec], rubric_hash: str, prompt: str) -> tuple[JudgeSpec, ...]:
    """All judges, best placed first for this rubric and prompt."""
    if len(judges) < 2:
        return tuple(judges)
    before, ordered = _KNOWN.get((rubric_hash, prompt), ((), ()))
    if len(before) == len(judges) and all(map(operator.is_, before, judges)):
        return ordered
    begun = hashlib.sha256(_part(rubric_hash) + _part(prompt))
    ordered = tuple(sorted(judges, key=lambda j: (_draw(begun, j), j.id), reverse=True))
    if len(prompt) <= _KNOWN_CHARS:
        if len(_KNOWN) >= _MAX_KNOWN:
            _KNOWN.pop(next(iter(_KNOWN)), None)
        _KNOWN[rubric_hash, prompt] = tuple(judges), ordered
    return ordered


_KNOWN: dict[tuple[str, str], tuple[tuple[JudgeSpec, ...], tuple[JudgeSpec, ...]]] = {}
"""The latest orders by rubric and prompt: the members of a group have both in common."""
_MAX_KNOWN = 256
_KNOWN_CHARS = 8_000


def panel(ordered: Sequence[JudgeSpec], size: int) -> tuple[JudgeSpec, ...]:
    """The first ``size`` judges that are pairwise of different families; fewer if there are not."""
    chosen: list[JudgeSpec] = []
    taken: frozenset[str] = frozenset()
    for judge in ordered:
        if len(chosen) == size:
            break
        if not judge.families & taken:
            chosen.append(judge)
            taken |= judge.families
    return tuple(chosen)


def replacement(ordered: Sequence[JudgeSpec], asked: Iterable[JudgeSpec]) -> JudgeSpec | None:
    """The best placed judge of a family that was not asked yet, or None."""
    taken: frozenset[str] = frozenset()
    for judge in asked:
        taken |= judge.families
    return next((j for j in ordered if not j.families & taken), None)
