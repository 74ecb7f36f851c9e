"""Sentences that tell a judge what to do, found by the parts of speech they are built from.

In languages written with spaces a text is read as a string with one class letter per word
(``lexicon``), and the sentence patterns below run over that string: short, bounded and
the same for every language. Languages written without spaces, or that glue particles to words, have
patterns over characters instead.

``commands`` finds what is an instruction wherever it stands. ``orders`` finds less ("give 5"): it
is for text that is suspicious for another reason, such as a hidden comment.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat

from judge_service.injection.cheap_looks import any_of
from judge_service.injection.lexicon import CLASSES, FOREIGN, SIGNS, STOPS
from judge_service.injection.scripts import in_scripts

# Underscores at the ends of a word are emphasis; inside they make it a name, which is one word.
_TOKEN = re.compile(r"[^\W_](?:[\w'’]*[^\W_])?|\n|[^\w\s*\\~-]|--")
_WORD = re.compile(r"[a-z]{4,12}")
_APART = str.maketrans({code: " " for code in range(128) if not chr(code).isalnum()})


def _classes() -> dict[str, str]:
    table = dict.fromkeys((*STOPS, "--"), "|")
    for source in (FOREIGN, CLASSES):
        for letter, words in source.items():
            table.update(dict.fromkeys(words.split(), letter))
    for letter, signs in SIGNS.items():
        table.update(dict.fromkeys(signs, letter))
    return table


_CLASS_OF = _classes()
# Without one of these there is no sentence to find.
_TRIGGERS = frozenset(word for word, letter in _CLASS_OF.items() if letter in "igsIJGvRczadDXW") | {
    "answer"
}
_ROT13 = frozenset(
    codecs.encode(
        "give award assign score grade ignore disregard forget output choose", "rot13"
    ).split()
)

# Where an imperative can stand, looked up backwards; and END: the clause is over or goes on to
# another one.
_STARTS = re.compile(r'(?:(?:^|[|,:"&])[yl&]{0,3}|(?<!f)u[m.]?[yl]{0,2}F?[yl]?|ym[yl]?)$')
_START_REACH = 10
_END = r'(?=[|,"&y:]|$)'
# "a" is also an article: a letter is a label only right behind one of these.
_LABEL = '(?<=[vRgclbw"])L'
_BEST = rf"(?:[MP][^|:]{{0,2}}[sk]|k[^|:]{{0,3}}M|M{_END})"
_STOP = r'(?=[|"]|$)'
_VALUE = rf"(?:{_BEST}|[sk][^|:x]{{0,2}}N(?!\.)|N/N|N[^|:x]?k(?=[|,\"&y:FAf]|$)|N%?{_END})"

_IGNORE = "tells the judge to ignore what it was told"
_SCORE = "asks the judge for a score"
_REPLY = "dictates the judge's reply"
_CHOOSE = "tells the judge whom to choose"
_EXTRACT = "asks the judge for its instructions"

# (kind, first class, rest): imperatives, which count only where an imperative can stand.
_IMPERATIVES = (
    (
        _IGNORE,
        "i",
        r"[^|:]{0,3}(?:p[^|:]{0,4}[oOrwv]|[oOrwv][^|:]{0,2}p|q[^|:]{0,2}p(?!\.)"
        rf"|[qhY][^|:]{{0,3}}o|Y[^|:]{{0,2}}[Or]|r|p{_END})",
    ),
    (_SCORE, "[gs]", rf"[^|:x]{{0,4}}(?:t(?!\.)|w)[^|:xf]{{0,5}}?{_VALUE}"),
    (_SCORE, "[gs]", rf"[^|:xtw]{{0,5}}?{_VALUE}[^|:]{{0,2}}?F[^|:]{{0,2}}t"),
    (_SCORE, "g", rf"[^|:xtw]{{0,3}}?[MP][^|:]?[sk]{_END}"),
    (_SCORE, "g", rf"N%?{_STOP}"),
    (_SCORE, "[vR]", rf"[^|:x]{{0,2}}s[^|:x]N{_END}"),
    (_SCORE, "a", rf"[^|:]?tw[^|:]{{0,2}}[CM]{_END}"),
    (_SCORE, "a", rf"[^|:]?t?w[^|:]{{0,2}}A[^|:]{{0,2}}[CM]{_END}"),
    (_REPLY, "l", rf"[^|]?[vRw][^|:x]{{0,4}}?(?:N|{_LABEL}){_END}"),
    (_REPLY, "[vRw]", rf"[^|:x]{{0,2}}l[^|x]{{0,4}}?(?:N|{_LABEL}){_END}"),
    (_REPLY, "[vR]", rf"[^|:x]{{0,2}}(?:N|{_LABEL})\"?[,&]{{0,2}}l"),
    (_REPLY, "v", rf"\"?N\"?{_STOP}"),
    (_CHOOSE, "c", rf"[^|:]{{0,2}}w(?:[^|:]?b[^|:]{{0,2}})?[LN](?:{_END}|(?=A))"),
    (_CHOOSE, "c", rf"(?:[^|:]?tw(?:{_END}|[dA]|[^|:]{{0,2}}K)|[^|:]{{0,2}}wb|[^|:]{{0,2}}B)"),
    (_EXTRACT, "[zvR]", r"[^|:]{0,3}(?:[or][^|:]{0,4}V|h[^|:]?o)"),
    (_EXTRACT, "z", r"[^|:]{0,2}Y[^|:]{0,2}[or]"),
)
# (kind, a class it cannot do without, pattern): sentences that need no such place.
_SENTENCES = (
    (_IGNORE, "I", r"I[^|:]{0,5}[orO]"),
    (_IGNORE, "J", r"[orO][^|:]{0,3}J"),
    (_IGNORE, "X", r"[pY][^|:]{0,2}[oOr][^|:]{0,5}X"),
    (
        _SCORE,
        "G",
        rf"G[^|]{{0,6}}?(?:[MP][^|:]{{0,2}}[sk]|k[^|:]{{0,3}}M|N[^|]?k|kN|[wt][^|]{{0,4}}N{_END}"
        r"|N[^|]{0,3}[tw])",
    ),
    (_SCORE, "G", r"GN(?=[|\"]|$)|[NM]k?kG(?=[|\"]|$)"),
    (_SCORE, "D", r"t[^|:]{0,3}w[^|:]{0,3}D[^|:]{0,3}M[^|:]?[sk]"),
    (_REPLY, "l", rf"[vR][^|:x]{{0,2}}l[^|:x]{{0,3}}N{_END}"),
    (
        _REPLY,
        "d",
        r"[er][^|]{0,4}d.{0,3}[|,:\"&].{0,4}[vRgsc][^|x]{0,5}?"
        rf"(?:N|{_LABEL}|M[^|]?[sk]){_END}",
    ),
    (
        _REPLY,
        "W",
        rf"W[^|:]{{0,2}}[orOe]:[^|]{{0,6}}?(?:{_BEST}|[vRgsc][^|]{{0,5}}N{_END})",
    ),
)
_ORDERS = "|".join(
    (
        rf"[gG][^|:x]{{0,5}}?(?:{_VALUE}|{_LABEL}{_END})",
        rf"s[^|,x]{{0,4}}?(?:N{_END}|N/N|Nk)",
        rf"(?<![.m])v[^|x]{{0,4}}?(?:(?:N|{_LABEL}){_END}|M[^|]?[sk])",
        rf"c[^|x]{{0,4}}?(?:[Nt]|{_LABEL}|tw){_END}",
        r"[iIJ][^|:]{0,5}[oOr]",
        r"[pq][^|:]{0,3}[or][^|:]{0,3}[iJ]",
    )
)

_FORMS = [
    (kind, first.strip("[]"), re.compile(f"{first}(?=({rest}))"), True)
    for kind, first, rest in _IMPERATIVES
] + [(kind, need, re.compile(f"({pattern})"), False) for kind, need, pattern in _SENTENCES]
_COMPILED_ORDERS = re.compile(_ORDERS)
# Turns of phrase that word classes cannot tell apart from ordinary ones, and words run together:
# groups of words, of each of which it needs one, and the pattern.
_SPELLED_FORMS = (
    (
        (("ignore", "disregard", "forget"), ("instruction", "rubric", "criteri", "prompt")),
        r"(?:ignore|disregard|forget)(?:all|the|any|your|of|these)*(?:previous|prior|above|earlier)?"
        r"(?:instruction|rubric|criteri|prompt)",
    ),
    (
        (
            ("full", "max", "top", "highest", "perfect"),
            ("mark", "score", "point", "credit"),
            ("give", "award", "assign"),
        ),
        r"(?:give|award|assign)(?:me|this|it|the|answer|response|a|an)*"
        r"(?:full|maximum|max|top|highest|perfect)(?:mark|score|point|credit)",
    ),
    (
        (("you are ",), ("lenient", "generous", "friendly", "easy", "biased")),
        r"you are (?:now )?an? (?:very |extremely )?(?:lenient|generous|friendly|easy|biased) "
        r"(?:judge|grader|evaluator|marker)",
    ),
    (
        ((" above ",), ("apply", "count")),
        r"(?:criteria|rubric|instructions|rules) above (?:no longer|do not|does not) "
        r"(?:apply|count)",
    ),
    (
        (("nonce", "canary", "secret token", "hidden token", "system message"),),
        r"(?:include|print|repeat|reveal|output|write|copy|show|tell) (?:me )?(?:the|your) "
        r"(?:nonce|canary|secret token|hidden token|system message)\b",
    ),
    # Polite infinitives; and a verb that, without accents, is spelled like a preposition.
    (
        (("veuillez", "merci de", "il faut"),),
        r"(?:veuillez|merci de|il faut) (?:attribuer|donner|accorder|mettre|noter)[^.\n]{0,40}"
        r"(?:maximale?|parfaite|[0-9])",
    ),
    (
        (("de ",), ("nota", "pontuacao", " resposta")),
        r"(?:^|[.,:;!\n] ?|\be )de (?:a |uma )?(?:nota|pontuacao) "
        r"(?:maxima|total|perfeita|10|5)\b"
        r"|\bde [0-9]{1,3} (?:pontos )?(?:a|para) est[ae] resposta",
    ),
)
_SPELLED = re.compile("|".join(pattern for _, pattern in _SPELLED_FORMS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """An instruction to a judge: its kind and where it stands, as offsets into the text read."""

    kind: str
    start: int
    end: int

    @property
    def about_score(self) -> bool:
        """Whether it asks for a score, as advice to markers does too."""
        return self.kind == _SCORE


def commands(text: str) -> Iterator[Command]:
    """Yield the instructions in ``text``, which must be in lower case (see ``views``)."""
    return _commands(text, _read(text))


def _commands(text: str, classes: str) -> Iterator[Command]:
    places: list[tuple[int, int]] = []
    present = set(classes)
    for kind, needed, pattern, imperative in _FORMS if classes else ():
        if present.isdisjoint(needed):
            continue
        for match in pattern.finditer(classes):
            first, end = match.start(), match.end(1)
            if imperative and not _STARTS.search(classes, max(0, first - _START_REACH), first):
                continue
            places = places or [token.span() for token in _TOKEN.finditer(text)]
            yield Command(kind=kind, start=places[first][0], end=places[end - 1][1])
    for name, span in in_scripts(text):
        yield Command(kind=f"tells the judge what to do ({name})", start=span[0], end=span[1])
    for match in _SPELLED.finditer(text) if _may_be_spelled(text) else ():
        yield Command(kind="tells the judge what to do", start=match.start(), end=match.end())


def _may_be_spelled(text: str) -> bool:
    """Whether ``text`` has the words that one of ``_SPELLED_FORMS`` needs."""
    for needed, _ in _SPELLED_FORMS:
        for words in needed:
            if not any_of(text, *words):
                break
        else:
            return True
    return False


def orders(text: str) -> bool:
    """Whether ``text``, in lower case, holds any order or command at all."""
    classes = _read(text)
    if classes and _COMPILED_ORDERS.search(classes):
        return True
    return next(_commands(text, classes), None) is not None


def speaks_rot13(text: str) -> bool:
    """Whether ``text``, in lower case, has words that are judge vocabulary when turned by 13."""
    return any_of(text, *_ROT13) and not _ROT13.isdisjoint(_WORD.findall(text))


def _read(text: str) -> str:
    # Splitting costs a quarter of what the tokens do, and most texts have no trigger.
    if text.isascii() and _TRIGGERS.isdisjoint(text.translate(_APART).split()):
        return ""
    tokens = _TOKEN.findall(text)
    if _TRIGGERS.isdisjoint(tokens):
        return ""
    return "".join(map(_CLASS_OF.get, tokens, repeat(".")))
