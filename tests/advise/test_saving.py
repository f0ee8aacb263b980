"""Proves that what an alternative saves follows from the closed network, lies within its bound, and is a share of what drives save."""

import io
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.advise.alternatives import DIRECTED_JOBS, Directed, Purchase, alternatives
from assay.advise.saving import Changed, likely_after, worked_now
from assay.cli.context import find_installation
from assay.engine.past.made_histories import MadeJob, history
from assay.engine.past.mapreduce import read_job
from assay.stats.closed_network import computing_time, network_time
from assay.triage.bounds import Busy
from assay.triage.drives import drives_by_role
from assay.triage.likely import Likely
from assay.triage.ranking import DriveSite, bounded_runs

GIB = 1 << 30
PROFILES = find_installation().profiles
DISKS = drives_by_role("2xhdd", PROFILES)
SSD = drives_by_role("1xssd", PROFILES)["input"]
PERFECT = SSD._replace(
    profile="perfect", read_rate=inf, write_rate=inf, read_access_s=0.0, write_access_s=0.0
)  # fmt: skip
MADE = MadeJob(
    maps=16, reduces=4, slots=4, nodes=2, cpu=0.3, map_ms=60_000, reduce_ms=60_000, read_bytes=8 * GIB,
    map_output_bytes=8 * GIB, written_bytes=8 * GIB, spills=2,
)  # fmt: skip
BUY = Purchase(SSD, 4 * GIB)


def run_of(site, **changes):
    job = read_job(io.BytesIO(history(MADE._replace(**changes))), {"mapreduce.task.io.sort.mb": "100"})
    (run,) = bounded_runs([job], site)
    return run


def after(kind, run, site, purchase=BUY, nodes=2):
    (alternative,) = [of for of in alternatives(site, nodes, purchase) if kind in of.kinds]
    changed = alternative.change(run, site)
    return changed, likely_after(run, site, changed)


def busy_for(share):
    def measured(job):
        usual_s = {stage.name: share * stage.elapsed_ms / 1000 for stage in job.stages}
        return Busy(usual_s, 0.0, usual_s=usual_s, drives=2)

    return measured


SITES = {
    "counters": DriveSite(DISKS), "page cache": DriveSite(DISKS, cache_bytes=2.0 * GIB),
    "busy drives": DriveSite(DISKS, busy=busy_for(0.6)),
}  # fmt: skip


@pytest.mark.parametrize("site", SITES.values(), ids=SITES)
@settings(max_examples=6, deadline=None)
@given(cpu=st.floats(0.05, 0.95), moved=st.integers(1, 64))
def test_every_saving_lies_within_its_interval_and_that_within_its_bound(site, cpu, moved):
    run = run_of(site, cpu=cpu, read_bytes=moved * GIB, map_output_bytes=moved * GIB)
    for alternative in alternatives(site, 2, BUY):
        changed = alternative.change(run, site)
        likely = likely_after(run, site, changed)
        assert changed.most_s >= 0
        if isinstance(likely, str):
            assert alternative.kinds[0] in {"compression", "more-memory"}
            continue
        assert -1e-9 <= likely.low_s <= likely.seconds + 1e-9 <= likely.high_s + 2e-9
        assert likely.high_s <= changed.most_s + 1e-9
        if alternative.kinds != ("more-nodes",):
            assert changed.most_s <= run.bound.seconds + 1e-9


@pytest.mark.parametrize("site", SITES.values(), ids=SITES)
def test_drives_without_delay_for_all_data_save_what_triage_calls_likely(site):
    run = run_of(site)
    changed, likely = after("data-on-ssd", run, site, BUY._replace(ssd=PERFECT))
    assert changed.most_s == run.bound.seconds
    for name in ("seconds", "low_s", "high_s"):
        assert getattr(likely, name) == pytest.approx(getattr(run.likely, name))


def test_a_third_disk_does_a_third_of_what_two_had_to_do():
    site = SITES["busy drives"]
    run = run_of(site, reduces=0)
    (stage,) = run.job.stages
    time_s = stage.elapsed_ms / 1000
    busy_s = 0.6 * time_s
    computing_s = computing_time(time_s, [busy_s])
    changed, likely = after("one-more-disk", run, site)
    assert likely.seconds == pytest.approx(time_s - network_time([computing_s, busy_s * 2 / 3]), rel=1e-3)
    (bound,) = run.bound.stages
    assert changed.most_s == pytest.approx(min(bound.seconds, bound.bytes_s / 3, busy_s * 1.5 / 3))


def test_more_memory_saves_more_the_more_of_what_passed_it_holds_and_is_not_known_without_the_present_one():
    site = SITES["page cache"]
    run = run_of(site)
    saved = [
        after("more-memory", run, site, BUY._replace(memory_bytes=added))[1].seconds
        for added in (GIB, 2 * GIB, 64 * GIB)
    ]
    assert 0 < saved[0] < saved[1] < saved[2]
    _, unknown = after("more-memory", run_of(SITES["counters"]), SITES["counters"])
    assert "say --node-memory" in unknown


def test_some_nodes_with_ssds_take_independent_tasks_from_the_others():
    site = SITES["busy drives"]
    run = run_of(site, reduces=0)
    (stage,) = run.job.stages
    time_s = stage.elapsed_ms / 1000
    _, on_all = after("local-directories-on-ssd", run, site)
    all_s = time_s - on_all.seconds
    changed, likely = after("local-directories-of-some-nodes", run, site, BUY._replace(ssd_nodes=1), nodes=4)
    assert likely.seconds == pytest.approx(time_s - 4 / (3 / time_s + 1 / all_s))
    assert likely.seconds >= on_all.seconds / 4
    assert (likely.low_s, likely.high_s) == (0, changed.most_s)
    assert likely.unlike == "no job was measured with SSDs in some of its nodes alone"


@pytest.mark.parametrize("made", [{"reduces": 0, "slots": 16}, {"maps": 4, "reduces": 40}])
def test_a_single_wave_waits_for_nodes_without_ssds_as_does_what_is_fetched_from_them(made):
    site = SITES["page cache"]
    run = run_of(site, **made)
    changed, likely = after("local-directories-of-some-nodes", run, site)
    assert likely.seconds == pytest.approx(0)
    assert likely.high_s == changed.most_s > 0


def test_a_cluster_of_one_node_has_no_other_nodes():
    assert not [of for of in alternatives(DriveSite(DISKS), 1, BUY) if "some" in of.kinds[0]]


def test_directed_jobs_save_as_on_ssds_for_all_and_others_at_most_what_drives_did_beside_them():
    site = SITES["page cache"]
    run = run_of(site)
    (directed,) = [
        of.change for of in alternatives(site, 2, BUY, Directed(["made job"], 1e9)) if of.kinds == (DIRECTED_JOBS,)
    ]
    changed = directed(run, site)
    on_all, likely = after("local-directories-on-ssd", run, site)
    assert (changed.most_s, likely_after(run, site, changed)) == (on_all.most_s, likely)
    other = run._replace(job=run.job._replace(name="other"), bound=run.bound._replace(beside_s=7.0))
    assert directed(other, site).most_s == 7
    assert likely_after(other, site, directed(other, site)).seconds == pytest.approx(0)


def test_settings_save_where_counters_suggest_them_alone():
    site = SITES["page cache"]
    assert after("sort buffer", run_of(site), site)[1].seconds > 0
    changed, likely = after("sort buffer", run_of(site, spills=1), site)
    assert (changed.most_s, likely.seconds) == (0, 0)
    changed, unknown = after("compression", run_of(site), site)
    assert changed.most_s > 0
    assert "how far its data shrink" in unknown


def test_one_more_node_saves_its_share_at_most_and_was_never_measured():
    site = SITES["page cache"]
    run = run_of(site)
    changed, likely = after("more-nodes", run, site, nodes=4)
    assert changed.most_s == pytest.approx(run.job.tasks_s / 5)
    assert (likely.low_s, likely.high_s) == (0, changed.most_s)
    assert likely.unlike


def test_of_one_more_node_evidence_tells_what_is_saved_of_drives_alone():
    site = SITES["page cache"]
    run = run_of(site, reduces=0)
    changed = after("more-nodes", run, site, nodes=4)[0]._replace(most_s=inf)
    none_s, once_s, twice_s = (
        likely_after(
            run._replace(likely=run.likely._replace(seconds=times * run.likely.seconds)), site, changed
        ).seconds
        for times in (0, 1, 2)
    )
    assert 0 < none_s < once_s
    assert twice_s - once_s == pytest.approx(once_s - none_s)


def test_one_more_node_can_halve_a_stage_of_one_task_more_than_slots():
    run = run_of(SITES["page cache"], maps=121, slots=120, nodes=4, reduces=0)
    (stage,) = run.job.stages
    assert (stage.whole.tasks, stage.peak) == (121, 120)
    changed, _ = after("more-nodes", run, SITES["page cache"], nodes=4)
    assert changed.most_s == pytest.approx(run.job.tasks_s / 5 + (1 / 2 - 1 / 5) * stage.elapsed_ms / 1000)


def test_more_nodes_leave_each_stage_a_wave_of_tasks():
    site = SITES["page cache"]
    run = run_of(site, maps=12, slots=8, nodes=4, reduces=0)
    (alternative,) = [of for of in alternatives(site, 4, BUY._replace(more_nodes=12)) if of.name == "12 more nodes"]
    changed = alternative.change(run, site)
    # Drives of 16 nodes have a quarter to do; of two waves one is left, which takes as long as before.
    assert changed.stages[0].computing == 1 / 2
    (now,) = worked_now(run, site)
    assert changed.stages[0].worked_s == {drives: pytest.approx(seconds / 4) for drives, seconds in now.items()}
    assert changed.most_s == pytest.approx(run.job.tasks_s * 3 / 4)


@pytest.mark.parametrize(
    ("said", "added"),
    [
        ({}, [1]),
        ({"node_price": 11_000, "ssd_price": 500}, [1]),
        ({"node_price": 11_000, "ssd_price": 8_000}, [1, 2]),
        ({"node_price": 11_000, "ssd_price": 11_000}, [1, 4]),
        ({"node_price": 11_000, "more_nodes": 7}, [1, 7]),
        ({"node_price": 11_000, "ssd_price": 11_000, "more_nodes": 1}, [1]),
    ],
)
def test_nodes_are_compared_as_one_and_as_many_as_the_ssds_cost_or_as_are_said(said, added):
    of_nodes = [of for of in alternatives(DriveSite(DISKS), 4, BUY._replace(**said)) if of.kinds == ("more-nodes",)]
    assert [of.name for of in of_nodes] == [f"{number} more node{'s' * (number > 1)}" for number in added]
    price = said.get("node_price")
    assert [of.price for of in of_nodes] == [price and number * price for number in added]


def test_what_is_unlike_all_measured_jobs_has_all_that_is_possible_as_its_interval():
    site = DriveSite(drives_by_role("12xhdd", PROFILES))
    run = run_of(site)
    changed, likely = after("local-directories-on-ssd", run, site)
    assert (likely.low_s, likely.high_s) == (0, changed.most_s)
    assert "12 drives" in likely.unlike
    assert likely_after(run._replace(likely="nobody knows"), site, changed) == "nobody knows"
    assert isinstance(likely_after(run, site, Changed(1.0, changed.stages)), Likely)


def test_data_that_are_on_such_ssds_already_are_no_alternative():
    drives = drives_by_role("12xhdd,intermediate=1xssd", PROFILES)
    kinds = {of.kinds[0] for of in alternatives(DriveSite(drives), 2, BUY)}
    assert "local-directories-on-ssd" not in kinds
    assert "data-on-ssd" in kinds


def test_a_node_without_a_free_slot_has_no_room():
    room = {of.kinds[0]: of.has_room for of in alternatives(DriveSite(DISKS), 2, BUY._replace(slots=2))}
    assert not room["local-directories-on-ssd"]
    assert not room["one-more-disk"]
    assert room["data-on-ssd"]
    many = BUY._replace(ssd=SSD._replace(number=3))
    for slots, fits in ((2, False), (3, True)):
        rooms = {of.kinds[0]: of.has_room for of in alternatives(DriveSite(DISKS), 2, many._replace(slots=slots))}
        assert rooms["data-on-ssd"] == fits
