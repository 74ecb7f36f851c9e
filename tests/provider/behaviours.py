"""Scripted judges that speak the protocol properly: honest, biased, talkative or sloppy in form."""

from __future__ import annotations

import dataclasses
import json
import random
import threading
from collections.abc import Callable, Mapping, Sequence

from .replies import Reply, Usage, bound, draft, raw_bound, to_json, verdict
from .seen import Answer, Seen

Behaviour = Callable[[Seen], Reply]
"""Decides the reply to one request; must not block."""

Text = Callable[[Seen], str]
"""Writes the content of a reply."""


def honest(reason: str = "Checked against the rubric.") -> Behaviour:
    """The oracle's verdict, in proper form."""
    return decides(lambda seen: seen.honest(), reason)


def fixed(answer: Answer, reason: str = "Checked against the rubric.") -> Behaviour:
    """Always the same verdict, whatever is on the scale."""
    return decides(lambda _: answer, reason)


def decides(
    judge: Callable[[Seen], Answer], reason: str = "Checked against the rubric."
) -> Behaviour:
    """A verdict in proper form whose value ``judge`` decides: a replay, a bias, a rule."""
    return lambda seen: Reply(content=verdict(seen, judge(seen), reason))


def says(text: str | Text) -> Behaviour:
    """A reply with this content, word for word; no verdict unless the text holds one."""
    return lambda seen: Reply(content=text if isinstance(text, str) else text(seen))


# Changes to another behaviour.


def slow(behaviour: Behaviour, seconds: float) -> Behaviour:
    """The same after a delay."""
    return lambda seen: dataclasses.replace(behaviour(seen), delay=seconds)


def held(behaviour: Behaviour, gate: threading.Event) -> Behaviour:
    """The same once ``gate`` is set: a test decides how long it takes, whatever the machine."""
    return lambda seen: dataclasses.replace(behaviour(seen), gate=gate)


def served_as(behaviour: Behaviour, model: str) -> Behaviour:
    """The same, but the reply says that ``model`` wrote it."""
    return lambda seen: dataclasses.replace(behaviour(seen), model=model)


def wrong_model(model: str = "claude-sonnet-4-5") -> Behaviour:
    """A gateway that quietly serves a model of another family."""
    return served_as(honest(), model)


def with_usage(behaviour: Behaviour, usage: Usage | None) -> Behaviour:
    """The same with other token counts, or with none reported."""
    return lambda seen: dataclasses.replace(behaviour(seen), usage=usage)


def mixed(shares: Sequence[tuple[float, Behaviour]], *, seed: int) -> Behaviour:
    """Each request draws one behaviour by its share, the same way for the same seed and order."""
    draw = random.Random(seed)  # noqa: S311 - a repeatable draw, no secret
    weights = [share for share, _ in shares]
    behaviours = [behaviour for _, behaviour in shares]
    return lambda seen: draw.choices(behaviours, weights)[0](seen)


def when(condition: Callable[[Seen], bool], then: Behaviour, otherwise: Behaviour) -> Behaviour:
    """One behaviour or another, by what is seen."""
    return lambda seen: then(seen) if condition(seen) else otherwise(seen)


# Biases. They look at the candidates only, so an injection cannot reach them.


def first_position() -> Behaviour:
    """Prefers the candidate shown first."""
    return decides(lambda seen: seen.choice(True) if seen.form == "choice" else seen.honest())


def second_position() -> Behaviour:
    """Prefers the candidate shown last."""
    return decides(lambda seen: seen.choice(False) if seen.form == "choice" else seen.honest())


def _prefers(value: Callable[[str], float]) -> Behaviour:
    def judge(seen: Seen) -> Answer:
        if seen.form != "choice":
            return seen.honest()
        first, second = (value(text) for text in seen.candidates.values())
        return "tie" if first == second else seen.choice(first > second)

    return decides(judge)


def longer_wins() -> Behaviour:
    """Prefers the longer candidate of a pair, consistently."""
    return _prefers(len)


def fond_of(marker: str) -> Behaviour:
    """Gives its best to a candidate that holds ``marker``: a watermark, or its own style."""

    def judge(seen: Seen) -> Answer:
        return seen.best() if marker in seen.candidate else seen.honest()

    pair = _prefers(lambda text: marker in text)
    return when(lambda seen: seen.form == "choice", pair, decides(judge))


def chokes_on(marker: str) -> Behaviour:
    """Has no usable reply to a candidate that holds ``marker``."""

    def choked(seen: Seen) -> bool:
        return any(marker in text for text in seen.candidates.values())

    return when(choked, says("I would rather talk about something else."), honest())


def counts_keywords(keywords: Sequence[str]) -> Behaviour:
    """Scores by how many different keywords the candidate holds, up to the top of the scale."""

    def judge(seen: Seen) -> Answer:
        if seen.form != "score":
            return seen.honest()
        points = sorted(value for value in seen.allowed if isinstance(value, int))
        text = seen.candidate.casefold()
        hits = sum(word.casefold() in text for word in keywords)
        return points[min(hits, len(points) - 1)]

    return decides(judge)


# Talkative judges: the verdict is proper, and the candidate's words stand somewhere beside it.


def echo_before() -> Behaviour:
    """Repeats the candidates, then gives the verdict."""
    return says(lambda seen: f"They wrote:\n{_quoted(seen)}\n\n{_honest(seen)}")


def echo_after() -> Behaviour:
    """Gives the verdict, then repeats the candidates."""
    return says(lambda seen: f"{_honest(seen)}\n\nThey wrote:\n{_quoted(seen)}")


def echo_fenced() -> Behaviour:
    """Repeats the candidates in a code fence, and gives the verdict in another one."""
    return says(lambda seen: f"```json\n{_quoted(seen)}\n```\nso\n```json\n{_honest(seen)}\n```")


def echo_in_reason() -> Behaviour:
    """Repeats the candidates inside ``reason``, escaped as JSON asks."""
    return says(lambda seen: bound(seen, to_json(seen.honest()), reason=_quoted(seen)))


def echo_in_reason_raw() -> Behaviour:
    """Repeats the candidates inside ``reason`` without escaping anything: broken JSON, at times."""
    return says(
        lambda seen: raw_bound(
            seen, f'"{seen.form}":{to_json(seen.honest())}', raw_reason=f'"{_quoted(seen)}"'
        )
    )


def echo_cut() -> Behaviour:
    """Repeats the first half of the candidates, quotes and braces left open, then the verdict."""
    return says(lambda seen: f"{_quoted(seen)[: len(_quoted(seen)) // 2]}\n{_honest(seen)}")


def leaks_secrets() -> Behaviour:
    """Writes the nonce, both tokens and the system message into its reason."""
    return says(
        lambda seen: bound(
            seen,
            to_json(seen.honest()),
            reason=f"nonce {seen.nonce}, v {seen.v}, end {seen.end}; I was told: {seen.system}",
        )
    )


def _quoted(seen: Seen) -> str:
    return "\n".join(seen.candidates.values())


def _honest(seen: Seen) -> str:
    return verdict(seen, seen.honest())


# Values and forms that are nearly right.


def raw_value(raw: str, reason: str = "Checked against the rubric.") -> Behaviour:
    """The right tokens around ``raw``, JSON text or not, in place of the (first) value."""
    return says(lambda seen: bound(seen, _first_replaced(seen, raw), reason=reason))


def _first_replaced(seen: Seen, raw: str) -> str:
    if seen.form != "scores":
        return raw
    honest_scores = seen.honest()
    rest = honest_scores.items() if isinstance(honest_scores, Mapping) else ()
    fields = [
        f"{json.dumps(key)}:{raw if at == 0 else value}" for at, (key, value) in enumerate(rest)
    ]
    return "{" + ",".join(fields) + "}"


LIES = (
    "0", "6", "-1", "4.7", '"five"', "true", "null", "[5]", '{"score":5}', "NaN", "Infinity",
    "-Infinity", "1e999", "1" + "0" * 400, '"5\\u0000"', '"\uff15"', "4.5", "9", '""', '"5/5"',
)  # fmt: skip
"""Values that are no point of the scale 1 to 5, as raw JSON text."""


def liar(values: Sequence[str] = LIES) -> Behaviour:
    """Goes through values that are no point, one per request."""
    return lambda seen: raw_value(values[(seen.n - 1) % len(values)])(seen)


def double_verdict() -> Behaviour:
    """Two proper verdicts that say different things."""
    return says(lambda seen: f"{_honest(seen)}\n{verdict(seen, seen.another(seen.honest()))}")


def same_verdict_twice() -> Behaviour:
    """The same proper verdict, twice."""
    return says(lambda seen: f"{_honest(seen)}\n{_honest(seen)}")


def duplicate_key() -> Behaviour:
    """One bound object that gives its value twice, differently."""

    def text(seen: Seen) -> str:
        low, high = to_json(seen.another(seen.honest())), to_json(seen.honest())
        return raw_bound(seen, f'"{seen.form}":{low},"{seen.form}":{high}', raw_reason='"Unsure."')

    return says(text)


def wrong_tokens(*, v: str | None = None, end: str | None = None) -> Behaviour:
    """A verdict in which one token, or both, is not the one asked for."""
    return says(lambda seen: bound(seen, to_json(seen.honest()), v=v, end=end))


def raw_reason(raw: str) -> Behaviour:
    """A verdict whose ``reason`` is written between the quotes as it is."""
    return says(
        lambda seen: raw_bound(
            seen, f'"{seen.form}":{to_json(seen.honest())}', raw_reason=f'"{raw}"'
        )
    )


def around(before: str, after: str = "") -> Behaviour:
    """The verdict with other text around it; ``{draft}`` in it becomes an unbound verdict."""

    def text(seen: Seen) -> str:
        planted = draft(seen, seen.another(seen.honest()))
        return (
            before.replace("{draft}", planted) + _honest(seen) + after.replace("{draft}", planted)
        )

    return says(text)
