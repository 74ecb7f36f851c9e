"""What is looked at before a reply is read: who answered, and how it ended."""

from __future__ import annotations

from judge_service.asking.backend import ChatReply
from judge_service.errors import (
    ContentFiltered,
    Refused,
    TruncatedReply,
    UpstreamError,
    WrongModel,
)
from judge_service.finish import CUT_OFF, FILTERED, ending
from judge_service.judges.judge import JudgeSpec
from judge_service.judges.served_model import Served, check_served


def check_reply(judge: JudgeSpec, reply: ChatReply) -> Served:
    """Look at everything but the text: who answered, and how it ended.

    The reason of finishing comes first: nothing of a reply that was cut off is ever read.
    Raises WrongModel, TruncatedReply, ContentFiltered, UpstreamError or Refused.
    """
    served = check_served(
        requested=judge.model,
        served=reply.model,
        families=judge.families,
        served_models=judge.served_models,
    )
    if served is Served.WRONG:
        raise WrongModel(f"judge {judge.id!r} asked for {judge.model!r}, {reply.model!r} answered")
    finish = ending(reply.finish_reason)
    if finish in CUT_OFF:
        spent = f", {reply.reasoning_tokens} of them on reasoning" if reply.reasoning_tokens else ""
        raise TruncatedReply(
            f"the reply was cut off after {reply.usage.completion_tokens} tokens{spent}; "
            "a larger max_output_tokens gives the judge room"
        )
    if finish in FILTERED:
        raise ContentFiltered("the provider's content filter stopped the reply")
    if finish == "error":
        raise UpstreamError(f"judge {judge.id!r}: the provider broke off the reply")
    if reply.refusal or finish == "refusal":
        raise Refused(f"the judge refused: {(reply.refusal or '')[:200]}".rstrip(": "))
    return served
