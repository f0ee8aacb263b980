"""What is known of a user's own job and of its site: by options, by the job's last run, and by the cluster itself."""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from rich.console import Console

from assay.cli.console import Output
from assay.cli.past_jobs import find_histories, login_for, reading_progress, typed_histories
from assay.engine.nodes_memory import ask_nodes
from assay.engine.past.formats import FORMS
from assay.engine.past.job import SUCCEEDED, PastJob, PastProgram
from assay.engine.past.taken_over import USUAL_CONTAINER_BYTES, SampleRules, container_bytes, tasks_of_node
from assay.host.http import BoundedWeb
from assay.input.sample import InputSample
from assay.model.errors import BadInputError, NoAnswerError
from assay.model.existing import Site
from assay.model.installed import variants_of
from assay.model.naming import nearest
from assay.model.registry import ENGINES
from assay.model.workload import Variant
from assay.plan.computing_ratio import Computing, Processors
from assay.plan.data_ratio import SiteNode
from assay.platform.configuration import read_site
from assay.report.typed import typed
from assay.report.words import print_line
from assay.triage.names import run_name

FOLDER = Path("my-jobs")
"""Where experiments and samples of jobs lie unless `--write` says otherwise, from the working directory."""

_LOCAL = re.compile(r"(?:(?:file|local):(?://[^/]*)?)?(?![A-Za-z][\w+.-]*:)(.+)")
"""A file on the machine that names it so, and its path."""
_PATH = re.compile(r"((?:-{0,2}[\w.-]+=)?)((?!https?:|thrift:)(?:[A-Za-z][\w+.-]*:)?/.*)")
"""An argument that is an absolute path of a file system, or `--option=PATH`."""
_AUTHORITY = re.compile(r"[A-Za-z][\w+.-]*:(?://[^/]*)?")


class JobProgram(NamedTuple):
    """What is run: a jar or script, its main class and arguments, and properties that name further files."""

    file: Path
    main_class: str | None = None
    arguments: Sequence[str] = ()
    properties: Mapping[str, str] = {}


class SiteFacts(NamedTuple):
    """What is known of the site: a node of it, and the job's settings there.

    The job's last run read `read_bytes` of file systems, 0 if that is not known, and had so many `reduces`; `computing`
    is what it did. `processors` are those of a node, which runs so many `tasks` at once.
    """

    node: SiteNode = SiteNode(None, None, None)
    settings: Mapping[str, str] = {}
    read_bytes: int = 0
    reduces: int = 0
    computing: Computing | None = None
    processors: Processors = Processors()
    tasks: float | None = None


def engines() -> list[str]:
    """Those by which run-job runs jobs."""
    return [name for name, form in FORMS.items() if form.sample is not None]


def rules_of(engine: str) -> SampleRules:
    """How a sample of a job is run by an engine. Raises BadInputError for one whose jobs Assay can't run so."""
    known = {name: form.sample for name, form in FORMS.items() if form.sample is not None}
    if engine not in known:
        raise BadInputError(f"--engine {engine} is none that run-job knows; {nearest(engine, list(known))}")
    return known[engine]


def variant_of(engine: str, file: Path) -> tuple[str, Variant]:
    """The variant of the workload `command` by which an engine runs such a file of a user, and its name.

    Raises BadInputError as `rules_of` does, and where the engine runs no such file.
    """
    rules_of(engine)
    runs, form = ENGINES[engine].runs, FORMS[engine]
    variants = [*variants_of("command").items()]
    of_scripts = [of for of in variants if file.suffix in of[1].scripts and of[1].program in runs]
    possible = of_scripts or [of for of in variants if of[1].program == form.program]
    if not possible:
        endings = " or ".join(end for _, variant in variants if variant.program in runs for end in variant.scripts)
        raise BadInputError(
            f"{file.name} can't be run as a {form.noun}: run-job runs files ending in {endings} so; name one, or "
            "another --engine or --job"
        )
    return possible[0]


def engine_of_script(jar: Path) -> str | None:
    """The only engine that runs files called so, which are no jars; None for a jar, and where several do."""
    programs = {variant.program for variant in variants_of("command").values() if jar.suffix in variant.scripts}
    running = [name for name in engines() if programs & ENGINES[name].runs]
    return running[0] if len(running) == 1 else None


def past_run(
    places: Sequence[str], job: str | None, engine: str | None, cluster: Path | None, output: Output
) -> PastJob:  # fmt: skip
    """The last good run of the job in its histories; of an engine, where one is said.

    Raises BadInputError where there is none.
    """
    history = " --history ".join(places)
    web = BoundedWeb(authorize=login_for(cluster))
    try:
        with reading_progress(output.progress) as bar:
            jobs = list(find_histories(places, 0, cluster, web, bar).jobs)
    finally:
        web.close()
    usable = {name for name, form in FORMS.items() if form.sample is not None and engine in {None, name}}
    asked = [past for past in jobs if job is None or job in _names(past)]
    if asked and not any(past.engine in usable and not past.not_sampled for past in asked):
        raise _not_run(asked[0], usable, places)
    good = [past for past in jobs if past.engine in usable and past.counts and past.state == SUCCEEDED]
    if not good:
        raise BadInputError(f"--history {history} has no job that succeeded with all that its history should have")
    names = list(dict.fromkeys(run_name(past) for past in good if not past.not_sampled))
    if job is None and len(names) > 1:
        raise BadInputError(
            f"--history {history} has {len(names)} jobs; say which it is, such as --job {shlex.quote(names[0])}"
        )
    of_name = [past for past in good if job in _names(past) or (job is None and run_name(past) in names)]
    if not of_name:
        raise BadInputError(f"--history {history} has no job {job!r}; {nearest(str(job), names)}")
    last = max(of_name, key=lambda past: past.finished_ms)
    if last.not_sampled:
        raise _not_run(last, usable, places)
    return last


def _names(past: PastJob) -> set[str]:
    """What --job may call it."""
    return {past.name, run_name(past)}


def _not_run(past: PastJob, usable: set[str], places: Sequence[str]) -> BadInputError:
    """Why a job is not run as it was asked for, and what to do."""
    if past.not_sampled:
        return BadInputError(
            f"run-job can't run {run_name(past)} on a sample: {past.not_sampled}; use `{typed('triage')} "
            f"{shlex.join(typed_histories(places))} --write-experiment {FOLDER}`; fill in its jar"
        )
    runs = " and ".join(f"{FORMS[name].noun}s" for name in FORMS if name in usable)
    return BadInputError(
        f"{run_name(past)} is a {FORMS[past.engine].noun}, and the program that you name is run as one of the {runs}; "
        f"name another --job, or that job's own jar with --engine {past.engine}"
    )


def program_to_run(
    file: Path | None, main_class: str | None, arguments: Sequence[str], place: str, said: Collection[str],
    past: PastJob | None, console: Console,
) -> JobProgram:  # fmt: skip
    """What the user says, and else what the past run's history does; `said` are properties that the user sets.

    What is of the history is printed. Raises BadInputError where nobody says what to run, and for files of the history
    that are not on this machine.
    """
    program = past.program if past is not None else None
    taken: list[str] = []
    if file is None:
        if past is None or program is None or program.unknown:
            raise _no_program(past)
        file = _on_this_machine(program.file, program.folder)
        if file is None:
            raise BadInputError(
                f"{run_name(past)} ran {program.file}, which is not on this machine; copy it here, and name the copy: "
                f"{typed('run-job', Path(program.file).name)} ..."
            )
        taken.append(f"program {file}")
    elif past is None or program is None or program.unknown or file.suffix != Path(program.file).suffix:
        return JobProgram(file, main_class, arguments)
    if main_class is None and program.main_class:
        main_class = program.main_class
        taken.append(f"class {main_class}")
    if not arguments:
        arguments = _marked(program, past, file, place)
        taken.append(f"arguments {' '.join(arguments)}, which were {' '.join(program.arguments)}")
        if program.joined:
            taken.append("words without quotes; if an argument had blanks, type JAR and all arguments")
    properties = {
        name: _here(name, files, past, program) for name, files in program.properties.items() if name not in said
    }
    taken += [f"{name}={files}" for name, files in properties.items()]
    for text in taken:
        print_line(console, f"from the history: {text}")
    return JobProgram(file, main_class, arguments, properties)


def _no_program(past: PastJob | None) -> BadInputError:
    """Why nobody knows what to run, and what to do."""
    name = f"name it: {typed('run-job')} JAR ..."
    if past is None:
        return BadInputError(f"without JAR nobody knows what to run; {name}, or a --history that tells it")
    why_not = past.program.unknown if past.program is not None else "its history tells of none"
    return BadInputError(f"which program {run_name(past)} ran is not known: {why_not}; {name}")


def _marked(program: PastProgram, past: PastJob, file: Path, place: str) -> list[str]:
    """The arguments of a past run with {input} and {output} in place of its paths.

    The path of `place` is the input, and the only other one the output; of two others the first is the input. Raises
    BadInputError where that does not tell which they are.
    """
    paths = {number: path for number, word in enumerate(program.arguments) if (path := _PATH.fullmatch(word))}
    inputs = [number for number, path in paths.items() if _bare(path[2]) == _bare(place)]
    outputs = [number for number in paths if number not in inputs]
    if not inputs and len(outputs) == 2:
        inputs, outputs = outputs[:1], outputs[1:]
    if not inputs or len(outputs) != 1:
        arguments = shlex.join(program.arguments) or "no arguments"
        raise BadInputError(
            f"{run_name(past)} ran with {arguments}, which do not tell its input and its output; type JAR and all "
            f"arguments, with these two in place of paths: {typed('run-job', str(file))} ... -- {{input}} {{output}}"
        )
    marks = {**dict.fromkeys(inputs, "{input}"), outputs[0]: "{output}"}
    return [
        f"{paths[number][1]}{marks[number]}" if number in marks else word
        for number, word in enumerate(program.arguments)
    ]


def _bare(path: str) -> str:
    """A path without its file system's address, and without what only says that it is a folder."""
    return _AUTHORITY.sub("", path, count=1).rstrip("/*") or "/"


def _here(name: str, files: str, past: PastJob, program: PastProgram) -> str:
    """Files of a property as paths on this machine. Raises BadInputError for those that are not there."""
    paths = {file: _on_this_machine(file, program.folder) for file in files.split(",")}
    if gone := [file for file, path in paths.items() if path is None]:
        raise BadInputError(
            f"{run_name(past)} ran with {name}={','.join(gone)}, and this machine has no such files; name copies of "
            f"all that it needs with --hadoop {name}=FILE,FILE, or none with --hadoop {name}="
        )
    return ",".join(f"{path}{''.join(file.partition('#')[1:])}" for file, path in paths.items())


def _on_this_machine(file: str, folder: str) -> Path | None:
    """Where a file lies that a history names from a folder; None where it is not there, or in another file system."""
    match = _LOCAL.fullmatch(file.partition("#")[0])
    if match is None:
        return None
    path = Path(folder, unquote(match[1]) if file.startswith("file:") else match[1])
    return path if path.is_file() else None


def known_of_site(
    sample: InputSample, input_size: int | None, cluster: Path | None, past: PastJob | None, engine: str,
    said: SiteNode, nodes: int | None, node_cores: int | None, output: Output,
) -> SiteFacts:  # fmt: skip
    """What options, a past run of the job, and the cluster say; the former first.

    Where `input_size` is said, a past run tells only which part of the input a node read.
    """
    own_processes = rules_of(engine).own_processes
    site = {} if cluster is None else read_site(cluster)
    memory_bytes, of_containers, differences = said.memory_bytes, said.container_bytes, ""
    settings = {**site, **({} if past is None else past.settings)}
    processors = at_once = Processors() if past is None else _at_once(past)
    if cluster is not None and None in {nodes, memory_bytes, of_containers, node_cores}:
        web = BoundedWeb(authorize=login_for(cluster))
        try:
            seen = ask_nodes(Site(site, cluster), web.ask)
            differences = seen.differences if memory_bytes is None or of_containers is None else ""
            nodes = nodes or seen.nodes
            memory_bytes = memory_bytes or seen.node_bytes
            of_containers = of_containers or seen.container_bytes
            processors = Processors(seen.processors, "as the cluster tells") if seen.processors else processors
        except NoAnswerError as error:
            print_line(
                output.progress, f"the cluster of {cluster} could not be reached, so its files are used: {error}"
            )
        finally:
            web.close()
    usual = False
    if of_containers is None and settings:
        of_containers = container_bytes(settings)
        usual = of_containers is None
        of_containers = of_containers or USUAL_CONTAINER_BYTES
    tasks = at_once.number or (None if usual or not own_processes else tasks_of_node(of_containers, site))
    read_bytes = (input_size or sample.of_bytes) / nodes if nodes else None
    whole = 0 if past is None else past.whole.file_systems_read
    if past is None or not whole:
        return SiteFacts(
            SiteNode(memory_bytes, of_containers, read_bytes, usual, differences), settings, processors=processors,
            tasks=tasks,
        )  # fmt: skip
    if past.hosts_are_nodes and not past.nodes_are_sampled:
        busiest = float(sum(stage.busiest.file_systems_read for stage in past.stages))
        of_past = busiest if input_size is None else busiest * input_size / whole
        read_bytes = of_past or read_bytes if input_size is None else read_bytes or of_past
    node = SiteNode(memory_bytes, of_containers, read_bytes, usual, differences)
    starts = past.whole.tasks if own_processes else 0
    computing = Computing(past.whole.cpu_ms / 1000, starts, whole, past.elapsed_s) if past.whole.cpu_ms else None
    return SiteFacts(node, settings, whole, past.reduces, computing, processors, tasks)


def _at_once(past: PastJob) -> Processors:
    """As many as tasks ran at once on a node: a node has them to compute, whatever else it has."""
    most = max((stage.peak for stage in past.stages), default=0)
    if not most or not past.all_nodes:
        return Processors()
    return Processors(most / len(past.all_nodes), "so many tasks ran at once on each")
