"""Shared parts of workloads: options, command lines, estimates, and their base class."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.model.dataset import InputKind
from assay.model.doubt import CheckResult, verdict
from assay.model.engine import Engine, Launch, LaunchReport
from assay.model.errors import AssayError, BadInputError
from assay.model.input import GraphInput, Input
from assay.model.installed import variants_of
from assay.model.naming import nearest, size_of
from assay.model.progress import Progress
from assay.model.quantity import Kind
from assay.model.store import Store
from assay.model.trial import ResourceEstimate, WorkloadSpec
from assay.model.workload import Option, Variant

MOST_DIGITS = 18
"""Any number of so many digits fits into Java's `long`."""

_TRUE, _FALSE = {"true", "yes", ""}, {"false", "no"}


class WorkloadOptions:
    """The options of one workload; those that its spec leaves out have their defaults."""

    def __init__(self, spec: WorkloadSpec, defaults: Mapping[str, str]) -> None:
        for name in spec.options:
            if not defaults:
                raise BadInputError(f"workload {spec.name} has no options; leave {name!r} out")
            if name not in defaults:
                raise BadInputError(f"workload {spec.name} has no option {name!r}; {nearest(name, list(defaults))}")
        self._workload = spec.name
        self._texts = {**defaults, **spec.options}

    def text(self, name: str) -> str:
        return self._texts[name]

    def count(self, name: str, least: int = 1) -> int:
        """Read a whole number, at least `least`. Raises BadInputError."""
        text = self._texts[name]
        if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS) or int(text) < least:
            raise self.refusal(name, f"a whole number from {least} on")
        return int(text)

    def number(self, name: str, low: float, high: float) -> float:
        """Read a number above `low` and below `high`. Raises BadInputError."""
        try:
            value = float(self._texts[name])
        except ValueError:
            value = math.nan
        if not low < value < high:
            raise self.refusal(name, f"a number above {low:g}" + (f" and below {high:g}" if high < math.inf else ""))
        return value

    def size_bytes(self, name: str) -> int:
        """Read a size in bytes, at least one. Raises BadInputError."""
        size = size_of(self._texts[name])
        if not size:
            raise self.refusal(name, "a size such as 128MiB (1024s) or 800MB (1000s)")
        return size

    def file_size(self) -> tuple[int, int]:
        """Read the number of files (`files`) and the bytes of each (`size`), at least one. Raises BadInputError."""
        files = self.count("files")
        file_bytes = self.size_bytes("size") // files
        if not file_bytes:
            raise self.refusal("files", "at most the bytes of size")
        return files, file_bytes

    def flag(self, name: str) -> bool:
        """Read whether an option is on. Raises BadInputError."""
        text = self._texts[name].lower()
        if text not in _TRUE | _FALSE:
            raise self.refusal(name, "true or false")
        return text in _TRUE

    def refusal(self, name: str, requirement: str) -> BadInputError:
        """Make an error that says in a sentence what is wrong with an option."""
        return BadInputError(f"workload {self._workload}: {name} is {self._texts[name]!r}, and must be {requirement}")


class BaseWorkload:
    """A workload described by class attributes, which say all that a `WorkloadKind` has to.

    Its `input` is the experiment's dataset, or what `read_options` makes of its options. `stage` stages that, and
    `run` is the variant's command of the jobs jar, with the options: one that is `true` or `false` by default as
    `--name` where it is on, any other as `--name=value`. A workload with other programs replaces these, for the
    variants that have no command.
    """

    input: Input
    takes: ClassVar[InputKind]
    summary: ClassVar[str]
    stresses: ClassVar[str]
    source: ClassVar[str]
    result: ClassVar[str]
    verified: ClassVar[str]
    known_options: ClassVar[Mapping[str, Option]] = {}
    plain_output: ClassVar[bool] = True
    output_replication: ClassVar[str] = ""
    needs_files: ClassVar[bool] = True
    named_by: ClassVar[Sequence[str]] = ()
    result_kinds: ClassVar[Mapping[str, Kind]] = {}

    def __init__(self, spec: WorkloadSpec, base: str, dataset: GraphInput | None = None, part: str = "") -> None:
        """`part` is the last part of its paths, where several workloads share a base."""
        self.options = WorkloadOptions(spec, {name: option.default for name, option in self.known_options.items()})
        for name in filter(self._is_flag, self.known_options):
            self.options.flag(name)
        self.spec, self.base, self.part = spec, base, part
        for name in spec.options:
            owners = [owner for owner, variant in self.all_variants.items() if name in variant.options]
            if owners and spec.variant not in owners:
                owner = f"variant {' or '.join(owners)}"
                raise self.error(f"{name} is an option of {owner}; leave it out of {spec.variant}")
        if dataset is not None:
            self.input = dataset
        self.read_options()

    def read_options(self) -> None:
        """Read the options' values, and make the input that they describe. Raises BadInputError."""

    def error(self, problem: str) -> BadInputError:
        """Make an error that says in a sentence what is wrong with the options together."""
        return BadInputError(f"workload {self.spec.name}: {problem}")

    @property
    def variant(self) -> Variant:
        """The variant that the spec names."""
        return self.all_variants[self.spec.variant]

    @cached_property
    def all_variants(self) -> Mapping[str, Variant]:
        """Those that engines bring, by name."""
        return variants_of(self.spec.name)

    @property
    def input_path(self) -> str:
        return f"{self.base}/input{self.part}"

    @property
    def read_path(self) -> str | None:
        return self.input_path

    @property
    def output_path(self) -> str:
        return f"{self.base}/output{self.part}"

    def estimate(self) -> ResourceEstimate:
        """Estimate by the variant's declared cost, or by that of the variant whose work it does."""
        variant = self.all_variants[self.variant.like or self.spec.variant]
        cost, jobs = variant.cost, self.likely_jobs(variant)
        assert cost is not None  # noqa: S101 - one without estimates by itself
        rounds = cost.jobs if jobs is None else jobs
        if self.variant.like:
            cost, jobs = cost.in_one_job(self.variant.start_s or cost.start_s, jobs), None
        return cost.estimate(self.input.size(), jobs).model_copy(update={"rounds": rounds})

    def likely_jobs(self, variant: Variant) -> float | None:
        """Return the number of a variant's jobs where the options bound them; None for the declared number."""
        return None

    def stage(self, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        return self.input.stage(self.input_path, store, engine, progress)

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """Run the variant's command on what was staged."""
        launch = Launch(
            command=self.variant.command, input=self.input_path, output=self.output_path,
            options=self.command_options(), properties=self.spec.hadoop,
        )  # fmt: skip
        return engine.run(launch, progress)

    def command_options(self) -> tuple[str, ...]:
        """Return the options that the spec gives, as arguments of the command."""
        arguments: list[str] = []
        for name, value in self.spec.options.items():
            if not self._is_flag(name):
                arguments.append(f"--{name}={value}")
            elif self.options.flag(name):
                arguments.append(f"--{name}")
        return tuple(arguments)

    def _is_flag(self, name: str) -> bool:
        return self.known_options[name].default in {"true", "false"}

    @abstractmethod
    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]: ...


def counters_agree(
    report: LaunchReport, expected: Mapping[str, int], check: str = "counters are right"
) -> tuple[CheckResult, ...]:
    """Judge whether the jobs' counters equal the other computation's; nothing of an engine that counts nothing."""
    if not report.counts:
        return ()
    counted = {name: report.result.get(name) for name in expected}
    wrong = [
        f"{name} is {counted[name]} instead of {expected[name]}" for name in expected if counted[name] != expected[name]
    ]
    right = ", ".join(f"{name} {value}" for name, value in expected.items())
    return (verdict(check, passed=not wrong, detail=", ".join(wrong) or right),)


_LINES = 128  # that are read together; more would not stay in the processor's caches


def whole(field: bytes) -> int:
    """Parse a whole number of at most 63 bits. Raises ValueError for anything else."""
    if not field.isdigit() or (number := int(field)) >> 63:
        raise ValueError
    return number


def output_rows(lines: Iterable[bytes], name: str, **columns: Callable[[bytes], Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the fields of each line of a workload's output, apart by tabs, each as its column reads it.

    The last column gets the rest of the line. Raises AssayError for a line that has fewer fields, or one of which a
    column raises ValueError.
    """
    reads = tuple(columns.values())
    for line in lines:
        fields = line.split(b"\t", len(reads) - 1)
        try:
            yield tuple([read(field) for read, field in zip(reads, fields, strict=True)])
        except ValueError:
            raise AssayError(
                f"the output of {name} has a line that is not `{'<TAB>'.join(columns)}` with whole numbers "
                f"of at most 63 bits: {line[:100]!r}"
            ) from None


def output_table(lines: Iterable[bytes], name: str, **columns: Callable[[bytes], Any]) -> NDArray[np.void]:
    """Read output of numbers into an array with these columns, sorted by the first: doubles for `float`, else int64."""
    types = np.dtype([(column, np.float64 if read is float else np.int64) for column, read in columns.items()])
    left, tables = iter(lines), [np.empty(0, types)]
    while some := list(islice(left, _LINES)):
        tables.append(np.empty(len(some), types))
        try:
            fields = zip(*[line.split(b"\t", len(columns) - 1) for line in some], strict=True)
            for (column, read), texts in zip(columns.items(), fields, strict=True):
                reads = int if read is whole and b"".join(texts).isdigit() else read
                tables[-1][column] = np.fromiter(map(reads, texts), types[column])
        except (ValueError, OverflowError):
            tables[-1] = np.fromiter(output_rows(some, name, **columns), types)  # says what is wrong
    table = np.concatenate(tables)
    return table[np.argsort(table[next(iter(columns))], kind="stable")]


def each_once(vertices: NDArray[np.int64], expected: NDArray[np.int64]) -> CheckResult:
    """Judge whether an output has each of a graph's vertices once; both ascend."""
    detail = f"{len(vertices)} lines for {len(expected)} vertices"
    return verdict("every vertex appears exactly once", passed=np.array_equal(vertices, expected), detail=detail)
