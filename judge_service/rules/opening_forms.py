"""Stock openings of English that are built to a form, with words that vary in its places.

``Here is a complete and detailed answer to your question`` and its like are too many to list. The
forms are matched on words as ``pieces`` makes them, joined by single spaces; every repetition is
bounded, so that a long text is left after a few words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

_THE = "(?:an?|the|my|your|our|this|that|some)"
_HOW = (
    "(?:complete|detailed|full|comprehensive|thorough|step by step|in depth|correct|final|clear"
    "|concise|short|brief|possible|proposed|suggested|improved|good|great|helpful|accurate|long"
    "|structured|well structured|simple|precise|exact|best|requested|appropriate)"
)
_ANSWER = (
    "(?:answer|solution|response|reply|explanation|analysis|breakdown|guide|approach|overview"
    "|walkthrough|derivation)s?"
)
_ASKED = "(?:question|problem|request|task|query|prompt|exercise|puzzle|challenge|issue|inquiry)s?"
_VERB = (
    "(?:think|consider|look|understand|analy[sz]e|examine|break|go|work|reflect|review|identify"
    "|thinking|considering|looking|understanding|analy[sz]ing|examining|breaking|going|working"
    "|reviewing|identifying)"
)
_HERE = (
    "(?:here(?: is|s| are| comes)|below is|(?:the )?following is"
    "|(?:let me|i will|ill|i can|i am going to|im going to)"
    "(?: (?:now|gladly|happily|try to)){0,2} (?:give|provide|offer|share|present|write)(?: you)?"
    "(?: with)?)"
    f"(?: {_THE})?(?: (?:and )?(?:very )?{_HOW}){{0,4}} {_ANSWER}"
    f"(?: (?:to|for|of)(?: (?:you|{_THE}(?: {_HOW})?(?: {_ASKED})?)))?"
)
_AIM = (
    "(?:in order )?to (?:answer|solve|address|tackle|approach|resolve|respond to|understand)"
    f"(?: (?:it|{_THE}(?: {_HOW})?(?: {_ASKED})?))?"
    "(?: (?:properly|correctly|fully|well|completely))?"
)
_WE = (
    "(?:lets|let me|first we|first i|we|i)"
    "(?: (?:first|now|must|should|need to|have to|can|will|shall|begin by|start by|all|carefully))"
    "{0,4}"
)
_LOOK = (
    f"{_VERB}(?: (?:about|at|on|through|into|over|down))?"
    "(?: (?:it|this|that|what is(?: being)? asked(?: of (?:us|me))?"
    "|what (?:we|i) (?:know|have|need|are given|am given)"
    f"|{_THE}(?: (?:given|key|{_HOW}))?(?: (?:{_ASKED}|information|facts|details|context"
    "|requirements))?))?"
    "(?: (?:step by step|carefully|closely|together|in detail|first))?"
)
_IT = f"(?:{_THE}(?: (?:given|whole|entire|{_HOW}))?(?: (?:\\w+ )?{_ASKED})|it|this)"
_STEPS = "(?:step by step|one step at a time|in a step by step (?:way|manner|fashion))"
_CAREFULLY = "(?:carefully|closely|systematically|logically|thoroughly|methodically|in detail)"
_WORK = (
    "(?:(?:think|reason|work|walk|go)(?: (?:through|about))?|solve|tackle|address|approach"
    "|analy[sz]e|examine|break(?: down)?|figure out|work out|look at|consider|understand|review"
    "|answer|dissect|parse|explore)"
)
_WORKING = (
    "(?:(?:thinking|reasoning|working|walking|going)(?: (?:through|about))?|solving|tackling"
    "|addressing|analy[sz]ing|examining|breaking(?: down)?|figuring out|working out|looking at"
    "|considering|understanding|reviewing|identifying|reading|restating|clarifying)"
)
_SOFTLY = f"(?: (?:now|first|all|just|then|together|try to|{_CAREFULLY}))"
_LETS = "(?:lets|let me)"
_WILL = (
    "(?:(?:we|i) (?:will|shall|can|must|should|need to|have to|are going to|am going to)|well|ill"
    "|were going to|im going to)"
)
# "Let us go" and "We will solve it" may be answers: the first has to name the problem at hand or
# the steps, the second the steps.
_PLAN = (
    f"(?:{_LETS}{_SOFTLY}{{0,3}} {_WORK} {_IT}(?: down)?"
    f"(?: (?:{_CAREFULLY}|together|{_STEPS})){{0,2}}"
    f"|(?:{_LETS}|{_WILL}){_SOFTLY}{{0,3}} {_WORK}(?: {_IT}(?: down)?)?(?: {_CAREFULLY})? {_STEPS}"
    f"(?: (?:about|through) {_IT})?"
    f"|(?:{_LETS}|{_WILL}|we|i){_SOFTLY}{{0,2}} (?:start|begin) by {_WORKING} {_IT}(?: down)?"
    f"(?: {_CAREFULLY})?)"
)
_FORMS = (
    f"(?:^|(?<= ))(?:{_HERE}|{_AIM} {_WE} {_LOOK}|(?:lets|let me) first {_LOOK}|{_PLAN})(?= |$)"
)


@cache
def form() -> regex.Pattern[str]:
    """All forms as one pattern, compiled on use: it takes a while."""
    return regex.compile(_FORMS)


def forms_of(said: Sequence[str]) -> dict[int, int]:
    """The forms among the words of ``said``: the place of the first word, and that after the last;
    of one place the longest form only.
    """
    places: dict[int, int] = {}
    at = 0
    for place, word in enumerate([*said, ""]):
        places[at] = place
        at += len(word) + 1
    return {
        places[found.start()]: places[found.end() + 1] for found in form().finditer(" ".join(said))
    }
