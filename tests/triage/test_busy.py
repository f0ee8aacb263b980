"""Proves that drives' busy time comes from a Prometheus for each stage, over gaps, resets and readings that are no numbers."""

import io
import re
from contextlib import closing
from functools import partial

import pytest

from assay.cli.context import find_installation
from assay.engine.past.made_histories import MadeJob, history
from assay.engine.past.mapreduce import read_job
from assay.host.http import BoundedWeb, Bounds
from assay.model.errors import BadInputError
from assay.triage.bounds import bound_of
from assay.triage.busy import DriveTimes, measurable
from assay.triage.drives import drives_by_role
from assay.triage.prometheus import ask_prometheus, windows
from tests.serving import serving

DRIVES = drives_by_role("12xhdd", find_installation().profiles)
MADE = MadeJob(maps=4, reduces=2, slots=2, nodes=2, map_ms=60_000, reduce_ms=60_000)


def the_job(**changes):
    return read_job(io.BytesIO(history(MADE._replace(**changes))), {})


def vector(*rows):
    return {
        "status": "success",
        "data": {"result": [{"metric": labels, "value": [0, value]} for labels, value in rows]},
    }


def instances(names):
    return [({"instance": f"{name}.site.org:9100", "nodename": name}, "1") for name in names]


def prometheus(
    counter, nodes=("worker-0", "worker-1"), devices=("sda", "sda1", "sdb"), memory="64000000000", volumes=(),
    scraped=lambda at: at,
):  # fmt: skip
    """One whose drives count so much at a time (s); `counter` is of a node, a device, a metric and that time.

    `volumes` are the names and the UUIDs of mapped devices of the first node, if it exports them; `scraped` is the last
    scrape before a time.
    """
    own = [({"instance": f"{node}.site.org:9100", "device": device}, "9") for node in nodes for device in devices]

    def query(parameters):
        text = parameters["query"]
        if "device_mapper" in text:
            instance = {"instance": f"{nodes[0]}.site.org:9100"}
            return vector(*(({**instance, "name": name, "uuid": uuid}, "1") for name, uuid in volumes))
        if "node_cpu" in text or "node_memory" in text:
            return vector(*((labels, "8" if "node_cpu" in text else memory) for labels, _ in instances(nodes)))
        return vector(*(own if "node_disk" in text else instances(nodes)))

    def ranged(parameters):
        begin, end, step = (int(float(parameters[name])) for name in ("start", "end", "step"))
        if "timestamp(" in parameters["query"]:
            times = [[at, str(scraped(at))] for at in range(begin, end + 1, step)]
            result = [{"metric": {"instance": f"{node}.site.org:9100"}, "values": times} for node in nodes]
            return {"status": "success", "data": {"result": result}}
        metric = next(name for name in ("read", "written", "io_time") if name in parameters["query"])
        return {"status": "success", "data": {"result": [
            {"metric": labels, "values": [
                [at, str(value)] for at in range(begin, end + 1, step)
                if (value := counter(labels["instance"].partition(".")[0], labels["device"], metric, scraped(at))) is not None
            ]}
            for labels, _ in own
        ]}}  # fmt: skip

    return {"/api/v1/query": query, "/api/v1/query_range": ranged}


def asked(pages, jobs):
    with serving(pages) as server:
        web = BoundedWeb(bounds=Bounds(per_second=10_000))
        try:
            return DriveTimes(ask_prometheus(server.url, web.ask, jobs, lambda *_: None), jobs)
        finally:
            web.close()


def rates(busy, node, device, metric, at, changed=()):
    return dict(changed).get(at, (at - 1_795_226_000) * (busy[node, device] if metric == "io_time" else 1000))


BUSY = {
    (f"worker-{n}", device): share
    for n in (0, 1)
    for device, share in (("sda", 0.1), ("sda1", 0.9), ("sdb", 0.02 + 0.4 * n))
}


def test_the_drives_of_the_busiest_node_count():
    job = the_job()
    times = asked(prometheus(partial(rates, BUSY)), [job])
    busy = times.of(job)
    # A step of 15 s more at both ends. One task ran on a node at a time, which may have waited for each drive in turn.
    assert busy.seconds["map"] == pytest.approx((0.1 + 0.42) * 150, rel=0.05)
    assert busy.seconds["reduce"] == pytest.approx((0.1 + 0.42) * 90, rel=0.05)
    assert busy.read_bytes == pytest.approx(4 * 1000 * 240, rel=0.05)
    # Usual is the busiest drive's, without those steps.
    assert busy.usual_s == {"map": pytest.approx(0.42 * 120, rel=0.05), "reduce": pytest.approx(0.42 * 60, rel=0.05)}
    assert busy.drives == 2


@pytest.mark.parametrize("every_s", [15, 30, 60, 120])
@pytest.mark.parametrize("first_s", [0, 1, 16, 59])
def test_a_stage_has_all_that_its_drives_did_however_seldom_they_are_scraped(every_s, first_s):
    """A value at a step is that of the last scrape: what was done since then is not in it."""
    job = the_job(maps=2)
    stage = job.stages[0]
    begin_s, end_s = round(stage.begin_ms / 1000), round(stage.end_ms / 1000)

    def while_it_ran(_node, _device, metric, at):
        return 10 + (1 if metric == "io_time" else 1e8) * min(max(0, at - begin_s), end_s - begin_s)

    def scraped(at):
        return at - (at - begin_s - first_s) % every_s

    busy = asked(prometheus(while_it_ran, devices=("sda",), scraped=scraped), [job]).of(job)
    assert busy.refuted == ""
    assert busy.busiest_s["map"] == pytest.approx(end_s - begin_s, rel=0.01)
    assert ("map" in busy.usual_s) is (2 * every_s <= end_s - begin_s)


@pytest.mark.parametrize(("lasts_s", "known"), [(45, {"map", "reduce"}), (200, set())])
def test_scrapes_that_failed_widen_the_time_of_stages_around_them_and_many_are_a_gap(lasts_s, known):
    job, other = the_job(), the_job(number=2, submitted_ms=MADE.submitted_ms + 10_000_000)
    failed_s = round(job.stages[0].end_ms / 1000) - 20

    def scraped(at):
        return failed_s if failed_s <= at < failed_s + lasts_s else at

    times = asked(prometheus(partial(rates, BUSY), scraped=scraped), [job, other])
    busy = times.of(job)
    assert set(busy.seconds) == set(busy.usual_s) == known
    if known:
        assert busy.busiest_s["map"] == pytest.approx(0.42 * (120 + 15 + 32), rel=0.06)
    assert set(times.of(other).usual_s) == {"map", "reduce"}


def test_a_prometheus_tells_of_cores_and_memory():
    with (
        serving(prometheus(partial(rates, BUSY))) as server,
        closing(BoundedWeb(bounds=Bounds(per_second=10_000))) as web,
    ):
        measured = ask_prometheus(server.url, web.ask, [the_job()], lambda *_: None)
    assert measured.cores == 8
    assert set(measured.memory.values()) == {64e9}


SHARE = {(f"worker-{n}", device): 0.02 for n in (0, 1) for device in ("sda", "sda1", "sdb")}
LONG = {"maps": 2, "map_ms": 600_000, "reduce_ms": 600_000, "reduces": 2}


def moving(read, written):
    """Drives that read and write so many bytes a second each, and are busy for 2 % of the time."""
    per_s = {"read": read, "written": written}
    return lambda node, device, metric, at: rates(SHARE, node, device, "io_time", at) * (per_s.get(metric, 0.02) / 0.02)


@pytest.mark.parametrize(
    ("moves", "memory", "counts"),
    [
        ((0, 0), "128000000000", False), ((1e8, 1e8), "128000000000", True),
        # The page cache may have served all that was read, and a node's own memory says how much that can be.
        ((0, 1e8), "128000000000", True), ((0, 1e8), "1000000000", False),
    ],
)  # fmt: skip
def test_drives_that_moved_far_less_than_the_jobs_are_other_drives(moves, memory, counts):
    job = the_job(**LONG, read_bytes=40 << 30, map_output_bytes=40 << 30, written_bytes=40 << 30)
    times = asked(prometheus(moving(*moves), memory=memory), [job])
    busy = times.of(job)
    assert bool(busy.seconds) is counts
    assert bool(busy.refuted) is not counts
    if not counts:
        assert re.match(r"jobs read [\d.]+ GiB and wrote [\d.]+ GiB there, and these drives read ", busy.refuted)


def test_drives_that_move_bytes_and_are_never_busy_count_no_time():
    job = the_job(**LONG)
    still = asked(prometheus(lambda node, device, metric, at: 5 if metric == "io_time" else at * 1e8), [job]).of(job)
    assert still.seconds == {}
    assert "these drives moved " in still.refuted
    assert " and count 0.0 s of work" in still.refuted


def test_quiet_drives_tell_of_waits_only_where_jobs_are_known_to_use_them():
    """A program's own I/O may be on drives that the Prometheus does not see."""
    job = the_job(**LONG, cpu=0.05, read_bytes=1 << 20)
    for moved, confirmed in ((1e7, False), (100, True)):
        busy = asked(prometheus(moving(moved, moved)), [job]).of(job)
        assert (busy.refuted, busy.confirmed) == ("", confirmed)
        unexplained_s = sum(stage.unexplained_s for stage in bound_of(job, DRIVES, busy=busy).stages)
        assert (unexplained_s == 0) is confirmed
    assert asked(prometheus(moving(0, 0)), [job]).of(job).refuted


def test_a_prometheus_that_sees_a_few_of_the_drives_excludes_nothing():
    """Neither where a page cache may have served all that was read, nor what lies nobody knows where."""
    job = the_job(**LONG, cpu=0.05, read_bytes=40 << 30)
    times = asked(prometheus(moving(1e5, 1e5), memory="256000000000"), [job])
    busy = times.of(job)
    assert (busy.refuted, busy.confirmed) == ("", False)
    stages = bound_of(job, DRIVES, busy=busy).stages
    assert sum(stage.unexplained_s for stage in stages) > 0.5 * job.tasks_s
    unplaced = job._replace(stages=tuple(
        stage._replace(busiest=stage.busiest._replace(unplaced_read=1 << 40)) for stage in job.stages
    ))  # fmt: skip
    assert all(stage.unplaced_s > 0 for stage in bound_of(unplaced, DRIVES, busy=busy).stages)
    with serving(prometheus(moving(1e8, 1e8))) as server, closing(BoundedWeb(bounds=Bounds(per_second=10_000))) as web:
        for named, counts in ((2, True), (12, False)):
            measured = ask_prometheus(server.url, web.ask, [job], lambda *_: None)
            of_drives = DriveTimes(measured, [job], named).of(job)
            assert bool(of_drives.seconds) is counts
            assert (
                "--drives names 12 of each node, and the Prometheus sees 2 of one" in of_drives.refuted
            ) is not counts


def test_output_of_many_short_jobs_comes_to_the_drives_in_the_end():
    jobs = [
        the_job(number=number, map_ms=20_000, reduce_ms=20_000, written_bytes=40 << 30, submitted_ms=MADE.submitted_ms + 100_000 * number)
        for number in range(1, 20)
    ]  # fmt: skip
    assert asked(prometheus(moving(1e8, 1e3)), jobs).of(jobs[0]).refuted
    assert not asked(prometheus(moving(1e8, 1e8)), jobs).of(jobs[0]).refuted


def test_what_one_job_refutes_is_no_evidence_for_others_on_its_nodes():
    heavy = the_job(**LONG, read_bytes=40 << 30, map_output_bytes=40 << 30, written_bytes=40 << 30)
    light = the_job(**LONG, number=2, submitted_ms=MADE.submitted_ms + 10_000_000)
    elsewhere = light._replace(nodes=("worker-2",), id="job_1_0003")

    def counter(node, device, metric, at):
        return moving(*((1e7, 1e7) if node == "worker-2" else (0, 0)))("worker-0", device, metric, at)

    times = asked(prometheus(counter, nodes=("worker-0", "worker-1", "worker-2")), [heavy, light, elsewhere])
    assert times.of(heavy).refuted == times.of(light).refuted != ""
    assert times.of(elsewhere).seconds


def test_readings_that_are_no_numbers_and_resets_are_survived():
    job = the_job()
    middle = round(job.stages[0].begin_ms / 1000)

    def odd(node, device, metric, at):
        if middle + 20 < at < middle + 60:
            return "NaN"
        value = rates(BUSY, node, device, metric, at)
        return value if at < middle + 60 else value / 1000

    busy = asked(prometheus(odd), [job]).of(job)
    assert busy.seconds["map"] > 0


def test_a_stage_in_a_gap_is_not_known():
    job = the_job()
    gap = job.stages[0].begin_ms / 1000 - 60

    def late(node, device, metric, at):
        return None if at < gap + 150 else rates(BUSY, node, device, metric, at)

    busy = asked(prometheus(late), [job]).of(job)
    assert set(busy.seconds) == {"reduce"}


def test_a_node_that_is_not_scraped_leaves_the_stage_unknown():
    job = the_job()
    assert asked(prometheus(partial(rates, BUSY), nodes=("worker-1",)), [job]).of(job).seconds == {}


@pytest.mark.parametrize(
    ("pages", "words"),
    [
        ({}, "can't be asked: HTTP status 404"), ({"/api/v1/query": {"data": {}}}, "is incomplete or malformed: 'result'"),
        ({"/api/v1/query": vector()}, "has no node_disk_io_time_seconds_total of the nodes on which the jobs ran"),
    ],
)  # fmt: skip
def test_others_are_refused(pages, words):
    with pytest.raises(BadInputError, match=words):
        asked(pages, [the_job()])


@pytest.mark.parametrize("devices", [(), ("dm-0", "dm-1")])
def test_a_prometheus_that_knows_no_drive_of_the_nodes_is_refused(devices):
    with pytest.raises(BadInputError, match="has no node_disk_io_time_seconds_total of any drive of the nodes"):
        asked(prometheus(partial(rates, BUSY), devices=devices), [the_job()])


def test_volumes_with_several_paths_are_refused():
    paths = (("rhel-root", "LVM-1"), ("mpatha", "mpath-3600"))
    with pytest.raises(BadInputError, match=r"has volumes with several paths \(mpatha\), and does not tell which"):
        asked(prometheus(partial(rates, BUSY), volumes=paths), [the_job()])


@pytest.mark.parametrize(("volumes", "remarks"), [((), 1), ((("rhel-root", "LVM-1"),), 0)])
def test_of_volumes_that_nothing_names_the_drives_below_count_and_a_remark_says_so(volumes, remarks):
    busy = {**BUSY, **{(f"worker-{n}", "dm-0"): 0.9 for n in (0, 1)}}
    pages = prometheus(partial(rates, busy), devices=("sda", "sdb", "dm-0"), volumes=volumes)
    with serving(pages) as server, closing(BoundedWeb(bounds=Bounds(per_second=10_000))) as web:
        measured = ask_prometheus(server.url, web.ask, [the_job()], lambda *_: None)
    assert [remark.partition(",")[0] for remark in measured.remarks] == remarks * [
        "the Prometheus has volumes by number alone (dm-0)"
    ]


def test_volumes_with_several_paths_are_refused_by_their_names():
    devices = ("sda", "sdb", "emcpowera")
    with pytest.raises(BadInputError, match=r"has volumes with several paths \(emcpowera\), and does not tell which"):
        asked(prometheus(partial(rates, BUSY), devices=devices), [the_job()])


def test_drives_that_are_busy_at_rest_bound_jobs_and_do_not_tell_what_is_likely():
    job = the_job()
    pages = prometheus(partial(rates, dict.fromkeys(BUSY, 0.98)))
    with serving(pages) as server, closing(BoundedWeb(bounds=Bounds(per_second=10_000))) as web:
        measured = ask_prometheus(server.url, web.ask, [job], lambda *_: None)
    assert [remark.partition(", on ")[2].partition(", as")[0] for remark in measured.remarks] == ["worker-0, worker-1"]
    busy = DriveTimes(measured, [job]).of(job)
    assert (set(busy.seconds), busy.usual_s) == ({"map", "reduce"}, {})


def test_a_drive_that_counts_more_work_than_there_was_time_is_no_evidence():
    job = the_job(**LONG)
    wrong = {key: 3 * share for key, share in {**BUSY, ("worker-1", "sdb"): 0.5}.items()}
    busy = asked(prometheus(partial(rates, wrong)), [job]).of(job)
    assert busy.seconds == {}
    assert re.fullmatch(r"a drive counts 9\d\d s of work in 6\d\d s", busy.refuted)


def test_busy_times_tell_nothing_of_jobs_of_which_not_all_nodes_are_known():
    job, nowhere = the_job(), the_job(number=2)._replace(nodes=())
    sampled, damaged = the_job(number=3)._replace(nodes_are_sampled=True), the_job(number=4, state="KILLED")
    assert measurable([job, nowhere, sampled, damaged], "--sar") == [job]
    times = asked(prometheus(partial(rates, BUSY)), [job])
    assert times.of(sampled) == ({}, 0.0, {}, "", True, {}, 1)
    for jobs, reason in (
        ([damaged], "all of their histories are damaged, cut short or of jobs that failed; leave --sar out"),
        ([damaged, nowhere], "no history names the nodes of its job; leave --sar out"),
        ([nowhere, sampled], "a history server names the nodes of a few tasks alone; name its folder of files"),
    ):
        with pytest.raises(BadInputError, match=f"--sar tells nothing of these jobs: {reason}"):
            measurable(jobs, "--sar")


def test_jobs_near_one_another_are_asked_for_together():
    first, second = the_job(), the_job(number=2, submitted_ms=MADE.submitted_ms + 200_000)
    later = the_job(number=3, submitted_ms=MADE.submitted_ms + 10_000_000)
    assert len(list(windows([second, later, first]))) == 2
    assert list(windows([])) == []
