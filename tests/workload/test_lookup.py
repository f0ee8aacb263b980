"""Proves that a lookup asks for the rows that its options say, and that other sums, rows or counters fail."""

import re
from pathlib import Path

import numpy as np
import pytest

from assay.input.rows import LEAST_BYTES, GeneratedRows
from assay.model.doubt import Outcome, overall
from assay.model.errors import BadInputError
from assay.model.progress import Silent
from assay.model.trial import WorkloadSpec
from assay.workload.lookup import Lookup
from tests.workload.stored import an_engine, judge, staged


def lookup(**options):
    texts = {name: str(value) for name, value in {"rows": 3000, "row_bytes": 40, **options}.items()}
    return Lookup(WorkloadSpec(name="lookup", variant="listed", options=texts), "/base")


def asked(workload, file):
    """The numbers of the list, in its order."""
    workload.write_asked(file)
    entries = [line.split("-") for line in file.read_text().splitlines()]
    return [number for entry in entries for number in range(int(entry[0]), int(entry[-1]) + 1)], len(entries)


def fields(text):
    return [tuple(map(int, line.split(b",")[:3])) for line in text.splitlines()]


@pytest.mark.parametrize(("share", "rows"), [(0.1, 3), (1, 30), (33.35, 1000), (100, 3000)])
def test_a_share_of_the_rows_is_asked_for_each_once(share, rows, tmp_path):
    numbers, _ = asked(lookup(share=share), tmp_path / "list")
    assert len(set(numbers)) == len(numbers) == pytest.approx(rows, abs=1)
    assert numbers == sorted(numbers)
    assert 0 <= numbers[0] <= numbers[-1] < 3000
    shuffled, _ = asked(lookup(share=share, order="random"), tmp_path / "list")
    assert sorted(shuffled) == numbers
    assert rows == 3 or shuffled != numbers  # three may come in order by chance


@pytest.mark.parametrize(
    ("length", "share", "ranges", "rows"),
    [(100, 10, 3, 300), (70, 100, 43, 3000), (1, 1, 30, 30), (3000, 100, 1, 3000)],
)
def test_ranges_have_their_length_but_for_the_last_rows(length, share, ranges, rows, tmp_path):
    numbers, entries = asked(lookup(by="ranges", range=length, share=share, order="random"), tmp_path / "list")
    assert entries == ranges
    assert len(numbers) == len(set(numbers)) == rows
    assert all(number + 1 in numbers or number % length == length - 1 or number == 2999 for number in numbers)


def test_another_seed_asks_for_other_rows(tmp_path):
    first, again, other = (asked(lookup(seed=seed), tmp_path / "list")[0] for seed in (1, 1, 2))
    assert first == again != other


def test_the_list_is_a_local_file_while_the_job_runs():
    engine, _ = an_engine()
    found = []

    def run(launch, progress):
        option, at_once = launch.options
        assert at_once == "--at-once=1"
        file = Path(option.removeprefix("--rows=file://"))
        found.append((launch.command, launch.input, file, file.read_text().count("\n")))

    engine.run = run
    lookup(at_once=1).run(engine, Silent())
    ((command, read, file, lines),) = found
    assert (command, read, lines) == ("lookup", "/base/input", 30)
    assert not file.exists()


def test_rows_begin_with_their_number_and_have_equal_lengths():
    for count, line_bytes in ((5, LEAST_BYTES), (140_000, 31)):
        rows = GeneratedRows(count, line_bytes, seed=4)
        text = b"".join(rows.text_pieces())
        assert len(text) == rows.size().bytes == count * line_bytes
        lines = text.splitlines(keepends=True)
        assert {len(line) for line in lines} == {line_bytes}
        read = fields(text)
        assert [row for row, _, _ in read] == list(range(count))
        some = np.arange(0, count, 3)
        groups, values = rows.fields(some)
        assert list(zip(groups.tolist(), values.tolist(), strict=True)) == [read[row][1:] for row in some.tolist()]
    assert re.fullmatch(rb"\d{10},\d\d,\d{9},[a-z]{6}\n", lines[-1])


class Output:
    """A right output of a lookup of staged rows, made by plain loops; each part can be changed before it is judged."""

    def __init__(self, folder, **options):
        self.workload, (engine, self.store) = lookup(**options), an_engine()
        staged(self.workload, engine, self.store)
        (self.staged,) = self.store.contents.values()
        rows = fields(self.staged)
        numbers, _ = asked(self.workload, folder / "list")
        self.sums = {}
        for number in numbers:
            _, group, value = rows[number]
            self.sums[group] = self.sums.get(group, 0) + value
        self.result = {"lines_read": 3000, "rows_found": len(numbers), "bytes_found": 39 * len(numbers)}

    def judged(self):
        lines = "".join(f"{group}\t{total}\n" for group, total in self.sums.items())
        self.store.contents["/base/output/part-r-00000"] = lines.encode()
        return overall(judge(self.workload, self.store, self.result))


@pytest.mark.parametrize(
    "options", [{}, {"share": 100}, {"by": "ranges", "range": 70, "share": 100}, {"share": 0.1, "order": "random"}]
)
def test_right_sums_pass_whether_all_lines_were_read_or_those_that_were_asked(options, tmp_path):
    output = Output(tmp_path, **options)
    assert output.judged() is Outcome.PASS
    output.result["lines_read"] = output.result["rows_found"]
    assert output.judged() is Outcome.PASS


def wrong_sum(output):
    group = next(iter(output.sums))
    output.sums[group] += 1


@pytest.mark.parametrize(
    "change",
    [
        wrong_sum,
        lambda output: output.sums.popitem(),
        lambda output: output.sums.update({100: 5}),
        lambda output: output.sums.clear(),
        lambda output: output.result.update(rows_found=29),
        lambda output: output.result.update(bytes_found=30 * 40),
        lambda output: output.result.update(lines_read=2999),
        lambda output: output.result.pop("lines_read"),
    ],
)
def test_another_output_fails(change, tmp_path):
    output = Output(tmp_path)
    change(output)
    assert output.judged() is Outcome.FAIL


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"share": 0}, "share is '0', and must be a number above 0"),
        ({"share": 100.5}, "share is '100.5', and must be a number above 0 and at most 100, in percent"),
        ({"share": "most"}, "share is 'most', and must be a number above 0"),
        ({"share": 0.03}, "0.03 % of 3000 rows is less than a row; take a larger share, more rows or shorter ranges"),
        ({"by": "ranges", "share": 1}, "1 % of 3000 rows is less than a range of 1000 rows; take a larger share"),
        ({"by": "key"}, "by is 'key', and must be keys or ranges"),
        ({"order": "falling"}, "order is 'falling', and must be sorted or random"),
        ({"by": "ranges", "range": 3001, "share": 100}, "range is '3001', and must be at most the 3000 rows"),
        ({"range": 10}, "range has no effect with by: keys; leave it out"),
        ({"by": "ranges", "share": 100, "at_once": 1}, "at_once has no effect with by: ranges; leave it out, or ask by: keys"),
        ({"at_once": 0}, "at_once is '0', and must be a whole number from 1 on"),
        ({"at_once": 10_001}, "at_once is '10001', and must be at most 10000"),
        ({"rows": 10**10 + 1}, "rows is '10000000001', and must be at most 10000000000"),
        ({"row_bytes": LEAST_BYTES - 1}, f"row_bytes is '{LEAST_BYTES - 1}', and must be a whole number from {LEAST_BYTES} on"),
    ],
)  # fmt: skip
def test_what_can_t_be_asked_is_refused(options, complaint):
    with pytest.raises(BadInputError, match=re.escape(complaint)):
        lookup(**options)
