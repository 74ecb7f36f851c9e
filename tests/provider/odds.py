"""Judges whose provider tells the probabilities of their tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .behaviours import Behaviour
from .replies import Reply, verdict
from .seen import Answer, Seen

Odds = Mapping[str, float]
"""The probability of each value, as it is spelled: ``{"4": 0.7, "5": 0.3}``. They may add up to
less than 1, the rest being other tokens that are not told.
"""
Split = Callable[[str], Sequence[str]]

_WORDS = re.compile(r"\d{1,3}|[A-Za-z]+|\s+|.", re.DOTALL)
_DIGITS = re.compile(r"\d|[A-Za-z]+|\s+|.", re.DOTALL)


def by_words(text: str) -> list[str]:
    """Tokens as some models make them: words, numbers of up to three digits, single marks."""
    return _WORDS.findall(text)


def by_digits(text: str) -> list[str]:
    """Tokens as others make them: every digit by itself."""
    return _DIGITS.findall(text)


def graded(odds: Callable[[Seen], Mapping[str, Odds]], split: Split = by_words) -> Behaviour:
    """Gives the likeliest of its ``odds`` as its verdict, and tells them all.

    They are by name of the value: ``score``, ``choice``, or the keys of ``scores``.
    """

    def reply(seen: Seen) -> Reply:
        told = odds(seen)
        likeliest = {name: max(chances, key=lambda value: chances[value])
                     for name, chances in told.items()}  # fmt: skip
        answer: Answer
        if seen.form == "choice":
            answer = likeliest["choice"]
        elif seen.form == "score":
            answer = int(likeliest["score"])
        else:
            answer = {name: int(value) for name, value in likeliest.items()}
        content = verdict(seen, answer)
        asked = seen.body.get("top_logprobs")
        tokens = entries(content, told, split, most=asked) if isinstance(asked, int) else None
        return Reply(content=content, logprobs=tokens)

    return reply


def entries(
    content: str, odds: Mapping[str, Odds], split: Split = by_words, *, most: int = 20
) -> list[dict[str, Any]]:
    """The tokens of a reply, with at most ``most`` others at the place of each."""
    found: list[dict[str, Any]] = []
    done = 0
    for start, end, chances in sorted(_places(content, odds)):
        found += [entry(token, {token: 0.999}) for token in split(content[done:start])]
        found += _value(content[start:end], content[end], dict(chances), split, most)
        done = end + 1
    return found + [entry(token, {token: 0.999}) for token in split(content[done:])]


def entry(token: str, chances: Odds) -> dict[str, Any]:
    """One token, and what could have stood there: likeliest first, itself included."""
    ranked = sorted(chances, key=lambda other: -chances[other])
    top = [_plain(other, chances[other]) for other in ranked]
    return {**_plain(token, chances[token]), "top_logprobs": top}


def _plain(token: str, chance: float) -> dict[str, Any]:
    logprob = math.log(chance) if chance > 0 else -9999.0
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


def _places(content: str, odds: Mapping[str, Odds]) -> Iterator[tuple[int, int, Sequence[Any]]]:
    for name, chances in odds.items():
        place = re.search(rf'"{name}":"?(\w+)', content)
        assert place is not None, f"no {name} in the reply"
        yield place.start(1), place.end(1), tuple(chances.items())


def _value(
    given: str, after: str, odds: dict[str, float], split: Split, most: int
) -> list[dict[str, Any]]:
    """The value's tokens and the mark ``after`` it: at each step the values that begin like this
    share what is left.
    """
    found = []
    spelled = {value: [*split(value), after] for value in odds}
    for place in range(len(spelled[given])):
        so_far = spelled[given][:place]
        alike = {v: odds[v] for v, tokens in spelled.items() if tokens[:place] == so_far}
        total = 1.0 if place == 0 else sum(alike.values())
        chances: dict[str, float] = {}
        for value, chance in alike.items():
            token = spelled[value][place]
            chances[token] = chances.get(token, 0.0) + chance / total
        kept = dict(sorted(chances.items(), key=lambda item: -item[1])[:most])
        found.append(entry(spelled[given][place], kept))
    return found
