"""What an experiment file may say: the schema. Descriptions are what editors show and the reference is made of."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NoReturn, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError, PydanticKnownError

from assay.model.base import Frozen, Many, Whole
from assay.model.cluster import OF_NODE, WriteBack
from assay.model.dataset import MOST_SEED, DatasetSpec
from assay.model.errors import BadInputError, MistakeAt
from assay.model.fault import NO_FAULT, Fault
from assay.model.medium import MediumKind, Options
from assay.model.naming import MOST_NAME_CHARACTERS, did_you_mean, nearest, similar
from assay.model.network import Worker
from assay.model.platform import PlatformKind
from assay.model.registry import ENGINES, MEDIA, NODE_SOURCES, PLATFORMS, STORES, WORKLOADS
from assay.model.scale import DilationLevel
from assay.model.trial import (
    DEFAULT_PROBES,
    DEFAULT_WORTH,
    NO_PROBES,
    USUAL_ENGINE,
    USUAL_STORE,
    ZERO_DELAY,
    CacheBound,
    CpusBound,
    MemoryBound,
    SiteShape,
    StoreSpec,
)
from assay.plan.cluster import ClusterEntry, OneCluster
from assay.plan.entry_parts import Name, OneOf, Supported, alone, choice
from assay.plan.placement import PlacementEntry, placement_entry
from assay.plan.property_keys import HADOOP, key_of, owners, property_keys
from assay.plan.settings import Profile, Prose, Text, without_control
from assay.plan.store import OneStore, refuse_found


class _MediumWorkers(Frozen):
    """Which workers have a medium."""

    on: Many[Worker] = []
    """The numbers of the workers that have this medium; by default all. Needs `elsewhere`."""
    elsewhere: str = ""
    """The name of the medium, of the same kind, that takes its place on the other workers."""


class ChosenMedium(NamedTuple):
    """A medium as an experiment chooses it: its kind with the options of that kind.

    Where not all workers have it, `on` are the numbers of those that do, and `elsewhere` is the name of the others'.
    """

    kind: MediumKind[Any]
    options: Options
    on: tuple[int, ...] = ()
    elsewhere: str = ""


def medium_entry(value: Any) -> ChosenMedium:
    """A medium as an experiment writes it: a kind's name, a single word for a kind, or a map with a kind's options."""
    kinds = {name: kind for name, kind in MEDIA.items() if kind.chosen}
    if isinstance(value, str):
        known_by = next(kind.known_by for kind in kinds.values() if kind.known_by)
        value = {"kind": value} if value in kinds else {known_by: value}
    if not isinstance(value, dict):
        raise PydanticKnownError("dict_type")
    implied = next((name for name, kind in kinds.items() if kind.known_by in value), next(iter(kinds)))
    name = value.get("kind", implied)
    if not isinstance(name, str) or name not in kinds:
        _refuse("kind", name, "literal_error", {"expected": choice(list(kinds))})
    entry = _MediumWorkers.model_validate({key: value[key] for key in _MediumWorkers.model_fields if key in value})
    kind = kinds[name]
    options = {key: option for key, option in value.items() if key not in {"kind", *_MediumWorkers.model_fields}}
    for key in options.keys() - {*kind.options.names()}:
        owners = [name for name, other in kinds.items() if key in other.options.names()]
        known = ["kind", *kind.options.names(), *_MediumWorkers.model_fields]
        why = f"unknown key {key!r}; {nearest(str(key), known)}"
        if owners:
            why = f"{key} belongs to a medium of kind {' or '.join(owners)}, and this one is {name}; leave {key} out"
        _refuse(key, options[key], "value_error", {"error": ValueError(why)})
    if bool(entry.on) != bool(entry.elsewhere):
        problem = "a medium `on` some workers needs `elsewhere`, the medium of the others; and `elsewhere` needs `on`"
        _refuse("on", entry.on, "value_error", {"error": ValueError(problem)})
    chosen = kind.options.model_validate(options, by_alias=True, by_name=False)
    return ChosenMedium(kind, chosen, tuple(entry.on), entry.elsewhere)


def _refuse(key: str, value: object, error: str, context: dict[str, Any]) -> NoReturn:
    """A mistake at one key of a map."""
    raise ValidationError.from_exception_data(
        "medium", [{"type": error, "loc": (key,), "input": value, "ctx": context}]
    )


def _fault(value: Any) -> Any:
    """No fault for its word; else as it stands, with one sentence on what can't be."""
    if value == NO_FAULT:
        return None
    if not isinstance(value, dict):
        raise PydanticCustomError("fault", "Must be none, or a map such as {kill: node, on: 2, at: map 50%}")
    return value


# A fault, or none.
OneFault = Annotated[Fault | None, BeforeValidator(_fault, json_schema_input_type=Literal["none"] | Fault)]


Probes = Annotated[str, OneOf(lambda: [DEFAULT_PROBES, NO_PROBES])]


def one_list_or_many(value: Any) -> Any:
    """A single list of names where lists are expected."""
    return [value] if isinstance(value, list) and value and all(isinstance(item, str) for item in value) else value


USUAL_AGE_S, LEAST_AGE_S, MOST_AGE_S = 1.0, 0.1, 30.0
"""How old unwritten data become: 30 s, as Linux has it by default, of a job of an hour are 1 s of one that takes two
minutes here."""


def _age_s(value: Any) -> Any:
    """`1s` or `500ms` in seconds."""
    given = re.fullmatch(r"(\d{1,5}(?:\.\d{1,3})?) ?(ms|s)", value) if isinstance(value, str) else None
    seconds = float(given[1]) / {"ms": 1000, "s": 1}[given[2]] if given else value
    if isinstance(value, bool) or not isinstance(seconds, float) or not LEAST_AGE_S <= seconds <= MOST_AGE_S:
        raise PydanticCustomError("age", "Must be a time from 100ms to 30s, such as 1s")
    return seconds


WriteBackAge = Annotated[
    float, BeforeValidator(_age_s, json_schema_input_type=Annotated[str, Field(pattern=r"^[0-9.]+ ?(ms|s)$")])
]

MOST_WORTH = 90
DECIDING = {"zero_delay_baseline": True, "order": "mirrored", "repetitions": 2, "write_back": [OF_NODE]}
"""The defaults of emulated drives."""


def _percentage(value: Any) -> Any:
    """`10%` as the share 0.1."""
    given = re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?) ?%", value) if isinstance(value, str) else None
    if given is None or float(given[1]) > MOST_WORTH:
        raise PydanticCustomError("percentage", f"Must be a percentage between 0 and {MOST_WORTH}, such as 10%")
    return float(given[1]) / 100


# A share of 1, written as a percentage.
Percentage = Annotated[
    float,
    BeforeValidator(
        _percentage, json_schema_input_type=Annotated[str, Field(pattern=r"^[0-9]{1,3}([.][0-9]{1,6})? ?%$")]
    ),
]

# A name of the user's choice that only tables show.
Label = Annotated[str, Field(max_length=MOST_NAME_CHARACTERS), AfterValidator(without_control)]


def _absolute(value: Path) -> Path:
    if not value.is_absolute():
        raise PydanticCustomError("relative", "Must be an absolute path")
    return value


Engine = Annotated[str, Supported(lambda: list(ENGINES), "engine may be {words}, or the file of an engine of your own")]
# A Hadoop property's levels: a single one is no factor.
Levels = Many[Text]


MOST_AT_ONCE = 16
"""Copies of a workload: more would wait for containers."""
MIX = "mix"
"""The name of workloads that run together."""


def _property_maps() -> type[Frozen]:
    """A model whose keys are those under which services' properties stand, beside Hadoop's.

    Raises BadInputError for a key that an experiment or a workload has for something else.
    """
    taken = {*ExperimentFile.model_fields, *WorkloadEntry.model_fields} - {HADOOP}
    for service in owners().values():
        if (key := service.properties_key) in taken or not re.fullmatch("[a-z][a-z0-9_-]*", key):
            why = "experiments have for something else" if key in taken else "is no word in lower case"
            raise BadInputError(f"the service {service.name} has the properties_key {key!r}, which {why}; rename it")
    return _maps_under(*(key for key in property_keys() if key != HADOOP))


@cache
def _maps_under(*keys: str) -> type[Frozen]:
    maps: dict[str, Any] = {key: (Mapping[str, Levels], {}) for key in keys}
    return create_model("PropertyMaps", __base__=Frozen, **maps)


class WithProperties(Frozen):
    """What has Hadoop's properties under `hadoop`, and those of other services under further keys, their own."""

    _of_services: Mapping[str, Mapping[str, list[str]]] = PrivateAttr({})

    @model_validator(mode="wrap")
    @classmethod
    def _keys_of_services_are_apart(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        model = _property_maps()
        given = {key: value[key] for key in model.model_fields if key in value} if isinstance(value, dict) else {}
        if not given:
            return handler(value)
        maps = model.model_validate(given)
        made = handler({key: part for key, part in value.items() if key not in given})
        made._of_services = {key: getattr(maps, key) for key in given}
        return made

    @classmethod
    def further_fields(cls) -> Mapping[str, FieldInfo]:
        """Those of other services' properties."""
        return _property_maps().model_fields

    @property
    def property_maps(self) -> Mapping[str, Mapping[str, list[str]]]:
        """The levels of properties by their names, by the key under which they stand."""
        return {HADOOP: getattr(self, HADOOP), **self._of_services}

    @property
    def properties(self) -> Mapping[str, list[str]]:
        """The levels of all properties by their names."""
        return {name: levels for of_key in self.property_maps.values() for name, levels in of_key.items()}


class WorkloadEntry(WithProperties):
    """A workload: its name alone, or a map."""

    name: Annotated[str, Supported(lambda: list(WORKLOADS), "`assay workloads list` has what can run")] = ""
    """The computation; see [workloads](workloads.md). A mix has `together` in its place."""
    variant: str | Mapping[str, str] | None = None
    """The version of the algorithm, or that of each engine (`{ENGINE: NAME}`); by default the
    workload's first that is written for what the engine runs ([engines](#engines))."""
    options: Mapping[str, Text] = {}
    """Options of the workload. Numbers and booleans are read as text. Paths are relative to the folder of the
    experiment file."""
    hadoop: Mapping[str, Levels] = {}
    """Hadoop properties for this workload's jobs alone. They override all others and do not affect staging. A list of
    levels makes the property a factor of this workload. Other services' properties have keys of their own here, too."""
    intermediate: str = ""
    """The medium that its intermediate data go to, in placements whose local directories are
    [`directed`](#local-directories)."""
    concurrent: Many[Annotated[Whole, Field(ge=1, le=MOST_AT_ONCE)]] = [1]
    """How many copies of it run [at once](#several-jobs-at-once), each with its own input and output. Of several levels
    each is a workload of its own."""
    together: list["OneWorkload"] = []
    """In place of a name: workloads that run [at once](#several-jobs-at-once), as a mix."""

    def variant_on(self, engine: str) -> str | None:
        """The variant that it names for an engine; None where it names none."""
        return self.variant.get(engine) if isinstance(self.variant, Mapping) else self.variant

    @property
    def each(self) -> Sequence["WorkloadEntry"]:
        """What it computes: itself, or the workloads of a mix."""
        return self.together or (self,)

    @model_validator(mode="after")
    def _one_workload_or_a_mix(self) -> "WorkloadEntry":
        if bool(self.name) == bool(self.together):
            raise ValueError("a workload needs a name, or `together` with the workloads of a mix, and not both")
        if self.together and (self.variant or self.options or self.intermediate or self.properties):
            raise ValueError(
                "variant, options, intermediate and properties belong to the workloads of a mix; give them below "
                "`together`"
            )
        for part in self.together:
            if part.together or part.concurrent != [1] or any(len(levels) > 1 for levels in part.properties.values()):
                raise ValueError(
                    "a mix runs each of its workloads once, with one value of each property; name a workload twice for "
                    "two copies, and write a second mix for another value"
                )
        return self


def _options_of_all_kinds(schema: dict[str, Any]) -> None:
    """The options of each kind of medium; one that several have is described for each."""
    kinds = {name: kind for name, kind in MEDIA.items() if kind.chosen}
    schema["properties"]["kind"] |= {"default": next(iter(kinds)), "enum": list(kinds)}
    for kind in kinds.values():
        for key, option in kind.options.model_json_schema(by_alias=True)["properties"].items():
            before = schema["properties"].get(key)
            text = f"{kind.title}: {option['description']}"
            described = {**option, "description": text if before is None else f"{before['description']} {text}"}
            schema["properties"][key] = {
                name: value for name, value in described.items() if name != "title" and (name, value) != ("default", "")
            }


class MediumEntry(_MediumWorkers):
    """A medium: a kind's or a profile's name alone, or a map."""

    model_config = ConfigDict(json_schema_extra=_options_of_all_kinds)

    kind: str = ""
    """The kind of medium. With `profile` it is `emulated`."""


class DatasetEntry(DatasetSpec):
    """A dataset: a file's name alone, or a map with exactly one of `file`, `get` and `make`."""

    name: Label = ""
    """The name in reports. By default the file's name up to its first dot, the published graph's name, or `NAME-like`,
    with `-xSCALE` if the scale is not 1."""

    @model_validator(mode="after")
    def _exactly_one_source(self) -> "DatasetEntry":
        given = [key for key in ("file", "get", "make") if getattr(self, key) is not None]
        if len(given) != 1:
            given_text = f"{' and '.join(given)} are" if given else "none is"
            raise ValueError(f"a dataset needs exactly one of file, get and make, and {given_text} given")
        for key in ("format", "header_lines", "columns", "seed", "scale"):
            source = "make" if key in {"seed", "scale"} else "file"
            if key in self.model_fields_set and source != given[0]:
                raise ValueError(f"{key} belongs to `{source}`, and this dataset has `{given[0]}`; leave {key} out")
        return self


class PredictEntry(Frozen):
    """A drive on which times are predicted: its name alone, or a map."""

    drive: str
    """A medium of this experiment, a usual drive (`hdd`, `ssd`, `nvme`), a shipped profile, or a profile's file."""
    roles: Many[str] = []
    """The roles whose data lie on it; by default all data do."""


MANAGED_KEYS = (
    "media", "placement", "memory", "page_cache", "write_back", "write_back_age", "cpus", "dilation", "fault",
    "keep_requests", "predict",
)  # fmt: skip
"""Keys that belong to a cluster of Assay's own."""

CacheState = Literal["cold", "warm"]

OneWorkload = Annotated[WorkloadEntry, BeforeValidator(alone("name"), json_schema_input_type=str | WorkloadEntry)]
OneDataset = Annotated[DatasetEntry, BeforeValidator(alone("file"), json_schema_input_type=str | DatasetEntry)]
OnePredicted = Annotated[PredictEntry, BeforeValidator(alone("drive"), json_schema_input_type=str | PredictEntry)]
OneMedium = Annotated[InstanceOf[ChosenMedium], BeforeValidator(medium_entry, json_schema_input_type=str | MediumEntry)]
OnePlacement = Annotated[
    PlacementEntry, BeforeValidator(placement_entry, json_schema_input_type=str | PlacementEntry | Mapping[str, float])
]
Copies = Annotated[Whole, Field(ge=1, le=512)]
Factors = Annotated[list[str], Field(min_length=2)]
Zipped = Annotated[list[Factors], BeforeValidator(one_list_or_many, json_schema_input_type=Factors | list[Factors])]
Combined = Annotated[Mapping[str, Levels], Field(min_length=1)]


class ExperimentFile(WithProperties):
    """An experiment as a user writes it."""

    experiment: Name
    """Letters, digits, `.`, `_`, `-`; begins with a letter or digit. Names the run folder, `runs/NAME-DATE-TIME`."""
    question: Prose = ""
    """The question that the experiment answers, in a sentence. `assay experiments` lists shipped experiments by it."""
    description: Prose = ""
    """Shown in the report."""
    next: Prose = ""
    """The next step after this experiment, in a sentence that ends the report. Write commands between back quotes."""
    stands_for: SiteShape | None = None
    """What the input and the drives stand for on a node of yours, which the answer then says. `assay run-job` writes
    it."""
    folder: Annotated[Path, AfterValidator(_absolute)] | None = None
    """The folder from which relative paths count, as an absolute path; by default the folder of this file. Assay writes
    it into the copy that a run keeps."""
    workloads: Many[OneWorkload]
    """What to compute."""
    datasets: Many[OneDataset] = []
    """The graphs to compute on. Required unless all workloads generate their own input."""
    media: Mapping[Name, OneMedium] = {}
    """The media, by names of your choice. Required on an embedded cluster, not allowed on an existing one."""
    placement: Many[OnePlacement] = []
    """The media of input, intermediate data, output and other roles; by default each medium takes all of them. Embedded
    only."""
    zero_delay_baseline: Annotated[bool, Field(strict=True)] = False
    """Whether each combination also runs on a drive without delays, as the placement `zero-delay`. The time above that
    is what storage costs ([below](#the-zero-delay-baseline)). Emulated drives only, where it is `true` by default."""
    worth: Annotated[Percentage, Field(json_schema_extra={"default": f"{DEFAULT_WORTH:.0%}"})] = DEFAULT_WORTH
    """Your threshold: how much of the time a placement must save to be worth it, between 0 and 90 %."""
    placement_check: Literal["doubt", "error"] = "doubt"
    """Whether bytes that [landed elsewhere](#where-bytes-landed) raise a doubt or make the trial fail."""
    settings: Many[str] = ["defaults"]
    """Settings profiles, which are named sets of Hadoop properties: `stock`, `defaults`, `containers`, `customs`,
    `small` and others (see [settings](settings.md)), or your own under `profiles`."""
    profiles: Mapping[Label, Profile] = {}
    """Your own settings profiles. A profile with a shipped name replaces the shipped one."""
    hadoop: Mapping[str, Levels] = {}
    """Hadoop properties for all trials. They override the profiles. A list of levels makes a property a factor. Other
    services' properties stand under keys of their own ([below](#properties))."""
    replication: Many[Copies] = []
    """Copies that the [store](#stores) keeps of its data, by default 1 on an embedded cluster. It
    keeps at most one on each worker; asking for more raises a doubt."""
    store: Many[OneStore] = [StoreSpec(kind=USUAL_STORE)]
    """The storage subsystem that holds the data ([stores](#stores)). A map says more of it than its name."""
    engine: Many[Engine] = [USUAL_ENGINE]
    """What executes the jobs: `mapreduce`, or `tez`, which runs the same as DAGs, or `spark`, which runs
    variants of its own ([engines](#engines)), or the file of [an engine of your
    own](../how-to/measure-an-engine-of-your-own.md)."""
    cluster: OneCluster = ClusterEntry()
    """Which cluster to run on."""
    memory: Many[MemoryBound] = []
    """Bounds of the cluster's memory, page cache included ([below](#memory-and-cpus)); by default none, which is `all`.
    Embedded only."""
    page_cache: Many[CacheBound] = []
    """Budgets of the cluster's page cache, apart from what its processes need ([below](#memory-and-cpus)); by default
    it may take all memory that is left (`all`). Embedded only."""
    write_back: Many[WriteBack] = []
    """Whose memory decides when data that are written to emulated drives reach them ([below](#write-back)): that of a
    `node` with the trial's memory, or the `host`'s. By default `node` where all drives are emulated and `memory` or
    `page_cache` is bounded, else `host`. Embedded only."""
    write_back_age: Annotated[WriteBackAge, Field(json_schema_extra={"default": f"{USUAL_AGE_S:g}s"})] = USUAL_AGE_S
    """With `write_back: node`, after how long unwritten data are written to the drives: what 30 s are to the real job,
    such as `1s` for an hour's job that takes two minutes here."""
    cpus: Many[CpusBound] = []
    """Bounds of the cluster's processor time, in cores ([below](#memory-and-cpus)); by default none, which is `all`.
    Embedded only."""
    dilation: Many[DilationLevel] = []
    """How many times slower than what it stands for a cluster runs, or `auto` ([below](#dilation)). Embedded only."""
    fault: Many[OneFault] = []
    """What goes wrong on one worker ([below](#faults)): a killed daemon or node, a slow drive or link; by default
    `none`. Name `none` too, and the report says what each fault cost. Embedded only, with two nodes or more."""
    cache: Many[CacheState] = ["cold"]
    """State of the page cache when the jobs start (see [below](#cache))."""
    probes: Many[Probes] = ["default"]
    """Whether [probes](probes.md) measure the trial. Name both levels to see what probes cost. An existing cluster has
    [probes of its own](../how-to/measure-a-cluster.md)."""
    keep_requests: Annotated[bool, Field(strict=True)] = False
    """Whether records keep the log of the requests to each drive, which predictions of other drives replay. It takes
    about 15 bytes a request; a dry run says how much that may become. Emulated drives, and with root
    also others. Embedded only."""
    predict: Many[OnePredicted] = []
    """Drives on which the times of the first placement are [predicted](../explanation/prediction.md), from its trials
    alone, beside what is measured. Implies `keep_requests`. Embedded only, without dilation."""
    design: Literal["grid", "one-at-a-time"] = "grid"
    """Which combinations of levels there are ([below](#factors-and-their-combinations)): all of them, or one factor
    changed at a time from `base`."""
    base: Mapping[str, Text] = {}
    """For `one-at-a-time`: the factors to change one at a time, each with its level while another factor changes. All
    other factors are combined with each of these."""
    zip: Zipped = []
    """Lists of factors whose levels go together, first with first, second with second."""
    exclude: Many[Combined] = []
    """Combinations to leave out: those with all levels of one of these maps; of a list of levels any one will do."""
    repetitions: Annotated[Whole, Field(ge=1, le=10_000)] = 1
    """How often each combination runs; by default twice on emulated drives. With 1, in the interleaved order, nothing
    can be significant."""
    warm_up: Annotated[Whole, Field(ge=0, le=1000)] = 0
    """The number of trials that run before all others, to warm up the machine. They count in no result."""
    order: Literal["interleaved", "mirrored"] = "interleaved"
    """With `mirrored` each repetition runs the placements in one order and then in reverse, so that steady drift of the
    machine cancels: the default on emulated drives ([below](#order))."""
    seed: Annotated[Whole, Field(ge=0, le=MOST_SEED)] = 1
    """The seed of the order of the trials."""

    def deciding(self) -> "ExperimentFile":
        """Return it with what an answer needs where it does not say otherwise and all drives are emulated.

        These are the mirrored order, the zero-delay baseline, two repetitions and, within a bound of memory, a node's
        write-back; of faults the latter two. The copy that a run keeps, which names its `folder`, says all itself.
        """
        is_unnamed = bool(self.media) and self.folder is None
        emulated = is_unnamed and all(medium.kind.emulated for medium in self.media.values())
        missing = {name: value for name, value in DECIDING.items() if name not in self.model_fields_set}
        if all(bound is None for bound in (*self.memory, *self.page_cache)):
            missing.pop("write_back", None)
        if self.fault:  # what a fault costs is no question about drives, and a drive without delays can't be slow
            missing = {name: value for name, value in missing.items() if name in {"repetitions", "write_back"}}
        return self.model_copy(update=missing) if emulated else self

    @property
    def platform(self) -> PlatformKind:
        """The kind of the cluster."""
        return PLATFORMS[self.cluster.kind]

    @model_validator(mode="after")
    def _keys_belong_to_the_cluster(self) -> "ExperimentFile":
        kind, given = self.cluster.kind, self.cluster.given_keys
        if self.platform.is_managed and not self.media:
            raise MistakeAt(["media"], "media is missing: name at least one, e.g. media: {disk: directory}")
        if not self.platform.is_managed:
            for key in MANAGED_KEYS:
                if key in self.model_fields_set and getattr(self, key):
                    problem = f"{key} can't be chosen on an existing cluster: its data, limits and daemons are its own"
                    raise MistakeAt([key], f"{problem}; leave {key} out")
            if "placement_check" in self.model_fields_set:
                raise MistakeAt(
                    ["placement_check"],
                    "placement_check belongs to a cluster of Assay's own: an existing one does not show where bytes "
                    "land; leave placement_check out",
                )
        foreign = given - self.platform.keys().model_fields.keys()
        for other in PLATFORMS.values():
            for key in sorted(other.keys().model_fields.keys() & foreign):
                whose, this = "a cluster of Assay's own", "exists already"
                if not other.is_managed:
                    whose, this = "an existing cluster, which `conf_dir` names", "is Assay's own"
                raise MistakeAt(
                    ["cluster", key], f"cluster: {key} belongs to {whose}, and this one {this}; leave {key} out"
                )
        sources = [
            name for name, kind in NODE_SOURCES.items() if kind.gives_files and self.cluster.get(name, None) is not None
        ]
        if len(sources) > 1:
            problem = f"cluster: {sources[1]} reads what {sources[0]} reads too"
            raise MistakeAt(["cluster", sources[1]], f"{problem}; leave one of them out")
        for key, reason in self.platform.needed_keys.items():
            if key not in given:
                raise MistakeAt(["cluster"], f"an {kind} cluster needs {key}, {reason}")
        return self

    @model_validator(mode="after")
    def _a_store_of_the_users_is_beside_a_cluster_of_theirs(self) -> "ExperimentFile":
        for spec in self.store if self.platform.is_managed else ():
            refuse_found(spec)
        return self

    @model_validator(mode="after")
    def _a_baseline_needs_emulated_drives(self) -> "ExperimentFile":
        if ZERO_DELAY in self.media or ZERO_DELAY in [entry.name for entry in self.placement]:
            key = "media" if ZERO_DELAY in self.media else "placement"
            raise MistakeAt(
                [key],
                f"{key}: the name {ZERO_DELAY!r} is reserved for the "
                "baseline; choose another, and say `zero_delay_baseline: true` for the baseline itself",
            )
        if not self.zero_delay_baseline:
            return self
        if not self.platform.is_managed:
            raise MistakeAt(
                ["zero_delay_baseline"],
                "zero_delay_baseline is not possible on an existing cluster: its data stay on its own disks, and Assay "
                "can't take their delays away; leave it out, and the report gives an upper bound where it can",
            )
        real = next((name for name, medium in self.media.items() if not medium.kind.emulated), None)
        if real is not None:
            raise MistakeAt(
                ["zero_delay_baseline"],
                f"zero_delay_baseline needs emulated drives, and the medium {real!r} is a "
                f"{self.media[real].kind.name}: a drive without delays is comparable only with drives behind the same "
                "emulator; leave it out, or emulate that medium too (`assay media calibrate --profile-to` makes its "
                "profile)",
            )
        return self

    @model_validator(mode="after")
    def _a_node_writes_back_to_emulated_drives(self) -> "ExperimentFile":
        emulated = any(medium.kind.emulated for medium in self.media.values())
        if OF_NODE in self.write_back and not emulated:
            raise MistakeAt(
                ["write_back"],
                f"write_back: {OF_NODE} needs emulated drives: Assay sets no limits on disks that others use too; "
                "leave it out",
            )
        return self

    @model_validator(mode="after")
    def _one_word_for_copies_and_for_each_medium(self) -> "ExperimentFile":
        properties = {spec.kind: STORES[spec.kind].copies_property for spec in self.store if spec.kind in STORES}
        for store, name in properties.items() if self.replication else ():
            if not name:
                raise MistakeAt(["replication"], f"the store {store} lets nobody choose copies; leave replication out")
            if name in self.properties:
                same = f"replication and {name} (under {key_of(name)}) are the same; keep one of them"
                raise MistakeAt(["replication"], same)
        named = (
            (place, role, medium)
            for place, entry in enumerate(self.placement)
            for role, media in entry.media.items()
            for medium in media
        )
        for place, role, medium in named:
            if medium not in self.media:
                subject = f"placement: {role}" if role else "placement"
                problem = f"{subject} names the medium {medium!r}, and media has {', '.join(self.media)}"
                close = similar(medium, list(self.media))
                raise MistakeAt(["placement", place, role], f"{problem}; {did_you_mean(close)}" if close else problem)
        return self
