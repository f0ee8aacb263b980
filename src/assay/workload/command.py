"""A user's own job: any jar that Hadoop runs, with the user's own command as the judge of its output.

Its jobs are those that its client names (see `engine.program`), measured like all others. It runs as `hadoop jar` runs
it (org.apache.hadoop.util.RunJar): the manifest's main class, or the one that `class` names.
"""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, NamedTuple

from assay.input.directed import write_pairs
from assay.model.doubt import Outcome, Verdict
from assay.model.engine import Engine, LaunchReport, Program
from assay.model.errors import AssayError, BadInputError
from assay.model.input import DATASET, Dataset, Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Store, names_store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.base import BYTES_S, JOB_S, Options, filled, scratch_directory, split_words, the_program
from assay.workload.graph import GraphWorkload

# HDFS has no such names, or a URL has to be built with care for them.
_MOST_MANIFEST_BYTES = 1 << 20
_UNUSABLE = frozenset("#?%:\\")


class LocalInput(NamedTuple):
    """A file or folder: its path, each file in it with its name from there on, and all their bytes."""

    path: Path
    files: tuple[tuple[Path, str], ...]
    bytes: int


def the_jar(options: Options) -> Path:
    """The jar's file. Raises BadInputError when there is none."""
    jar = Path(options.text("jar"))
    if not options.text("jar"):
        raise options.refusal("jar", "the jar's file: its path, absolute or from the experiment's folder")
    if not jar.is_file():
        raise options.refusal("jar", "a file that is there: its path, absolute or from the experiment's folder")
    if not zipfile.is_zipfile(jar):
        raise options.refusal("jar", "a jar, and it is a file of another kind")
    try:
        _manifest_class(jar)
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error):
        raise options.refusal("jar", "a whole jar, and this one is damaged: build or copy it again") from None
    return jar


def main_class(jar: Path, options: Options) -> tuple[str | None, tuple[str, ...]]:
    """The class to be run past the manifest, if any, and the words that come before the arguments.

    `hadoop jar` takes its first argument for the class only where the manifest names none. Raises BadInputError when
    nothing names one, or it is not in the jar.
    """
    wanted, named = options.text("class"), _manifest_class(jar)
    if not wanted and named is None:
        raise BadInputError(
            f"workload command: {jar} names no main class in its manifest; name one in the option class"
        )
    if wanted and not _has_class(jar, wanted):
        raise options.refusal("class", f"a class in {jar.name}: its full name, with its package")
    if not wanted or wanted == named:
        return None, ()
    return (None, (wanted,)) if named is None else (wanted, ())


def local_input(options: Options) -> LocalInput:
    """What is to be staged. Raises BadInputError when it is not there, empty, or has names that HDFS can't take."""
    path = Path(options.text("input"))
    if not path.exists():
        raise options.refusal("input", "a file or folder that is there, absolute or from the experiment's folder")
    files = ((path, path.name),) if path.is_file() else _below(path)
    size = sum(file.stat().st_size for file, _ in files)
    if size == 0:
        raise options.refusal("input", "a file or folder with something in it (hidden files are left out)")
    for file, name in files:
        if _UNUSABLE & set(name):
            raise BadInputError(f"workload command: {file} can't be staged; rename it without # ? % : and backslashes")
    return LocalInput(path, files, size)


def _below(folder: Path) -> tuple[tuple[Path, str], ...]:
    """All files in a folder and those below it, without what begins with a dot or `_`, as Hadoop leaves it out too."""
    found = [(file, file.relative_to(folder)) for file in sorted(folder.rglob("*")) if file.is_file()]
    return tuple((file, str(name)) for file, name in found if not any(part[0] in "._" for part in name.parts))


def _manifest_class(jar: Path) -> str | None:
    """The manifest's Main-Class; a line of more than 72 bytes goes on in one that begins with a space."""
    with zipfile.ZipFile(jar) as archive:
        if "META-INF/MANIFEST.MF" not in archive.namelist():
            return None
        with archive.open("META-INF/MANIFEST.MF") as manifest:
            text = manifest.read(_MOST_MANIFEST_BYTES).decode(errors="replace")
    text = text.replace("\r\n", "\n").replace("\n ", "")
    lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return lines.get("Main-Class", "").strip() or None


def _has_class(jar: Path, name: str) -> bool:
    with zipfile.ZipFile(jar) as archive:
        return f"{name.replace('.', '/')}.class" in archive.namelist()


CHECK = "your own command"
LAST_LINES = 5
_LINE_CHARACTERS = 300
_ROOM_BYTES = 64 << 20


def judge(words: Sequence[str], folder: Path, seconds: float) -> Verdict:
    """Run a command in a folder: exit code 0 passes, any other fails with its last lines.

    Unknown where it could not be started or did not end in time; then it and what it started are killed.
    """
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                words, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return Verdict(check=CHECK, outcome=Outcome.UNKNOWN, detail=f"{shlex.join(words)} can't be run: {error}")
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            detail = f"{words[0]} did not end within {seconds:g} s; the option verify_seconds gives it more"
            return Verdict(check=CHECK, outcome=Outcome.UNKNOWN, detail=detail)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        said = _last_lines(output.read().decode(errors="replace"))
    outcome = Outcome.PASS if code == 0 else Outcome.FAIL
    return Verdict(check=CHECK, outcome=outcome, detail=": ".join(text for text in (f"exit code {code}", said) if text))


def fetch(store: Store, path: str, folder: Path) -> int:
    """Copy the files directly in a directory of the store that are not hidden, or the one file; their bytes.

    Raises AssayError when nothing is there, OSError when they don't fit.
    """
    files = store.list_files(path)
    wanted = sum(file.bytes for file in files)
    free = shutil.disk_usage(folder).free
    if wanted + _ROOM_BYTES > free:
        raise OSError(f"the output has {wanted} bytes, and {folder} {free} free; TMPDIR names another directory")
    for file in files:
        with (folder / Path(file.path).name).open("wb") as copy:
            for piece in store.pieces(file.path) if file.bytes else ():
                copy.write(piece)
    return wanted


def _last_lines(text: str) -> str:
    lines = [line.rstrip()[:_LINE_CHARACTERS] for line in text.splitlines() if line.strip()]
    return "\n  ".join(lines[-LAST_LINES:])


# What a job does that nobody knows: as much as a sort, which is more than most do.
_COPIES = 5
_MIB = 1 << 20
_ERROR_LINES = 8


class Command(GraphWorkload):
    """Any jar, on a file or folder of this machine, the experiment's dataset, what is in the store, or nothing."""

    makes_input: ClassVar[bool] = True
    summary: ClassVar[str] = "runs your own jar, measured like all other workloads; your own command judges its output"
    stresses: ClassVar[str] = "what the jar does: see its I/O signature and phases in the report"
    source: ClassVar[str] = "yours"
    result: ClassVar[str] = "what the jar writes"
    verified: ClassVar[str] = (
        "`verify` runs without a shell: exit code 0 passes, any other fails with its last 5 lines; unknown without "
        "`verify`, or if it can't be started or takes longer than `verify_seconds`"
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "own": Variant(about="the jar's jobs; JAR is the name of its file", jobs=("JAR 1", "..."))
    }
    defaults: ClassVar[Mapping[str, str]] = {
        "jar": "",
        "class": "",
        "arguments": "{input} {output}",
        "input": "",
        "verify": "",
        "verify_seconds": "600",
        "folder": ".",
    }
    option_help: ClassVar[Mapping[str, str]] = {
        "jar": "the jar's file; required",
        "class": "the main class, unless the jar's manifest names it",
        "arguments": "its arguments, split as a shell does; {input}, {output} (required), {hadoop} and {scratch} "
        "are filled in",
        "input": "what is staged: a file or folder; `dataset`; `hdfs:/...` on an existing cluster; or nothing",
        "verify": "a command that judges the output: {output} is a local folder with its files, and exit code 0 passes",
        "verify_seconds": "seconds that the judging command may take",
        "folder": "the folder in which the jar's client and `verify` run; by default the experiment file's",
    }
    example: ClassVar[Mapping[str, str]] = {"jar": "my-job.jar", "input": "my-input.txt"}
    path_options: ClassVar[Collection[str]] = ("jar", "input", "folder")

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError for an option that is unknown or impossible, and for a file that is not there."""
        super().__init__(spec, base)
        self._folder = Path(self.options.text("folder"))
        self._jar = the_jar(self.options)
        self._verify_s = self.options.number("verify_seconds", 0, 1e9)
        self._local: LocalInput | None = None
        source = self.options.text("input")
        if source and source != DATASET and not names_store(source):
            self._local = local_input(self.options)
        self._start, words = main_class(self._jar, self.options)
        known = ("output", "hadoop", "scratch", *(["input"] if source else []))
        self._arguments = (*words, *split_words(self.options, "arguments", known))
        self._check_words()
        self._verify = split_words(self.options, "verify", ("output", *(["input"] if source else [])))
        if self._verify:
            the_program(self.options, "verify", self._verify, self._folder)

    def _check_words(self) -> None:
        """What the arguments must name."""
        if not any("{output}" in word for word in self._arguments):
            wanted = "a text with {output}, which stands for the directory in the store that the job writes"
            raise self.options.refusal("arguments", wanted)
        if self.spec.hadoop and "{hadoop}" not in self._arguments:
            wanted = (
                "a text with {hadoop} as a word, where the -D options of `hadoop` go: after the program's name, if any"
            )
            raise self.options.refusal("arguments", wanted)

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """A guess by the input alone: what is in the store already, or made by the jar, is not counted."""
        size = staged_bytes if self.options.text("input") == DATASET else self._local.bytes if self._local else 0
        seconds = 2 * JOB_S + _COPIES * size / BYTES_S
        return Estimate(disk_bytes=_COPIES * size, memory_bytes=64 * _MIB, seconds=seconds)

    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Put the files, or the dataset in normal form; what is in the store already must be there."""
        source = self.options.text("input")
        if source == DATASET:
            return super().stage(dataset, store, engine, progress)
        if self._local is not None:
            for file, name in self._local.files:
                store.put(file, f"{self.input}/{name}")
        elif source and store.size_bytes(source) == 0:
            raise AssayError(f"the input {source} is not there, or empty; name a path of the cluster's store")
        return LaunchReport(jobs=(), result={})

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """The jar's client; a jar that ends well although a job of it failed is not believed."""
        program = Program(
            name=self._jar.name, jar=str(self._jar), main_class=self._start, arguments=self._filled(),
            folder=self._folder, last_lines=_ERROR_LINES,
        )  # fmt: skip
        report = engine.run_program(program, progress)
        for job in report.jobs:
            state = engine.history(job).job.state
            if state != "SUCCEEDED":
                raise AssayError(
                    f"{self._jar.name} ended with exit code 0, but its job {job.id} is {state.lower()}; "
                    "let its main method end with another code when a job fails"
                )
        return report

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """The user's command on the output's files; unknown without one."""
        if not self._verify:
            store.list_files(self.output)
            how = 'no command judges this output; add one to the options, e.g. verify: "python3 check.py {output}"'
            return (Verdict(check=CHECK, outcome=Outcome.UNKNOWN, detail=how),)
        with scratch_directory() as scratch:
            output = scratch / "output"
            output.mkdir()
            fetch(store, self.output, output)
            places = {"output": str(output), "input": self._given(graph, scratch)}
            words = [filled(word, places) for word in self._verify]
            return (judge(words, self._folder, self._verify_s),)

    def _given(self, graph: Graph, scratch: Path) -> str:
        """What the user's command gets for the input: of a dataset the text that the job read, in one file."""
        if self._local is not None:
            return str(self._local.path)
        if self.options.text("input") != DATASET:
            return self.options.text("input")
        file = scratch / "graph.txt"
        if any("{input}" in word for word in self._verify):
            write_pairs(graph.edges[:, 0], graph.edges[:, 1], graph.lone, file)
        return str(file)

    def _filled(self) -> tuple[str, ...]:
        """The arguments as the client gets them, but for the scratch directory, which the engine makes."""
        source = self.options.text("input")
        staged = self.input
        if self._local is not None and self._local.path.is_file():
            staged = f"{self.input}/{self._local.path.name}"
        places = {"output": self.output, "input": source if names_store(source) else staged}
        properties = [f"-D{name}={value}" for name, value in self.spec.hadoop.items()]
        words: list[str] = []
        for word in self._arguments:
            words += properties if word == "{hadoop}" else [filled(word, places)]
        return tuple(words)


WORKLOADS.add("command", Command, place=17)
