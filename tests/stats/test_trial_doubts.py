"""Proves that the page cache is doubted by what emulated drives counted, and by room in memory where nobody counted."""

from pathlib import Path

import pytest

from assay.engine.tasks import FILE_SYSTEM_COUNTERS, TASK_COUNTERS
from assay.host.machine import FREE_MEMORY, GOES_BACK, HELD, STAYS, UNUSED_CACHE
from assay.model.limits import CacheUse, LimitUse
from assay.model.record import Amount, Promise, Stage, StagedInput
from assay.model.trial import MediumSpec
from assay.stats.trial_doubts import cached, crowded, dropped, given_back, off_budget
from tests.builders import a_job, a_trial, device_reports

MIB = 1 << 20
ROOT = Path(__file__).parents[2]
MEMORY_BYTES = 8 << 30


def job(read=0, written=0):
    counters = {
        FILE_SYSTEM_COUNTERS: {"HDFS_BYTES_READ": read, "FILE_BYTES_WRITTEN": written},
        TASK_COUNTERS: {"REDUCE_SHUFFLE_BYTES": read},
    }
    return a_job().model_copy(update={"counters": counters})


def on(kind):
    spec = MediumSpec(name="disk", kind=kind, profile="wd10ezex" if kind == "emulated" else None)
    return a_trial().model_copy(update={"media": (spec,)})


def seen(read):
    return device_reports({"disk": {"run": {"reads": {"bytes": read}}}})


def staged(size_bytes):
    return StagedInput(bytes=size_bytes, basis="measured", promise=Promise(copies=1, reach="memory"))


def test_an_emulated_drive_that_was_read_is_not_hidden():
    assert cached(on("emulated"), [job(read=100 * MIB)], MEMORY_BYTES, seen(150 * MIB), None) == []


def test_an_emulated_drive_that_was_hardly_read_is_hidden():
    (doubt,) = cached(on("emulated"), [job(read=100 * MIB)], MEMORY_BYTES, seen(2 * MIB), None)
    assert doubt.kind == "page-cache-hides-medium"
    assert "only 1 % of what the jobs read on disk came from its drives" in doubt.what


def test_where_tasks_do_not_count_what_they_read_in_the_store_they_read_the_input_once():
    shuffled = a_job().model_copy(update={"counters": {TASK_COUNTERS: {"REDUCE_SHUFFLE_BYTES": MIB}}})
    trial, jobs = on("emulated"), [shuffled]
    assert cached(trial, jobs, MEMORY_BYTES, seen(50 * MIB), staged(49 * MIB)) == []
    (doubt,) = cached(trial, jobs, MEMORY_BYTES, seen(25 * MIB), staged(49 * MIB))
    assert "only 50 % of what the jobs read" in doubt.what
    assert cached(trial, jobs, MEMORY_BYTES, seen(0), None) == [], "nobody knows what they read"
    assert cached(trial, jobs, MEMORY_BYTES, seen(0), staged(None)) == []


def test_of_a_directory_only_the_room_in_memory_is_known():
    assert cached(on("directory"), [job(written=9 << 30)], MEMORY_BYTES, {}, None) == []
    assert [doubt.kind for doubt in cached(on("directory"), [job(written=1 << 30)], MEMORY_BYTES, {}, None)] == [
        "page-cache-hides-medium"
    ]


def test_of_a_directory_a_budget_of_the_page_cache_is_the_room():
    trial = on("directory")
    held = trial.model_copy(update={"cluster": trial.cluster.model_copy(update={"page_cache_bytes": 64 * MIB})})
    assert cached(held, [job(written=65 * MIB)], MEMORY_BYTES, {}, None) == []
    (doubt,) = cached(held, [job(written=64 * MIB)], MEMORY_BYTES, {}, None)
    assert "less than the page cache it may use" in doubt.what


def test_memory_can_not_hide_memory():
    assert cached(on("memory"), [job()], MEMORY_BYTES, {}, None) == []


@pytest.mark.parametrize(
    ("others_s", "steal_s", "said"), [(2.0, 0.0, None), (-0.3, 0.0, None), (12.0, 0.0, "12 s"), (3.0, 4.0, "7 s")]
)
def test_programs_that_ran_beside_the_jobs_are_doubted(others_s, steal_s, said):
    values = {("cpu", "machine", "user_s"): 60.0, ("cpu", "machine", "idle_s"): 60.0 - steal_s,
              ("cpu", "machine", "steal_s"): steal_s, ("processes", "other", "busy_s"): others_s}  # fmt: skip
    amounts = [
        Amount(probe=probe, subject=subject, series=series, part=part, value=value * (1 if part == "run" else 9))
        for (probe, subject, series), value in values.items()
        for part in ("staging", "run")
    ]
    found = crowded("hdd", amounts)
    assert [doubt.kind for doubt in found] == ([] if said is None else ["machine-shared"])
    assert all(said in doubt.what for doubt in found)
    assert crowded("hdd", []) == []


@pytest.mark.parametrize(("free", "kinds"), [(GOES_BACK, ["memory-goes-back"]), (HELD, []), (STAYS, []), (None, [])])
def test_memory_that_goes_back_to_the_host_is_doubted_unless_held(free, kinds):
    assert [doubt.kind for doubt in given_back({} if free is None else {FREE_MEMORY: free})] == kinds


@pytest.mark.parametrize(
    ("after", "elapsed_s", "kinds"), [("30", 40.0, ["page-cache-dropped"]), ("30", 20.0, []), (None, 1000.0, [])]
)
def test_page_cache_that_is_dropped_is_doubted_if_the_jobs_take_longer(after, elapsed_s, kinds):
    jobs = [a_job(elapsed_s=elapsed_s)]
    assert [one.kind for one in dropped({} if after is None else {UNUSED_CACHE: after}, jobs)] == kinds
    assert dropped({UNUSED_CACHE: "30"}, []) == []


@pytest.mark.parametrize(
    ("full_s", "above_s", "below_s", "kinds"),
    [
        (50, 0.5, 0.4, []), (50, 0.5, 0.6, ["page-cache-off-budget"]), (5, 0.0, 0.4, ["page-cache-off-budget"]),
        (0.4, 0.0, 0.1, []), (0.0, 0.0, 0.0, []),
    ],
)  # fmt: skip
def test_a_page_cache_off_its_budget_for_more_than_two_percent_of_its_use_is_doubted(full_s, above_s, below_s, kinds):
    cache = CacheUse(budget_bytes=64 * MIB, held_s=100, full_s=full_s, above_s=above_s, below_s=below_s)
    assert [doubt.kind for doubt in off_budget(LimitUse(page_cache=cache), [])] == kinds


def test_a_page_cache_that_was_no_longer_held_is_doubted():
    cache = CacheUse(budget_bytes=64 * MIB, trouble="OSError: memory.stat")
    (doubt,) = off_budget(LimitUse(page_cache=cache), [])
    assert (doubt.kind, "memory.stat" in doubt.what) == ("page-cache-not-held", True)


@pytest.mark.parametrize(
    ("interface", "failed", "kinds"),
    [("version 1", 2, ["attempts-failed-at-budget"]), ("version 1", 0, []), ("version 2", 2, [])],
)
def test_attempts_that_failed_beside_a_budget_are_doubted(interface, failed, kinds):
    stages = (Stage(name="map", tasks=3, failed_attempts=failed),)
    use = LimitUse(interface=interface, page_cache=CacheUse(budget_bytes=64 * MIB))
    assert [doubt.kind for doubt in off_budget(use, [a_job().model_copy(update={"stages": stages})])] == kinds


def test_without_a_budget_no_page_cache_is_off_it():
    assert off_budget(None, []) == off_budget(LimitUse(), []) == []
