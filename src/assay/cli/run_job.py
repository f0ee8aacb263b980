"""`assay run-job`: from a jar and its input to the experiment that decides about another drive, and its answer."""

import math
import re
import shlex
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import click

from assay.cli.console import Output
from assay.cli.context import (
    OUT_HELP,
    BoundedNumber,
    OptionOfSeveralNames,
    Percentage,
    Size,
    UserPath,
    WholeNumber,
    find_installation,
    output_options,
    print_json,
)
from assay.cli.job_site import (
    FOLDER,
    JobProgram,
    SiteFacts,
    engine_of_script,
    engines,
    known_of_site,
    past_run,
    program_to_run,
    rules_of,
    variant_of,
)
from assay.cli.past_jobs import hadoop_client
from assay.cli.run import run_experiment
from assay.engine.past.taken_over import SampledJob
from assay.host.files import replace_text, why
from assay.host.machine import machine_bytes, usable_processors
from assay.input.sample import InputSample, SampleSource, ThisMachine, choose, write_sample
from assay.media.emulated.profile import find_profile
from assay.media.memory import SHARED_MEMORY, backing_fits_into_memory
from assay.model.dataset import Amounts
from assay.model.drive_profile import SHORT_NAMES, DriveProfile
from assay.model.errors import BadInputError, NoMainClassError
from assay.model.installation import Installation
from assay.model.installed import variants_on
from assay.model.naming import bytes_text
from assay.model.record import Record
from assay.model.registry import ENGINES, VARIANTS, WORKLOADS
from assay.model.store import names_store
from assay.model.trial import DEFAULT_WORTH, USUAL_ENGINE, SiteShape, WorkloadSpec
from assay.plan.computing_ratio import Computing, DriveSpeed, NodeDrives, Processors, drive_speed
from assay.plan.data_ratio import SiteNode, cache_bytes, times_text
from assay.plan.experiment import MOST_WORTH
from assay.plan.job_experiment import ROLES, TRIALS, JobExperiment, experiment_name, of_several
from assay.record.folder import RunFolder
from assay.report.typed import typed
from assay.report.words import print_line
from assay.stats.drive_use import counted
from assay.stats.sample import is_valid
from assay.stats.trial_summary import summarise

_MOST_COPIES = 8
"""Of its input a job that sorts has at once about five on its drives; others may have more."""
_LEAST_CACHE_BYTES = 64 << 20
"""With so much the studies of sorts and graphs ran whole; with 49 MiB blocks could not be opened for want of it."""
_MOST_CACHE_SHARE = _MOST_TASKS_SHARE = 0.5
"""Of this machine's memory: a larger page cache is not bounded, and tasks that need more do not run at once."""
_COUNTED = re.compile(r"([1-9][0-9]{0,2})x(.+)")
_FIRST_LINE = "# Written by `assay run-job`, which writes it anew while nobody edits it. Digest: "
_PLAIN = re.compile(r"[\w@%+=:,./{}-]+")


class TrialMemory(NamedTuple):
    """How the trials' memory was chosen, the experiment's line for it, and the ratio of a node of the site, if known.

    It `is_bounded` where the page cache has that ratio to the sample, and no more.
    """

    how: str
    line: str
    ratio: float | None = None
    is_bounded: bool = True


class JobDrive(NamedTuple):
    """A drive of today, or one that may be bought: as its option names it, its profile, and how many a node has."""

    name: str
    profile: DriveProfile
    number: int


class JobTest(NamedTuple):
    """A test of a job, as is printed before it begins; its `experiment` lacks what follows from the drives' speed."""

    sample: InputSample
    whole_bytes: int
    memory: TrialMemory
    notes: Sequence[str]
    now: JobDrive
    other: JobDrive
    shape: SiteShape
    experiment: JobExperiment

    @property
    def sample_text(self) -> str:
        """How it was taken, and of how much."""
        more = self.whole_bytes > self.sample.of_bytes
        return self.sample.text + (f", which stand for {bytes_text(self.whole_bytes)}" if more else "")

    @property
    def least_s(self) -> float:
        """What the trials take at least, by what any jar is guessed to take before it has run here."""
        return _least_s(self.sample.bytes)

    @property
    def in_node(self) -> NodeDrives:
        """The drives of a node of the site."""
        rate_mb_s = self.now.profile.expected_values.get("sequential_read_mb_s")
        return NodeDrives(self.now.number, self.other.number, rate_mb_s, self.now.profile.kind, self.other.profile.kind)

    def speed(self, site: Computing | None, sample: Computing | None, processors: Processors) -> DriveSpeed:
        """How slow its drives are made, by what the job computes there and the sample here."""
        is_bounded, here = self.memory.is_bounded, usable_processors()
        return drive_speed(site, sample, processors, self.in_node, here, is_memory_bounded=is_bounded)

    def at(self, speed: DriveSpeed) -> JobExperiment:
        """The experiment on drives of that speed."""
        return self.experiment._replace(
            comments=[
                f"Sample: {self.sample_text}.",
                f"Memory: {self.memory.how}.",
                *(f"Computing: {line}." for line in speed.lines),
                *of_several(self.shape),
                *self.notes,
            ],
            memory=[self.memory.line, *speed.experiment_lines],
            now_speed=speed.today,
            other_speed=speed.other,
        )

    def lines(self, speed: DriveSpeed) -> list[str]:
        """All of it in words."""
        pairs = [f"{name}={value}" for name, value in self.experiment.properties.items()]
        settings = f"{', '.join(pairs)}; all others" if pairs else "all"
        guess = f"by a guess at least {math.ceil(self.least_s / 60)} minutes for {TRIALS} trials"
        several = of_several(self.shape)
        return [
            f"sample: {self.sample_text}",
            f"memory: {self.memory.how}; the trials run with {self.memory.line}",
            f"drives: {self.now.profile.name} today, {self.other.profile.name} against it",
            *(f"computing: {line}" for line in speed.lines),
            f"settings: {settings} as in the profile `defaults`",
            *(f"settings: {note}" for note in self.notes),
            f"time: unknown for a jar that has not run here; {guess}",
            *([" ".join(several) + self._of_share] if several else []),
        ]

    @property
    def _of_share(self) -> str:
        if self.shape.read_bytes is None:
            return ""
        least_s = _least_s(self.shape.read_bytes / self.in_node.parts)
        return f" By the same guess such a sample takes at least {math.ceil(least_s / 60)} minutes."

    def as_json(self, speed: DriveSpeed) -> dict[str, Any]:
        """The same for programs."""
        return {
            "sample_bytes": self.sample.bytes, "place_bytes": self.sample.of_bytes, "input_bytes": self.whole_bytes,
            "ratio": self.memory.ratio, "memory": self.memory.line, "hadoop": dict(self.experiment.properties),
            "drives": [self.now.profile.name, self.other.profile.name], "cpus": speed.cpus,
            "slowdown": [drive.get("slowdown", 1) for drive in (speed.today, speed.other)],
            "computing": list(speed.lines), "trials": TRIALS, "least_s": self.least_s, "notes": of_several(self.shape),
        }  # fmt: skip


@click.command("run-job")
@click.argument("jar", type=UserPath(), required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--input", "place", required=True, metavar="PLACE", help="The job's input: a file, a folder or hdfs:/...")
@click.option("--sample", type=Size(), default="2GB", show_default=True, help="How much of the input to take.")
@click.option("--class", "main_class", metavar="NAME", help="The main class, unless the jar's manifest names it.")
@click.option(
    "--engine", "said_engine", metavar="NAME",
    help="What runs the job; by default what ran it by --history, what runs such files, or else MapReduce.",
)  # fmt: skip
@click.option("--verify", metavar="COMMAND", help="A command that judges the output; {output} is a folder with it.")
@click.option("--name", metavar="NAME", help="What to call the experiment; by default as the jar.")
@click.option("--input-size", type=Size(), help="Bytes of the whole input, where PLACE has only a part: 600GB.")
@click.option(
    "--cluster", type=UserPath(), metavar="CONF_DIR", help="The cluster's Hadoop configuration, to learn its memory."
)
@click.option(
    "--history",
    multiple=True,
    metavar="PLACE",
    help="Histories of the job: a file or folder, hdfs:/FOLDER or http address; several may be named.",
)
@click.option("--job", metavar="NAME", help="Which job of --history it is, as assay triage calls it.")
@click.option("--nodes", type=WholeNumber(1, 100_000), help="How many nodes share the input.")
@click.option("--node-memory", type=Size(), help="Memory of a node.")
@click.option("--container-memory", type=Size(), help="How much of that containers may take.")
@click.option(
    "--cores", "--node-cores", "node_cores", cls=OptionOfSeveralNames, type=WholeNumber(1, 10_000),
    help="Processors of a node.",
)  # fmt: skip
@click.option("--tasks", type=WholeNumber(1, 10_000), help="How many tasks a node runs at once.")
@click.option(
    "--ratio", type=BoundedNumber(0, 1e6, min_open=True),
    help="Bytes of the input that a node reads for each byte of memory that it has left for files.",
)  # fmt: skip
@click.option("--memory", type=Size(), help="A bound on the trials' memory, in place of a ratio.")
@click.option(
    "--now",
    default="hdd",
    show_default=True,
    metavar="DRIVE",
    help="The drive of today; 12xhdd where a node has so many.",
)
@click.option(
    "--against",
    default="ssd",
    show_default=True,
    metavar="DRIVE",
    help="The drive that you may buy; 2xssd for so many in a node.",
)
@click.option("--role", type=click.Choice(ROLES), default="intermediate", show_default=True, help="What it is for.")
@click.option(
    "--worth", type=Percentage(MOST_WORTH), default=DEFAULT_WORTH, show_default="10%",
    help="How much of the job's time the drive must save to be worth it.",
)  # fmt: skip
@click.option(
    "--hadoop",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a property of Hadoop or of the engine in the trials; may be repeated.",
)
@click.option("--write", type=UserPath(), metavar="FILE", help="Only write the experiment, and its sample.")
@click.option("--dry-run", is_flag=True, help="Only print the sample, the memory and the least time; write nothing.")
@click.option("--out", type=UserPath(), help=OUT_HELP)
@output_options
def run_job(
    jar: Path | None, arguments: tuple[str, ...], place: str, sample: int, main_class: str | None,
    said_engine: str | None, verify: str | None, name: str | None, input_size: int | None, cluster: Path | None,
    history: tuple[str, ...], job: str | None, nodes: int | None, node_memory: int | None, container_memory: int | None,
    node_cores: int | None, tasks: int | None, ratio: float | None, memory: int | None, now: str, against: str,
    role: str, worth: float, hadoop: tuple[str, ...], write: Path | None, out: Path | None,
    *, dry_run: bool, output: Output,
) -> int:  # fmt: skip
    """Run a job of your own, on a sample of its input, to see whether another drive would shorten it.

    ARGUMENTS are the job's own, after `--`, with {input} and {output} in place of its paths: by default these two.
    Drives are emulated; the page cache has the ratio to the sample that a node's memory has to its part of the input.
    JAR is a MapReduce job, with --engine spark a jar or a Python file, or a query (.sql, .hql) where Hive is installed.
    What you leave out of JAR, class and arguments is as in the job's last run, where --history tells it: event logs do.

    \b
    Example:  assay run-job my.jar --input /data/logs --ratio 4
              assay run-job my.jar --input hdfs:/logs --sample 4GB --cluster /etc/hadoop/conf -- sort {input} {output}
    """
    _refuse_contradictions(ratio, memory, input_size)
    installation = find_installation()
    drives = _drives(now, against, installation)
    place = place if names_store(place) else str(Path(place).expanduser().resolve())
    said_by_user, asked = _properties(hadoop), said_engine or (engine_of_script(jar) if jar is not None else None)
    if jar is not None:
        _check_early(asked, JobProgram(jar, main_class, arguments), place, verify, name or job, history=bool(history))
    past = past_run(history, job, asked, cluster, output) if history else None
    console = output.results if dry_run else output.progress
    program = program_to_run(jar, main_class, arguments, place, said_by_user, past, console)
    engine = past.engine if past is not None else asked or USUAL_ENGINE
    options, rules = _options(engine, program, place, verify, name or job), rules_of(engine)
    title = experiment_name(name or program.file.stem)
    file = write or FOLDER / f"{title}.yaml"
    source: SampleSource = hadoop_client(f"--input {place}", cluster) if names_store(place) else ThisMachine()
    chosen = choose(place, source, sample)
    whole_bytes = _whole_bytes(chosen, input_size)
    known = SiteFacts()
    if memory is None or history or cluster:
        said = SiteNode(node_memory, container_memory, None)
        known = known_of_site(chosen, input_size, cluster, past, engine, said, nodes, node_cores, output)
    processors = known.processors if node_cores is None else Processors(node_cores, "--cores")
    trial_memory = _memory(chosen, whole_bytes, known, ratio, memory)
    folder = file.parent / f"{file.stem}-sample"
    links = chosen.is_all and not names_store(place)
    shape = _site_shape(trial_memory, *drives, known.node.read_bytes if trial_memory.is_bounded else None)
    sampled = SampledJob(
        known.settings, chosen.bytes / known.read_bytes if known.read_bytes else None, known.reduces,
        tasks or known.tasks, drives[0].number, said_by_user, _MOST_TASKS_SHARE * machine_bytes(),
        bundled=installation.hadoop_home is None,
    )  # fmt: skip
    settings, at_once = rules.settings(sampled), rules.at_once(sampled)
    experiment = JobExperiment(
        name=title, description=f"{program.file.name}: {role} on {drives[1].name} in place of {drives[0].name}",
        comments=[], options={**options, "input": place if links else str(folder.resolve())},
        now=drives[0].profile.name,
        now_name=experiment_name(drives[0].name), other=(experiment_name(drives[1].name), drives[1].profile.name),
        role=role, worth=f"{100 * worth:.6f}".rstrip("0").rstrip(".") + "%", memory=[trial_memory.line],
        properties={**settings.properties, **at_once.properties, **program.properties, **said_by_user},
        stands_for=shape, engine=engine, variant=_variant(engine, program), backing=_backing(chosen),
    )  # fmt: skip
    notes = [note for note in (settings.replaced, at_once.replaced) if note]
    test = JobTest(chosen, whole_bytes, trial_memory, notes, *drives, shape, experiment)
    if not dry_run:
        _check_unedited(file, "--write FILE" if write else "--name")
        if not links:
            write_sample(chosen, source, folder)
    only = "shown" if dry_run else "written" if write else None
    speed = _drive_speed(test, known.computing, processors, file, installation, output, may_run=only is None)
    _tell(test, speed, file, output, only)
    return 0 if only else run_experiment(file, out, installation, output)


def _tell(test: JobTest, speed: DriveSpeed, file: Path, output: Output, only: str | None) -> None:
    """Print a test, and write its experiment. It may `only` be "shown", or "written" and not run.

    Raises BadInputError where it can't be written.
    """
    for line in test.lines(speed):
        print_line(output.results if only == "shown" else output.progress, line)
    if only != "shown":
        _write(file, test.at(speed).text)
        print_line(output.progress, f"experiment: {file}")
    if only and output.as_json:
        print_json(test.as_json(speed) | {"experiment": None if only == "shown" else str(file)})
    if only == "written":
        print_line(output.progress, f"run it with: {typed('run', str(file))}")


def _drive_speed(
    test: JobTest, site: Computing | None, processors: Processors, file: Path, installation: Installation,
    output: Output, *, may_run: bool,
) -> DriveSpeed:  # fmt: skip
    """How slow the test's drives are made, by a trial that is kept, or may run, of what the sample computes.

    Raises BadInputError where drives would be too slow: before a trial runs where they are too slow without it.
    """
    sample = None
    if site is not None:
        sample = _computing_here(test.experiment, test.sample, file, installation, output, may_run=False)
    speed = test.speed(site, sample, processors)
    if site is None or sample is not None or not may_run:
        return speed
    sample = _computing_here(test.experiment, test.sample, file, installation, output, may_run=True)
    return test.speed(site, sample, processors)


def _computing_here(
    experiment: JobExperiment, sample: InputSample, file: Path, installation: Installation, output: Output,
    *, may_run: bool,
) -> Computing | None:  # fmt: skip
    """What the job of an experiment computes here, by a trial of it without delays.

    The trial's run lies beside `file`, where the experiment is or will be, and is not repeated while settings, jar and
    sample are the same. Where there is none yet and it may not run, None. Raises BadInputError where its output was
    wrong, or its tasks counted nothing.
    """
    text = experiment.without_delays
    jar = Path(experiment.options["jar"]).stat()
    facts = f"{text}{sample.manifest}{jar.st_size} {jar.st_mtime_ns}"
    run = file.parent / f"{file.stem}-computing-{sha256(facts.encode()).hexdigest()[:8]}"
    records = RunFolder(run).records()[0] if (run / "plan.json").exists() else []
    if not records:
        if not may_run:
            return None
        print_line(output.progress, "first a trial without storage delays, to measure how much the sample computes")
        file.parent.mkdir(parents=True, exist_ok=True)
        trial_file = file.parent / f"{file.stem}-computing.yaml"
        replace_text(trial_file, text)
        run_experiment(trial_file, run, installation, Output.on(output.progress), resume=(run / "plan.json").exists())
        records = RunFolder(run).records()[0]
    computing = next((computing_of(record) for record in records if is_valid(summarise(record))), None)
    if computing is None:
        raise BadInputError(
            f"the trial without storage delays did not succeed, or its tasks counted nothing: see {run}; remove that "
            "folder to repeat it, or leave out --history"
        )
    return computing


def computing_of(record: Record) -> Computing | None:
    """What the tasks of a trial did; None where they counted no processor time, or read nothing."""
    counts = counted(record)
    starts = 0
    if rules_of(record.trial.engine).own_processes:
        starts = sum(stage.tasks for job in record.jobs for stage in job.stages)
    computing = Computing(
        counts["cpu_ms"] / 1000, starts, counts["store_read_bytes"], summarise(record).elapsed_s or 0.0
    )
    return computing if computing.cpu_s and computing.read_bytes else None


def _least_s(sample_bytes: float) -> float:
    """Seconds that all trials of such a sample take, by what a jar is guessed to take that has not run here."""
    cost = VARIANTS["command/own"].cost
    return TRIALS * cost.estimate(Amounts(bytes=round(sample_bytes))).seconds if cost is not None else 0.0


def _site_shape(memory: TrialMemory, now: JobDrive, other: JobDrive, read_bytes: float | None) -> SiteShape:
    """What the test stands for: nothing where it has all of the memory, and one drive of each."""
    several = max(now.number, other.number) > 1
    read = round(read_bytes) if read_bytes and several else None
    ratio = memory.ratio if memory.is_bounded else None
    return SiteShape(ratio=ratio, drives=now.number, new_drives=other.number, read_bytes=read, shared=several)


def _backing(sample: InputSample) -> str:
    """The folder of the emulated drives' backing files; empty where memory has no room for all that a job keeps."""
    return str(SHARED_MEMORY) if backing_fits_into_memory(_MOST_COPIES * sample.bytes) else ""


def _refuse_contradictions(ratio: float | None, memory: int | None, input_size: int | None) -> None:
    """Raises click.UsageError for two options that say the same in different ways."""
    given = {"--ratio": ratio, "--memory": memory, "--input-size": input_size}
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise click.UsageError(f"{' and '.join(names)} contradict each other: keep one of them")


def _whole_bytes(sample: InputSample, input_size: int | None) -> int:
    """The bytes of the whole input. Raises BadInputError for fewer than its place has."""
    if input_size is not None and input_size < sample.of_bytes:
        raise BadInputError(
            f"--input-size {bytes_text(input_size)} is less than the {bytes_text(sample.of_bytes)} of "
            f"{sample.source}; name the size of the whole input, or leave it out"
        )
    return input_size or sample.of_bytes


def _properties(pairs: Sequence[str]) -> dict[str, str]:
    """Those of --hadoop. Raises BadInputError for what is no pair."""
    properties = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name.strip() or not equals:
            raise BadInputError(f"--hadoop {pair}: write a property and its value, such as dfs.blocksize=64m")
        properties[name.strip()] = value.strip()
    return properties


def _count_of(drives: str) -> tuple[int, str]:
    """How many drives a node has, and what each is: `12xhdd`, or `hdd` for one."""
    several = _COUNTED.fullmatch(drives)
    return (int(several[1]), several[2]) if several else (1, drives)


def _drives(now: str, against: str, installation: Installation) -> tuple[JobDrive, JobDrive]:
    """Both drives. Raises BadInputError for an unknown one, and where they are the same."""
    of_now, of_other = (
        JobDrive(name, _profile(option, name, installation), count)
        for option, (count, name) in (("--now", _count_of(now)), ("--against", _count_of(against)))
    )
    if of_now.profile.name == of_other.profile.name:
        other = "ssd" if of_now.profile.name == SHORT_NAMES["nvme"] else "nvme"
        raise BadInputError(
            f"--now {of_now.name} and --against {of_other.name} are the same drive; name the one that you may buy, "
            f"such as --against {other}"
        )
    return of_now, of_other


def _options(
    engine: str, program: JobProgram, place: str, verify: str | None, name: str | None
) -> dict[str, str]:  # fmt: skip
    """Those of the workload `command`. Raises BadInputError for what the engine can't run."""
    variant, traits = variant_of(engine, program.file)
    given = {"class": program.main_class, "verify": verify, "name": name}
    arguments = " ".join(map(_word, program.arguments)) or traits.arguments or "{input} {output}"
    options = {
        "jar": str(program.file.resolve()), "arguments": arguments, "input": place, "folder": str(Path.cwd()),
        **{option: value for option, value in given.items() if value},
    }  # fmt: skip
    WORKLOADS.find("command")(WorkloadSpec(name="command", variant=variant, options=options), "/")
    return options


def _variant(engine: str, program: JobProgram) -> str:
    """The variant that an experiment must name: empty where the engine takes it by itself."""
    name, _ = variant_of(engine, program.file)
    return "" if name == variants_on("command", ENGINES[engine])[0] else name


def _check_early(
    engine: str | None, program: JobProgram, place: str, verify: str | None, name: str | None, *, history: bool
) -> None:  # fmt: skip
    """Raises BadInputError for what no engine can run, whatever engine and class a history will tell."""
    refused: list[BadInputError] = []
    for possible in [engine] if engine else engines() if history else [USUAL_ENGINE]:
        try:
            _options(possible, program, place, verify, name)
        except NoMainClassError:
            if not history:
                raise
        except BadInputError as error:
            refused.append(error)
            continue
        return
    raise refused[0]


def _word(word: str) -> str:
    """A word as a shell would need it, with placeholders as they are."""
    return word if _PLAIN.fullmatch(word) else shlex.quote(word)


def _profile(option: str, word: str, installation: Installation) -> DriveProfile:
    """The drive profile of a short name, or of that name. Raises BadInputError for neither."""
    try:
        return find_profile(SHORT_NAMES.get(word, word), installation.profiles)
    except BadInputError as error:
        raise BadInputError(f"{option} {word}: {error}; short names are {', '.join(SHORT_NAMES)}") from None


def _check_unedited(file: Path, other: str) -> None:
    """Raises BadInputError where the experiment was edited, or is not of run-job; `other` option names another file."""
    try:
        first, _, rest = file.read_text(encoding="utf-8").partition("\n")
    except FileNotFoundError:
        return
    except OSError as error:
        raise BadInputError(f"{file} can't be written: {why(error)}") from None
    if first != f"{_FIRST_LINE}{_digest(rest)}":
        raise BadInputError(
            f"{file} was edited, or is not of `assay run-job`; run it with `assay run {file}`, remove it, or "
            f"choose another {other}"
        )


def _write(file: Path, experiment: str) -> None:
    """Write an experiment. Raises BadInputError where that can't be."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_text(file, f"{_FIRST_LINE}{_digest(experiment)}\n{experiment}")
    except OSError as error:
        raise BadInputError(f"{file} can't be written: {why(error)}") from None


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _memory(
    sample: InputSample, whole_bytes: int, known: SiteFacts, ratio: float | None, memory: int | None
) -> TrialMemory:  # fmt: skip
    """How the trials' memory is chosen."""
    if memory is not None:
        return TrialMemory(f"{bytes_text(memory)}, as --memory says", f"memory: {memory}")
    how = "" if ratio is not None else f": {known.node.text}"
    said = ratio is not None
    ratio = ratio or known.node.ratio()
    budget = cache_bytes(
        sample.bytes, ratio, _LEAST_CACHE_BYTES, most_bytes=_MOST_CACHE_SHARE * machine_bytes(), whole=sample.is_all
    )
    if budget is None:
        times = times_text(1 / ratio) if ratio else "any number of"
        only = "" if said or whole_bytes > sample.of_bytes else (
            f". If {sample.source} is not the whole input, say how much that is with --input-size 600GB"
        )  # fmt: skip
        ample = f"a node has {times} times its part of the input left for files{how}{only}"
        short = "What a short test writes may never reach its drives, so it may show less than you would gain"
        return TrialMemory(f"{ample}. {short}", "page_cache: all", ratio, is_bounded=False)
    reads = f"a node reads {times_text(ratio)} times what it has left for files{how}"
    return TrialMemory(reads, f"page_cache: {budget >> 20}MiB", ratio)
