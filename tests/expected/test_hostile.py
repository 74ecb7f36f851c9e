"""Log probabilities that are none: they never become a number."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_service.reply.probabilities import option_probabilities
from judge_service.reply.reply import (
    ChoiceForm,
    ReplyForm,
    ScoreForm,
    ScoresForm,
    Tokens,
    read_reply,
)
from tests.expected.support import assess, unexpected
from tests.harness import RunningService
from tests.provider import FakeProvider, Reply, Seen
from tests.provider.odds import entries
from tests.provider.replies import verdict

Tokenised = list[dict[str, Any]]
ODDS = {"score": {"4": 0.6, "5": 0.4}}


def at_value(tokens: Tokenised) -> dict[str, Any]:
    """The token of the score."""
    return next(token for token in tokens if len(token["top_logprobs"]) > 1)


def own(value: object) -> Callable[[Tokenised], object]:
    """Another log probability of the value's own token."""
    return lambda tokens: at_value(tokens).update(logprob=value)


def other(value: object) -> Callable[[Tokenised], object]:
    """Another log probability of the token that was not chosen."""
    return lambda tokens: at_value(tokens)["top_logprobs"][1].update(logprob=value)


def others(value: object) -> Callable[[Tokenised], object]:
    """Something else in place of the list of others."""
    return lambda tokens: at_value(tokens).update(top_logprobs=value)


def renamed(tokens: Tokenised) -> None:
    """The tokens spell another reply."""
    for token in tokens:
        token["token"], token["bytes"] = "x", [120]


def wrong_value(tokens: Tokenised) -> None:
    """They spell a 5 where the reply has a 4."""
    at_value(tokens).update(token="5", bytes=[53])


def shifted(tokens: Tokenised) -> None:
    """One token is missing before the value."""
    tokens.pop(tokens.index(at_value(tokens)) - 2)


def cut(tokens: Tokenised) -> None:
    """They end before the value."""
    del tokens[tokens.index(at_value(tokens)) :]


HOSTILE: dict[str, Callable[[Tokenised], object]] = {
    "own is NaN": own(math.nan), "own is -Infinity": own(-math.inf), "own is Infinity":
    own(math.inf), "own is above 0": own(0.1), "own is 1e308": own(1e308), "own is null": own(None),
    "own is a word": own("-0.5"), "own is true": own(True), "own is a huge integer":
    own(10**400), "own is a hugely negative integer": own(-(10**400)), "own is a list": own([-0.5]),
    "other is NaN": other(math.nan), "other is above 0": other(0.0001), "other is null":
    other(None), "other is -Infinity": other(-math.inf), "other is an object": other({}),
    "more than 1 in all": other(-0.1), "others are missing": others(None), "others are none":
    others([]), "others are a word": others("45"), "others are numbers": others([1, 2]),
    "others are an object": others({"4": -0.5}),
    "other without a token": lambda tokens: at_value(tokens)["top_logprobs"][1].update(
        token=None, bytes=None),
    "bytes that are none": lambda tokens: at_value(tokens).update(bytes=[53, 999]),
    "bytes that are words": lambda tokens: at_value(tokens).update(bytes=["4"]),
    "another reply": renamed, "another value": wrong_value, "a token is missing": shifted,
    "cut off": cut, "no tokens": lambda tokens: tokens.clear(),
    "a null among them": lambda tokens: tokens.insert(1, None),  # type: ignore[arg-type]
}  # fmt: skip


def replied(change: Callable[[Tokenised], object]) -> Callable[[Seen], Reply]:
    """A verdict of 4 whose tokens were changed."""

    def reply(seen: Seen) -> Reply:
        content = verdict(seen, 4)
        tokens = entries(content, ODDS)
        change(tokens)
        return Reply(content=content, logprobs=tokens)

    return reply


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_is_no_log_probability(
    service: RunningService, provider: FakeProvider, change: Callable[[Tokenised], object]
) -> None:
    """The verdict stands, its point counts, and the outcome says that nothing else was known."""
    provider.behave("main", replied(change))
    answer = assess(service)

    assert answer["reward"] == 0.75
    assert answer["criteria"]["quality"]["expected"] == {"value": None, "mass": 0.0}
    assert unexpected(answer) == [
        "main: 1 of 1 verdicts count as given: no usable token probabilities"
    ]


@pytest.mark.parametrize(
    "told", ["null", "5", '"x"', "[]", "{}", '{"content": null}', '{"content": 5}',
             '{"content": {"0": {}}}', '{"tokens": ["4"], "token_logprobs": [-0.1]}']
)  # fmt: skip
def test_log_probabilities_in_no_known_form(
    service: RunningService, provider: FakeProvider, told: str
) -> None:
    """Whatever else stands there is nothing."""

    def reply(seen: Seen) -> Reply:
        whole = json.loads(Reply(content=verdict(seen, 4)).payload("main"))
        whole["choices"][0]["logprobs"] = json.loads(told)
        return Reply(body=json.dumps(whole).encode())

    provider.behave("main", reply)
    answer = assess(service)

    assert answer["reward"] == 0.75
    assert len(unexpected(answer)) == 1


SECRETS = Tokens(v="0" * 16, end="f" * 16)
FORMS: list[tuple[ReplyForm, str, set[str]]] = [
    (ScoreForm(allowed=(1, 2, 3, 4, 5)), '"score":4', {"score"}),
    (ScoreForm(allowed=(-10, -1, 0, 1, 10)), '"score":"-1"', {"score"}),
    (ChoiceForm(allowed=("candidate_1", "candidate_2", "tie")), '"choice":" tie"', {"choice"}),
    (ScoresForm(allowed=(("a", (1, 10)), ("b", (0, 1)))), '"scores":{"b":1,"a":10}', {"a", "b"}),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["token", "logprob", "bytes", "top_logprobs"]), inner, max_size=4
    ),
    max_leaves=12,
)  # fmt: skip


@given(
    chosen=st.sampled_from(FORMS),
    parts=st.lists(st.tuples(st.integers(1, 12), JSON, st.lists(JSON, max_size=4)), max_size=15),
    garbage=st.lists(JSON, max_size=3),
)
def test_anything_may_stand_there(
    chosen: tuple[ReplyForm, str, set[str]], parts: Any, garbage: Any
) -> None:
    """Nothing raises, and what comes out are distributions over what was offered, or nothing."""
    form, value, names = chosen
    content = f'Well. {{"v":"{SECRETS.v}","reason":"é\\n🙂",{value},"end":"{SECRETS.end}"}}'
    reading = read_reply(content, tokens=SECRETS, form=form)
    tokens: list[Any] = []
    left = content
    for size, logprob, top in parts:
        tokens.append({"token": left[:size], "logprob": logprob, "top_logprobs": top})
        left = left[size:]
    tokens.append({"token": left, "logprob": -0.1, "top_logprobs": garbage})
    found = option_probabilities(tokens + garbage, content, reading, form)

    assert found.keys() <= names
    for chances in found.values():
        assert all(0.0 <= chance <= 1.001 for chance in chances)
        assert sum(chances) <= 1.002


@given(
    chosen=st.sampled_from(FORMS),
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=200),
    chance=st.floats(0.01, 1.0),
)
def test_wherever_the_tokens_are_cut(
    chosen: tuple[ReplyForm, str, set[str]], sizes: list[int], chance: float
) -> None:
    """The reply's own tokens are followed however a tokenizer makes them, over its characters."""
    form, value, names = chosen
    content = f'{{"v":"{SECRETS.v}","reason":"é🙂",{value},"end":"{SECRETS.end}"}} done'
    reading = read_reply(content, tokens=SECRETS, form=form)
    data, tokens = content.encode(), []
    for size in sizes + [5] * len(data):
        piece, data = data[:size], data[size:]
        if piece:
            own = {"token": piece.decode("utf-8", "replace"), "bytes": list(piece),
                   "logprob": math.log(chance)}  # fmt: skip
            tokens.append({**own, "top_logprobs": [own]})
    found = option_probabilities(tokens, content, reading, form)

    assert found.keys() == names
    for name, chances in found.items():
        values = dict(form.allowed)[name] if isinstance(form, ScoresForm) else form.allowed
        told = reading.scores[name] if isinstance(form, ScoresForm) else reading.value
        at = values.index(told)
        assert chances[at] > 0.0
        assert sum(chances) == chances[at]
