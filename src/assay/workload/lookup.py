"""Lookup: the values of some rows of many, added up by group (1 job).

The job asks for rows by their numbers, one by one or in ranges. A store of files is scanned, and maps pass over what is
not asked for; a table is asked for these rows alone where its formats know how. Rows are drawn from a seed.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.input.rows import GROUPS, LEAST_BYTES, ROW_DIGITS, GeneratedRows
from assay.input.staging import scratch_directory
from assay.model.dataset import InputKind
from assay.model.doubt import CheckResult, verdict
from assay.model.engine import Engine, Launch, LaunchReport
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import ResourceEstimate
from assay.model.workload import BYTES_S, MIB, Option, hadoop_cost
from assay.workload.base import BaseWorkload, counters_agree, output_table, whole

KEYS, RANGES = "keys", "ranges"
SORTED, RANDOM = "sorted", "random"
_MAKE_BYTES_S = 100e6
# The input, and little else.
_COPIES = 1.1
# What the rows are drawn for, in the seed of a generator; `assay.input.rows` has 0 and 1.
_ASKED = 2
# What a server answers by one call is held at once.
_MOST_AT_ONCE = 10_000
# Bytes held for each row by the draw, and for each asked row by the verification.
_DRAWN_BYTES, _ASKED_BYTES = 8, 40


class Lookup(BaseWorkload):
    """A list of rows goes to all maps; these add up the values of the rows that are on it."""

    takes = InputKind.RECORDS
    needs_files = False
    summary = "adds up the values of a share of the rows, asked for by their numbers"
    stresses = (
        "reading: of files all lines, whatever the share; of tables the asked rows alone, by gets or by scans of ranges"
    )
    source = "Assay's own"
    result = "`group<TAB>sum` for each group with an asked row"
    verified = (
        "the sums equal numpy's over the same rows, which are made again; the counters equal the asked rows and their "
        "bytes; maps got the asked rows or all"
    )
    known_options = {
        "rows": Option("1000000", "number of rows, at most 10,000,000,000"),
        "row_bytes": Option("100", f"bytes of a row's line with its end, at least {LEAST_BYTES}"),
        "share": Option("1", "percent of the rows that are asked for, above 0 and at most 100"),
        "by": Option(KEYS, "`keys`: single rows, drawn without replacement; `ranges`: rows that follow each other"),
        "range": Option("1000", "with `by: ranges`, the rows of a range"),
        "order": Option(SORTED, "in which order rows or ranges are asked for: `sorted`, or `random`"),
        "at_once": Option("500", "with `by: keys`, the rows of a table got by one call; with 1 each get is timed"),
        "seed": Option("1", "seed of the rows and of the draw"),
    }

    input: GeneratedRows

    def read_options(self) -> None:
        rows, line_bytes = self.options.count("rows"), self.options.count("row_bytes", least=LEAST_BYTES)
        if rows > 10**ROW_DIGITS:
            raise self.options.refusal("rows", f"at most {10**ROW_DIGITS}")
        self._seed = self.options.count("seed", least=0)
        self.input = GeneratedRows(rows, line_bytes, self._seed)
        self._by, self._order = self._choice("by", KEYS, RANGES), self._choice("order", SORTED, RANDOM)
        if self._by == KEYS and "range" in self.spec.options:
            raise self.error("range has no effect with by: keys; leave it out, or ask by: ranges")
        if self._by == RANGES and "at_once" in self.spec.options:
            raise self.error("at_once has no effect with by: ranges; leave it out, or ask by: keys")
        self._at_once = self.options.count("at_once")
        if self._at_once > _MOST_AT_ONCE:
            raise self.options.refusal("at_once", f"at most {_MOST_AT_ONCE}")
        self._length = self.options.count("range") if self._by == RANGES else 1
        if self._length > rows:
            raise self.options.refusal("range", f"at most the {rows} rows")
        share = self.options.number("share", 0, np.inf)
        if share > 100:
            raise self.options.refusal("share", "a number above 0 and at most 100, in percent")
        self._blocks = -(-rows // self._length)
        if self._blocks * share < 100:
            part = "a row" if self._length == 1 else f"a range of {self._length} rows"
            raise self.error(
                f"{share:g} % of {rows} rows is less than {part}; take a larger share, more rows or shorter ranges"
            )
        self._asked_blocks = round(self._blocks * share / 100)

    def _choice(self, name: str, *choices: str) -> str:
        """Read an option that has one of these values. Raises BadInputError."""
        if self.options.text(name) not in choices:
            raise self.options.refusal(name, " or ".join(choices))
        return self.options.text(name)

    def estimate(self) -> ResourceEstimate:
        """Estimate by a scan of all rows; what single rows take longer than that depends on the store."""
        asked = self._asked_blocks * self._length
        memory_bytes = 128 * MIB + _DRAWN_BYTES * self.input.count + _ASKED_BYTES * asked
        return hadoop_cost(1, 1 / BYTES_S + 1 / _MAKE_BYTES_S, _COPIES, memory_bytes).estimate(self.input.size())

    @property
    def read_path(self) -> None:
        """None: of a table the job reads the asked rows alone."""
        return

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """Give the job's client the list of rows as a local file."""
        with scratch_directory() as scratch:
            asked = scratch / "asked.txt"
            self.write_asked(asked)
            launch = Launch(
                command=self.variant.command, input=self.input_path, output=self.output_path,
                options=(f"--rows=file://{asked}", f"--at-once={self._at_once}"), properties=self.spec.hadoop,
            )  # fmt: skip
            return engine.run(launch, progress)

    def write_asked(self, file: Path) -> None:
        """Write a line `number` for each asked row, or `first-last` for each range, in the order of asking."""
        firsts = (self._drawn_blocks() * self._length).tolist()
        last = self.input.count - 1
        if self._by == KEYS:
            lines = (f"{first}\n" for first in firsts)
        else:
            lines = (f"{first}-{min(first + self._length - 1, last)}\n" for first in firsts)
        with file.open("w", encoding="ascii") as out:
            out.writelines(lines)

    def _drawn_blocks(self) -> NDArray[np.int64]:
        """Draw rows, or ranges by their place, in the order of asking."""
        random = np.random.default_rng((self._seed, _ASKED))
        blocks = random.choice(self._blocks, self._asked_blocks, replace=False)
        return blocks if self._order == RANDOM else np.sort(blocks)

    def _asked_rows(self) -> NDArray[np.int64]:
        """Return all asked rows, ascending."""
        firsts = np.sort(self._drawn_blocks()) * self._length
        rows = (firsts[:, None] + np.arange(self._length)).ravel()
        return rows[rows < self.input.count]

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        rows = self._asked_rows()
        groups, values = self.input.fields(rows)
        sums = np.zeros(GROUPS, np.int64)
        np.add.at(sums, groups, values)
        occurring = np.unique(groups)
        table = output_table(store.lines(self.output_path), self.spec.name, group=whole, sum=whole)
        same_groups = np.array_equal(table["group"], occurring)
        wrong = int((table["sum"] != sums[occurring]).sum()) if same_groups else len(occurring)
        read = report.result.get("lines_read")
        # Ends of lines are none of a line's bytes to a map.
        counters = {"rows_found": len(rows), "bytes_found": len(rows) * (self.input.line_bytes - 1)}
        return (
            verdict(
                "the sums equal numpy's",
                passed=same_groups and not wrong,
                detail=f"{len(table)} groups for {len(occurring)}, {wrong} sums differ",
            ),
            *counters_agree(report, counters, "counters equal the asked rows and their bytes"),
            verdict(
                "maps got the asked rows, or all",
                passed=read in {len(rows), self.input.count},
                detail=f"{read} lines, of {self.input.count} rows {len(rows)} asked",
            ),
        )


WORKLOADS.add("lookup", Lookup, place=13)
