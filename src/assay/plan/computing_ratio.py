"""How much a job computes for each second that its drives work: what decides beside the page cache on what they cost.

A sample meets its drives as the whole does where both ratios match, that of data to page cache (`data_ratio`) and that
of computing to drives: (processor seconds per byte / processors) / (drive seconds per byte / drives). A site's history
has the first half of it, a trial without storage delays that of the sample.
"""

from collections.abc import Mapping
from typing import NamedTuple

from assay.model.errors import BadInputError
from assay.plan.experiment import LEAST_AGE_S, MOST_AGE_S
from assay.plan.job_experiment import speed_of

START_CPU_S = 1.0
"""Processor time of the start of a task's process, which its counters leave out: about a second, assumed."""
MOST_OF_STARTS = 0.1
"""So much of the tasks' own processor time their starts may take, or a sample tells little of its whole."""
MOST_SLOWDOWN = 100
"""As of an emulated medium."""
_LEAST_CPUS = 0.1
"""A cluster with less does not run."""
_LEAST_WHOLE = 0.9
"""What is nearer to 1 needs no bound of the processors."""


class Computing(NamedTuple):
    """What a job's tasks did: their processor time by its counters, and bytes read of file systems.

    `tasks` are those that had a process of their own, whose start no counter has. `elapsed_s` is how long the job took.
    """

    cpu_s: float
    tasks: int
    read_bytes: float
    elapsed_s: float

    @property
    def s_per_gb(self) -> float:
        """Processor seconds for each GB (1e9 bytes) that they read, with their starts."""
        return 1e9 * (self.cpu_s + self.tasks * START_CPU_S) / self.read_bytes

    @property
    def starts_share(self) -> float:
        """What their starts took, over their own processor time."""
        return self.tasks * START_CPU_S / self.cpu_s


class Processors(NamedTuple):
    """How many processors a node of the site has for the job, None where nobody knows; and who says so."""

    number: float | None = None
    source: str = ""


class NodeDrives(NamedTuple):
    """How many drives a node has of today's kind, and would have of the other; the rate of one of today's; both kinds.

    The rate is of sequential reads, in MB/s, None where its profile does not say.
    """

    today: int = 1
    other: int = 1
    rate_mb_s: float | None = None
    today_kind: str = "hdd"
    other_kind: str = "ssd"

    @property
    def parts(self) -> int:
        """Into how many equal parts a node is divided, one of which a test stands for: each has a drive or less."""
        return max(self.today, self.other)


class DriveSpeed(NamedTuple):
    """How slow a test's drives are made, and why.

    `today` and `other` are options of both drives; `cpus` bounds the processors where the drives would have to be
    faster than they are. `write_back_age_s` is to the sample's time as the kernel's 30 s are to the job's, None where
    either is not known. `lines` say in sentences what was matched.
    """

    today: Mapping[str, float]
    other: Mapping[str, float]
    cpus: float | None
    write_back_age_s: float | None
    lines: tuple[str, ...]

    @property
    def experiment_lines(self) -> list[str]:
        """What an experiment says of it beside its drives."""
        age_s = self.write_back_age_s
        return [
            *([] if self.cpus is None else [f"cpus: {self.cpus:g}"]),
            *([] if age_s is None else [f"write_back_age: {round(1000 * age_s)}ms"]),
        ]


def drive_speed(
    site: Computing | None, sample: Computing | None, processors: Processors, drives: NodeDrives, here: float,
    *, is_memory_bounded: bool = True,
) -> DriveSpeed:  # fmt: skip
    """Match computing to drives: `site` is the whole job there, `sample` a trial without delays on `here` processors.

    What is None is not known: a byte is then taken to need as much computing here as there. Without a bound of memory
    data wait as long as on this machine. Raises BadInputError where drives would have to be slower than an emulated
    drive can be.
    """
    a_part = None if processors.number is None else processors.number / drives.parts
    factor = sample.s_per_gb / site.s_per_gb if sample is not None and site is not None else 1.0
    exact = factor if a_part is None else factor * a_part / here
    cpus = max(_LEAST_CPUS, float(f"{here * exact:.2g}")) if exact < _LEAST_WHOLE else None
    slowdown = exact if cpus is None else 1.0
    today = speed_of(drives.today_kind, slowdown, drives.parts / drives.today)
    other = speed_of(drives.other_kind, slowdown, drives.parts / drives.other)
    _refuse_too_slow("today's drive", today)
    _refuse_too_slow("the other drive", other)
    lines = [_of_bytes(site, sample), _of_processors(a_part, processors.source, drives, here)]
    if site is not None and a_part is not None and drives.rate_mb_s:
        drive_s_per_gb = 1000 / drives.rate_mb_s * drives.parts / drives.today
        there = site.s_per_gb / a_part / drive_s_per_gb
        times = today.get("slowdown", 1) * today.get("shared_by", 1)
        of_sample = factor * site.s_per_gb / (cpus or here) / (times * 1000 / drives.rate_mb_s)
        lines.append(
            f"for each second that a drive of today takes to read the input, a node of yours computes for {there:.2g} "
            f"s, and the sample for {of_sample:.2g} s"
        )
    fewer = "" if cpus is None else f"the test uses {cpus:g} of the {here:g} processors here, and "
    lines.append(f"so {fewer}{_of_drives(today, other)}")
    if sample is not None and sample.starts_share > MOST_OF_STARTS:
        lines.append(
            f"this sample is too small: the starts of its {sample.tasks:,} tasks take about "
            f"{sample.starts_share:.0%} of the processor time of their own work, and should take at most "
            f"{MOST_OF_STARTS:.0%}; take a larger --sample, or longer tasks (a larger dfs.blocksize)"
        )
    age_s = None
    if site is not None and sample is not None and site.elapsed_s and is_memory_bounded:
        age_s = min(MOST_AGE_S, max(LEAST_AGE_S, MOST_AGE_S * sample.elapsed_s / site.elapsed_s))
        lines.append(
            f"data wait in the page cache for at most {age_s:.2g} s before they are written, which are to the sample's "
            f"{sample.elapsed_s:.0f} s as Linux' {MOST_AGE_S:g} s are to the job's {site.elapsed_s:,.0f} s"
        )
    return DriveSpeed(today, other, cpus, age_s, tuple(lines))


def _of_bytes(site: Computing | None, sample: Computing | None) -> str:
    if site is None:
        return (
            "a byte is assumed to take as much computing on your nodes as here; --history tells, by the processor time "
            "of the job's last run"
        )
    there = f"a GB that the job reads takes {site.s_per_gb:.3g} s of a processor on your nodes"
    if sample is None:
        return f"{there}, and is assumed to take as long here; run-job measures that before it runs an experiment"
    return f"{there}, and {sample.s_per_gb:.3g} s here"


def _of_processors(a_part: float | None, source: str, drives: NodeDrives, here: float) -> str:
    if a_part is None:
        return (
            f"as many processors are assumed to share a drive on your nodes as here ({here:g}); --cores tells how "
            "many a node has"
        )
    share = "a drive" if drives.parts == 1 else f"1/{drives.parts} of a node's drives"
    return f"{a_part:.3g} processors share {share} on your nodes ({source}), and {here:g} here"


def _refuse_too_slow(drive: str, speed: Mapping[str, float]) -> None:
    times = max(speed.values(), default=1)
    if times > MOST_SLOWDOWN:
        raise BadInputError(
            f"{drive} would have to be {times:.0f} times slower, for the processors that share it on your nodes, and "
            f"an emulated drive can be at most {MOST_SLOWDOWN} times slower; use a machine with more processors, or "
            "name fewer drives"
        )


def _of_drives(today: Mapping[str, float], other: Mapping[str, float]) -> str:
    if today != other:
        return f"today's drive {_of_drive(today)}, and the other {_of_drive(other)}"
    return f"the drives are {today['slowdown']:g} times slower" if today else "the drives have their own speed"


def _of_drive(speed: Mapping[str, float]) -> str:
    slower = f"is {speed['slowdown']:g} times slower" if "slowdown" in speed else ""
    shared = f"has 1/{speed['shared_by']:.3g} of its rates" if "shared_by" in speed else ""
    return " and ".join(filter(None, (slower, shared))) or "has its own speed"
