"""Who is calling: the API key of a request, as ``Authorization: Bearer``."""

from __future__ import annotations

from starlette.requests import Request

from judge_service.access.key_ring import OPERATOR, Caller, KeyRing
from judge_service.access.keys_file import MAX_KEY_CHARS, key_hash, pepper_of
from judge_service.api.problems import Problem
from judge_service.api.request_note import note_client

__all__ = ["OPERATOR", "Caller", "KeyRing", "authenticate", "key_hash", "pepper_of"]

TRAINER_PATHS = "/adapters/"
"""Where a key may stand in the query: for trainers that know an address and nothing else."""
TOKEN = "token"  # noqa: S105 - a parameter's name


def authenticate(request: Request, ring: KeyRing | None, *, query_token: bool = False) -> Caller:
    """The caller of a request. Raises Problem 401, or 403 where the key may not judge.

    ``query_token`` lets ``?token=`` stand for the header, which is then not looked at. It has an
    effect below ``/adapters/`` only: elsewhere addresses end up in logs of proxies.
    """
    if ring is None:
        return OPERATOR
    key = _header_key(request)
    # The path that routes are found by; nothing that a header could have a say in.
    if query_token and request.scope["path"].startswith(TRAINER_PATHS):
        tokens = request.query_params.getlist(TOKEN)
        if tokens:
            key = tokens[0] if len(tokens) == 1 else ""
    caller = ring.caller(key) if 0 < len(key) <= MAX_KEY_CHARS else None
    if caller is None:
        raise Problem(
            401,
            "unauthenticated",
            "send a valid key as Authorization: Bearer",
            headers={"WWW-Authenticate": "Bearer"},
        )
    note_client(caller.name)
    if not caller.may("judge"):
        raise Problem(403, "forbidden", "this key may not judge")
    return caller


def _header_key(request: Request) -> str:
    """The key in the only Authorization header, "" where there is none or more than one."""
    values = request.headers.getlist("authorization")
    scheme, _, key = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    return key.strip() if scheme.lower() == "bearer" else ""
