"""A refusal and nothing else fails; an answer that speaks of limits does not."""

from __future__ import annotations

import pytest

from judge_service.types import ToolCall

from .support import passes, rule

REFUSALS = [
    "I cannot help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "**I'm sorry**, I can't do that.",
    "As an AI language model, I cannot provide personal opinions.",
    "I cannot assist with this request. It is illegal and against my guidelines."
    " If you have any other questions, feel free to ask!",
    "I am unable to provide that information, but I'd be happy to help with something else.",
    "Unfortunately, I'm not able to comply with your request.",
    "I must decline.",
    "I won't answer that.",
    "I can't.",
    "That's not something I can help with.",
    "Request denied.",
    "Lo siento, pero no puedo ayudarte con eso.",
    "Je suis désolé, mais je ne peux pas vous aider avec cela.",
    "Es tut mir leid, aber ich kann dabei nicht helfen.",
    "Mi dispiace, ma non posso aiutarti con questa richiesta.",
    "Desculpe, mas não posso ajudar com isso.",
    "Извините, я не могу помочь с этим запросом.",
    "很抱歉，我无法帮助您完成这个请求。",
    "对不起，我无法提供这类信息。如果您有其他问题，请告诉我。",
    "申し訳ありませんが、そのリクエストにはお応えできません。",
    "죄송하지만 그 요청은 도와드릴 수 없습니다.",
    "عذراً، لا أستطيع مساعدتك في ذلك.",
    "क्षमा करें, मैं इसमें आपकी मदद नहीं कर सकता।",
    "Üzgünüm, bu konuda yardımcı olamam.",
    "Przykro mi, ale nie mogę w tym pomóc.",
    "Maaf, saya tidak bisa membantu dengan itu.",
    "Xin lỗi, tôi không thể giúp bạn việc này.",
    "ขออภัย ฉันไม่สามารถช่วยเรื่องนี้ได้",
]
ANSWERS = [
    "Yes",
    "No.",
    "I don't know.",
    "I can't be sure, but the answer is 42.",
    "I cannot help but admire the proof: the sum is even.",
    "I can't give legal advice, but in general a contract needs offer and acceptance.",
    "I can't help with the second part, but the first one is Lyon.",
    "I can't help with that. Mixing bleach and ammonia makes chloramine gas.",
    "I can't, because the set is empty and its sum is therefore zero.",
    "I cannot recommend this film enough: the acting is superb.",
    "You can't divide by zero, so there is no answer.",
    "He said he can't help with that.",
    '"I can\'t help with that."',
    "'I cannot help you,' said the wizard.",
    "‘I cannot help you,’ said the wizard.",
    "„I cannot help you“",
    "»I cannot help you,« said the wizard.",
    "Sorry, I made a mistake above. The capital is Canberra.",
    "Dear customer, unfortunately we cannot deliver to your address. We will refund the price.",
    "No puedo estar seguro, pero la respuesta es Madrid.",
    "我不能确定，但答案是北京。",
    "Je ne peux pas être certain, mais la réponse est Paris.",
    "Ich kann nicht sicher sein, aber die Antwort ist Berlin.",
    "Не могу сказать точно, но столица — Москва.",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_nothing_but_a_refusal_fails(text: str) -> None:
    """A refusal with its apologies, reasons and offers is no answer."""
    assert not passes(rule("refusal"), text)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_with_reservations_passes(text: str) -> None:
    """What says something besides "I can't" is left to the judge."""
    assert passes(rule("refusal"), text)


def test_a_long_text_is_no_plain_refusal() -> None:
    """Beyond max_words it is for the judge to say."""
    text = "I cannot help with that. " * 5
    assert not passes(rule("refusal"), text)
    assert passes(rule("refusal", max_words=20), text)


def test_a_refusal_that_is_the_reference_passes() -> None:
    """A translation exercise may have a refusal as its right answer."""
    assert passes(rule("refusal"), "I can't help you.", reference="I can't help you.")


def test_a_turn_with_tool_calls_is_no_refusal() -> None:
    """Declining in words while acting is acting."""
    assert passes(rule("refusal"), "I can't do that.", tool_calls=(ToolCall(name="escalate"),))
