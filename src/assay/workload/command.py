"""A user's own job: a jar, or a script or query that an engine runs like one; the user's command judges it.

Its jobs are those that its client names, measured like all others. It runs as `hadoop jar` runs it
(org.apache.hadoop.util.RunJar), or as an engine's own variant says: the manifest's main class, or the one that `class`
names.
"""

import os
import re
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

from assay.host.files import input_files
from assay.input.files import LocalFiles, StoredFiles
from assay.input.reading import write_edges
from assay.input.staging import scratch_directory
from assay.model.dataset import DATASET, InputKind
from assay.model.doubt import CheckResult, Outcome
from assay.model.engine import Engine, LaunchReport, Program
from assay.model.errors import AssayError, BadInputError, NoMainClassError
from assay.model.input import GraphInput, Input
from assay.model.naming import nearest
from assay.model.progress import Progress
from assay.model.registry import ENGINES, WORKLOADS
from assay.model.store import Store, files_of, names_store
from assay.model.trial import ResourceEstimate
from assay.model.workload import Option, Variant
from assay.workload.base import BaseWorkload, WorkloadOptions

_MOST_MANIFEST_BYTES = 1 << 20
_OF_CLASS = ".class"
_CLASS_NAME = re.compile(r"[A-Z][\w$]*")
# HDFS has no such names, or a URL has to be built with care for them.
_UNUSABLE = frozenset("#?%:\\")


def the_jar(options: WorkloadOptions, variant: str, variants: Mapping[str, Variant]) -> Path:
    """Find the jar's file, or that of a script which the variant runs. Raises BadInputError where there is none."""
    jar = Path(options.text("jar"))
    if not options.text("jar"):
        raise options.refusal("jar", "the jar's file: its path, absolute or from the experiment's folder")
    if not jar.is_file():
        raise options.refusal("jar", "a file that is there: its path, absolute or from the experiment's folder")
    if runs_it := [name for name, other in variants.items() if jar.suffix in other.scripts]:
        if variant not in runs_it:
            engines = [name for name, engine in ENGINES.items() if variants[runs_it[0]].program in engine.runs]
            which = f"variant {runs_it[0]} (engine: {' or '.join(engines)})"
            raise options.refusal("jar", f"a jar, since only {which} runs {jar.suffix} files")
        if options.text("class"):
            raise options.refusal("class", f"left out: {jar.name} is no jar and has no class")
        if "#" in str(jar):
            raise options.refusal("jar", "a file at a path without '#', which URLs read otherwise")
        return jar
    if variants[variant].scripts_alone:
        raise options.refusal("jar", f"a file ending in {' or '.join(variants[variant].scripts)} for variant {variant}")
    if odd := [sign for sign in "+!:" if sign in str(jar)]:
        raise options.refusal("jar", f"a file at a path without {odd[0]!r}, which Java's class loaders read otherwise")
    if not zipfile.is_zipfile(jar):
        raise options.refusal("jar", "a jar, and it is a file of another kind")
    try:
        _manifest_class(jar)
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error):
        raise options.refusal("jar", "a whole jar, and this one is damaged: build or copy it again") from None
    return jar


def main_class(jar: Path, options: WorkloadOptions) -> tuple[str | None, tuple[str, ...]]:
    """Return the class to be run instead of the manifest's, if any, and what comes before the arguments.

    `hadoop jar` takes its first argument for the class only where the manifest names none. Raises BadInputError when
    nothing names one, or it is not in the jar.
    """
    class_name, manifest_class = options.text("class"), _manifest_class(jar)
    if not class_name and manifest_class is None:
        raise NoMainClassError(
            f"workload command: {jar} names no main class in its manifest; name one in the option class"
        )
    if class_name and class_name not in _classes(jar):
        raise options.refusal("class", f"a class in {jar.name}: its full name, with its package")
    if not class_name or class_name == manifest_class:
        return None, ()
    return (None, (class_name,)) if manifest_class is None else (class_name, ())


def refuse_misspelt(jar: Path, argument: str, options: WorkloadOptions) -> None:
    """Raise BadInputError for a first argument that looks like a class in a package of the jar, which has no such one.

    Names that drivers of programs know, such as `wordcount`, stand nowhere in a jar.
    """
    package, _, name = argument.rpartition(".")
    if not package or not _CLASS_NAME.fullmatch(name):
        return
    classes = _classes(jar)
    beside = [known for known in classes if known.rpartition(".")[0] == package and "$" not in known]
    if beside and argument not in classes:
        requirement = f"arguments that begin with a class in {jar.name}; {nearest(argument, beside)}"
        raise options.refusal("arguments", requirement)


def refuse_misplaced(arguments: Sequence[str], variant: Variant, options: WorkloadOptions) -> None:
    """Raise BadInputError for arguments that are options of what submits a variant's programs."""
    for word in (argument.partition("=")[0] for argument in arguments):
        if cure := variant.not_arguments.get(word):
            requirement = f"the job's own arguments, and {word} is an option of what submits it: {cure}"
            raise options.refusal("arguments", requirement)


def local_files(options: WorkloadOptions) -> LocalFiles:
    """Find what is to be staged: a file, or all files in and below a folder.

    What begins with a dot or `_` is left out, as Hadoop leaves it out too. Raises BadInputError when it is not there,
    empty, or has names that HDFS can't take.
    """
    path = Path(options.text("input"))
    if not path.exists():
        raise options.refusal("input", "a file or folder that is there, absolute or from the experiment's folder")
    names = {path: path.name} if path.is_file() else {
        file: str(file.relative_to(path)) for file in input_files(path)
    }  # fmt: skip
    files = [*names.items()]
    size = sum(file.stat().st_size for file, _ in files)
    if size == 0:
        raise options.refusal("input", "a file or folder with something in it (hidden files are left out)")
    for file, name in files:
        if _UNUSABLE & set(name):
            raise BadInputError(f"workload command: {file} can't be staged; rename it without # ? % : and backslashes")
    return LocalFiles(files, size)


def _classes(jar: Path) -> list[str]:
    """The full names of the classes in a jar, in its order."""
    with zipfile.ZipFile(jar) as archive:
        return [name[: -len(_OF_CLASS)].replace("/", ".") for name in archive.namelist() if name.endswith(_OF_CLASS)]


def _manifest_class(jar: Path) -> str | None:
    """Read the manifest's Main-Class; a line of more than 72 bytes continues in a line that begins with a space."""
    with zipfile.ZipFile(jar) as archive:
        if "META-INF/MANIFEST.MF" not in archive.namelist():
            return None
        with archive.open("META-INF/MANIFEST.MF") as manifest:
            text = manifest.read(_MOST_MANIFEST_BYTES).decode(errors="replace")
    text = text.replace("\r\n", "\n").replace("\n ", "")
    lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return lines.get("Main-Class", "").strip() or None


_PLACE = re.compile(r"\{([A-Za-z][A-Za-z_-]*)\}")


def split_words(options: WorkloadOptions, name: str, known: Collection[str]) -> tuple[str, ...]:
    """Split an option as a shell does. Raises BadInputError for open quotes and for an unknown placeholder."""
    try:
        arguments = tuple(shlex.split(options.text(name)))
    except ValueError as error:
        raise options.refusal(name, f"words as a shell would split them ({str(error).lower()})") from None
    for placeholder in _PLACE.findall(options.text(name)):
        if placeholder == "input" and placeholder not in known:
            raise options.refusal(name, "without {input}, since there is none: name it in the option input")
        if placeholder not in known:
            shown = [f"{{{name}}}" for name in known]
            raise options.refusal(
                name, f"without {{{placeholder}}}, which stands for nothing; {nearest(f'{{{placeholder}}}', shown)}"
            )
    return arguments


def filled(word: str, places: Mapping[str, str]) -> str:
    """Replace the known placeholders in a word."""
    return _PLACE.sub(lambda match: places.get(match[1], match[0]), word)


CHECK = "your own command"
LAST_LINES = 5
_LINE_CHARACTERS = 300
_ROOM_BYTES = 64 << 20


def judge(command: Sequence[str], folder: Path, seconds: float) -> CheckResult:
    """Run a command in a folder: exit code 0 passes, any other fails with its last lines.

    The verdict is unknown where it can't be started or does not end in time; then it and its children are killed.
    """
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return CheckResult(
                check=CHECK, outcome=Outcome.UNKNOWN, detail=f"{shlex.join(command)} can't be run: {error}"
            )
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            detail = f"{command[0]} did not end within {seconds:g} s; the option verify_seconds gives it more"
            return CheckResult(check=CHECK, outcome=Outcome.UNKNOWN, detail=detail)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    lines = [line.rstrip()[:_LINE_CHARACTERS] for line in text.splitlines() if line.strip()]
    detail = ": ".join(filter(None, (f"exit code {code}", "\n  ".join(lines[-LAST_LINES:]))))
    outcome = Outcome.PASS if code == 0 else Outcome.FAIL
    return CheckResult(check=CHECK, outcome=outcome, detail=detail)


def fetch(store: Store, path: str, folder: Path) -> None:
    """Copy the files directly in a directory of the store that are not hidden, or the one file.

    Raises AssayError when nothing is there, OSError when they don't fit.
    """
    stored = files_of(store)
    files = stored.list_files(path)
    output_bytes = sum(file.bytes for file in files)
    free = shutil.disk_usage(folder).free
    if output_bytes + _ROOM_BYTES > free:
        raise OSError(f"the output has {output_bytes} bytes, and {folder} {free} free; TMPDIR names another directory")
    for file in files:
        with (folder / Path(file.path).name).open("wb") as copy:
            for piece in stored.pieces(file.path) if file.bytes else ():
                copy.write(piece)


_ERROR_LINES = 8


class CommandWorkload(BaseWorkload):
    """Any jar, script or query, on a file or folder of this machine, the dataset, what is in the store, or nothing."""

    takes = InputKind.FILES
    summary = (
        "runs your own jar, Python file or query of Hive, measured like all other workloads; your own command judges "
        "its output"
    )
    stresses = "what the jar does: see its I/O signature and phases in the report"
    source = "yours"
    result = "what the jar writes"
    verified = (
        "`verify` runs without a shell: exit code 0 passes, any other fails with its last 5 lines; unknown without "
        "`verify`, or if it can't be started or takes longer than `verify_seconds`"
    )
    plain_output = False
    named_by = ("name", "class", "jar")
    known_options = {
        "jar": Option(
            "",
            "the jar's file, or that of a script which the variant runs (`submitted`: Python, `.py`; `query`: Hive, "
            "`.sql` or `.hql`); required",
            is_path=True,
            example="my-job.jar",
        ),
        "name": Option("", "what reports call it; by default its class, or the jar's file"),
        "class": Option("", "the main class, unless the jar's manifest names it"),
        "arguments": Option(
            "{input} {output}",
            "its arguments, split as a shell does; {input}, {output} (required), {hadoop} and {scratch} are filled in; "
            "those of a query are options of `beeline`, by default `--hivevar input={input} --hivevar output={output}`",
        ),
        "input": Option(
            "",
            "what is staged: a file or folder; `dataset`; `hdfs:/...` on an existing cluster; or nothing",
            is_path=True,
            example="my-input.txt",
        ),
        "verify": Option(
            "", "a command that judges the output: {output} is a local folder with its files, and exit code 0 passes"
        ),
        "verify_seconds": Option("600", "seconds that the judging command may take"),
        "folder": Option(
            ".", "the folder in which the jar's client and `verify` run; by default the experiment file's", is_path=True
        ),
    }

    def read_options(self) -> None:
        if self.variant.arguments:
            defaults = {name: option.default for name, option in self.known_options.items()}
            self.options = WorkloadOptions(self.spec, {**defaults, "arguments": self.variant.arguments})
        self._folder = Path(self.options.text("folder"))
        self._jar = the_jar(self.options, self.spec.variant, self.all_variants)
        find_variables = self.variant.scripts.get(self._jar.suffix)
        self._variables = find_variables() if find_variables is not None else {}
        self._verify_s = self.options.number("verify_seconds", 0, 1e9)
        source = self.options.text("input")
        self._is_local = bool(source) and source != DATASET and not names_store(source)
        if self._is_local:
            self.input = local_files(self.options)
        elif source != DATASET:
            self.input = StoredFiles(source) if source else Input()
        self._start, class_arguments = (None, ()) if find_variables else main_class(self._jar, self.options)
        if self.variant.submitted:  # which takes a class before the jar, and properties too
            self._start, class_arguments = self.options.text("class") or None, ()
        known = ("output", "hadoop", "scratch", *(["input"] if source else []))
        self._arguments = (*class_arguments, *split_words(self.options, "arguments", known))
        refuse_misplaced(self._arguments, self.variant, self.options)
        if not find_variables:
            refuse_misspelt(self._jar, next(iter(self._arguments), ""), self.options)
        if not any("{output}" in word for word in self._arguments):
            requirement = "a text with {output}, which stands for the directory in the store that the job writes"
            raise self.options.refusal("arguments", requirement)
        if self.spec.hadoop and "{hadoop}" not in self._arguments and not self.variant.submitted:
            requirement = (
                "a text with {hadoop} as a word, where the -D options of `hadoop` go: after the program's name, if any"
            )
            raise self.options.refusal("arguments", requirement)
        self._verify = split_words(self.options, "verify", ("output", *(["input"] if source else [])))
        if not self._verify:
            return
        program, requirement = self._verify[0], ""
        if not any("{output}" in word for word in self._verify):
            requirement = "a command with {output}, which stands for a folder with the output's files"
        elif "/" in program and not (self._folder / program).is_file():
            requirement = f"a command whose program is there, and {self._folder / program} is not"
        elif "/" not in program and shutil.which(program) is None:
            requirement = f"a command whose program is on the PATH, and {program} is not (./{program}?)"
        if requirement:
            raise self.options.refusal("verify", requirement)

    def estimate(self) -> ResourceEstimate:
        """Its bytes alone: nobody knows how long a jar runs."""
        return super().estimate().model_copy(update={"known": False})

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """Run the jar's client; a job that failed counts although the jar ends well."""
        source, staged = self.options.text("input"), self.input_path
        # A table of a query is a folder.
        if self._is_local and Path(source).is_file() and not self.variant.scripts_alone:
            staged = f"{self.input_path}/{Path(source).name}"
        places = {"output": self.output_path, "input": source if names_store(source) else staged}
        submitted = self.spec.hadoop if self.variant.submitted else {}
        properties = [f"-D{name}={value}" for name, value in self.spec.hadoop.items() if name not in submitted]
        # The scratch directory is the engine's to make, and to fill in.
        arguments: list[str] = []
        for word in self._arguments:
            arguments += properties if word == "{hadoop}" else [filled(word, places)]
        program = Program(
            name=self._jar.name, jar=str(self._jar), main_class=self._start, arguments=tuple(arguments),
            folder=self._folder, last_lines=_ERROR_LINES, properties=submitted, variables=self._variables,
        )  # fmt: skip
        report = engine.run_program(program, progress)
        for job in report.jobs:
            state = engine.history(job).job.state
            if state != "SUCCEEDED":
                raise AssayError(
                    f"{self._jar.name} ended with exit code 0, but its job {job.id} is {state.lower()}; "
                    "let it end with another code when a job fails"
                )
        return report

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        if not self._verify:
            files_of(store).list_files(self.output_path)
            how = 'no command judges this output; add one to the options, e.g. verify: "python3 check.py {output}"'
            return (CheckResult(check=CHECK, outcome=Outcome.UNKNOWN, detail=how),)
        with scratch_directory() as scratch:
            output = scratch / "output"
            output.mkdir()
            fetch(store, self.output_path, output)
            source = self.options.text("input")
            if isinstance(self.input, GraphInput):
                # The text that the job read, in one file.
                source = str(scratch / "graph.txt")
                if any("{input}" in word for word in self._verify):
                    graph = self.input.graph()
                    write_edges([(graph.edges[:, 0], graph.edges[:, 1])], Path(source), graph.lone.tolist())
            places = {"output": str(output), "input": source}
            command = [filled(word, places) for word in self._verify]
            return (judge(command, self._folder, self._verify_s),)


WORKLOADS.add("command", CommandWorkload, place=19)
