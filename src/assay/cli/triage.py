"""`assay triage`: from the job histories of a site to the few jobs for which another drive could matter."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from assay.cli.console import Output
from assay.cli.context import (
    OptionOfSeveralNames,
    Percentage,
    Size,
    UserPath,
    WholeNumber,
    find_installation,
    open_console,
    output_options,
)
from assay.cli.report import emit
from assay.engine.past import example as example_site
from assay.engine.past.applications import read_applications
from assay.engine.past.histories import Histories, merged
from assay.engine.past.job import PastJob
from assay.engine.past.server import from_server
from assay.engine.past.taken_over import container_bytes
from assay.host.files import replace_text
from assay.host.http import Authorize, BoundedWeb, Bounds
from assay.model.cluster import ExistingSpec
from assay.model.drive_profile import SHORT_NAMES
from assay.model.errors import BadInputError
from assay.model.naming import bytes_text
from assay.model.store import names_store
from assay.model.trial import DEFAULT_WORTH
from assay.plan.experiment import MOST_WORTH
from assay.platform.configuration import read_site
from assay.platform.existing import login_of
from assay.report.words import print_line
from assay.store.hadoop_fs import HadoopFs
from assay.triage.busy import DriveTimes, MeasuredDrives, measurable, too_short
from assay.triage.coverage import coverage
from assay.triage.drives import HOW, Drives, drives_by_role, drives_text
from assay.triage.experiment import write_experiments
from assay.triage.folder import in_folder, in_hadoop
from assay.triage.following import TypedTriage, next_commands, worth_options
from assay.triage.prometheus import ask_prometheus
from assay.triage.ranking import DriveSite, NextCommand, Triage, TriageVerdict
from assay.triage.ranking import triage as ranked
from assay.triage.reasons import refuted_cores
from assay.triage.sar_files import files_of, read_sar
from assay.triage.views import anonymous, csv_rows, page, print_triage

PAGE = Path("triage.html")
ASSUMED_DRIVES = "1xhdd"
"""The slowest that a node may have: what holds for it holds for any other."""
Form = Literal["html", "csv", "json"]
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


@click.command()
@click.option(
    "--history", "history", multiple=True, metavar="PLACE",
    help="Job histories or event logs: a folder or file here, hdfs:/FOLDER, or a JobHistoryServer's address; "
    "several may be named.",
)  # fmt: skip
@click.option(
    "--example", is_flag=True,
    help=f"Write a made history of forty jobs into {example_site.FOLDER}/ and rank those.",
)  # fmt: skip
@click.option("--since", type=Since(), default=0, help="Only jobs that ended since then: 7d, 36h, 2w or a date.")
@click.option("--prometheus", metavar="URL", help="A Prometheus that scrapes the nodes' node_exporters.")
@click.option(
    "--sar", "sar", type=UserPath(), multiple=True, metavar="FILE",
    help="What `sar -d -p`, `sadf -d` or `iostat -x -t` printed on the nodes: a file, or a folder of such; several may "
    "be named.",
)  # fmt: skip
@click.option(
    "--applications", type=UserPath(), metavar="FILE",
    help="The ResourceManager's list of applications (the JSON of /ws/v1/cluster/apps), to say how much was read.",
)  # fmt: skip
@click.option(
    "--cluster",
    type=UserPath(),
    metavar="CONF_DIR",
    help="The cluster's Hadoop configuration, for its file systems and logins.",
)
@click.option(
    "--drives",
    metavar="COUNTxDRIVE",
    help=f"The drives that each node had when the jobs ran: {HOW}. By default {ASSUMED_DRIVES}.",
)
@click.option(
    "--cores", "--node-cores", cls=OptionOfSeveralNames, type=WholeNumber(1, 10_000),
    help="Hardware threads of each node, as `nproc` counts them, if no Prometheus says so.",
)  # fmt: skip
@click.option("--node-memory", type=Size(), help="Memory of each node, if no Prometheus says so.")
@click.option("--container-memory", type=Size(), help="How much of that containers may take, if no history says so.")
@click.option(
    "--worth", type=Percentage(MOST_WORTH), default=DEFAULT_WORTH, show_default="10%",
    help="How much of a job's time a drive must save to be worth it.",
)  # fmt: skip
@click.option("--anonymous", "nameless", is_flag=True, help="Numbers instead of the names of jobs, users and queues.")
@click.option(
    "--write-experiment",
    "experiments",
    type=UserPath(),
    metavar="DIR",
    help="Write an experiment for each job that may matter.",
)
@click.option("--format", "form", type=click.Choice(get_args(Form)), help="Write only this form.")
@click.option("--out", type=UserPath(), help=f"The file to write; by default {PAGE} for the page.")
@output_options
def triage(
    history: tuple[str, ...], since: int, prometheus: str | None, sar: tuple[Path, ...], applications: Path | None,
    cluster: Path | None, drives: str | None, cores: int | None, node_memory: int | None,
    container_memory: int | None, worth: float, form: Form | None, out: Path | None, experiments: Path | None, *,
    example: bool, nameless: bool, output: Output,
) -> int:  # fmt: skip
    """Rank past jobs by what drives could save at most, and probably. Nothing is run or changed.

    Reads finished jobs' histories (.jhist with _conf.xml) or event logs, and how busy the drives were where that was
    measured.

    \b
    Example:  assay triage --example
              assay triage --history /history/done --since 7d --drives 12xhdd
              assay triage --history /history/done --prometheus http://prometheus:9090
              assay triage --history hdfs:/history/done --cluster /etc/hadoop/conf --write-experiment experiments
    """
    if example == bool(history):
        raise click.UsageError("name histories with --history PLACE, or give --example for made ones")
    if sar and prometheus:
        raise click.UsageError("name either --sar or --prometheus: both tell how busy the drives were")
    _check_targets(out, experiments)
    sar_files = files_of(sar)
    listed = read_applications(applications) if applications else None
    if example:
        example_site.write_example(example_site.FOLDER)
        history, drives = (str(example_site.FOLDER),), drives or example_site.DRIVES
        cores = cores or example_site.CORES
    installation = find_installation()
    by_role = drives_by_role(drives or ASSUMED_DRIVES, installation.profiles)
    web = BoundedWeb(bounds=_BOUNDS, authorize=login_for(cluster))
    try:
        with reading_progress(output.progress) as bar:
            jobs = list(read_jobs(histories := find_histories(history, since, cluster, web, bar), bar))
            named = sum(of.number for of in set(by_role.values())) if drives else 0
            busy = read_sar(sar_files, measurable(jobs, "--sar")) if sar else _ask(prometheus, jobs, web, bar)
    finally:
        web.close()
    typed_site = _TypedSite(cores, node_memory, container_memory)
    site, node = _site(jobs, by_role, typed_site, busy, named)
    assumed = (
        []
        if drives
        else [f"each node has one hard disk, the slowest that it may have: say what it has with --drives ({HOW})"]
    )
    assumed += [
        f"{short} is a {of.name} (`assay media show {of.profile}`): name your own drive's profile in its place"
        for of in dict.fromkeys(by_role.values())
        if (short := of.option.partition("x")[2]) in SHORT_NAMES and re.search(rf"x{short}\b", drives or "")
    ]
    assumed += [*busy.remarks, *too_short(busy, measurable(jobs, busy.source))] if busy else ()
    answer = ranked(jobs, site, worth, drives_text(by_role), histories.older, assumed, histories.unread)
    if listed is not None:
        covered = coverage(listed, jobs, answer.summary.began_ms, answer.summary.ended_ms)
        answer = answer.model_copy(update={"coverage": covered})
    places = [*typed_histories(history), *(["--cluster", str(cluster)] if cluster else [])]
    options = [word for file in sar for word in ("--sar", str(file))]
    options += ["--applications", str(applications)] if applications else []
    options += _typed_options(since, prometheus, drives, typed_site, worth)
    threads = None if refuted_cores([job for job in jobs if job.counts], site.cores) else site.cores
    typed_again = TypedTriage(
        places, options, by_role if drives else {}, *node, threads, worth, experiments,
        wants_busy=busy is None and not example and any(job.counts and job.all_nodes for job in jobs),
    )  # fmt: skip
    following = [] if nameless else next_commands(answer, typed_again)
    _show(anonymous(answer) if nameless else answer, following, form, out, output)
    if experiments is not None:
        _write(answer, jobs, by_role, worth, experiments, open_console(error=True) if form else output.progress)
    return 0


def typed_histories(places: Sequence[str]) -> list[str]:
    """The options that name histories, as they are typed."""
    return [word for place in places for word in ("--history", place)]


class _TypedSite(NamedTuple):
    """What options say of a node: its hardware threads, its memory, and what containers may take of that, in bytes."""

    cores: int | None
    node_memory: int | None
    container_memory: int | None


def _typed_options(since: int, prometheus: str | None, drives: str | None, site: _TypedSite, worth: float) -> list[str]:
    """The options that decide the answer, apart from where histories are, as they are typed again."""
    given = {
        "--since": datetime.fromtimestamp(since / 1000).astimezone().isoformat(timespec="seconds") if since else None,
        "--prometheus": prometheus, "--drives": drives, "--cores": str(site.cores) if site.cores else None,
        "--node-memory": _mebibytes(site.node_memory), "--container-memory": _mebibytes(site.container_memory),
    }  # fmt: skip
    options = [word for option, value in given.items() if value is not None for word in (option, value)]
    return options + worth_options(worth)


def _mebibytes(size: int | None) -> str | None:
    return f"{size >> 20}MiB" if size else None


def _ask(prometheus: str | None, jobs: Sequence[PastJob], web: BoundedWeb, bar: Progress) -> MeasuredDrives | None:
    """What a Prometheus knows of the nodes' drives, if one is named. Raises BadInputError."""
    if not prometheus:
        return None
    asked = measurable(jobs, f"--prometheus {prometheus}")
    return ask_prometheus(prometheus, web.ask, asked, _counting(bar, "asking Prometheus"))


def _site(
    jobs: Sequence[PastJob], drives: Mapping[str, Drives], typed: _TypedSite, busy: MeasuredDrives | None, named: int
) -> tuple[DriveSite, tuple[int | None, int | None]]:
    """All that is known of the nodes, and their memory and their containers'. Raises BadInputError for what can't be.

    `named` are the drives that options name for each node; 0 where they name none.
    """
    cores, node_memory, container_memory = typed
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


def _check_targets(out: Path | None, experiments: Path | None) -> None:
    """Raises BadInputError for files and folders that can't be written, before anything is read."""
    if out is not None and not out.parent.is_dir():
        raise BadInputError(f"--out {out} can't be written: there is no folder {out.parent}; make it, or name another")
    if out is not None and out.is_dir():
        raise BadInputError(f"--out {out} is a folder; name a file in it")
    if experiments is not None and experiments.exists() and not experiments.is_dir():
        raise BadInputError(f"--write-experiment {experiments} is a file; name a folder, which may be new")


def _show(
    answer: Triage, following: Sequence[NextCommand], form: Form | None, out: Path | None, output: Output
) -> None:
    if form == "json" or (form is None and output.as_json):
        summary = answer.summary.model_copy(update={"next_commands": tuple(following)})
        emit(iter([answer.model_copy(update={"summary": summary}).model_dump_json(indent=1)]), out)
    elif form == "csv":
        emit(csv_rows(answer), out)
    else:
        if form is None:
            print_triage(answer, output.results, following, verbose=output.verbose)
        target = out or PAGE
        again = " (in place of the earlier one)" if target.exists() else ""
        replace_text(target, page(answer, following))
        print_line(output.results, f"page: {target}{again}")


def _write(
    answer: Triage, jobs: Sequence[PastJob], drives: Mapping[str, Drives], worth: float, folder: Path, console: Console
) -> None:
    rows = [row for row in answer.rows if row.verdict is TriageVerdict.MAY_MATTER]
    for file in write_experiments(rows, jobs, drives, worth, folder):
        print_line(console, f"experiment: {file}")
    if not rows:
        print_line(console, "no job may matter, so there is no experiment to write")


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
    home = os.environ.get("HADOOP_HOME")
    command = str(Path(home, "bin", "hadoop")) if home else shutil.which("hadoop")
    if command is None or not Path(command).is_file():
        raise BadInputError(
            f"{option} needs Hadoop's client, and there is no `hadoop` on the path or below HADOOP_HOME; "
            "set HADOOP_HOME, or copy the folder here with `hadoop fs -get` on a machine that has it"
        )
    named = {} if cluster is None else {"HADOOP_CONF_DIR": str(cluster.resolve())}
    return HadoopFs(Path(command), {**os.environ, **named})


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
