"""A user's own job: any jar that Hadoop runs, with the user's own command as the judge of its output.

Its jobs are those that its client names (see `engine.program`), measured like all others. It runs as `hadoop jar` runs
it (org.apache.hadoop.util.RunJar): the manifest's main class, or the one that `class` names.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import ClassVar

from assay.model.dataset import DATASET, Dataset
from assay.model.doubt import Outcome, Verdict
from assay.model.engine import Engine, LaunchReport, Program
from assay.model.errors import AssayError
from assay.model.graph import Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Store, names_store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.graph import GraphWorkload
from assay.workload.graph_text import write_pairs
from assay.workload.judge import CHECK, fetch, judge
from assay.workload.made import BYTES_S, JOB_S
from assay.workload.own_files import LocalInput, local_input, main_class, the_jar
from assay.workload.scratch import scratch_directory
from assay.workload.words import filled, split_words, the_program

# What a job does that nobody knows: as much as a sort, which is more than most do.
_COPIES = 5
_MIB = 1 << 20
_ERROR_LINES = 8


class Command(GraphWorkload):
    """Any jar, on a file or folder of this machine, the experiment's dataset, what is in the store, or nothing."""

    makes_input: ClassVar[bool] = True
    summary: ClassVar[str] = "runs a jar of yours, measured like all others; a command of yours judges its output"
    stresses: ClassVar[str] = "whatever the jar does: see its I/O signature and phases in the report"
    source: ClassVar[str] = "yours"
    variants: ClassVar[Mapping[str, Variant]] = {
        "own": Variant(about="as the jar has it; JAR is its file's name", jobs=("JAR 1", "..."))
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
        "jar": "the jar's file; needed",
        "class": "the main class, where the jar's manifest names none or another one is meant",
        "arguments": "what it is called with; {input}, {output}, {hadoop} (the -D options) and {scratch} are filled in",
        "input": "a file or folder to be staged; `dataset`; `hdfs:/...` on an existing cluster; or nothing",
        "verify": "a command that judges the output: {output} is a folder with its files; exit code 0 passes",
        "verify_seconds": "how long that may take",
        "folder": "where the jar's client and verify run; the experiment file's by default",
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
