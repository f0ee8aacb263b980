"""Faults: what goes wrong on one worker of a trial's cluster, and what that left."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from pydantic import BeforeValidator, Field, model_validator

from assay.model.base import Frozen, Whole
from assay.model.quantity import Kind, KnownCount

NO_FAULT = "none"
"""The level of trials in which nothing goes wrong: what all others are compared with."""

NODE, DRIVE, LINK = "node", "drive", "link"
"""What a fault may be about besides the daemon of a role."""

STAGING = "staging"
"""In place of a job's stage: the input's bytes on their way into the store."""

MOST_TIMES_SLOWER = 100

_PHASE = re.compile(r"(?:(?P<job>.+) )?(?P<stage>[A-Za-z][\w-]*(?: \d+)?) (?P<percent>\d{1,3}) ?%")
_NO_PHASE = "`kill` needs `at`, the progress of a stage from 0% to 100%, such as `at: map 50%`"


class Phase(Frozen):
    """When a stage of a job is done to so many percent; without a job's name that of the first job to get there."""

    job: str = ""
    stage: str
    percent: int = Field(ge=0, le=100)

    def __str__(self) -> str:
        return f"{self.job} {self.stage} {self.percent}%".strip()


def _phase(value: Any) -> Any:
    """A phase as experiments write it."""
    if value is None or isinstance(value, Phase | Mapping):
        return value
    match = _PHASE.fullmatch(str(value))
    if value and (match is None or int(match["percent"]) > 100):
        raise ValueError(_NO_PHASE)
    return match and {"job": match["job"] or "", "stage": match["stage"], "percent": int(match["percent"])}


class Fault(Frozen):
    """A fault: one process, or one node, that is killed, or a drive or link that is slow. Always of one worker."""

    kill: str = ""
    """What is killed (SIGKILL): a daemon that each worker has, by its role, or all of the `node`: its daemons, its
    containers and its links. Containers that a killed daemon has started go on."""
    slow: Literal["drive", "link"] | None = None
    """What is slow from the cluster's start on: `drive` is all emulated drives of the worker, `link` its links."""
    on: Whole = Field(ge=1)
    """The worker's number, from 1."""
    at: Annotated[Phase | None, BeforeValidator(_phase, json_schema_input_type=str)] = None
    """Of a kill: when, as the progress of a job's stage, such as `map 50%`. With a job's name before it (`sort map
    50%`) it counts in that job, else in the first that gets there. Or `staging 50%`: when the store's client was given
    so much of the input."""
    factor: Whole = Field(default=1, ge=1, le=MOST_TIMES_SLOWER)
    """Of what is slow: how many times slower, from 2 to 100."""

    @model_validator(mode="after")
    def _one_thing_is_said_whole(self) -> "Fault":
        if bool(self.kill) == bool(self.slow):
            raise ValueError("a fault has either `kill` or `slow`")
        if self.kill and not self.at:
            raise ValueError(_NO_PHASE)
        if self.kill and self.factor != 1:
            raise ValueError("`factor` belongs to `slow`; leave it out")
        if self.slow and self.at:
            raise ValueError("`at` belongs to `kill`: what is slow is so from the cluster's start on; leave it out")
        if self.slow and self.factor == 1:
            raise ValueError("`slow` needs `factor`, how many times slower, from 2 to 100")
        return self

    @property
    def worker(self) -> str:
        """The name of the node."""
        return worker_name(self.on)

    @property
    def level(self) -> str:
        """Its text in tables: `kill node on 2 at map 50%`, `slow drive on 2 by 4`."""
        if self.kill:
            return f"kill {self.kill} on {self.on} at {self.at}"
        return f"slow {self.slow} on {self.on} by {self.factor}"

    def slows(self, target: str, worker: int) -> int:
        """How many times slower it makes the drives or links of a worker; 1 where it does not."""
        return self.factor if (self.slow, self.on) == (target, worker) else 1


def worker_name(number: int) -> str:
    """What a worker is called, as a host and in figures."""
    return f"worker-{number}"


def worker_number(name: str) -> int:
    """The number in a worker's name; of the only node of a cluster, which has no name, 1."""
    return int(name.removeprefix("worker-") or 1)


def fault_level(fault: Fault | None) -> str:
    """A fault, or none, as tables show it."""
    return NO_FAULT if fault is None else fault.level


class StageProgress(NamedTuple):
    """How far a running job is: the percentage that is done of each stage, as the engine's client tells it."""

    job: str
    percent: Mapping[str, int]


class Redundancy(Frozen):
    """How many copies a store's blocks have when the jobs have ended."""

    copies_lost: int
    """Blocks of which a copy lies with the killed daemon."""
    under_replicated_blocks: int
    """Blocks with fewer copies than wanted, as far as the store knows. With Hadoop's own timers it counts a daemon as
    dead after 10.5 minutes."""
    missing_blocks: int
    """Blocks without any copy, as far as the store knows."""
    dead_datanodes: int
    """Daemons with blocks that the store counts as dead."""


class Kept(Frozen):
    """What a store that has lost a daemon still has of the input."""

    taken: int
    """Lines that it had taken when the input was staged."""
    missing: int
    """Those of them that are not there when the jobs have ended."""


class FaultReport(Frozen):
    """What a trial's fault did."""

    struck_ms: Annotated[int | None, Kind.MOMENT] = None
    """When it struck, in milliseconds since the epoch; of what is slow all the time the beginning of the run. Null if
    the trial never got to its phase: it then is excluded from all results."""
    job: str = ""
    """The job that it struck; empty while the input was staged."""
    progress: Mapping[str, int] = {}
    """How far that job, or the staging, was then: percent by stage, as last heard of."""
    processes: Mapping[str, int] = {}
    """The killed processes: ids by the daemon's role; the containers of a killed node are not among them."""
    containers: KnownCount = None
    """Containers that ran on the worker when a process was killed. Those of a killed node end with it; those that a
    killed daemon has started go on, and nobody can be asked for their output. Null if nothing was killed."""
    log: tuple[str, ...] = ()
    """The killed daemons' last log lines, the daemon's role before each."""
    lost_attempts: KnownCount = None
    """Task attempts on the worker that failed, were killed, or had their output lost after the fault struck. Null if
    the job's history was not read."""
    repeated_tasks: KnownCount = None
    """Tasks of which a further attempt began after the fault struck. Null as before."""
    redundancy: Redundancy | None = None
    """The copies of blocks when the jobs had ended; null if no daemon of the store that keeps data was killed, or
    nobody could be asked."""
    kept: Kept | None = None
    """The input's lines when the jobs had ended; null if no daemon of the store was killed, or the store counts none.
    Missing lines fail the trial."""


class Injector(Protocol):
    """What makes a trial's fault happen."""

    def stage(self, size_bytes: int) -> None:
        """Begin to watch the staging of an input of which the store's client will be given so many bytes."""

    def arm(self) -> None:
        """Begin to watch for its phase, as the measured jobs begin."""

    def report(self) -> FaultReport:
        """What it has done so far; what only history and store can tell is left out."""
