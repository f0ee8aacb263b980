"""Counting lines: a toy workload, added from outside the package, with an input of its own."""

from pathlib import Path
from tempfile import TemporaryDirectory

from assay.model.dataset import Amounts, InputKind
from assay.model.doubt import CheckResult, verdict
from assay.model.engine import LaunchReport
from assay.model.input import Input
from assay.model.progress import Progress
from assay.model.registry import VARIANTS, WORKLOADS
from assay.model.store import Store
from assay.model.workload import Cost, Option, Variant
from assay.workload.base import BaseWorkload


class Lines(Input):
    """So many lines of 80 bytes."""

    def __init__(self, count: int) -> None:
        self.count = count

    def size(self) -> Amounts:
        return Amounts(bytes=80 * self.count)

    def put(self, path: str, store: Store, progress: Progress) -> None:
        with TemporaryDirectory() as folder:
            file = Path(folder, "lines.txt")
            file.write_text(f"{'a line':<79}\n" * self.count, encoding="utf-8")
            store.put(file, f"{path}/lines.txt")


class LineCount(BaseWorkload):
    """One number for all lines."""

    takes = InputKind.TEXT
    summary = "counts lines"
    stresses = "reading the store"
    source = "a toy"
    result = "one number"
    verified = "the number is that of the lines"
    known_options = {"lines": Option("7", "how many there are")}
    needs_files = False

    input: Lines

    def read_options(self) -> None:
        self.input = Lines(self.options.count("lines"))

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        counted = list(store.lines(self.output_path))
        right = counted == [str(self.input.count).encode()]
        return (verdict("all lines are counted", passed=right, detail=f"{counted} of {self.input.count}"),)


WORKLOADS.add("line-count", LineCount)
PLAIN = Variant(
    about="one job of Hadoop", jobs=("line-count",), command="line-count",
    cost=Cost(jobs=1, seconds=Amounts(bytes=1e-8), disk_bytes=Amounts(bytes=2)),
)  # fmt: skip
VARIANTS.add("line-count/plain", PLAIN)
