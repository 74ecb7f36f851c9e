"""Puts the parts of one service together: the only place besides the CLI that does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, closing
from dataclasses import dataclass

from judge_service.adapters.backend_router import BackendRouter
from judge_service.adapters.local_model import LocalModel, start_local_model
from judge_service.adapters.opening import open_store
from judge_service.asking.ask import Asker
from judge_service.bias.board import BiasBoard
from judge_service.case import Case
from judge_service.cohort.cohorts import Cohorts
from judge_service.engine import Engine, Room
from judge_service.envelope.envelope import assess_system, compare_system
from judge_service.errors import ConfigError, JudgingError, Overloaded
from judge_service.events import Observer, nobody
from judge_service.gates.gates import Gates
from judge_service.judges.judge import Bench, load_bench
from judge_service.judging.correction import correction_faults, correction_warnings
from judge_service.judging.unexpected import expectation_warnings
from judge_service.rubric.folder import RubricFolder
from judge_service.rubric.library import Library, load_library, shipped
from judge_service.settings import MIN_SECRET_CHARS, Settings, judge_keys
from judge_service.storage.secret import ServiceSecret, load_secret
from judge_service.storage.store import Store
from judge_service.verdicts.record import Seal
from judge_service.verdicts.source import VerdictSource
from judge_service.watch.opening import Watching, watch_settings

FIRST_ASSESS = "quick-look"
FIRST_COMPARE = "pairwise-helpfulness"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A running service: its engine, and the embedded model if that is what judges."""

    settings: Settings
    engine: Engine
    local_model: LocalModel | None
    store: Store
    secret: ServiceSecret
    observer: Observer
    cohorts: Cohorts
    bias: BiasBoard
    watch: Watching
    rubric_folder: RubricFolder | None = None

    def warnings(self) -> list[str]:
        """What an operator should know at start, one sentence each."""
        found = list(self.engine.bench.warnings())
        for rubric in self.engine.library.values():
            found += [f"rubric {rubric.id!r}: {warning}" for warning in rubric.warnings()]
        found += expectation_warnings(self.engine.bench, self.engine.library.values())
        found += correction_warnings(self.engine.bench, self.engine.library)
        secret = self.settings.secret
        if secret is not None and len(secret) < MIN_SECRET_CHARS:
            found.append(
                f"the secret has fewer than {MIN_SECRET_CHARS} characters; it signs kept verdicts "
                "and peppers key hashes, so whoever guesses it can forge both"
            )
        if self.local_model is not None:
            found.append(
                f"no judges are configured, so the embedded {self.local_model.model_file.stem} "
                "judges: it is for trying things out, its verdicts are not worth training on"
            )
        return found


def library_of(settings: Settings) -> Library:
    """The rubrics a service is set up with. Raises ConfigError."""
    return load_library(
        settings.rubrics_dir, settings.anchors_dir, rule_modules=settings.rule_modules
    )


def folder_of(settings: Settings) -> RubricFolder | None:
    """The operator's own folder of rubrics, None for the shipped one. Raises ConfigError."""
    if settings.rubrics_dir is None:
        return None
    return RubricFolder(
        settings.rubrics_dir, settings.anchors_dir, rule_modules=settings.rule_modules
    )


@asynccontextmanager
async def open_service(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    read_ahead: bool = False,
    watched: bool = False,
    observer: Observer = nobody,
    library: Library | None = None,
) -> AsyncIterator[Service]:
    """Load rubrics and judges and make them ready; closes everything at the end.

    ``read_ahead`` loads what the first request would wait for, and lets the embedded model read the
    first questions, while nobody asks yet.
    A ``watched`` one watches its traffic. ``library`` is the shipped one, where it was loaded
    before. Raises ConfigError when anything cannot be right.
    """
    folder = folder_of(settings)
    library = folder.library if folder is not None else library or library_of(settings)
    # What is opened first is closed last, however far the start comes and whatever a close raises.
    async with AsyncExitStack() as stack:
        base = await _base(settings, library, observer, stack, watched=watched)
        store, secret, watch = base.store, base.secret, base.watch
        backend = await _backend(base, environ, stack)
        engine = _engine(base, await _source(base, backend, stack))
        await stack.enter_async_context(aclosing(watch))
        gold = (settings.anchors_dir or shipped("anchors")) / "gold"
        await watch.open(engine, gold, store, secret)
        if read_ahead:
            _read_ahead(backend, base.local, library)
        board = BiasBoard(store, secret, engine.history, engine.scores)
        await stack.enter_async_context(aclosing(board))
        board.follow()
        if folder is not None:
            stack.enter_context(closing(folder))
            folder.follow()
        cohorts = await stack.enter_async_context(aclosing(Cohorts(engine, store, secret)))
        yield Service(
            settings=settings,
            engine=engine,
            local_model=base.local,
            store=store,
            secret=secret,
            observer=base.observer,
            cohorts=cohorts,
            bias=board,
            watch=watch,
            rubric_folder=folder,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    """What the rest of a service is put together from. ``observer`` tells ``watch``, too."""

    settings: Settings
    library: Library
    secret: ServiceSecret
    bench: Bench
    local: LocalModel | None
    store: Store
    watch: Watching
    observer: Observer


async def _base(
    settings: Settings,
    library: Library,
    observer: Observer,
    stack: AsyncExitStack,
    *,
    watched: bool,
) -> _Base:
    secret = load_secret(settings)
    bench = _bench(settings, library)
    found = watch_settings(settings.judges_file(), bench)
    local: LocalModel | None = None
    if bench is None:
        local = await asyncio.to_thread(
            start_local_model, settings.local_model, settings.local_model_family
        )
        stack.enter_context(closing(local))
        bench = Bench((local.spec,), trial=frozenset({local.spec.id}))
    store = open_store(settings, observer)
    await stack.enter_async_context(aclosing(store))
    watch = Watching(found, on=watched, tell=observer)
    return _Base(
        settings=settings,
        library=library,
        secret=secret,
        bench=bench,
        local=local,
        store=store,
        watch=watch,
        observer=watch.and_tell(observer),
    )


async def _backend(base: _Base, environ: Mapping[str, str], stack: AsyncExitStack) -> BackendRouter:
    """The way to the judges. Raises ConfigError for those that cannot be reached."""
    keys = judge_keys({judge.id: judge.api_key_env for judge in base.bench.values()}, environ)
    if base.local is not None:
        keys[base.local.spec.id] = base.local.key
    backend = BackendRouter(keys, environ)
    await stack.enter_async_context(aclosing(backend))
    await backend.check(base.bench.values())
    return backend


async def _source(base: _Base, backend: BackendRouter, stack: AsyncExitStack) -> VerdictSource:
    settings = base.settings
    gates = Gates(
        base.store,
        max_queue=settings.max_queue,
        workers=settings.workers,
        observer=base.observer,
    )
    await stack.enter_async_context(aclosing(gates))
    source = VerdictSource(
        Asker(backend, gates=gates, observer=base.observer),
        base.store,
        Seal(base.secret),
        ttl_s=settings.cache_ttl_s,
        shared=settings.share_cache,
        observer=base.observer,
    )
    return await stack.enter_async_context(aclosing(source))


def _engine(base: _Base, source: VerdictSource) -> Engine:
    return Engine(
        library=base.library,
        bench=base.bench,
        source=source,
        require_family=base.settings.require_family,
        observer=base.observer,
        room=_room(source.asker.gates, base.bench),
    )


def _bench(settings: Settings, library: Library) -> Bench | None:
    """The configured judges, None where the embedded one is to judge. Raises ConfigError."""
    file = settings.judges_file()
    if file is None:
        return None
    bench = load_bench(file)
    faults = correction_faults(bench, library)
    if faults:
        raise ConfigError("\n".join(f"{file}: {fault}" for fault in faults))
    return bench


def _room(gates: Gates, bench: Bench) -> Room:
    """Turns many requests at once away while the queue of a judge they may be sent to is full."""

    def room(cases: Sequence[Case]) -> Overloaded | None:
        named = {judge for case in cases for judge in case.request.judges or ()}
        free = {case.request.purpose for case in cases if case.request.judges is None}
        latest = max((case.deadline for case in cases), key=lambda deadline: deadline.at)
        named |= {judge.id for purpose in free for judge in bench.rotation(purpose)}
        for judge in (bench[j] for j in sorted(named)):
            try:
                gates.of(judge).look(latest)
            except Overloaded as full:
                return full
            except JudgingError:
                continue  # its own requests are told
        return None

    return room


def _read_ahead(backend: BackendRouter, local: LocalModel | None, library: Library) -> None:
    backend.load_ahead()
    if local is not None:
        local.read_ahead(_first_questions(library))


def _first_questions(library: Library) -> list[str]:
    """The system messages of the questions that a new user is shown."""
    found = []
    if FIRST_ASSESS in library:
        rubric = library[FIRST_ASSESS]
        found += [assess_system(rubric, (c.name,)) for c in rubric.criteria]
    if FIRST_COMPARE in library:
        found.append(compare_system(library[FIRST_COMPARE]))
    return found
