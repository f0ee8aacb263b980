"""Past jobs as commands read them: the options that name histories and the nodes, and all that these tell."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial, wraps
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from assay.cli.context import OptionOfSeveralNames, Size, UserPath, WholeNumber, find_installation
from assay.engine.past import example as example_site
from assay.engine.past.applications import Application, read_applications
from assay.engine.past.histories import Histories, merged
from assay.engine.past.job import PastJob
from assay.engine.past.server import from_server
from assay.engine.past.taken_over import container_bytes
from assay.host.http import Authorize, BoundedWeb, Bounds
from assay.model.cluster import ExistingSpec
from assay.model.drive_profile import SHORT_NAMES
from assay.model.errors import BadInputError
from assay.model.naming import bytes_text
from assay.model.store import names_store
from assay.platform.configuration import read_site
from assay.platform.existing import login_of
from assay.store.hadoop_fs import HadoopFs
from assay.triage.busy import DriveTimes, MeasuredDrives, measurable, too_short
from assay.triage.coverage import Coverage, coverage
from assay.triage.drives import HOW, Drives, drives_by_role
from assay.triage.folder import in_folder, in_hadoop
from assay.triage.following import TypedTriage, worth_options
from assay.triage.prometheus import ask_prometheus
from assay.triage.ranking import Batch, DriveSite
from assay.triage.reasons import refuted_cores
from assay.triage.sar_files import files_of, read_sar

ASSUMED_DRIVES = "1xhdd"
"""The slowest that a node may have: what holds for it holds for any other."""
_SINCE = re.compile(r"([1-9][0-9]{0,4}) ?(h|d|w)")
_HOURS = {"h": 1, "d": 24, "w": 168}
_BOUNDS = Bounds(per_second=100.0, timeout_s=60.0, most_bytes=256 << 20)


class Since(click.ParamType[int]):
    """`7d`, `36h`, `2w` or a date: milliseconds since the epoch."""

    name = "since"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Fails on anything else."""
        if isinstance(value, int):
            return value
        match = _SINCE.fullmatch(str(value).strip())
        if match is not None:
            return int((time.time() - int(match[1]) * _HOURS[match[2]] * 3600) * 1000)
        try:
            return int(datetime.fromisoformat(str(value)).timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            self.fail(f"{value!r} is no time; write it as 7d, 36h, 2w or 2026-11-18", param, ctx)


class AskedJobs(NamedTuple):
    """What options say of past jobs and their nodes; sizes are in bytes, `since` is in milliseconds."""

    history: tuple[str, ...]
    example: bool
    since: int
    prometheus: str | None
    sar: tuple[Path, ...]
    applications: Path | None
    cluster: Path | None
    drives: str | None
    cores: int | None
    node_memory: int | None
    container_memory: int | None

    @property
    def places(self) -> list[str]:
        """The options that say where histories are, as they are typed again."""
        return [*typed_histories(self.history), *(["--cluster", str(self.cluster)] if self.cluster else [])]

    @property
    def others(self) -> list[str]:
        """The other options, as they are typed again."""
        since = datetime.fromtimestamp(self.since / 1000).astimezone().isoformat(timespec="seconds")
        given = {
            "--applications": str(self.applications) if self.applications else None,
            "--since": since if self.since else None, "--prometheus": self.prometheus, "--drives": self.drives,
            "--cores": str(self.cores) if self.cores else None, "--node-memory": _mebibytes(self.node_memory),
            "--container-memory": _mebibytes(self.container_memory),
        }  # fmt: skip
        of_sar = [word for file in self.sar for word in ("--sar", str(file))]
        return of_sar + [word for option, value in given.items() if value is not None for word in (option, value)]


def past_jobs_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that read past jobs; the command gets what they say as `asked`."""

    @wraps(command)
    def with_asked(*arguments: Any, **values: Any) -> Any:
        asked = AskedJobs(**{name: values.pop(name) for name in AskedJobs._fields})
        check_named(asked.history, example=asked.example)
        if asked.sar and asked.prometheus:
            raise click.UsageError("name either --sar or --prometheus: both tell how busy the drives were")
        return command(*arguments, asked=asked, **values)

    options = (
        click.option(
            "--history", "history", multiple=True, metavar="PLACE",
            help="Job histories or event logs: a folder or file here, hdfs:/FOLDER, or a JobHistoryServer's address; "
            "several may be named.",
        ),
        click.option(
            "--example", is_flag=True,
            help=f"Write a made history of forty jobs into {example_site.FOLDER}/ and take those.",
        ),
        click.option(
            "--since", type=Since(), default=0, help="Only jobs that ended since then: 7d, 36h, 2w or a date."
        ),
        click.option("--prometheus", metavar="URL", help="A Prometheus that scrapes the nodes' node_exporters."),
        click.option(
            "--sar", "sar", type=UserPath(), multiple=True, metavar="FILE",
            help="What `sar -d -p`, `sadf -d` or `iostat -x -t` printed on the nodes: a file, or a folder of such; "
            "several may be named.",
        ),
        click.option(
            "--applications", type=UserPath(), metavar="FILE",
            help="The ResourceManager's list of applications (the JSON of /ws/v1/cluster/apps), to say how much was "
            "read.",
        ),
        click.option(
            "--cluster", type=UserPath(), metavar="CONF_DIR",
            help="The cluster's Hadoop configuration, for its file systems and logins.",
        ),
        click.option(
            "--drives", metavar="COUNTxDRIVE",
            help=f"The drives that each node had when the jobs ran: {HOW}. By default {ASSUMED_DRIVES}.",
        ),
        click.option(
            "--cores", "--node-cores", cls=OptionOfSeveralNames, type=WholeNumber(1, 10_000),
            help="Hardware threads of each node, as `nproc` counts them, if no Prometheus says so.",
        ),
        click.option("--node-memory", type=Size(), help="Memory of each node, if no Prometheus says so."),
        click.option(
            "--container-memory", type=Size(), help="How much of that containers may take, if no history says so."
        ),
    )  # fmt: skip
    wrapped: Callable[..., Any] = with_asked
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def check_named(places: Sequence[str], *, example: bool) -> None:
    """Raises UsageError unless histories are named, or those of the made site are asked for."""
    if example == bool(places):
        raise click.UsageError("name histories with --history PLACE, or give --example for made ones")


class PastJobs(NamedTuple):
    """Past jobs, and all that is known of the nodes on which they ran.

    `by_role` are a node's drives. `memory` is that of a node, and what containers may take of it, in bytes, if known.
    `assumed` says what was assumed because nothing said it. `listed` are all applications of the cluster, if asked for.
    """

    asked: AskedJobs
    jobs: list[PastJob]
    histories: Histories
    site: DriveSite
    by_role: Mapping[str, Drives]
    busy: MeasuredDrives | None
    memory: tuple[int | None, int | None]
    assumed: list[str]
    listed: Sequence[Application]

    def coverage(self, batch: Batch) -> Coverage | None:
        """How much of what the cluster ran meanwhile the histories tell of; None without a list of that."""
        return coverage(self.listed, self.jobs, batch.began_ms, batch.ended_ms) if self.listed else None

    def typed(self, worth: float) -> TypedTriage:
        """What was typed, to be typed again."""
        threads = None
        if not refuted_cores([job for job in self.jobs if job.counts], self.site.cores):
            threads = self.site.cores
        return TypedTriage(
            self.asked.places, [*self.asked.others, *worth_options(worth)],
            self.by_role if self.asked.drives else {}, *self.memory, threads, worth,
            wants_busy=self.busy is None and not self.asked.example
            and any(job.counts and job.all_nodes for job in self.jobs),
        )  # fmt: skip


def read_past_jobs(asked: AskedJobs, progress: Console) -> PastJobs:
    """All that options name. Raises BadInputError, and what reading a file does."""
    listed = read_applications(asked.applications) if asked.applications else []
    sar_files = files_of(asked.sar)
    if asked.example:
        example_site.write_example(example_site.FOLDER)
        asked = asked._replace(
            history=(str(example_site.FOLDER),), drives=asked.drives or example_site.DRIVES,
            cores=asked.cores or example_site.CORES,
        )  # fmt: skip
    by_role = drives_by_role(asked.drives or ASSUMED_DRIVES, find_installation().profiles)
    web = BoundedWeb(bounds=_BOUNDS, authorize=login_for(asked.cluster))
    try:
        with reading_progress(progress) as bar:
            jobs = list(
                read_jobs(histories := find_histories(asked.history, asked.since, asked.cluster, web, bar), bar)
            )
            busy = (
                read_sar(sar_files, measurable(jobs, "--sar")) if asked.sar else _ask(asked.prometheus, jobs, web, bar)
            )
    finally:
        web.close()
    site, memory = _site(jobs, by_role, asked, busy)
    assumed = [*_assumed_drives(asked.drives, by_role)]
    assumed += [*busy.remarks, *too_short(busy, measurable(jobs, busy.source))] if busy else ()
    return PastJobs(asked, jobs, histories, site, by_role, busy, memory, assumed, listed)


def _assumed_drives(named: str | None, by_role: Mapping[str, Drives]) -> Iterator[str]:
    """What was assumed of the drives that options name, or do not."""
    if not named:
        yield f"each node has one hard disk, the slowest that it may have: say what it has with --drives ({HOW})"
    for drives in dict.fromkeys(by_role.values()):
        short = drives.option.partition("x")[2]
        if short in SHORT_NAMES and re.search(rf"x{short}\b", named or ""):
            yield (
                f"{short} is a {drives.name} (`assay media show {drives.profile}`): name your own drive's profile in "
                "its place"
            )


def _site(
    jobs: Sequence[PastJob], drives: Mapping[str, Drives], typed: AskedJobs, busy: MeasuredDrives | None
) -> tuple[DriveSite, tuple[int | None, int | None]]:
    """All that is known of the nodes, their memory and their containers'. Raises BadInputError for what can't be."""
    cores, node_memory, container_memory = typed.cores, typed.node_memory, typed.container_memory
    named = sum(of.number for of in set(drives.values())) if typed.drives else 0
    if cores and (refuted := refuted_cores([job for job in jobs if job.counts], cores)):
        raise BadInputError(f"--cores {cores}: {refuted}; count them as `nproc` does, or leave --cores out")
    site = DriveSite(drives, cores)
    if busy is not None:
        site = DriveSite(drives, cores or busy.cores, DriveTimes(busy, measurable(jobs, busy.source), named).of)
        node_memory = node_memory or min(map(int, busy.memory.values()), default=None)
    container_memory = container_memory or max(
        filter(None, (container_bytes(job.settings) for job in jobs)), default=None
    )
    if typed.container_memory and node_memory is None:
        raise BadInputError("--container-memory tells nothing alone: say with --node-memory how much memory a node has")
    if typed.node_memory and container_memory is None:
        raise BadInputError(
            "--node-memory tells nothing alone: say with --container-memory what containers may take of it"
        )
    if node_memory is None or container_memory is None:
        return site, (node_memory, container_memory)
    if container_memory >= node_memory:
        raise BadInputError(
            f"containers may take {bytes_text(container_memory)} of a node's {bytes_text(node_memory)}, which leaves "
            "no memory for files; say with --container-memory what they take in fact"
        )
    return site._replace(cache_bytes=node_memory - container_memory), (node_memory, container_memory)


def _ask(prometheus: str | None, jobs: Sequence[PastJob], web: BoundedWeb, bar: Progress) -> MeasuredDrives | None:
    """What a Prometheus knows of the nodes' drives, if one is named. Raises BadInputError."""
    if not prometheus:
        return None
    asked = measurable(jobs, f"--prometheus {prometheus}")
    return ask_prometheus(prometheus, web.ask, asked, _counting(bar, "asking Prometheus"))


def check_target(option: str, file: Path | None) -> None:
    """Raises BadInputError for a file that can't be written, before anything is read."""
    if file is not None and not file.parent.is_dir():
        raise BadInputError(
            f"{option} {file} can't be written: there is no folder {file.parent}; make it, or name another"
        )
    if file is not None and file.is_dir():
        raise BadInputError(f"{option} {file} is a folder; name a file in it")


def typed_histories(places: Sequence[str]) -> list[str]:
    """The options that name histories, as they are typed."""
    return [word for place in places for word in ("--history", place)]


def _mebibytes(size: int | None) -> str | None:
    return f"{size >> 20}MiB" if size else None


def login_for(cluster: Path | None) -> Authorize | None:
    """The login that the cluster's configuration wants, if any."""
    if cluster is None:
        return None
    login = login_of(ExistingSpec(conf_dir=cluster), read_site(cluster), os.environ)
    return None if login is None else login.authorization


def find_histories(
    places: Sequence[str], since_ms: int, cluster: Path | None, web: BoundedWeb, bar: Progress
) -> Histories:
    """The histories in all places that `--history` names. Raises BadInputError."""
    task = bar.add_task("looking for histories", total=None)

    def show_count(count: int) -> None:
        bar.update(task, description=f"looking for histories: {count:,} files")

    def in_place(place: str) -> Histories:
        if place.startswith(("http://", "https://")):
            return from_server(place, since_ms, web.ask, show_count)
        if place.startswith("file:"):
            return in_folder(Path(place.removeprefix("file:").replace("//", "/")), since_ms, show_count)
        if names_store(place):
            return in_hadoop(place, since_ms, hadoop_client(f"--history {place}", cluster), show_count)
        return in_folder(Path(place).expanduser(), since_ms, show_count)

    try:
        return merged(partial(in_place, place) for place in places)
    finally:
        bar.remove_task(task)


def hadoop_client(option: str, cluster: Path | None) -> HadoopFs:
    """Hadoop's own client, which an option needs. Raises BadInputError where this machine has none."""
    return HadoopFs(*hadoop_command(option, cluster))


def hadoop_command(option: str, cluster: Path | None) -> tuple[Path, Mapping[str, str]]:
    """The command of Hadoop's client, and its environment. Raises BadInputError where this machine has none."""
    home = os.environ.get("HADOOP_HOME")
    command = str(Path(home, "bin", "hadoop")) if home else shutil.which("hadoop")
    if command is None or not Path(command).is_file():
        raise BadInputError(
            f"{option} needs Hadoop's client, and there is no `hadoop` on the path or below HADOOP_HOME; "
            "set HADOOP_HOME, or copy the folder here with `hadoop fs -get` on a machine that has it"
        )
    named = {} if cluster is None else {"HADOOP_CONF_DIR": str(cluster.resolve())}
    return Path(command), {**os.environ, **named}


def read_jobs(histories: Histories, bar: Progress) -> Iterator[PastJob]:
    """Their jobs, with a bar that shows how many are read."""
    task = bar.add_task("reading histories", total=histories.total)
    for job in histories.jobs:
        yield job
        bar.advance(task)


def _counting(bar: Progress, title: str) -> Callable[[int, int], object]:
    task = bar.add_task(title, total=None)
    return lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def reading_progress(console: Console) -> Iterator[Progress]:
    """A bar on a terminal, and nothing elsewhere."""
    parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*parts, console=console, transient=True, disable=console.quiet or not console.is_terminal) as bar:
        yield bar
