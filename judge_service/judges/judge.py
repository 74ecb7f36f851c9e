"""Judges as an operator configures them: ``judges.toml``."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    StrictInt,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from judge_service.errors import ConfigError
from judge_service.judges.correction import Correction
from judge_service.judges.family import families_of, floating_alias, normalize_family
from judge_service.rubric.library import explain, read_toml
from judge_service.rubric.rubric import ID_PATTERN

Positive = Annotated[float, Strict(), Field(gt=0.0, allow_inf_nan=False)]
Count = Annotated[StrictInt, Field(ge=1)]

RESERVED_EXTRA = frozenset(
    {"model", "messages", "api_base", "base_url", "api_key", "stream", "n", "timeout",
     "max_retries", "num_retries", "fallbacks", "mock_response", "model_list",
     "custom_llm_provider", "temperature", "max_tokens", "max_completion_tokens",
     "reasoning_effort", "response_format"}
)  # fmt: skip


class Price(BaseModel):
    """What the judge costs, in USD per million tokens; for models LiteLLM has no price for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Annotated[float, Strict(), Field(ge=0.0, allow_inf_nan=False)]
    output: Annotated[float, Strict(), Field(ge=0.0, allow_inf_nan=False)]

    @property
    def free(self) -> bool:
        """Whether nothing is ever to pay."""
        return self.input == 0.0 and self.output == 0.0


class JudgeSpec(BaseModel):
    """One ``[[judges]]`` table. Names the endpoint and the key; a request never does."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, StringConstraints(pattern=ID_PATTERN)]
    model: str = Field(min_length=1, max_length=512)
    family: str | None = Field(default=None, min_length=1, max_length=64)
    api_key_env: str | None = Field(default=None, min_length=1)
    api_base: str | None = None
    purpose: Literal["train", "validate"] = "train"
    temperature: Annotated[float, Strict(), Field(ge=0.0, le=2.0)] | None = 0.0
    max_output_tokens: Count = 1024
    reasoning_effort: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)
    reply: Literal["auto", "json_schema", "json_object", "text"] = "auto"
    top_logprobs: Annotated[StrictInt, Field(ge=2, le=20)] | None = None
    schema_constants: StrictBool = False
    max_concurrency: Count | None = None
    rpm: Count | None = None
    tpm: Count | None = None
    attempt_timeout_s: Positive | None = None
    weight: Positive = 1.0
    served_models: tuple[Annotated[str, StringConstraints(min_length=1)], ...] = ()
    context_tokens: Count | None = None
    price: Price | None = None
    correction: dict[str, Correction] = Field(default_factory=dict)

    @field_validator("api_base")
    @classmethod
    def _http(cls, value: str | None) -> str | None:
        if value is None:
            return None
        url = urlsplit(value)
        odd = not url.hostname or url.port == 0 or any(map(str.isspace, value))
        if url.scheme not in ("http", "https") or odd:
            raise ValueError(f"{value!r} is not an http or https URL")
        return value

    @field_validator("extra")
    @classmethod
    def _not_ours(cls, value: dict[str, Any]) -> dict[str, Any]:
        taken = sorted(RESERVED_EXTRA & value.keys())
        if taken:
            raise ValueError(f"{taken[0]!r} is not a parameter to set here")
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"cannot be sent as JSON: {error}") from None
        return value

    @model_validator(mode="after")
    def _asked_once(self) -> JudgeSpec:
        twice = {"logprobs", "top_logprobs"} & self.extra.keys()
        if self.top_logprobs is not None and twice:
            raise ValueError(f"extra: {min(twice)} is what top_logprobs asks for already")
        return self

    @model_validator(mode="after")
    def _known_family(self) -> JudgeSpec:
        if self.family is not None and not all(map(normalize_family, self.family.split("+"))):
            raise ValueError("family: a word, or several joined by +")
        if self.family is None and not families_of(self.model):
            raise ValueError(
                f"family: not known for {self.model!r}; say whose lineage the model is "
                '(family = "…")'
            )
        return self

    @cached_property
    def families(self) -> frozenset[str]:
        """The judge's lineages: those given (``deepseek+qwen`` is two), else what the table says of
        the model's name.
        """
        return _lineages(self.family, self.model)[0]

    @cached_property
    def family_label(self) -> str:
        """The lineages as one word, ``deepseek+qwen`` for a distillation."""
        return _lineages(self.family, self.model)[1]

    def fingerprint_part(self) -> dict[str, Any]:
        """What of the spec can move a verdict or what it is worth: model, endpoint, sampling,
        corrections.
        """
        fields = {"model", "api_base", "temperature", "max_output_tokens", "reasoning_effort"}
        more = {"extra", "reply"} | ({"correction"} if self.correction else set())
        return self.model_dump(mode="json", include=fields | more) | self.probed()

    def probed(self) -> dict[str, Any]:
        """What is asked for beside the verdict, for keys and fingerprints: nothing by default, so
        that they stay what they were.
        """
        return {} if self.top_logprobs is None else {"top_logprobs": self.top_logprobs}


@lru_cache(maxsize=256)
def _lineages(family: str | None, model: str) -> tuple[frozenset[str], str]:
    found = (
        families_of(model)
        if family is None
        else frozenset(normalize_family(word) for word in family.split("+"))
    )
    return found, "+".join(sorted(found))


def fingerprint(rubric_hash: str, judges: Mapping[str, JudgeSpec]) -> str:
    """SHA-256 (hex) of a rubric and the specs of the judges that answered."""
    parts = [judges[judge].fingerprint_part() for judge in sorted(judges)]
    canonical = json.dumps([rubric_hash, parts], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


_MAX_FINGERPRINTS = 1024


class Bench(Mapping[str, JudgeSpec]):
    """The configured judges by id, in the order of the file.

    ``trial`` names those that are there for trying out only (the embedded one).
    """

    def __init__(self, judges: tuple[JudgeSpec, ...], *, trial: frozenset[str] = frozenset()):
        twice = [i for i, n in Counter(j.id for j in judges).items() if n > 1]
        if twice:
            raise ConfigError(f"judges: the id {twice[0]!r} is used twice")
        self._judges = {j.id: j for j in judges}
        self.trial = trial
        self._fingerprints: dict[tuple[str, frozenset[str]], str] = {}
        train, validate = (
            tuple(j for j in judges if j.purpose == purpose) for purpose in ("train", "validate")
        )
        self._rotations = {"train": train, "validate": validate, None: train or judges}

    def __getitem__(self, judge_id: str) -> JudgeSpec:
        return self._judges[judge_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._judges)

    def __len__(self) -> int:
        return len(self._judges)

    def fingerprint(self, rubric_hash: str, answered: Collection[str]) -> str:
        """The fingerprint of a rubric and those of these judges that answered."""
        key = rubric_hash, frozenset(answered)
        known = self._fingerprints.get(key)
        if known is None:
            if len(self._fingerprints) >= _MAX_FINGERPRINTS:
                self._fingerprints.clear()
            known = fingerprint(rubric_hash, {judge: self[judge] for judge in answered})
            self._fingerprints[key] = known
        return known

    def rotation(
        self, purpose: Literal["train", "validate"] | None = None
    ) -> tuple[JudgeSpec, ...]:
        """The judges asked for a purpose when a request names none: never one for the other, also
        where nobody else is left. A request without a purpose is for training, unless all judges
        are for validation.
        """
        return self._rotations[purpose]

    def warnings(self) -> list[str]:
        """What is allowed but likely a mistake, one sentence each."""
        found = [
            f"judge {j.id!r}: {j.model!r} is a floating alias; the model behind it can change "
            "without notice"
            for j in self.values()
            if floating_alias(j.model)
        ]
        validate = [j for j in self.values() if j.purpose == "validate"]
        for judge in (j for j in self.values() if j.purpose == "train"):
            for other in validate:
                shared = judge.families & other.families
                if shared:
                    found.append(
                        f"judges {judge.id!r} (train) and {other.id!r} (validate) are both "
                        f"{'+'.join(sorted(shared))}: validation would repeat training's errors"
                    )
        return found


def load_bench(file: Path) -> Bench:
    """Read ``judges.toml``. Raises ConfigError naming file, judge and field."""
    data = read_toml(file)
    unknown = sorted(data.keys() - {"judges", "watch"})
    if unknown:
        raise ConfigError(
            f"{file}: {unknown[0]}: unknown field; judges are [[judges]] tables, and [watch] is "
            "the only other one"
        )
    tables = data.get("judges")
    if not isinstance(tables, list) or not tables:
        raise ConfigError(f"{file}: judges: no [[judges]] table")
    judges: list[JudgeSpec] = []
    faults: list[str] = []
    for number, table in enumerate(tables, start=1):
        name = table.get("id", number) if isinstance(table, dict) else number
        try:
            judges.append(JudgeSpec.model_validate(table))
        except ValidationError as error:
            faults += [f"{file}: judges[{name}]: {fault}" for fault in explain(error)]
    if faults:
        raise ConfigError("\n".join(faults))
    try:
        return Bench(tuple(judges))
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None
