"""From a model's name, as providers, gateways and file systems spell it, to its lineage.

A family is who trained the weights, not who serves them. Only the model's own name decides, with
two exceptions: a folder or provider that holds nothing but one family (``mistralai/…``) speaks
for a name that says nothing, and a name that only numbers a stage of training
(``checkpoint-200``) leaves the word to the folder above it. What is not known is empty, never
guessed. The names themselves are data, in ``data/families.toml``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, normalize

from judge_service.judges.family_table import FamilyTable, family_table

MAX_NAME_CHARS = 512
"""Longer names are unknown: no model has one, and names arrive from callers and upstreams."""

_REGION = re.compile(r"(?:us-gov|us|eu|apac|ap|au|jp|ca|sa|in|global)\.")
_TAG = re.compile(r"(?:-v[0-9]+(?=:[0-9]))?[:@]")
_FILE = re.compile(r"\.(?:gguf|ggml|safetensors|bin|pt|pth|onnx|mlx|llamafile)$")
_STAGE = re.compile(
    r"(?:check-?points?|ckpts?|(?:global[-_]?)?steps?|epochs?|iter(?:ation)?s?)[-_]?[0-9]*"
    r"|actor|critic|policy|hf|hf[-_]model|huggingface|models?|tunedmodels|endpoints|final"
    r"|final[-_](?:model|checkpoint)|best|last|latest|merged|adapters?|lora|weights|outputs?"
    r"|snapshots?|versions?|community|main|default|[0-9]+|[0-9a-f]{16,64}"
)
_FLOATING = re.compile(
    r"(?:^|[-_:@.])latest(?:$|[-_:@.])|@default$|^(?:auto|model[-_]router|.*-auto)$"
)
_SEPARATORS = re.compile(r"[\s_:@,+~()\[\]-]+")
_JOINED = re.compile(r"[+,;|&]")
_QUOTES = " \t\n\"'`[](){}"
_FAMILY_END = re.compile(r"-(?:family|series|models?|based)$")
_NONE = frozenset({"", "unknown", "none", "null", "nil", "n/a", "na", "undefined", "unspecified"})
_VERSION_END = re.compile(r"[-_ ]?v?[0-9][0-9.]*[a-z]?$")


class _Name(NamedTuple):
    """A model's name taken apart: lower case, ``path[-1]`` is the model's own name."""

    path: tuple[str, ...]
    tag: str

    @property
    def own(self) -> str:
        return self.path[-1] if self.path else ""


def families_of(model: str) -> frozenset[str]:
    """The families ``model`` belongs to: two or more for a distillation, none when unknown.

    Never raises, for any string; upper and lower case are the same. Linear in the name, which is
    looked at up to ``MAX_NAME_CHARS`` characters; anything longer is unknown.
    """
    if len(model) > MAX_NAME_CHARS:
        return frozenset()
    return _families_of(model.strip().lower())


def bare_name(model: str) -> str:
    """The model's own name in lower case.

    Without gateway and provider prefixes, region, vendor and folders, file suffix, and tags
    (``:free``, ``@20240101``, ``-v1:0``); for a fine-tune (``ft:base:org::id``) the base's name.
    """
    name = _parse(model)
    return _tuned_base(name.own)


def same_name(requested: str, served: str) -> bool:
    """Whether ``served`` is ``requested`` as providers echo it.

    Case, gateway prefixes, region and vendor may be missing on one side, and so may the tag;
    two different folders, tags or dates are two different names.
    """
    if requested.strip().lower() == served.strip().lower():
        return bool(served.strip())
    asked, got = _parse(requested), _parse(served)
    if not asked.own or not got.own or (asked.tag and got.tag and asked.tag != got.tag):
        return False
    paths = [asked.path]
    if len(asked.path) > 1 and not requested.strip().startswith(("/", ".", "\\", "~")):
        paths.append(asked.path[1:])  # the first part names the gateway, which may use its own
    return any(_ends_with(path, got.path) or _ends_with(got.path, path) for path in paths)


def floating_alias(model: str) -> bool:
    """Whether the name says by itself that what it stands for moves (``…-latest``, a router)."""
    own = _last_segment(model)
    return _FLOATING.search(own) is not None


@lru_cache(maxsize=2048)
def normalize_family(word: str) -> str:
    """The family a caller means by ``word``: any word is one, usual synonyms become one word.

    ``"Meta"`` and ``"llama-3.1"`` are ``"llama"``, ``"GPT-4o"`` is ``"openai"``; a word the table
    does not know stays as it is, in case-folded form. A blank word gives ``""``.
    """
    folded = "-".join(word[:MAX_NAME_CHARS].casefold().replace("_", "-").split())
    return _alias(folded) or folded


def _alias(folded: str) -> str:
    aliases = family_table().aliases
    for form in (folded, _VERSION_END.sub("", folded), _FAMILY_END.sub("", folded)):
        if form in aliases:
            return aliases[form]
    return ""


@lru_cache(maxsize=2048)
def declared_families(word: str) -> frozenset[str]:
    """The families that a caller declares with one word, however it is written: several are joined
    (``qwen+deepseek``), and a model's name means its families, too. Empty for a word that says that
    there is none to say (``unknown``).
    """
    plain = "".join(
        char for char in normalize("NFKC", word[:MAX_NAME_CHARS]) if category(char) != "Cf"
    )
    found: set[str] = set()
    for part in _JOINED.split(plain):
        own = normalize_family(part.strip(_QUOTES))
        if own in _NONE:
            continue
        found.add(own)
        if own not in family_table().raw["family"]:
            # What is no family's word may be a model's name. It stays a word of its own, too.
            found |= families_of(_FAMILY_END.sub("", own))
            found |= {name for piece in own.split("/") if (name := _alias(piece))}
    return frozenset(found)


def known_families() -> dict[str, str]:
    """Every family of the table and whose it is, in the table's order."""
    return {family.id: family.by for family in family_table().families}


@lru_cache(maxsize=2048)
def _families_of(model: str) -> frozenset[str]:
    table = family_table()
    name = _parse(model)
    return (
        _said_by_folder(table, name)
        or table.match(_subject(model, name))
        or _publisher(table, model, name)
    )


def _said_by_folder(table: FamilyTable, name: _Name) -> frozenset[str]:
    """What the folder above says where the name itself is only a stage of training."""
    path = list(name.path)
    while len(path) > 1 and _STAGE.fullmatch(path[-1]):
        path.pop()
    if len(path) == len(name.path):
        return frozenset()
    return table.match(_matching_form(path[-1]))


def _subject(model: str, name: _Name) -> str:
    """What the table's names are looked for in: the own name with its tag (``llama3:8b``)."""
    if name.own.startswith("ft:"):
        return _matching_form(_tuned_base(name.own))
    tag = name.tag or ("latest" if model.startswith(("ollama/", "ollama_chat/")) else "")
    return _matching_form(f"{name.own}-{tag}" if tag else name.own)


def _publisher(table: FamilyTable, model: str, name: _Name) -> frozenset[str]:
    """The family of the nearest folder or prefix that holds one family only."""
    folders = list(name.path[:-1])
    while folders and _STAGE.fullmatch(folders[-1]):
        folders.pop()
    if (
        not folders
        or folders[-1] not in table.publishers
        or model.startswith(("/", ".", "~", "\\"))
    ):
        return frozenset()
    if folders[-1] in table.protocols and model.startswith(folders[-1] + "/"):
        return frozenset()
    return frozenset({table.publishers[folders[-1]]})


def _matching_form(name: str) -> str:
    return _SEPARATORS.sub("-", name).strip("-")


def _tuned_base(own: str) -> str:
    return own.split(":")[1] if own.startswith("ft:") else own


def _ends_with(path: tuple[str, ...], end: tuple[str, ...]) -> bool:
    return path[-len(end) :] == end


def _segments(model: str) -> list[str]:
    # A Fireworks deployment is written behind a "#"; a hub's cache folder joins with "--".
    text = model.strip().lower().partition("#")[0].replace("\\", "/")
    if "models--" in text:
        text = text.replace("models--", "").replace("--", "/")
    return [part for part in text.split("/") if part.strip()]


def _last_segment(model: str) -> str:
    segments = _segments(model)
    return segments[-1] if segments else ""


def _parse(model: str) -> _Name:
    segments = _segments(model)
    if not segments:
        return _Name((), "")
    own = _FILE.sub("", segments.pop())
    tag = ""
    if not own.startswith("ft:") and (found := _TAG.search(own, 1)):
        own, tag = own[: found.start()], own[found.end() :]
    region = _REGION.match(own)
    vendor, dot, rest = own[region.end() if region else 0 :].partition(".")
    if dot and rest[:1].isalpha() and vendor in family_table().vendors:
        segments.append(vendor)
        own = rest
    return _Name((*segments, own), tag)
