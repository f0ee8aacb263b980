"""Plans and trials: what an experiment asks for, as data."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from assay.model.base import Bytes, Frozen, Number
from assay.model.cluster import AUTO, OF_HOST, Dilation, TrialCluster, nodes_level
from assay.model.dataset import DatasetSpec
from assay.model.demand import OtherDrive
from assay.model.doubt import Doubt
from assay.model.drive_profile import way_of
from assay.model.fault import NO_FAULT, fault_level
from assay.model.layout import IN_TURN, INTERMEDIATE, LocalDirectories
from assay.model.naming import size_of
from assay.model.network import NONE, read_networks

TOLERANCE_SHARE = 0.05
"""A landed share that differs by more than this from the wanted one is doubted."""

SEEN_SHARE = 0.9
"""Less than this of what should have been found says too little about the rest."""

SURE_SHARES = {INTERMEDIATE: 0.5}
"""With less than this of a role's bytes in the folders of the media the rest lies elsewhere: SEEN_SHARE of files that
stay to be counted; intermediates may be removed before they are seen."""

MOST_DIRECTORIES = 20
"""Of one role, and so the most media that can share it."""

MATERIAL_BYTES = 1 << 20
"""Less than this can't be divided in a way that any disk would notice (a count of triangles is 7 bytes)."""


class Placement(Frozen):
    """For each role the fraction of its bytes on each medium, by the media's names.

    Fractions are above 0 and add up to 1 per role. The roles are further fields: those that the services of the trial's
    stack declare, without those whose bytes are on no medium under test. `local_directories` says how those of
    intermediate data are chosen.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, dict[str, float]] = Field(init=False)

    name: str
    local_directories: Annotated[LocalDirectories, Field(exclude_if=lambda how: how == IN_TURN)] = IN_TURN

    @classmethod
    def of_roles(
        cls, name: str, roles: Mapping[str, Mapping[str, float]], local_directories: LocalDirectories = IN_TURN
    ) -> "Placement":
        """The placement of that name."""
        return cls.model_validate({**roles, "name": name, "local_directories": local_directories})

    @model_validator(mode="after")
    def _fractions_add_up(self) -> "Placement":
        for role, fractions in self.roles.items():
            if not fractions or min(fractions.values()) <= 0 or abs(sum(fractions.values()) - 1) > 1e-6:
                raise ValueError(f"{role}'s fractions must be above 0 and add up to 1, and they are {dict(fractions)}")
        return self

    @property
    def roles(self) -> Mapping[str, Mapping[str, float]]:
        """The fractions of each role, the input first."""
        return self.__pydantic_extra__

    def of(self, role: str) -> Mapping[str, float]:
        """The fractions of one role; none where its bytes are on no medium under test."""
        return self.roles.get(role, {})

    def divides(self, role: str) -> bool:
        """Whether a role's bytes are to be divided as its fractions say: Hadoop or jobs may place intermediate data."""
        return role != INTERMEDIATE or self.local_directories == IN_TURN

    @property
    def media(self) -> tuple[str, ...]:
        """The names of all media in use, in the order of the roles."""
        return tuple(dict.fromkeys(name for fractions in self.roles.values() for name in fractions))


class Landed(Frozen):
    """Where the bytes of a role lay at one moment."""

    role: str
    """The role."""
    when: Literal["staged", "run"]
    """`staged`: before the jobs, of the input and of what the store keeps beside it (logs). `run`: after the jobs, of
    all roles."""
    bytes: int
    """Input, output and the store's logs: the role's files in the store's directories. Intermediate data: spills and
    map outputs, as they were closed during the run. Other roles: the files in their directories."""
    shares: Mapping[str, float]
    """The fraction of `bytes` on each medium; empty for 0 bytes."""
    of_bytes: int | None = None
    """What `bytes` should be: the files' lengths by the store, or the jobs' counter `FILE_BYTES_WRITTEN` less
    300,000 bytes per task for the job's configuration. Null if nothing counted it."""
    trouble: str | None = None
    """Why the measurement is incomplete, or null."""

    @property
    def unseen(self) -> bool:
        """Whether too little was found to judge by."""
        missed = 0 if self.of_bytes is None else self.of_bytes - self.bytes
        return missed > max(MATERIAL_BYTES, (1 - SEEN_SHARE) * (self.of_bytes or 0))

    @property
    def elsewhere(self) -> bool:
        """Whether bytes lie outside of the media's folders: they were looked for without trouble, and are not there."""
        sure_share = SURE_SHARES.get(self.role, SEEN_SHARE)
        return self.unseen and self.trouble is None and self.bytes < sure_share * (self.of_bytes or 0)

    def error(self, placement: Placement) -> float:
        """The largest difference between a landed and a wanted share, 0 to 1.

        0 for less than MATERIAL_BYTES, and where no shares are wanted.
        """
        if self.bytes < MATERIAL_BYTES or not placement.divides(self.role):
            return 0.0
        intended = placement.of(self.role)
        names = {*intended, *self.shares}
        return max(abs(self.shares.get(name, 0.0) - intended.get(name, 0.0)) for name in names)


class NoisePrior(Frozen):
    """What is assumed of the noise before a run's own trials show it."""

    deviation: float
    """The standard deviation of the logarithm of one trial's time: 0.1 is about 10 %."""
    freedom: float
    """Its weight in degrees of freedom."""
    source: Literal["assumption", "history", "other placements"]
    """`assumption` as shipped, `history`: from earlier trials on this machine, or `other placements`: of the run."""
    trials: int = 0
    """The number of these trials."""
    workloads: int = 0
    """The number of their workloads."""


SHIPPED_PRIOR = NoisePrior(deviation=0.08, freedom=3, source="assumption")
"""The freedom is what the noise of three workloads in A/A runs speaks for (4, 6 and 12 % of a trial, `fit_prior`); the
deviation is the least, in whole percent, with which intervals cover the truth at each of the three (decision 15)."""

PART_PRIOR = NoisePrior(deviation=0.2, freedom=4, source="assumption")
"""Of one job or one phase, which differ more than whole runs: 10 to 30 % between equal trials, where they take seconds.
Chosen by simulation: of runs without any effect whose parts have such noise about 1 % call any part significant, and at
30 % in all parts 5 % (benchmarks/known_effects.py), while a part that takes twice as long is still seen in one mirrored
repetition."""


class WorkloadSpec(Frozen):
    """Which computation a trial runs: a named workload, its variant, its options, and Hadoop properties of its own."""

    name: str
    variant: str = "paper"
    options: Mapping[str, str] = {}
    hadoop: Mapping[str, str] = {}
    intermediate: Annotated[str, Field(exclude_if=lambda medium: not medium)] = ""
    """The medium that its intermediate data go to where the placement directs jobs."""
    concurrent: Annotated[int, Field(exclude_if=lambda count: count == 1)] = 1
    """How many copies of it run at once."""
    together: Annotated[tuple["WorkloadSpec", ...], Field(exclude_if=lambda specs: not specs)] = ()
    """Of a mix the workloads that run at once."""
    variants: Annotated[Mapping[str, str], Field(exclude_if=lambda variants: not variants)] = {}
    """The variants by the names of the experiment's engines, where it names none and these run different ones. They are
    then one level of the factor `variant`, so that trials of these engines are compared."""

    @property
    def each(self) -> tuple["WorkloadSpec", ...]:
        """What it computes, each once: itself, or the workloads of a mix."""
        return self.together or (self,)

    @property
    def directed_media(self) -> tuple[str, ...]:
        """The media that its workloads name for their intermediate data, each once."""
        return tuple(dict.fromkeys(spec.intermediate for spec in self.each if spec.intermediate))

    @property
    def variant_level(self) -> str:
        """Its variant as a level of that factor: `paper/rdd` where each engine runs its own."""
        return "/".join(dict.fromkeys(self.variants.values())) or self.variant

    def on(self, engine: str) -> "WorkloadSpec":
        """What it is on an engine: in the variant that this runs, where each runs its own."""
        together = tuple(spec.on(engine) for spec in self.together)
        return self.model_copy(update={"variant": self.variants.get(engine, self.variant), "together": together})

    @property
    def jobs_at_once(self) -> int:
        """How many workloads run at once."""
        return self.concurrent * len(self.each)

    @property
    def own(self) -> str:
        """Options and Hadoop properties in one line: what tells two entries of the same workload apart."""
        return self.own_but(())

    def own_but(self, factors: Collection[str]) -> str:
        """Return the options' text without Hadoop properties that are factors themselves."""
        hadoop = {name: value for name, value in self.hadoop.items() if name not in factors}
        at_once = {"concurrent": str(self.concurrent)} if self.concurrent > 1 else {}
        mixed = {"together": "+".join(spec.short for spec in self.together)} if self.together else {}
        directed = {"intermediate": self.intermediate} if self.intermediate else {}
        further = {**self.options, **hadoop, **directed, **at_once, **mixed}
        return " ".join(f"{name}={value}" for name, value in sorted(further.items()))

    @property
    def short(self) -> str:
        """Its name, with all else in brackets: `terasort(size=400MB)`."""
        return f"{self.name}({self.own.replace(' ', ',')})" if self.own else self.name


class MediumSpec(Frozen):
    """Which medium a trial keeps bytes on: its name, its kind, and what an experiment says of such a medium.

    The latter are further fields: the kind's own (`MediumKind.options`), kept here as plain JSON.
    """

    model_config = ConfigDict(extra="allow")

    name: str
    kind: str
    on: tuple[int, ...] = ()
    """The workers that have it, by number; all if none is named."""
    elsewhere: "MediumSpec | None" = None
    """What the other workers have in its place."""

    @model_serializer(mode="wrap")
    def _on_all_goes_without_saying(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A medium of all workers is kept as its kind's own fields alone."""
        fields: dict[str, Any] = handler(self)
        return fields if self.on else {name: value for name, value in fields.items() if name not in {"on", "elsewhere"}}

    def of_worker(self, number: int) -> "MediumSpec":
        """What a worker has under this name."""
        other = self.elsewhere if self.on and number not in self.on else None
        return (other or self).model_copy(update={"name": self.name, "on": (), "elsewhere": None})


class StoreSpec(Frozen):
    """Which store holds the data: its kind, and what an experiment says of such a store.

    The latter are further fields, the kind's own options as plain JSON. Without any it is written as the kind's name.
    """

    model_config = ConfigDict(extra="allow")

    kind: str

    @model_validator(mode="before")
    @classmethod
    def _a_name_alone(cls, given: Any) -> Any:
        return {"kind": given} if isinstance(given, str) else given

    @model_serializer(mode="wrap")
    def _alone_if_it_can(self, handler: SerializerFunctionWrapHandler) -> Any:
        return handler(self) if self.options else self.kind

    @property
    def options(self) -> Mapping[str, Any]:
        """What the experiment says of it."""
        return self.model_extra or {}

    def __str__(self) -> str:
        """Return what tables show: the kind, with its options in brackets."""
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.kind}({options})" if options else self.kind


class SettingsSpec(Frozen):
    """A named set of Hadoop properties."""

    name: str
    properties: Mapping[str, str] = {}


DEFAULT_PROBES, NO_PROBES = "default", "none"
"""The levels of `probes` that need no plug-in."""

USUAL_STORE, USUAL_ENGINE = "hdfs", "mapreduce"


class Trial(Frozen):
    """One run of one combination of factors."""

    id: str
    """Its number in the plan's order, its workload and its placement, such as `0003-triangles-ssd`; the name of its
    folder."""
    workload: WorkloadSpec
    """Name, variant, options, and Hadoop properties of its own."""
    dataset: DatasetSpec
    """The input."""
    media: tuple[MediumSpec, ...]
    """The media that the placement names, each once."""
    placement: Placement
    """For each role a map from medium to fraction; and `local_directories` where tasks do not have these in turn."""
    strict_placement: bool = False
    """Whether bytes that landed elsewhere make the trial fail (`placement_check: error`)."""
    settings: SettingsSpec
    """Name and properties."""
    store: StoreSpec = StoreSpec(kind=USUAL_STORE)
    """The store that holds input and output: its kind, or a map of `kind` and its options."""
    engine: str = USUAL_ENGINE
    """The program that executes the jobs."""
    cluster: TrialCluster
    """The platform and its bounds."""
    cache: Literal["cold", "warm"]
    """The state of the page cache before the jobs."""
    probes: str = DEFAULT_PROBES
    """Which probes measure the trial."""
    keep_requests: bool = False
    """Whether its record keeps the log of the requests to its drives (`keep_requests`)."""
    repetition: int
    """From 1; 0 for a warm-up."""
    levels: Mapping[str, str] = {}
    """Levels of Hadoop properties that have several, and of `replication`. They are among the trial's properties
    too."""
    warm_up: bool = False
    """Whether it only warmed up the machine, and is excluded from all results."""
    zero_delay: bool = False
    """Whether it is the zero-delay baseline: all roles on a drive without delays."""

    @property
    def number(self) -> int:
        """The trial's number in the plan's order, from 1, with which its id begins."""
        return int(self.id.partition("-")[0])

    @cached_property
    def varied(self) -> bool:
        """Whether what is assumed of its drives was made slower or faster: it checks an answer and is in no figure."""
        profiles = (str((medium.model_extra or {}).get("profile", "")) for medium in self.media)
        return any(way_of(profile)[1] for profile in profiles)

    @property
    def is_repetition(self) -> bool:
        """Whether figures are to count it: it is no warm-up, and what is assumed of its drives is not varied."""
        return not (self.warm_up or self.varied)

    @cached_property
    def factors(self) -> Mapping[str, str]:
        """The levels of this trial's factors, by the names that tables and reports use."""
        return {
            "workload": self.workload.name,
            "variant": self.workload.variant_level,
            "options": self.workload.own_but(self.levels),
            "dataset": self.dataset.name,
            "placement": self.placement.name,
            "settings": self.settings.name,
            **{factor.name: factor.of(self) for factor in FACTORS},
            **self.levels,
        }


ALL = "all"
"""No bound, as tables show it and people write it."""


def _bound(value: Any) -> Any:
    if value is None:
        raise PydanticCustomError("empty", "Must be a bound")
    return None if value == ALL else value


def _cache_bound(value: Any) -> Any:
    """Refused with a sentence for who means no page cache at all."""
    if size_of(value) == 0:
        why = "No cluster runs without a page cache; give a small one, such as 64MiB, or all for no bound"
        raise PydanticCustomError("no_cache", why)
    return _bound(value)


# Bounds as a user writes them, None for `all`.
MemoryBound = Annotated[Bytes | None, BeforeValidator(_bound, json_schema_input_type=int | str)]
CacheBound = Annotated[Bytes | None, BeforeValidator(_cache_bound, json_schema_input_type=int | str)]
CpusBound = Annotated[
    Annotated[Number, Field(gt=0)] | None,
    BeforeValidator(_bound, json_schema_input_type=Annotated[float, Field(gt=0)] | Literal["all"]),
]


def dilation_level(dilation: Dilation | None) -> str:
    """A dilation as tables show it."""
    return "none" if dilation is None else str(dilation)


def dilation_of(text: str) -> Dilation | None:
    """Read a dilation from its text in tables. Raises ValueError for what is no whole number."""
    if text == AUTO:
        return "auto"
    return None if text == "none" else int(text)


def memory_level(count: int | None) -> str:
    """A bound of memory, in bytes, as tables show it and people write it."""
    if count is None:
        return ALL
    units = {"GiB": 1 << 30, "GB": 10**9, "MiB": 1 << 20, "MB": 10**6}
    whole = next((f"{count // size}{unit}" for unit, size in units.items() if count % size == 0), None)
    return whole or f"{count / units['MiB']:g}MiB"


class Factor(NamedTuple):
    """Something that varies in an experiment: each trial has a level of it.

    `name` is what tables call it, `key` where an experiment lists its levels, `field` where a trial has its own. `text`
    is how tables show a level; `parse` makes one of such a text (None or ValueError for what is none). Levels that
    are `usual` go without saying in a line about a trial. `choice` says that there is something to choose between them.
    """

    name: str
    key: str
    field: str
    text: Callable[[Any], str] = str
    parse: Callable[[str], Any] = str
    usual: Collection[str] = ()
    choice: bool = True

    def levels_in(self, experiment: object) -> Sequence[Any]:
        """The levels that an experiment lists."""
        *above, name = self.key.split(".")
        part = attrgetter(".".join(above))(experiment) if above else experiment
        levels: Sequence[Any] = getattr(part, name, ())  # its kind of platform may have no such key
        return levels

    def of(self, trial: Trial) -> str:
        """A trial's level, as tables show it."""
        return self.text(attrgetter(self.field)(trial))

    def as_shown(self, word: str) -> str:
        """A level as tables show it, from how a user writes it: `2048MiB` is shown as `2GiB`."""
        try:
            level = self.parse(word)
        except ValueError:
            return word
        return word if level is None else self.text(level)


FACTORS = (
    Factor("store", "store", "store", usual={USUAL_STORE}),
    Factor("engine", "engine", "engine", usual={USUAL_ENGINE}),
    Factor("nodes", "cluster.nodes", "cluster.nodes", nodes_level, int, usual={"1", nodes_level(None)}),
    Factor("network", "cluster.network", "cluster.network", parse=read_networks, usual={NONE}),
    Factor("memory", "memory", "cluster.limit_memory_bytes", memory_level, size_of, usual={ALL}),
    Factor("page_cache", "page_cache", "cluster.page_cache_bytes", memory_level, size_of, usual={ALL}),
    Factor("write_back", "write_back", "cluster.write_back", usual={OF_HOST}),
    Factor("cpus", "cpus", "cluster.limit_cpus", lambda count: f"{count:g}" if count else ALL, float, usual={ALL}),
    Factor("dilation", "dilation", "cluster.dilation", dilation_level, dilation_of, usual={"none"}, choice=False),
    Factor("fault", "fault", "cluster.fault", fault_level, lambda _: None, usual={NO_FAULT}),
    Factor("cache", "cache", "cache"),
    Factor("probes", "probes", "probes", usual={DEFAULT_PROBES}),
)
"""The factors that are a field of a trial and a key of an experiment, in the order of tables. Workload, dataset,
placement and settings, which have names and more than one value, and Hadoop's properties vary beside them."""
NOTHING_TO_CHOOSE = frozenset(factor.name for factor in FACTORS if not factor.choice)


ZERO_DELAY = "zero-delay"
"""The name of the baseline's placement and medium, reserved for it."""

DEFAULT_WORTH = 0.10


class SiteShape(Frozen):
    """What the input and the drives of an experiment stand for on a node of a site."""

    ratio: Annotated[float, Field(gt=0)] | None = None
    """Bytes of the input that a node reads there for each byte of memory that it has left for files. The page cache has
    this ratio to the experiment's input."""
    drives: Annotated[int, Field(ge=1, le=999)] = 1
    """How many of today's drive a node has there, where the experiment has one."""
    new_drives: Annotated[int, Field(ge=1, le=999)] = 1
    """How many of the other drive it would have."""
    read_bytes: Annotated[int, Field(ge=1)] | None = None
    """Bytes of the whole input that a node reads there."""
    shared: bool = False
    """Whether the experiment has an equal part of both kinds of drives of a node, where a node has several."""

    @property
    def parts(self) -> int:
        """Into how many parts a node is divided, one of which the experiment stands for."""
        return max(self.drives, self.new_drives) if self.shared else self.drives


class Plan(Frozen):
    """All trials of an experiment, in the order in which they run."""

    schema_version: Literal[5] = 5
    """The version of this form."""
    experiment: str
    """The experiment's name."""
    description: str
    """The experiment's description."""
    seed: int
    """The seed of the order."""
    trials: tuple[Trial, ...]
    """All trials. `--for` adds each repetition before it begins; `--only` has the selected trials, and all others
    after a later `--resume`."""
    doubts: tuple[Doubt, ...] = ()
    """Doubts about the whole run."""
    options: tuple[str, ...] = ()
    """`--only`, `--for` and their values, as last given."""
    worth: float = DEFAULT_WORTH
    """The threshold: the share of time (0 to 0.9) that a placement must save to be worth it."""
    prior: NoisePrior = SHIPPED_PRIOR
    """The prior of the noise."""
    placements: tuple[str, ...] = ()
    """The names of the compared placements, in the experiment's order, without the zero-delay baseline. The first
    is the base. Where they are empty, the base is the first in alphabetical order."""
    next: str = ""
    """The next step after this experiment, in a sentence of its author."""
    base: Annotated[Mapping[str, str], Field(exclude_if=lambda base: not base)] = {}
    """Of an experiment that changes one factor at a time, these factors, each with its level while another changes.
    Left out of other plans."""
    stands_for: Annotated[SiteShape | None, Field(exclude_if=lambda shape: shape is None)] = None
    """What the input and the drives stand for on a node of a site. Left out where the experiment doesn't say it."""
    predict: Annotated[tuple[OtherDrive, ...], Field(exclude_if=lambda drives: not drives)] = ()
    """The drives on which times are predicted. Left out where there are none."""


class ResourceEstimate(Frozen):
    """What a trial is expected to need. Bytes on the medium, resident memory, seconds of elapsed time.

    `records` is of how many earlier trials like it the time is the median; 0 where it was reckoned. It is likely to
    lie between `least_s` and `most_s`, `seconds` where these are null. Where the time is not `known`, as of a jar that
    nobody has run here, all of them say nothing. Jobs read and write so many bytes in each of `rounds` at most.
    """

    disk_bytes: int
    memory_bytes: int
    seconds: float
    records: int = 0
    least_s: float | None = None
    most_s: float | None = None
    known: bool = True
    rounds: float = 1.0
