"""Which judges are asked over HTTP directly, and which through LiteLLM.

Direct are those whose protocol is plainly OpenAI's chat completions and for which LiteLLM would
send the very same request. Whatever LiteLLM translates, renames or refuses by itself stays with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from judge_service.adapters.prices import LISTED, PriceList
from judge_service.judges.judge import JudgeSpec

OPENAI_URL = "https://api.openai.com/v1"
COMPATIBLE = frozenset(
    {"openai", "hosted_vllm", "openai_like", "custom_openai", "lm_studio", "llamafile", "deepseek",
     "dashscope"}
)  # fmt: skip
"""The prefixes of a model's name that stand for OpenAI's protocol at the judge's own address."""
_TAKE_EFFORT = frozenset({"openai", "hosted_vllm", "dashscope"})
"""Those of them for which LiteLLM passes reasoning_effort on as it is."""

SAMPLING = frozenset(
    {"top_p", "seed", "logprobs", "top_logprobs", "presence_penalty", "frequency_penalty", "stop",
     "top_k", "min_p", "typical_p", "repetition_penalty", "length_penalty", "min_tokens",
     "ignore_eos", "skip_special_tokens", "chat_template_kwargs", "enable_thinking",
     "thinking_budget", "guided_json", "guided_regex", "guided_choice", "guided_grammar",
     "separate_reasoning", "cache_prompt", "grammar", "provider"}
)  # fmt: skip
"""Parameters of ``extra`` that LiteLLM sends on unchanged."""

# OpenAI's own models: LiteLLM knows each, and for most rewrites or refuses parameters.
_OPENAIS = re.compile(
    r"gpt-(?!oss)|o\d|chatgpt|ft:|text-|omni-|computer-use|codex|chat-latest|daybreak|container|"
    r"(?:davinci|babbage|ada|curie|tts|whisper|sora|dall-e)(?:-|$)"
)
_PLAIN_OPENAIS = re.compile(
    r"(?:gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-3\.5-turbo)(?:-mini|-nano)?(?:-\d{4}-\d{2}-\d{2}|-\d{4})?"
)
_REWRITTEN = re.compile(r"gpt-[5-9]|responses/")
_OWN_VARIABLES = (
    "OPENAI_API_BASE", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_ORG_ID",
    "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS",
)  # fmt: skip
_OWN_HOSTS = re.compile(r"(?:.*\.)?(?:openai|azure)\.com")
_DASHSCOPE_HOSTS = re.compile(r"(?:.*\.)?aliyuncs\.com")
_DASHSCOPE_PATH = "/compatible-mode/v1"


class Direct:
    """Says which judges take the short path. May read the price list, so not for an event loop."""

    def __init__(self, prices: PriceList, environ: Mapping[str, str]) -> None:
        self._prices = prices
        self._environ = environ

    def __call__(self, judge: JudgeSpec) -> bool:
        """Whether the judge is asked directly, with the same outcome as through LiteLLM."""
        if "USE_LITELLM_PROXY" in self._environ or not speaks_openai(judge, self._environ):
            return False
        return self._priced_alike(judge)

    def _priced_alike(self, judge: JudgeSpec) -> bool:
        if judge.price is not None or judge.model.partition("/")[0] not in LISTED:
            return True
        row = self._prices.row(judge)
        return row is None or row.plain


def speaks_openai(judge: JudgeSpec, environ: Mapping[str, str]) -> bool:
    """Whether a request to the judge needs no translation. ``environ`` may send it elsewhere."""
    prefix, _, name = judge.model.partition("/")
    return (
        prefix in COMPATIBLE
        and bool(name)
        and _is_plain_address(judge, prefix, environ)
        and _is_plain_model(judge, prefix, name)
        and _are_plain_parameters(judge)
    )


def url_of(judge: JudgeSpec) -> str:
    """Where the judge's completions are."""
    return f"{(judge.api_base or OPENAI_URL).removesuffix('/')}/chat/completions"


def _is_plain_address(judge: JudgeSpec, prefix: str, environ: Mapping[str, str]) -> bool:
    if judge.api_base is None:
        own = prefix == "openai" and judge.api_key_env is not None
        return own and not any(environ.get(name) for name in _OWN_VARIABLES)
    url = urlsplit(judge.api_base)
    odd = url.query or url.fragment or url.username or url.path.endswith(("//", "/completions"))
    if odd or "?" in judge.api_base or "#" in judge.api_base:
        return False
    host = (url.hostname or "").lower()
    if prefix == "dashscope" and _DASHSCOPE_HOSTS.fullmatch(host):
        return url.path.removesuffix("/") == _DASHSCOPE_PATH
    return judge.api_base.removesuffix("/") == OPENAI_URL or not _OWN_HOSTS.fullmatch(host)


def _is_plain_model(judge: JudgeSpec, prefix: str, name: str) -> bool:
    if judge.reasoning_effort is not None and prefix not in _TAKE_EFFORT:
        return False
    if prefix != "openai":
        return True
    last = name.rsplit("/", 1)[-1].lower()
    if _REWRITTEN.search(name.lower()):
        return False
    if _PLAIN_OPENAIS.fullmatch(last):
        return judge.reasoning_effort is None
    return not _OPENAIS.match(last) and "audio" not in last


def _are_plain_parameters(judge: JudgeSpec) -> bool:
    extra = dict(judge.extra)
    body = extra.pop("extra_body", {})
    if not isinstance(body, dict) or not SAMPLING.issuperset(body):
        return False
    return SAMPLING.issuperset(extra) and all(value is not None for value in extra.values())
