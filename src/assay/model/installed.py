"""What is installed, looked up by the names that plans and records have; some of it may not be installed here."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from assay.model.cluster import ClusterSpec
from assay.model.engine import Counted, Engine, EngineContext, EngineKind, amounts_in
from assay.model.errors import AssayError, BadInputError
from assay.model.medium import MediumKind, Options
from assay.model.naming import nearest
from assay.model.platform import TrialKinds
from assay.model.quantity import Kind, kind_among
from assay.model.record import Counters, Phases
from assay.model.registry import (
    ENGINES,
    FACTS,
    MEDIA,
    PLATFORMS,
    PROBES,
    SERVICES,
    STORES,
    VARIANTS,
    WORKLOADS,
)
from assay.model.service import Service, Stack
from assay.model.store import FILES
from assay.model.trial import USUAL_ENGINE, USUAL_STORE, MediumSpec, Trial
from assay.model.workload import Variant


def _not_installed(_: EngineContext) -> Engine:
    raise AssayError("the engine is not installed")


def engine_kind(engine: str) -> EngineKind:
    """The kind of that name; one that declares nothing where it is not installed."""
    return ENGINES.get(engine) or EngineKind(open=_not_installed)


def counted_by_tasks(engine: str, counters: Counters) -> dict[Counted, int]:
    """The amounts that the tasks of one or more jobs of this engine counted."""
    return amounts_in(counters, engine_kind(engine).counters)


def series_kind(probe: str, series: str) -> Kind | None:
    """What a probe's series is of; None of a probe that is not installed, and of what it does not declare."""
    kind = PROBES.get(probe)
    return None if kind is None else kind_among(kind.series, series)


def result_kind(workload: str, name: str) -> Kind | None:
    """What a number that a workload reports of itself is of; None where that is not declared."""
    kind = WORKLOADS.get(workload)
    return None if kind is None else kind.result_kinds.get(name)


def phase_columns(engine: str, phases: Phases | None) -> dict[str, float | None]:
    """A table's columns for the phases of an average task, in seconds."""
    names = dict.fromkeys((*engine_kind(engine).phases, *(phases or {})))
    return {f"{name}_s": (phases or {}).get(name) for name in names}


class UnknownKind(MediumKind[Options]):
    """A kind that a record names and that is not installed."""

    options = Options


def kind_of(spec: MediumSpec) -> MediumKind[Any]:
    """The kind of a medium; one that knows nothing more where it is not installed."""
    return MEDIA.get(spec.kind) or UnknownKind(spec.kind)


def described(spec: MediumSpec) -> str:
    """What a medium is, in a few words, also where workers have different ones."""
    description = kind_of(spec).described(spec)
    if spec.elsewhere is None:
        return description
    elsewhere = kind_of(spec.elsewhere).described(spec.elsewhere)
    return f"{description} on {', '.join(map(str, spec.on))}, elsewhere {elsewhere}"


def stack_of(store: str = USUAL_STORE, engine: str | None = USUAL_ENGINE) -> Stack:
    """The services of a store and of an engine, or of the store alone, with all that they need.

    With those of the engine come those of the engine that stages its inputs. Raises BadInputError for a store, an
    engine or a service that is not there, for services that need each other, and for two owners of a port or directory.
    """
    engines = () if engine is None else filter(None, (engine, ENGINES.find(engine).staged_by))
    users = [
        (f"the store {store!r}", STORES.find(store).services),
        *((f"the engine {name!r}", ENGINES.find(name).services) for name in engines),
    ]
    services: dict[str, Service] = {}
    for user, names in users:
        for name in names:
            services |= {service.name: service for service in _with_needed(name, user, (), services)}
    stack = Stack(tuple(services.values()))
    if mistake := stack.mistake():
        raise BadInputError(
            f"{' and '.join(user for user, _ in users)} can't be had together: {mistake}", "store", "engine"
        )
    return stack


def kinds_of(trial: Trial) -> TrialKinds:
    """What the names in a trial stand for. Raises BadInputError for a name that stands for nothing here."""
    engine = ENGINES.find(trial.engine)
    specs = [spec for medium in trial.media for spec in (medium, medium.elsewhere) if spec is not None]
    return TrialKinds(
        platform=PLATFORMS.find(trial.cluster.kind),
        store=STORES.find(trial.store.kind),
        engine=engine,
        stager=ENGINES.find(engine.staged_by) if engine.staged_by else None,
        stack=stack_of(trial.store.kind, trial.engine),
        stack_of_store=stack_of(trial.store.kind, None),
        media={spec.kind: kind_of(spec) for spec in specs},
        workloads={spec.name: WORKLOADS[spec.name] for spec in trial.workload.each if spec.name in WORKLOADS},
        facts=tuple(FACTS.values()),
    )


def possible(spec: ClusterSpec) -> ClusterSpec:
    """What this machine can have in place of a cluster."""
    return PLATFORMS.find(spec.kind).possible(spec)


def engines_without(service: str, store: str) -> list[str]:
    """The names of the engines whose stack with a store lacks a service; those that can't be had do not count."""
    names = []
    for engine in ENGINES:
        with suppress(BadInputError):
            if service not in [other.name for other in stack_of(store, engine).services]:
                names.append(engine)
    return names


def heartbeat_sender(role: str) -> str | None:
    """The role of the daemons whose heartbeats a master's daemon counts; None where it counts none."""
    daemons = (daemon for service in SERVICES.values() for daemon in service.daemons if daemon.role == role)
    return next((daemon.heartbeats.sender for daemon in daemons if daemon.heartbeats), None)


def traffic_names() -> Mapping[str, str]:
    """What reports call the traffic of all services, by the series of the probe `network` without their unit."""
    return {series: name for service in SERVICES.values() for series, name in service.traffic.items()}


def master_roles() -> frozenset[str]:
    """The roles of daemons that a cluster has once: none of their files is on a medium under test."""
    return frozenset(
        daemon.role for service in SERVICES.values() for daemon in service.daemons if not daemon.on_workers
    )


def counter_titles() -> Mapping[str, str]:
    """What reports call what daemons count, by the series of the probe `daemon-counters`."""
    counters = [daemon.counters for service in SERVICES.values() for daemon in service.daemons if daemon.counters]
    return {series: title for each in counters for series, title in each.titles.items()}


def notes_of(trials: Iterable[Trial], note: Callable[[Service], str]) -> list[str]:
    """What the services of these trials explain to a report's readers, each once; those not installed say nothing."""
    stacks: dict[tuple[str, str], Stack] = {}
    for pair in dict.fromkeys((trial.store.kind, trial.engine) for trial in trials):
        with suppress(BadInputError):
            stacks[pair] = stack_of(*pair)
    services = (service for stack in stacks.values() for service in stack.services)
    return [text for text in dict.fromkeys(map(note, services)) if text]


def _with_needed(name: str, user: str, above: tuple[str, ...], known: Mapping[str, Service]) -> Iterator[Service]:
    if name in above:
        circle = ", ".join((*above[above.index(name) :], name))
        raise BadInputError(f"services need each other in a circle: {circle}; none of them can start first")
    if name in known:
        return
    if name not in SERVICES:
        raise BadInputError(
            f"{user} needs the service {name!r}, and nothing here brings it; install the plug-in that has it, or "
            "choose another store or engine", "store", "engine",
        )  # fmt: skip
    service = SERVICES[name]
    for needed in service.needs:
        yield from _with_needed(needed, f"the service {name!r}", (*above, name), known)
    yield service


def variants_of(workload: str) -> dict[str, Variant]:
    """The variants of a workload by name, in their order: the usual one first.

    Raises BadInputError where one is registered of a workload that nothing brings.
    """
    for name in VARIANTS:
        if (of := name.partition("/")[0]) not in WORKLOADS:
            near = nearest(of, list(WORKLOADS))
            raise BadInputError(f"{VARIANTS.module(name)} brings the variant {name!r} of no workload; {near}")
    start = f"{workload}/"
    return {name.removeprefix(start): variant for name, variant in VARIANTS.items() if name.startswith(start)}


def variants_on(workload: str, engine: EngineKind) -> list[str]:
    """The names of a workload's variants that are written for what an engine runs, in their order."""
    return [name for name, variant in variants_of(workload).items() if variant.program in engine.runs]


def working_pairs(workload: str) -> list[tuple[str, str]]:
    """The names of each installed engine and store that this workload runs on together, in one of its variants."""
    return [
        (engine, store)
        for engine, of_engine in ENGINES.items()
        if variants_on(workload, of_engine)
        for store, of_store in STORES.items()
        if of_engine.reads & of_store.holds and not why_not_held(workload, store)
    ]


def why_not_held(workload: str, store: str) -> str:
    """Why a store can't hold a workload's data; empty where it can, or where nothing here brings one of the two."""
    if workload not in WORKLOADS or store not in STORES:
        return ""
    holds = STORES[store].holds
    if FILES in holds or not WORKLOADS[workload].needs_files:
        return ""
    return f"{workload} needs files, and {store} holds {' and '.join(sorted(holds))}"
