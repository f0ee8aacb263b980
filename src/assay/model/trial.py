"""Plans and trials: what an experiment asks for, as data."""

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal

from assay.model.base import Frozen
from assay.model.cluster import ClusterSpec
from assay.model.dataset import DatasetSpec
from assay.model.doubt import Doubt
from assay.model.noise import SHIPPED_PRIOR, NoisePrior
from assay.model.placement import Placement


class WorkloadSpec(Frozen):
    """Which computation a trial runs: a named workload, its variant, its options, and Hadoop properties of its own."""

    name: str
    variant: str = "paper"
    options: Mapping[str, str] = {}
    hadoop: Mapping[str, str] = {}

    @property
    def own(self) -> str:
        """Options and Hadoop properties in one line: what tells two entries of the same workload apart."""
        return self.own_but(())

    def own_but(self, factors: Collection[str]) -> str:
        """The same without the Hadoop properties that are factors of their own."""
        hadoop = {name: value for name, value in self.hadoop.items() if name not in factors}
        return " ".join(f"{name}={value}" for name, value in sorted({**self.options, **hadoop}.items()))


class MediumSpec(Frozen):
    """Which medium a trial keeps bytes on.

    `directory` is any place on a mounted file system (`path`; the disk under the working directory when absent).
    `memory` is a tmpfs, of `size_bytes` where given. `emulated` is a drive that behaves as `profile` says (a shipped
    profile's name, or the path of a profile file), with `file_system` on its first `size_bytes` (all of the drive when
    absent); its backing file lies in `path` (among Assay's own parts when absent), and all that it does takes
    `slowdown` times as long. `existing` stands for whatever an existing cluster keeps its data on.
    """

    name: str
    kind: Literal["directory", "memory", "emulated", "existing"]
    path: Path | None = None
    size_bytes: int | None = None
    profile: str | None = None
    file_system: Literal["ext4", "xfs"] = "ext4"
    slowdown: int = 1


class SettingsSpec(Frozen):
    """A named set of Hadoop properties."""

    name: str
    properties: Mapping[str, str] = {}


DEFAULT_PROBES, NO_PROBES = "default", "none"
"""The levels of `probes` that need no plug-in."""


class Trial(Frozen):
    """One run of one combination of factors. `id` is unique in its plan and names the trial's folder.

    `media` are those that the placement names, each once. With `strict_placement` bytes that landed elsewhere make
    the trial fail instead of raising a doubt. `levels` are those of the experiment's further factors by name: Hadoop
    properties with several levels, and `replication`; they are among the trial's properties too. A `warm_up` trial is
    recorded and counts in no figure. A `zero_delay` trial is the baseline of an experiment: all its roles are on a
    drive without delays, which is no drive to buy.
    """

    id: str
    workload: WorkloadSpec
    dataset: DatasetSpec
    media: tuple[MediumSpec, ...]
    placement: Placement
    strict_placement: bool = False
    settings: SettingsSpec
    cluster: ClusterSpec
    cache: Literal["cold", "warm"]
    probes: str = DEFAULT_PROBES
    repetition: int
    levels: Mapping[str, str] = {}
    warm_up: bool = False
    zero_delay: bool = False

    @cached_property
    def factors(self) -> Mapping[str, str]:
        """The levels of this trial's factors, by the names that tables and reports use."""
        return {
            "workload": self.workload.name,
            "variant": self.workload.variant,
            "options": self.workload.own_but(self.levels),
            "dataset": self.dataset.name,
            "placement": self.placement.name,
            "settings": self.settings.name,
            "memory": memory_level(self.cluster.limit_memory_bytes),
            "cpus": cpus_level(self.cluster.limit_cpus),
            "cache": self.cache,
            "probes": self.probes,
            **self.levels,
        }


def cpus_level(count: float | None) -> str:
    """A bound of processor time, in cores, as tables show it."""
    return "all" if count is None else f"{count:g}"


def memory_level(count: int | None) -> str:
    """A bound of memory, in bytes, as tables show it and people write it."""
    if count is None:
        return "all"
    gib, mib = count / (1 << 30), count / (1 << 20)
    return f"{gib:g}GiB" if gib == int(gib) else f"{mib:g}MiB"


ZERO_DELAY = "zero-delay"
"""The name of the baseline's placement and medium, reserved for it."""

DEFAULT_WORTH = 0.10


class Plan(Frozen):
    """All trials of an experiment, in the order in which they run; `doubts` go with all of them.

    `options` are those that the command was last given beside the experiment: `--only`, `--for` and their values.
    `worth` is the reader's threshold: the share of time (0 to 0.9) that a placement must save to be worth it. `prior`
    is what is assumed of this machine's noise. `placements` are the names of what is compared, in the experiment's
    order: the first is what the others are compared with (empty in plans of before: the first in the alphabet).
    `next` is what the experiment's author wants done after it.
    """

    schema_version: Literal[2] = 2
    experiment: str
    description: str
    seed: int
    trials: tuple[Trial, ...]
    doubts: tuple[Doubt, ...] = ()
    options: tuple[str, ...] = ()
    worth: float = DEFAULT_WORTH
    prior: NoisePrior = SHIPPED_PRIOR
    placements: tuple[str, ...] = ()
    next: str = ""


class Estimate(Frozen):
    """What a trial is expected to need. Bytes on the medium, resident memory, seconds of elapsed time.

    `records` is of how many earlier trials like it the time is the median; 0 where it was reckoned.
    """

    disk_bytes: int
    memory_bytes: int
    seconds: float
    records: int = 0
