"""Proves that the page's close part says what the records say, names what is missing, and stays small."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from assay.model.doubt import DOUBTS
from assay.model.engine import TaskFigure
from assay.model.installed import engine_kind
from assay.model.record import Amount, Series, SeriesKey, Status
from assay.model.result import TrialResult
from assay.model.section import TrialTables
from assay.model.trial import MediumSpec
from assay.probe.disk import THROUGHPUT
from assay.record.folder import RunFolder
from assay.report.analysis import MOST_TRIALS, read_tables, trials_in_detail
from assay.report.charts.accesses import access_rows, flow_picture, flows
from assay.report.charts.drawing import PAPER
from assay.report.charts.paths import job_paths, path_bars, path_kinds
from assay.report.charts.timeline import leading_phases, scale_of, timeline
from assay.report.trial_detail import cost_of, detail_groups
from assay.report.values import trial_values
from assay.stats.timeline import binned, running_tasks
from tests import builders
from tests.builders import a_plan, summaries, with_facts
from tests.report.made_nodes import a_cluster_record
from tests.report.made_runs import page
from tests.report.made_trials import SIGNATURE, a_record, the_tables

LONG_S = 7200.0


def run_page(*detailed):
    records = [one.record for one in detailed]
    return page(a_plan(*(record.trial for record in records)), records, [], detailed)


def words(svg):
    """All that is written in a figure."""
    return [node.text for node in ElementTree.fromstring(svg).iter() if node.text]


class Tags(HTMLParser):
    """Fails on tags that are closed in another order than they were opened."""

    VOID = {"meta", "br", "img", "link", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name == "href"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        unclosed = {"td", "th", "tr", "li", "p"}
        while self.open[-1] != tag and self.open[-1] in unclosed:
            self.open.pop()
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def html():
    return run_page(the_tables(1, "hdd", 60.0), the_tables(2, "ssd", 40.0), the_tables(3, "hdd", 58.0, repetition=2))


def test_the_page_has_the_records_numbers(html):
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))
    for number in (
        "400.0 MiB", "75.0 %", "75 % sequential", "2.5 streams", "128 KiB", "3.25", "500.0 MiB",  # the signature
        "1.2 % of its bytes", "7.3", "9.9",  # 7.3 s of 700 MiB are 9.9 ns a byte
        "160", "110 to 210", "1.23", "77.5", "0.04",  # the drive's joules with their range; percent of a core, MiB, MiB per hour
    ):  # fmt: skip
        assert f" {number}" in text, number


def test_the_page_is_well_formed_needs_nothing_and_its_links_lead_somewhere(html):
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert len(tags.ids) == len(set(tags.ids))
    assert {f"#{one}" for one in tags.ids} >= set(tags.links)
    assert "<script src" not in html


def test_every_placement_is_drawn_and_repetitions_are_folded_away(html):
    figures = re.findall(r'aria-label="(\S+) over time', html)
    assert figures == ["0001-terasort-hdd", "0002-terasort-ssd", "0003-terasort-hdd"]
    before_third = html[: html.index("0003-terasort-hdd over time")]
    assert "<details><summary>hdd, repetition 2</summary>" in before_third


def test_the_two_trials_of_a_placement_in_the_mirrored_order_have_names_of_their_own():
    (comparison,) = detail_groups(
        [the_tables(1, "hdd"), the_tables(2, "ssd"), the_tables(3, "ssd"), the_tables(4, "hdd")], []
    )
    assert sorted(one.name for one in comparison.all) == [
        "hdd, repetition 1, trial 1", "hdd, repetition 1, trial 4",
        "ssd, repetition 1, trial 2", "ssd, repetition 1, trial 3",
    ]  # fmt: skip


@pytest.mark.slow
def test_two_trials_of_two_hours_make_a_small_page():
    detailed = [the_tables(number, medium, LONG_S, waves=900) for number, medium in enumerate(("hdd", "ssd"), 1)]
    assert len(run_page(*detailed)) < 3 << 19


def test_a_figure_names_its_panels_and_axes():
    seen = the_tables()
    told = words(timeline(seen, scale_of([seen])))
    for part in ("sort", "tasks running", "processor, % of all 2 hardware threads", "iowait", "hdd: throughput, MB/s",
                 "read", "write", "hdd: utilisation, % of the time", "seconds since the run began", "40", "150"):  # fmt: skip
        assert part in told
    assert not [word for word in told if "not measured" in word]


@pytest.mark.slow
def test_a_long_trial_is_put_together_and_keeps_its_extremes():
    seen = the_tables(length_s=LONG_S, waves=900)
    scale = scale_of([seen])
    svg = timeline(seen, scale)
    assert scale.greatest[THROUGHPUT] == 150  # one sample of 150 among 14,400
    assert "minutes since the run began" in words(svg)
    # A path's band reaches the throughput panel's top although the mean never comes near it.
    assert svg.count('fill-opacity="0.28"') == 3  # read, written, busy
    assert svg.count(f'stroke="{PAPER}"') == 1  # the least of the processor's states together
    assert len(svg) < 150_000


def test_why_a_node_s_drive_was_not_measured_is_said_by_its_name():
    doubts = [
        DOUBTS["disk-uncounted"].doubt(f"the disk of medium {name!r} was not measured: {reason}", name)
        for name, reason in (("ssd", "no device"), ("disk", "it vanished"))
    ]
    record = a_cluster_record(emulated=False, doubts=tuple(doubts), amounts=(), devices=())
    tables = the_tables(series={}, signature=None, phases=(), record=record)
    assert tables.reason("disk", subjects={"worker-2/disk", "disk", "worker-2"}) == doubts[1].what
    assert doubts[1].what in " ".join(words(timeline(tables, scale_of([tables]))))


def test_what_no_probe_saw_is_said_and_not_drawn():
    doubt = DOUBTS["disk-uncounted"].doubt("the disk of medium 'hdd' was not measured: no device", "hdd")
    bare = the_tables(series={}, signature=None, phases=(), record=a_record(doubts=(doubt,), amounts=(), devices=()))
    told = words(timeline(bare, scale_of([bare])))
    assert "processor: not measured: the record has nothing of it" in told
    assert "hdd: throughput and utilisation: not measured: the disk of medium 'hdd' was not measured: no device" in told
    assert not [word for word in told if "MB/s" in word]
    html = run_page(bare)
    assert "There is no I/O signature: the record has nothing of it" in html
    assert "missing is cpu in staging, cpu in run" in html


def test_each_nodes_drive_is_drawn():
    series = {
        key._replace(node=f"worker-{number}"): points
        for key, points in the_tables().series.items()
        if key.probe == "disk"
        for number in (1, 2)
    }
    told = words(timeline(seen := the_tables(series=series), scale_of([seen])))
    heads = [word.partition(":")[0] for word in told if word.startswith(("hdd", "worker-")) and ":" in word]
    assert heads == ["worker-1/hdd", "worker-1/hdd", "worker-2/hdd", "worker-2/hdd"]  # throughput, utilisation


def test_each_host_that_was_read_from_afar_is_drawn_with_its_busiest_drives():
    times, plain = the_tables().series["cpu", "", "user_percent", ""].times_ms, the_tables().series
    hosts = [f"worker-{number}" for number in (1, 2)]
    series = {key._replace(node=host): points for key, points in plain.items() if key.probe == "cpu" for host in hosts}
    series |= {SeriesKey("nodes", "", "clock_offset_ms", host): Series(times, [0.5] * len(times)) for host in hosts}
    for drive in range(8):
        busy = Series(times, [float(drive)] * len(times))
        rates = {SeriesKey("disk", f"sd{drive}", f"{name}_mb_s", "worker-1"): busy for name in ("read", "write")}
        series |= {SeriesKey("disk", f"sd{drive}", "busy_percent", "worker-1"): busy, **rates}
    seen = the_tables(series=series)
    trial = seen.record.trial.model_copy(update={"media": (MediumSpec(name="existing", kind="existing"),)})
    seen = seen._replace(record=seen.record.model_copy(update={"trial": trial}))
    told = words(timeline(seen, scale_of([seen])))
    assert {f"{host}: processor, % of all its hardware threads" for host in hosts} <= set(told)
    heads = dict.fromkeys(word.partition(":")[0] for word in told if word.startswith("worker-1/"))
    assert list(heads) == [f"worker-1/sd{drive}" for drive in (7, 6, 5, 4, 3, 2)]
    assert not [word for word in told if "not measured" in word]


def test_memory_has_no_device_and_that_is_no_fault():
    seen = the_tables(medium="ram", series={})
    trial = seen.record.trial.model_copy(update={"media": (MediumSpec(name="ram", kind="memory"),)})
    seen = seen._replace(record=seen.record.model_copy(update={"trial": trial}))
    assert "ram: throughput and utilisation: not measured: it is memory, there is no device" in words(
        timeline(seen, scale_of([seen]))
    )


def test_a_trial_without_probes_says_so():
    record = a_record(amounts=(), doubts=())
    record = record.model_copy(update={"trial": record.trial.model_copy(update={"probes": "none"})})
    html = run_page(the_tables(record=record, series={}, signature=None))
    assert "processor: not measured: the trial ran without probes" in html
    assert "There is no I/O signature: the trial ran without probes" in html


def test_a_record_of_nothing_but_its_jobs_still_has_its_page():
    seen = TrialTables(a_record(steps=(), amounts=(), devices=(), doubts=()))
    html = run_page(seen)
    assert "has no figure: its record does not have the start of its run" in html
    assert "unknown" in html


def test_bands_follow_the_phase_that_most_tasks_are_in():
    seen = the_tables(length_s=40.0)
    tasks = {phase: binned(pieces, seen.run, 300) for phase, pieces in running_tasks(seen.attempts).items()}
    bands = leading_phases(tasks)
    assert [phase for phase, _, _ in bands][-3:] == ["shuffle", "merge", "reduce"]
    assert all(before[2] <= after[1] for before, after in pairwise(bands))


def test_flows_add_up_to_the_signatures_bytes():
    found = flows(SIGNATURE, a_record())
    assert sum(flow.bytes for flow in found) == sum(one.bytes for one in SIGNATURE.accesses)
    assert [(flow.staging, flow.phase) for flow in found] == [
        (True, "map"), *((False, phase) for phase in ("map", "map", "shuffle", "reduce", "outside")),
    ]  # fmt: skip
    assert found[1].random_bytes == 100 << 20
    told = words(flow_picture(found, 500 << 20, "x", {}))
    assert "and 4.0 KiB in others of less than 0.5 % each" in told
    assert "400.0 MiB, 75 % sequential, 128 KiB, 2.5 streams" in told


def test_small_lines_are_put_together_in_the_last():
    lines = access_rows(SIGNATURE, a_record())
    assert len(lines) == 6
    assert (lines[-1][0], lines[-1][5]) == ("1 rows of less than 0.5 % each", "4.0 KiB")


def test_an_estimated_flow_does_not_claim_to_know_its_order():
    access = SIGNATURE.accesses[0].model_copy(
        update={"basis": "estimated", "sequential_share": None, "typical_request_bytes": None, "streams": None}
    )
    (flow,) = flows(SIGNATURE.model_copy(update={"accesses": (access,)}), a_record())
    assert "400.0 MiB, estimated" in words(flow_picture([flow], flow.bytes, "x", {}))


def test_paths_add_up_to_the_jobs_and_the_bar_to_the_step():
    seen = the_tables()
    (path,) = job_paths(seen)
    assert sum(path.seconds.values()) == pytest.approx(path.job.submitted_s)
    assert set(path.seconds) <= set(path_kinds("mapreduce"))
    spills, map_passes, reduce_passes, most_fetched, _, commits_put_off = path.figures
    assert (spills, map_passes, reduce_passes, commits_put_off) == (30, 1, 1, None)
    assert most_fetched == pytest.approx(2000 / 1500)
    assert "hdd: 40.0 s" in words(path_bars([("hdd", seen, [path])]))


def test_a_figure_without_a_stage_is_of_the_stage_where_it_is_greatest(monkeypatch):
    figures = tuple(TaskFigure("slowest", stage, "cpu_ms", "skew") for stage in ("map", "reduce", "", "no such"))
    kind = engine_kind("mapreduce")._replace(figures=figures)
    monkeypatch.setattr("assay.report.charts.paths.engine_kind", lambda _: kind)
    seen = the_tables()
    longer = [attempt.model_copy(update={"cpu_ms": 1000 * number}) for number, attempt in enumerate(seen.attempts, 1)]
    (path,) = job_paths(seen._replace(attempts=longer))
    of_maps, of_reduces, of_either, of_none = path.figures
    assert of_none is None
    assert of_either == max(value for value in (of_maps, of_reduces) if value is not None)


def test_paths_of_jobs_at_once_are_not_added_up():
    tables = the_tables()
    job = tables.record.jobs[0]
    jobs = (job, job.model_copy(update={"id": "job_1_0003", "submitted_ms": job.submitted_ms + 1000}))
    at_once = tables._replace(record=tables.record.model_copy(update={"jobs": jobs}))
    paths = job_paths(at_once)
    assert path_bars([("at once", at_once, paths)]) == ""
    bars = words(path_bars([("in turn", tables, paths[:1]), ("at once", at_once, paths)]))
    assert "in turn: 40.0 s" in bars
    assert not any("at once" in text for text in bars)


def test_the_instruments_cost_is_the_trials_own():
    seen = the_tables()
    cost = cost_of(seen.record, seen.samples_bytes)
    assert cost.core_percent == pytest.approx(1.23)
    assert cost.growth_bytes == 77.5 * 2**20
    assert cost.samples_bytes_per_hour == pytest.approx(40_000, rel=0.01)
    assert cost_of(a_record(amounts=()), 0) == (None, None, 0, None, None, None)


def test_what_the_instruments_took_from_the_jobs_is_taken_off_unless_they_had_processors_of_their_own():
    taken = {("processes", "emulator"): 3.0, ("own-cost", "probes"): 1.0, ("processes", "containers"): 50.0}
    amounts = tuple(
        Amount(probe=probe, subject=subject, series="busy_s", part="run", value=value)
        for (probe, subject), value in taken.items()
    )
    record = builders.a_record(elapsed_s=10.0, amounts=amounts)
    (row,) = trial_values(summaries([record]))
    assert row["instruments_cpu_s"] == 4.0
    assert row["elapsed_without_instruments_s"] == pytest.approx(10 - 4 / 2), "on two cores"
    own = with_facts(record, {"processors.instruments": "3"})
    assert cost_of(own, 0).elapsed_s is None
    assert cost_of(own, 0).instruments_s == 4.0


def test_the_first_of_each_placement_is_chosen_before_repetitions_and_failures_never():
    records = [a_record(2 * n + side, ("hdd", "ssd")[side], repetition=n + 1) for n in range(10) for side in (0, 1)]
    records.insert(0, a_record(99, "nvme", status=Status.FAILED))
    found = trials_in_detail(summaries(records))
    assert len(found) == MOST_TRIALS
    assert [one.trial.placement.name for one in found[:2]] == ["hdd", "ssd"]
    assert "nvme" not in {one.trial.placement.name for one in found}


def test_a_short_trial_beside_a_long_one_gets_its_own_axis():
    (comparison,) = detail_groups([the_tables(1, "hdd", 400.0), the_tables(2, "ssd", 50.0)], [])
    assert [one.own_scale for one in comparison.firsts] == [False, True]


def test_damaged_tables_are_named_and_the_rest_is_read(tmp_path):
    run, seen = RunFolder(tmp_path / "run"), the_tables()
    run.create(a_plan(seen.record.trial))
    run.write(TrialResult(seen.record, seen.attempts, (), seen.phases, seen.signature))
    (tmp_path / "run" / "trials" / seen.record.trial.id / "samples.parquet").write_bytes(b"PAR1 cut")
    found = read_tables(run, seen.record)
    assert (found.attempts, found.phases, found.signature) == (seen.attempts, seen.phases, seen.signature)
    assert "samples.parquet can't be read" in found.unreadable[0]
    assert "samples.parquet can&#39;t be read" in run_page(found)
