"""What can be checked before the service starts, so that a mistake is told at once."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass

from judge_service.access.keys_file import load_keys
from judge_service.adapters.tracing import require_opentelemetry
from judge_service.errors import ConfigError
from judge_service.judges.family import families_of
from judge_service.judges.judge import Bench, JudgeSpec, load_bench
from judge_service.judges.provider_key import key_warnings
from judge_service.rubric.library import Library, load_library, shipped
from judge_service.settings import Settings, judge_keys
from judge_service.watch.opening import check_watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What the service will serve. ``trial`` is the embedded model's name, if that judges."""

    settings: Settings
    library: Library
    judges: tuple[JudgeSpec, ...]
    trial: str | None
    warnings: tuple[str, ...]


def prepare(settings: Settings, environ: Mapping[str, str]) -> Prepared:
    """Load and check everything that is cheap to load. Raises ConfigError."""
    for name in settings.rule_modules:
        _require_module(name)
    library = load_library(
        settings.rubrics_dir, settings.anchors_dir, rule_modules=settings.rule_modules
    )
    if settings.otel:
        require_opentelemetry()
    if settings.api_keys_file is not None:
        load_keys(settings.api_keys_file)
    warnings = [f"rubric {r.id!r}: {text}" for r in library.values() for text in r.warnings()]
    file = settings.judges_file()
    if file is None:
        name = _embedded(settings)
        warnings.append(
            f"no judges are configured, so the embedded {name} judges: it is for trying things "
            "out, its verdicts are not worth training on"
        )
        return Prepared(
            settings=settings, library=library, judges=(), trial=name, warnings=tuple(warnings)
        )
    bench: Bench = load_bench(file)
    judge_keys({j.id: j.api_key_env for j in bench.values()}, environ)
    check_watch(file, bench, (settings.anchors_dir or shipped("anchors")) / "gold", library)
    return Prepared(
        settings=settings,
        library=library,
        judges=tuple(bench.values()),
        trial=None,
        warnings=(*bench.warnings(), *key_warnings(bench.values(), environ), *warnings),
    )


def _require_module(name: str) -> None:
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise ConfigError(f"--rule-modules: there is no module {name!r} on Python's path")


def _embedded(settings: Settings) -> str:
    from judge_service.adapters.local_model import INSTALL_HINT, bundled_weights

    file = settings.local_model or bundled_weights()
    if file is None:
        raise ConfigError(f"the embedded judge has no weights; {INSTALL_HINT}")
    if not file.is_file():
        raise ConfigError(f"{file}: no such model file")
    if settings.local_model_family is None and not families_of(file.stem):
        raise ConfigError(f"{file}: the name tells no family; say it with --local-model-family")
    if importlib.util.find_spec("xllamacpp") is None:
        raise ConfigError(f"the embedded judge has no engine; {INSTALL_HINT}")
    return file.stem
