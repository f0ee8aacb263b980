"""Proves that workloads are placed by what they move, and that the line and its crossing are those of least squares."""

from math import log

import numpy as np
import pytest

from assay.cli.report import csv_of
from assay.model.cluster import EmbeddedSpec
from assay.model.record import Amount, totals
from assay.model.trial import StoreSpec, WorkloadSpec
from assay.probe.disk import DISK_SHARED
from assay.record.folder import RunFolder
from assay.report.analysis import analyse, read_run
from assay.report.words import labels_of
from assay_extras.suitability.suited import MediaBytes, Side, media_bytes, suitabilities
from tests.builders import a_job, a_measured_run, a_plan, a_record, a_trial, device_reports, summaries, summarised
from tests.report.made_runs import page, write_run

MB = 1_000_000
COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"
FILES = ("files", "tables")


def requests(megabytes):
    return {"bytes": round(megabytes * MB), "sequential_share": 1.0}


def report(reads_mb, writes_mb):
    return {
        "reads": requests(reads_mb), "writes": requests(writes_mb), "busy_seconds": 1.0, "late": {"share": 0.0},
        "joules": {"total": 1.0},
    }  # fmt: skip


def made(workloads, repetitions=5, stores=FILES, media_bytes_known=True, worth=0.2):
    """A run: of each workload its MB for a second of computing, and its ratio of times, give or take a per cent."""
    records = []
    for repetition in range(1, repetitions + 1):
        for name, (moved_mb, ratio) in workloads.items():
            for store in stores:
                trial = a_trial(len(records) + 1, repetition=repetition, workload=name)
                trial = trial.model_copy(update={"store": StoreSpec(kind=store)})
                noise = (0.99, 1.0, 1.01)[(repetition + (store != stores[0])) % 3]
                job = a_job(elapsed_s=30.0 * (ratio if store != stores[0] else 1.0) * noise)
                job = job.model_copy(update={"counters": {COUNTERS: {"CPU_MILLISECONDS": 10_000}}})
                reports = {
                    "staging": report(999, 999),
                    "run": report(6 * moved_mb, 3 * moved_mb),
                    "write out": report(0, moved_mb),
                }
                devices = device_reports({"disk": reports}) if media_bytes_known else ()
                records.append(a_record(trial, jobs=(job,), totals=totals((job,), ()), devices=devices))
    return a_plan(*(record.trial for record in records)).model_copy(update={"worth": worth}), records


LINE = {"grep": (40, 2.0), "sort": (20, 1.5), "rank": (4, 1.0), "cluster": (1, 0.7)}


def test_a_workload_is_placed_by_what_all_media_moved_in_the_bases_run_and_its_write_out():
    plan, records = made(LINE)
    assert media_bytes(records[0]) == MediaBytes(10 * 40 * MB, estimated=False)
    (suited,) = suitabilities(plan, summaries(records))
    assert (suited.base, suited.level) == FILES
    placed = {one.levels["workload"]: one for one in suited.workloads}
    assert {name: round(one.moved.value / MB) for name, one in placed.items()} == {
        name: moved for name, (moved, _) in LINE.items()
    }
    assert {name: round(one.ratio.value, 2) for name, one in placed.items()} == {
        name: pytest.approx(ratio, rel=0.02) for name, (_, ratio) in LINE.items()
    }
    assert [placed[name].side for name in LINE] == [Side.BASE, Side.BASE, Side.EITHER, Side.LEVEL]


def test_the_line_is_that_of_least_squares_with_students_interval_and_crosses_where_it_says():
    plan, records = made(LINE)
    (suited,) = suitabilities(plan, summaries(records))
    moved, ratios = np.log([[one.moved.value, one.ratio.value] for one in suited.workloads]).T
    fitted, covariance = np.polyfit(moved, ratios, 1, cov="unscaled")
    off = ((ratios - np.polyval(fitted, moved)) ** 2).sum() / 2
    assert suited.line.slope == pytest.approx(fitted[0])
    assert suited.line.deviation == pytest.approx(off**0.5)
    place = log(8 * MB)
    error = np.sqrt(off * (np.array([place, 1]) @ covariance @ np.array([place, 1])))
    known = suited.line.ratio(8 * MB)
    assert log(known.high / known.value) == pytest.approx(4.302653 * error)
    crossing = suited.line.crossing(suited.base_suits_above)
    assert suited.line.ratio(crossing.value).value == pytest.approx(1 / 0.8)
    for end, side in ((crossing.low, "high"), (crossing.high, "low")):
        assert getattr(suited.line.ratio(end), side) == pytest.approx(1 / 0.8, rel=0.02)


def test_beyond_what_was_measured_the_line_crosses_nothing():
    plan, records = made({"grep": (40, 4.1), "sort": (20, 2.56), "rank": (10, 1.6)})
    (suited,) = suitabilities(plan, summaries(records))
    assert suited.line.crossing(suited.base_suits_above) is None
    assert "on the side of files all along" in analyse(a_measured_run(plan, records)).sections["suitability"].text()


def test_a_flat_cloud_is_said_to_tell_nothing():
    plan, records = made({"grep": (40, 1.1), "sort": (20, 1.6), "rank": (4, 0.9), "cluster": (1, 1.4)})
    (suited,) = suitabilities(plan, summaries(records))
    assert not suited.line.tells
    assert "does not tell which suits it" in analyse(a_measured_run(plan, records)).sections["suitability"].text()


def test_two_workloads_are_points_without_a_line():
    plan, records = made({"grep": (40, 2.0), "rank": (4, 1.0)})
    (suited,) = suitabilities(plan, summaries(records))
    assert suited.line is None
    assert "There is no line" in page(plan, records)
    assert "fitted" not in analyse(a_measured_run(plan, records)).sections["suitability"].html()


@pytest.mark.parametrize(
    ("workloads", "changes"),
    [
        ({"grep": (40, 2.0)}, {}),
        (LINE, {"stores": ("files",)}),
        (LINE, {"media_bytes_known": False}),
        (LINE, {"stores": ("files", "files")}),
    ],
)
def test_nothing_is_said_where_it_answers_nothing(workloads, changes):
    plan, records = made(workloads, **changes)
    assert suitabilities(plan, summaries(records)) == []
    assert "suitability" not in page(plan, records)


def test_without_repetitions_no_side_is_known_and_no_interval_is_drawn():
    plan, records = made(LINE, repetitions=1)
    (suited,) = suitabilities(plan, summaries(records))
    assert {one.side for one in suited.workloads} == {Side.NOT_KNOWN_YET}
    assert {one.ratio.low for one in suited.workloads} == {one.moved.low for one in suited.workloads} == {None}


def test_of_three_levels_each_two_are_compared():
    plan, records = made(LINE, stores=("files", "tables", "objects"))
    assert [(one.base, one.level) for one in suitabilities(plan, summaries(records))] == [
        ("files", "objects"), ("files", "tables"), ("objects", "tables")
    ]  # fmt: skip


def test_a_workload_that_a_store_can_not_hold_is_a_row_with_the_reason():
    plan, records = made({"k-means": (40, 2.0), "word-count": (4, 1.0)}, stores=("hdfs", "hbase"))
    of_files = [
        record.model_copy(update={"trial": record.trial.model_copy(update={"id": f"{record.trial.id}-f"})})
        for record in made({"terasort": (10, 1.0)}, stores=("hdfs",))[1]
    ]
    every = [*records, *of_files]
    plan = plan.model_copy(update={"trials": tuple(record.trial for record in every)})
    (suited,) = suitabilities(plan, summaries(every))
    assert [each.levels["workload"] for each in suited.workloads] == ["k-means", "word-count"]
    assert [each.levels["workload"] for each in suited.impossible] == ["terasort"]
    section = analyse(a_measured_run(plan, every)).sections["suitability"]
    for form in (section.text(), section.markdown(), section.html()):
        assert "Not possible with hbase: terasort needs files, and hbase holds tables." in form
        assert "cannot" in form
    assert [row["workload"] for row in section.rows() if row["suits"] == "cannot"] == ["terasort"]


def on_two_drives(workloads):
    """A run whose trials come twice: with another placement too."""
    plan, records = made(workloads)
    again = []
    for record in records:
        placement = record.trial.placement.model_copy(update={"name": "ssd"})
        trial = record.trial.model_copy(update={"id": f"{record.trial.id}-ssd", "placement": placement})
        again.append(record.model_copy(update={"trial": trial}))
    every = [*records, *again]
    return plan.model_copy(update={"trials": tuple(record.trial for record in every)}), every


def test_one_workload_on_two_drives_is_no_second_workload_of_a_line():
    """Two workloads with two stores on two drives: four combinations, and yet nothing to draw a line through."""
    found = suitabilities(*summarised(*on_two_drives({"grep": (40, 2.0), "rank": (4, 1.0)})))
    assert [one.others["placement"] for one in found] == ["disk", "ssd"]
    assert [one.line for one in found] == [None, None]
    assert [[each.levels["workload"] for each in one.workloads] for one in found] == [["grep", "rank"]] * 2


def test_each_drive_has_a_line_of_as_many_degrees_of_freedom_as_one_drive_alone_and_is_named():
    plan, records = on_two_drives(LINE)
    found = suitabilities(plan, summaries(records))
    assert [(one.line.workloads, one.line.freedom) for one in found] == [(4, 2), (4, 2)]
    section = analyse(a_measured_run(plan, records)).sections["suitability"]
    assert section.html().count('<figure class="depends">') == 2
    for form in (section.text(), section.markdown(), section.html()):
        assert "With placement disk: 4 workloads" in form
        assert "With placement ssd: 4 workloads" in form
    assert "With placement" not in analyse(a_measured_run(*made(LINE))).sections["suitability"].text()


def test_two_variants_of_one_workload_are_two():
    plan, records = made({"rank": (4, 1.0), "grep": (40, 2.0)})
    tuned = [
        record.model_copy(update={"trial": record.trial.model_copy(update={
            "id": f"{record.trial.id}-b", "workload": WorkloadSpec(name="grep", variant="tuned")})})
        for record in made({"grep": (10, 1.5)})[1]
    ]  # fmt: skip
    (suited,) = suitabilities(plan, summaries([*records, *tuned]))
    assert suited.line.workloads == 3


def amount(probe, subject, series, megabytes, node=None, part="run"):
    return Amount(probe=probe, subject=subject, series=series, part=part, value=megabytes * MB, node=node)


def test_a_device_that_nodes_share_is_not_counted_once_for_each():
    nodes = ("master", "worker-1", "worker-2")
    device = [amount("disk", "disk", "read_bytes", 900, node) for node in nodes]
    processes = [amount("disk-processes", "datanode", "read_bytes", 100, node) for node in nodes]
    processor = Amount(probe="cpu", subject="machine", series="user_s", part="run", value=9.0)
    trial = a_trial().model_copy(update={"cluster": EmbeddedSpec(nodes=2)})
    own = a_record(trial, amounts=tuple(device))
    assert media_bytes(own) == MediaBytes(2 * 900 * MB, estimated=False), "workers that are machines of their own"
    shared = a_record(trial, amounts=(*device, *processes, processor))
    assert media_bytes(shared) == MediaBytes(2 * 100 * MB, estimated=True)


def test_what_other_programs_did_to_a_device_is_not_counted_and_the_note_says_so():
    plan, records = made({"grep": (40, 2.0), "rank": (4, 1.0)}, media_bytes_known=False)
    amounts = (
        amount("disk", "disk", "written_bytes", 5000), amount("disk-processes", "task", "written_bytes", 70),
        amount("disk-processes", "task", "cancelled_write_bytes", 10), amount("disk-processes", "assay", "read_bytes", 8),
        amount("disk-processes", "task", "read_bytes", 4, part="staging"),
        amount("disk-processes", "task", "written_bytes", 5, part="write out"),
    )  # fmt: skip
    doubt = DISK_SHARED.doubt("the system is on it", "disk")
    records = [record.model_copy(update={"amounts": amounts, "doubts": (doubt,)}) for record in records]
    assert media_bytes(records[0]) == MediaBytes(65 * MB, estimated=True)
    assert "Of a device that nodes share" in analyse(a_measured_run(plan, records)).sections["suitability"].markdown()


def test_workloads_of_one_name_are_told_apart_by_what_differs():
    plan, records = made({"rank": (4, 1.0), "grep": (40, 2.0)})
    other = [
        record.model_copy(update={"trial": record.trial.model_copy(update={
            "id": f"{record.trial.id}-b", "workload": WorkloadSpec(name="rank", variant="tuned")})})
        for record in records if record.trial.workload.name == "rank"
    ]  # fmt: skip
    (suited,) = suitabilities(plan, summaries([*records, *other]))
    assert sorted(labels_of([one.levels for one in suited.workloads])) == ["grep", "rank, paper", "rank, tuned"]


def test_all_forms_have_the_same_figures(tmp_path):
    plan, records = made(LINE)
    folder = write_run(tmp_path / "run", plan, records)
    run = read_run(RunFolder(folder.path), details=False)
    analysis = analyse(run.measured)
    assert suitabilities(run.plan, run.trials) == suitabilities(plan, summaries(records))
    head, *rows = list(csv_of(run, analysis, "suitability"))
    assert len(rows) == len(LINE)
    assert "moved_bytes_per_cpu_s" in head
    section = analysis.sections["suitability"]
    assert max(map(len, section.text().splitlines())) <= 80
    for form in (section.text(), section.markdown(), section.html()):
        said = " ".join(form.split())
        assert "The more a job moves for its computing, the longer it takes with tables compared with files" in said
        assert "cluster" in form
    assert '"side": "either"' in section.json()
    assert section.html().count("<circle") >= len(LINE)
