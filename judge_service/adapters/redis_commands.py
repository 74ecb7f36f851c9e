"""The store's operations in Redis commands: simple ones, so that a narrow ACL user will do.

GET MGET SET DEL INCRBY PEXPIRE PTTL SCAN PING MULTI EXEC; for leases ZADD ZREM ZREMRANGEBYRANK
ZREMRANGEBYSCORE ZRANGEBYSCORE ZSCORE, and TIME if allowed. What somebody else has put at a key is
replaced where we write.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from judge_service.adapters.bounded import MAX_VALUE_BYTES
from judge_service.adapters.redis_link import RedisLink, Refused
from judge_service.storage.store import FOREVER_S

LEASE_KEPT_MS = 3600 * 1000
"""How much longer than its youngest place the key of a lease lives."""
SCAN_BATCH = 200
_BELOW = (b"\xff0", b"\xff1", b"\xff2")
"""Members that are no owner's, whose names are text."""
Word = str | bytes | int | float


def milliseconds(ttl_s: float) -> int:
    """A time to live as Redis takes it."""
    return max(1, int(min(ttl_s, FOREVER_S) * 1000))


async def get_many(link: RedisLink, keys: Sequence[str]) -> dict[str, bytes]:
    """What there is; a key that holds something else than a value is not there."""
    if link.clustered:
        # The keys are on several nodes; this asks each of them once.
        values = await link.together(*[("GET", key) for key in keys])
    else:
        try:
            values = await link.command("MGET", *keys)
        except Refused:
            # This user may not, or Redis cannot just now; the single answers tell.
            values = await link.together(*[("GET", key) for key in keys])
    _raise_if_all_refused(values)
    return {
        key: value
        for key, value in zip(keys, values, strict=True)
        if isinstance(value, bytes) and len(value) <= MAX_VALUE_BYTES
    }


def _raise_if_all_refused(values: Sequence[object]) -> None:
    refused = [value for value in values if isinstance(value, Refused)]
    if refused and len(refused) == len(values) and not _wrong_type(refused[0]):
        raise refused[0]


async def put(link: RedisLink, key: str, value: bytes, ttl_s: float) -> bool:
    """Store or replace."""
    return await link.command("SET", key, value, "PX", milliseconds(ttl_s)) is True


async def put_new(link: RedisLink, key: str, value: bytes, ttl_s: float) -> bool:
    """Store unless the key exists."""
    return await link.command("SET", key, value, "PX", milliseconds(ttl_s), "NX") is True


async def delete(link: RedisLink, keys: Sequence[str]) -> int:
    """Remove keys; how many there were."""
    if not link.clustered:
        return int(await link.command("DEL", *keys))
    answers = await link.together(*[("DEL", key) for key in keys])
    return sum(answer for answer in answers if isinstance(answer, int))


async def add(link: RedisLink, key: str, amount: int, ttl_s: float) -> int:
    """Count. The counter is made and gets its time to live in the same step, so none is left
    behind without one.
    """
    steps = (
        ("SET", key, 0, "PX", milliseconds(ttl_s), "NX"),
        ("INCRBY", key, amount),
    )
    count = (await link.atomic(key, *steps))[1]
    if isinstance(count, Refused) and any(words in str(count) for words in _NO_COUNTER):
        count = (await link.atomic(key, ("DEL", key), *steps))[2]
    return int(_answer(count))


async def hold(link: RedisLink, key: str, owner: str, limit: int, ttl_s: float, now: float) -> bool:
    """Take or renew a place: a member of a sorted set, its score the time it ends.

    ``now`` is Redis's time in seconds. One step decides and leaves nothing behind, so that there
    are never more than ``limit``, whoever is cut off when.
    """
    steps = _hold_steps(key, owner, limit, ttl_s, now)
    answers = await link.atomic(key, *steps)
    if any(_wrong_type(answer) for answer in answers):
        answers = await link.atomic(key, ("DEL", key), *steps)
    return [_answer(answer) for answer in answers][-1] is not None


def _hold_steps(
    key: str, owner: str, limit: int, ttl_s: float, now: float
) -> tuple[tuple[Word, ...], ...]:
    """A condition made of ranks, for a transaction has none and a script needs a user who may run
    programs. Below all places come a sentinel, the owner if it has no place, and two spare members:

    where there is room, the lowest is removed, which is the sentinel; then the second lowest is,
    whatever it is. That is the owner where the sentinel is still there, and a spare one otherwise
    or where the owner has had a place all along.
    """
    sentinel, first_spare, second_spare = _BELOW
    return (
        ("ZREMRANGEBYSCORE", key, "-inf", now),
        ("ZADD", key, -4, sentinel, -2, first_spare, -1, second_spare),
        ("ZADD", key, "NX", -3, owner),
        # From a rank that a small set does not have, which then means the lowest, to the lowest:
        # the owner and the others are at most ``limit``, beside the three.
        ("ZREMRANGEBYRANK", key, -(limit + len(_BELOW)), 0),
        ("ZREMRANGEBYRANK", key, 1, 1),
        ("ZADD", key, "XX", now + ttl_s, owner),
        ("ZREMRANGEBYSCORE", key, "-inf", 0),
        ("PEXPIRE", key, milliseconds(ttl_s) + LEASE_KEPT_MS),
        ("ZSCORE", key, owner),
    )


async def holders(link: RedisLink, key: str, now: float) -> list[str]:
    """The owners whose places have not ended."""
    try:
        owners = await link.command("ZRANGEBYSCORE", key, f"({now}", "+inf")
    except Refused as refused:
        if not _wrong_type(refused):
            raise
        return []
    return [owner.decode("utf-8", "replace") for owner in owners]


async def drop(link: RedisLink, key: str, owner: str) -> None:
    """Give a place back."""
    try:
        await link.command("ZREM", key, owner)
    except Refused as refused:
        if not _wrong_type(refused):
            raise


async def scan(link: RedisLink, prefix: str) -> AsyncIterator[tuple[str, bytes, float]]:
    """Every value under the prefix and the seconds it has left."""
    pattern = "".join(f"\\{c}" if c in "*?[]^\\" else c for c in prefix) + "*"
    seen: set[bytes] = set()
    batch: list[bytes] = []
    async for key in link.keys(pattern):
        if key in seen:
            continue
        seen.add(key)
        batch.append(key)
        if len(batch) == SCAN_BATCH:
            for entry in await _entries(link, batch):
                yield entry
            batch = []
    for entry in await _entries(link, batch):
        yield entry


async def _entries(link: RedisLink, keys: Sequence[bytes]) -> list[tuple[str, bytes, float]]:
    if not keys:
        return []
    asked: list[Sequence[Word]] = [(word, key) for key in keys for word in ("GET", "PTTL")]
    answers = await link.together(*asked)
    return [
        (key.decode("ascii"), value, FOREVER_S if left == -1 else left / 1000)
        for key, value, left in zip(keys, answers[::2], answers[1::2], strict=True)
        if isinstance(value, bytes) and isinstance(left, int) and left != -2 and key.isascii()
    ]


_NO_COUNTER = ("WRONGTYPE", "not an integer", "overflow")


def _answer(answer: Any) -> Any:
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _wrong_type(answer: object) -> bool:
    return isinstance(answer, Refused) and "WRONGTYPE" in str(answer)
