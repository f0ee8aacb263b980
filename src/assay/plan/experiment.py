"""What an experiment file may say: the schema. Descriptions are what editors show and the reference is made of."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticKnownError

from assay.model.base import Frozen
from assay.model.cluster import ClusterSpec
from assay.model.dataset import MOST_SEED
from assay.model.placement import ROLES
from assay.model.registry import PROBE_SETS
from assay.model.trial import DEFAULT_PROBES, DEFAULT_WORTH, NO_PROBES, ZERO_DELAY
from assay.plan.entries import DatasetEntry, MediumEntry, PlacementEntry, WorkloadEntry
from assay.plan.settings import Profile, Prose, Text
from assay.plan.short_forms import (
    Bytes,
    Label,
    Levels,
    Name,
    Number,
    Percentage,
    Whole,
    cluster_short,
    file_alone,
    medium_short,
    name_alone,
    one_list_or_many,
    one_or_many,
    placement_short,
)

COPIES = "dfs.replication"
CacheState = Literal["cold", "warm"]

OneWorkload = Annotated[WorkloadEntry, BeforeValidator(name_alone, json_schema_input_type=str | WorkloadEntry)]
OneDataset = Annotated[DatasetEntry, BeforeValidator(file_alone, json_schema_input_type=str | DatasetEntry)]
OneMedium = Annotated[MediumEntry, BeforeValidator(medium_short, json_schema_input_type=str | MediumEntry)]
OnePlacement = Annotated[
    PlacementEntry,
    BeforeValidator(placement_short, json_schema_input_type=str | PlacementEntry | Mapping[str, float]),
]
OneCluster = Annotated[
    ClusterSpec, BeforeValidator(cluster_short, json_schema_input_type=Literal["embedded"] | ClusterSpec)
]
Cpus = Annotated[Number, Field(gt=0)]
Copies = Annotated[Whole, Field(ge=1, le=512)]
Factors = Annotated[list[str], Field(min_length=2)]
Several = Annotated[
    list[Text], BeforeValidator(one_or_many, json_schema_input_type=Text | list[Text]), Field(min_length=1)
]

Zipped = Annotated[list[Factors], BeforeValidator(one_list_or_many, json_schema_input_type=Factors | list[Factors])]
Combined = Annotated[Mapping[str, Several], Field(min_length=1)]


def _probe_levels() -> list[str]:
    return [DEFAULT_PROBES, *PROBE_SETS, NO_PROBES]


def _known_probes(level: object) -> object:
    levels = _probe_levels()
    if level not in levels:
        expected = " or ".join([", ".join(map(repr, levels[:-1])), repr(levels[-1])])
        raise PydanticKnownError("literal_error", {"expected": expected})
    return level


Measuring = Annotated[
    str, BeforeValidator(_known_probes), Field(json_schema_extra=lambda schema: schema.update(enum=_probe_levels()))
]


class ExperimentFile(Frozen):
    """An experiment as a user writes it."""

    experiment: Name = Field(
        description="Letters, digits, `.`, `_`, `-`; begins with a letter or digit. Names the run folder, "
        "`runs/NAME-DATE-TIME`."
    )
    description: Prose = Field(default="", description="Shown in the report.")
    next: Prose = Field(
        default="",
        description="The next step after this experiment, in a sentence that ends the report. Write commands "
        "between back quotes.",
    )
    workloads: Annotated[
        list[OneWorkload], BeforeValidator(one_or_many, json_schema_input_type=OneWorkload | list[OneWorkload])
    ] = Field(min_length=1, description="What to compute.")
    datasets: Annotated[
        list[OneDataset], BeforeValidator(one_or_many, json_schema_input_type=OneDataset | list[OneDataset])
    ] = Field(
        default=[],
        min_length=1,
        description="The graphs to compute on. Required unless all workloads generate their own input.",
    )
    media: Mapping[Name, OneMedium] = Field(
        default={},
        description="The media, by names of your choice. Required on an embedded cluster, not allowed on an "
        "existing one.",
    )
    placement: Annotated[
        list[OnePlacement], BeforeValidator(one_or_many, json_schema_input_type=OnePlacement | list[OnePlacement])
    ] = Field(
        default=[],
        min_length=1,
        description="The medium of input, intermediate data and output; by default each medium takes all of them. "
        "Embedded only.",
    )
    zero_delay_baseline: Annotated[bool, Field(strict=True)] = Field(
        default=False,
        description="Whether each combination also runs on a drive without delays, as the placement "
        f"`{ZERO_DELAY}`. The time above that is what storage costs ([below](#the-zero-delay-baseline)). Emulated "
        "drives only.",
    )
    worth: Percentage = Field(
        default=DEFAULT_WORTH,
        json_schema_extra={"default": f"{DEFAULT_WORTH:.0%}"},
        description="Your threshold: how much of the time a placement must save to be worth it, as a percentage "
        "between 0 and 90, such as `10%`.",
    )
    placement_check: Literal["doubt", "error"] = Field(
        default="doubt",
        description="Whether bytes that [landed elsewhere](#where-bytes-landed) raise a doubt or make the trial fail.",
    )
    settings: Annotated[list[str], BeforeValidator(one_or_many, json_schema_input_type=str | list[str])] = Field(
        default=["defaults"],
        min_length=1,
        description="Settings profiles, which are named sets of Hadoop properties: `stock`, `defaults`, "
        "`containers`, `customs`, `small` and others (see [settings](settings.md)), or your own under "
        "`profiles`.",
    )
    profiles: Mapping[Label, Profile] = Field(
        default={}, description="Your own settings profiles. A profile with a shipped name replaces the shipped one."
    )
    hadoop: Mapping[str, Levels] = Field(
        default={},
        description="Hadoop properties for all trials. They override the profiles. A list of levels makes a "
        "property a factor.",
    )
    replication: Annotated[list[Copies], BeforeValidator(one_or_many, json_schema_input_type=Copies | list[Copies])] = (
        Field(
            default=[],
            min_length=1,
            description="Copies that HDFS keeps of each block (`dfs.replication`). The embedded cluster has one "
            "DataNode and always keeps one copy; asking for more raises a doubt.",
        )
    )
    cluster: OneCluster = Field(default=ClusterSpec(), description="Which cluster to run on.")
    memory: Annotated[list[Bytes], BeforeValidator(one_or_many, json_schema_input_type=Bytes | list[Bytes])] = Field(
        default=[],
        min_length=1,
        description="Bounds of the cluster's memory, page cache included ([below](#memory-and-cpus)); by default no"
        " bound. Embedded only.",
    )
    cpus: Annotated[list[Cpus], BeforeValidator(one_or_many, json_schema_input_type=Cpus | list[Cpus])] = Field(
        default=[],
        min_length=1,
        description="Bounds of the cluster's processor time, in cores ([below](#memory-and-cpus)); by default no "
        "bound. Embedded only.",
    )
    cache: Annotated[
        list[CacheState], BeforeValidator(one_or_many, json_schema_input_type=CacheState | list[CacheState])
    ] = Field(
        default=["cold"],
        min_length=1,
        description="State of the page cache when the jobs start (see [below](#cache)).",
    )
    probes: Annotated[
        list[Measuring], BeforeValidator(one_or_many, json_schema_input_type=Measuring | list[Measuring])
    ] = Field(
        default=["default"],
        min_length=1,
        description="Whether [probes](probes.md) measure the trial. With `capture` the network's bytes by purpose "
        "come from [tshark](../how-to/capture-packets.md). Name several levels to see what probes cost."
        " An existing cluster has no probes.",
    )
    design: Literal["grid", "one-at-a-time"] = Field(
        default="grid",
        description="Which combinations of levels there are ([below](#factors-and-their-combinations)): all of them, "
        "or one factor changed at a time from `base`.",
    )
    base: Mapping[str, Text] = Field(
        default={},
        description="For `one-at-a-time`: the factors to change one at a time, each with its level while another "
        "factor changes. All other factors are combined with each of these.",
    )
    zip: Zipped = Field(
        default=[],
        description="Lists of factors whose levels go together, first with first, second with second. Zipped "
        "factors must have the same number of levels.",
    )
    exclude: Annotated[
        list[Combined], BeforeValidator(one_or_many, json_schema_input_type=Combined | list[Combined])
    ] = Field(
        default=[],
        description="Combinations to leave out: those with all the levels of one of these maps. A list of levels "
        "stands for any of them.",
    )
    repetitions: Whole = Field(
        default=1,
        ge=1,
        le=10_000,
        description="How often each combination runs. With 1, in the interleaved order, nothing can be significant.",
    )
    warm_up: Whole = Field(
        default=0,
        ge=0,
        le=1000,
        description="The number of trials that run before all others, to warm up the machine. They are recorded and"
        " marked, and count in no figure.",
    )
    order: Literal["interleaved", "mirrored"] = Field(
        default="interleaved",
        description="With `mirrored` each repetition runs the placements in one order and then in reverse, with the"
        " zero-delay baseline once in the middle (hdd, ssd, zero-delay, ssd, hdd), so that steady drift"
        " of the machine cancels. See [below](#order).",
    )
    seed: Whole = Field(default=1, ge=0, le=MOST_SEED, description="The seed of the order of the trials.")

    @model_validator(mode="after")
    def _media_belong_to_the_cluster(self) -> "ExperimentFile":
        if self.cluster.kind == "existing":
            given = [name for name in ("media", "placement", "memory", "cpus") if getattr(self, name)]
            if given:
                raise ValueError(
                    f"{given[0]} can't be chosen on an existing cluster: its data and limits are its own; "
                    f"leave {given[0]} out"
                )
            if "placement_check" in self.model_fields_set:
                raise ValueError(
                    "placement_check belongs to a cluster of Assay's own: on an existing one nobody looks where bytes "
                    "land; leave placement_check out"
                )
            if named := next((one for one in self.probes if one in PROBE_SETS), None):
                raise ValueError(f"probes: there are none on an existing cluster, and so no {named}; leave probes out")
            own = sorted({"starts", "memory_mb", "vcores"} & self.cluster.model_fields_set)
            if own:
                raise ValueError(
                    f"cluster: {own[0]} belongs to a cluster of Assay's own, and this one is there already; leave "
                    f"{own[0]} out"
                )
            if self.cluster.conf_dir is None:
                raise ValueError("an existing cluster needs conf_dir, the directory of its Hadoop configuration")
        elif not self.media:
            raise ValueError("media is missing: name at least one, e.g. media: {disk: directory}")
        return self

    @model_validator(mode="after")
    def _a_baseline_needs_emulated_drives(self) -> "ExperimentFile":
        if ZERO_DELAY in self.media or ZERO_DELAY in [entry.name for entry in self.placement]:
            raise ValueError(
                f"{'media' if ZERO_DELAY in self.media else 'placement'}: the name {ZERO_DELAY!r} is reserved for the "
                "baseline; choose another, and say `zero_delay_baseline: true` for the baseline itself"
            )
        if not self.zero_delay_baseline:
            return self
        if self.cluster.kind == "existing":
            raise ValueError(
                "zero_delay_baseline is not possible on an existing cluster: its data stay on its own disks, and Assay "
                "can't take their delays away; leave it out, and the report gives an upper bound where it can"
            )
        real = next((name for name, medium in self.media.items() if medium.kind != "emulated"), None)
        if real is not None:
            raise ValueError(
                f"zero_delay_baseline needs emulated drives, and the medium {real!r} is a {self.media[real].kind}: a "
                "drive without delays is comparable only with drives behind the same emulator; leave it out, or "
                "emulate that medium too (`assay media calibrate --profile-to` makes its profile)"
            )
        return self

    @model_validator(mode="after")
    def _one_word_for_copies(self) -> "ExperimentFile":
        if self.replication and COPIES in self.hadoop:
            raise ValueError(f"replication and {COPIES} (under hadoop) are the same; keep one of them")
        return self

    @model_validator(mode="after")
    def _placements_name_media(self) -> "ExperimentFile":
        for entry in self.placement:
            for role in ROLES:
                for medium in getattr(entry, role):
                    if medium not in self.media:
                        raise ValueError(
                            f"placement: {role} names the medium {medium!r}, and media has {', '.join(self.media)}"
                        )
        return self
