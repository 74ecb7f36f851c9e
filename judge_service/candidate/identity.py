"""Which answer a candidate is: two that white space and invisible characters alone tell apart are
one.

Only hashes are kept. They are made of what a conversation consists of, each part with its kind and
its length, so that no text is taken for a conversation that it only spells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from judge_service.text.data_block import Part, parts_of
from judge_service.text.identity_key import identity_key
from judge_service.types import Message, Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """``key`` is a hash of the answer as it was given, ``keys`` also has one of what a judge is
    shown of it: two that have one in common are one answer. ``chars`` is the length of what
    ``key`` was made of, in characters.
    """

    key: bytes
    keys: frozenset[bytes]
    chars: int


NOBODY = Identity(key=b"", keys=frozenset(), chars=0)
"""Of a candidate that was not looked at: it is the same as no other."""


def identity_of(
    text: str, shown: str | Sequence[Message], context: Sequence[Message] = ()
) -> Identity:
    """The identity of an answer ``text`` of which ``shown`` is shown, after ``context``.

    Formatting that a judge is not shown makes no other answer; other calls or another context do.
    """
    if context or not isinstance(shown, str):
        return _of_conversation(shown, context)
    said = identity_key(text)
    key = _hash_of_text(said)
    keys = {key} if shown == text else {key, _hash_of_text(identity_key(shown))}
    return Identity(key=key, keys=frozenset(keys), chars=len(said))


def prompt_identity(prompt: Prompt) -> bytes:
    """A hash of a prompt, in which every character counts."""
    if isinstance(prompt, str):
        return _hash_of_text(prompt)
    return _hash_of_parts(part for message in prompt for part in parts_of(message))


def _of_conversation(shown: str | Sequence[Message], context: Sequence[Message]) -> Identity:
    parts = [*_spoken(context), (True, "")]  # no heading is empty: here the context ends
    parts += [(False, identity_key(shown))] if isinstance(shown, str) else _spoken(shown)
    key = _hash_of_parts(parts)
    chars = sum(len(text) for _, text in parts)
    return Identity(key=key, keys=frozenset({key}), chars=chars)


def _spoken(messages: Sequence[Message]) -> Iterator[Part]:
    for message in messages:
        for heading, text in parts_of(message):
            same = identity_key(text)
            if heading or same:
                yield heading, same


def _hash_of_text(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16, person=b"text").digest()


def _hash_of_parts(parts: Iterable[Part]) -> bytes:
    digest = hashlib.blake2b(digest_size=16, person=b"parts")
    for heading, text in parts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%c%d:" % (b"h" if heading else b"c", len(data)))
        digest.update(data)
    return digest.digest()
