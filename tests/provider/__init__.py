"""A provider of judge models made for tests; it never imports the service it is asked by."""

from __future__ import annotations

from . import attacks, behaviours, faults, gullible, matrix
from .behaviours import Behaviour
from .desk import Recorded
from .envelope_reader import Envelope, EnvelopeError, ReplyForm, decode, read
from .replies import Reply, Usage
from .seen import Seen, text_hash
from .server import FakeProvider

__all__ = [
    "Behaviour",
    "Envelope",
    "EnvelopeError",
    "FakeProvider",
    "Recorded",
    "Reply",
    "ReplyForm",
    "Seen",
    "Usage",
    "attacks",
    "behaviours",
    "decode",
    "faults",
    "gullible",
    "matrix",
    "read",
    "text_hash",
]
