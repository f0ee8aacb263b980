"""Proves that what a run costs is said before it starts: the sum of times, the worst of disk and memory."""

import re

import pytest
from rich.console import Console

from assay.cli.dry_run import given_lines, print_needs, trial_line, why_undecided
from assay.model.cluster import EmbeddedSpec
from assay.model.trial import MediumSpec, ResourceEstimate, WorkloadSpec
from assay.run.needs import Needs
from tests.builders import a_plan, a_trial

GIB = 1 << 30


def needs_of(*estimates, disk=None, media=(), cluster=None, **needed):
    """What is printed; the last line, that a plan without repetitions decides nothing, is left out."""
    trials = [a_trial(number) for number, _ in enumerate(estimates, 1)]
    changes = [{"media": tuple(media) or trial.media, "cluster": cluster or trial.cluster} for trial in trials]
    trials = [
        trial.model_copy(update={"keep_requests": bool(needed), **change})
        for trial, change in zip(trials, changes, strict=True)
    ]
    needs = Needs(
        estimates={trial.id: one for trial, one in zip(trials, estimates, strict=True)},
        disk_bytes=disk or {},
        free_bytes=dict.fromkeys(disk or {}, 70 * GIB),
        memory_bytes=max(one.memory_bytes for one in estimates),
        available_memory_bytes=20 * GIB,
        seconds=sum(one.seconds for one in estimates),
        **needed,
    )
    console = Console(width=200)
    with console.capture() as printed:
        print_needs(a_plan(*trials), needs, None, console)
    lines = printed.get().splitlines()
    return [line for line in lines if "can decide nothing" not in line]


def test_times_add_up_and_of_disk_and_memory_the_worst_counts():
    small = ResourceEstimate(disk_bytes=GIB, memory_bytes=3 * GIB, seconds=30)
    large = ResourceEstimate(disk_bytes=40 * GIB, memory_bytes=2 * GIB, seconds=8970)
    lines = needs_of(small, large, disk={"hdd": 40 * GIB})
    assert lines[0] == "test: 2 trials, about 2 h 30 min"
    assert lines[1] == "  0001-triangles-disk: triangles, tiny, disk, defaults, cold, repetition 1"
    assert lines[3:] == [
        "  hdd: at most about 40.0 GiB at once, 70.0 GiB free",
        "  this machine: at most about 3.0 GiB of memory, 20.0 GiB available",
        (
            "  in all: about 2 h 30 min, a rough estimate (the longest trial, 0002-triangles-disk, "
            "2 h 29 min or more); at most about 40.0 GiB of disk and 3.0 GiB of memory at once"
        ),
    ]


def test_a_time_says_where_it_is_from():
    drive = MediumSpec(name="hdd", kind="emulated", profile="wd10ezex")
    reckoned = ResourceEstimate(disk_bytes=GIB, memory_bytes=GIB, seconds=60)
    lines = needs_of(reckoned, media=[drive])
    assert lines[0] == "test: 1 trial, about 1:00 min"
    assert lines[-1].startswith("  in all: about 1:00 min, a rough estimate (the longest trial, ")
    assert lines[-2] == "  no `memory` or `page_cache` limit: the page cache may answer instead of the emulated drives"
    held = needs_of(reckoned, media=[drive], cluster=EmbeddedSpec(page_cache_bytes=64 << 20))
    assert not [line for line in held if "the page cache may answer" in line]
    seen = needs_of(reckoned.model_copy(update={"records": 3}), media=[drive])
    assert seen[0] == "test: 1 trial, about 1:00 min, from earlier records"
    assert seen[-1].startswith("  in all: about 1:00 min, from earlier records (the longest trial, ")


@pytest.mark.parametrize(("size", "said"), [(3 << 20, "at most about 3.0 MiB"), (None, "nobody knows how large")])
def test_how_large_logs_of_requests_become_is_said_beside_the_disk(size, said):
    need = ResourceEstimate(disk_bytes=GIB, memory_bytes=GIB, seconds=60)
    last = needs_of(need, request_log_bytes=size)[-1]
    assert last.endswith(
        f"memory at once; logs of these trials' requests, {said} (15 bytes a request), stay in the run's folder"
    )
    assert "logs" not in needs_of(need)[-1]


def test_on_an_existing_cluster_it_is_said_what_is_not_known():
    lines = needs_of(ResourceEstimate(disk_bytes=0, memory_bytes=0, seconds=60))
    assert lines[-1].endswith("1:00 min or more); disk and memory of the cluster are its own and not estimated")
    assert len(lines) == 3


def test_of_paths_in_options_the_last_name_is_told():
    options = {"jar": "/home/me/jobs/mine.jar", "arguments": "a/b {input}", "root": "/"}
    trial = a_trial().model_copy(update={"workload": WorkloadSpec(name="command", variant="own", options=options)})
    assert "command, own, arguments=a/b {input} jar=mine.jar root=/, tiny" in trial_line(trial)


def test_a_long_value_of_an_option_is_clipped_and_told_from_one_that_differs_within_it():
    def line(middle):
        options = {"files": "1", "pattern": "x000|z037|q074|j111" * 5 + middle + "|y999|un[a-z]+ed" * 5, "size": "45MB"}
        trial = a_trial().model_copy(update={"workload": WorkloadSpec(name="grep", variant="stock", options=options)})
        assert options["pattern"] in trial.factors["options"], "JSON keeps the whole"
        return trial_line(trial)

    assert re.search(
        r"files=1 pattern=x000\|z037\|q074\|j111x…9\|un\[a-z\]\+ed#[0-9a-f]{6} size=45MB, tiny", line("a=b")
    )
    assert line("a=b") != line("a=c")


def test_a_dilation_that_is_chosen_here_is_said_with_the_cluster_that_it_is_for():
    need = ResourceEstimate(disk_bytes=0, memory_bytes=GIB, seconds=30)
    lines = needs_of(need, cluster=EmbeddedSpec(nodes=3, dilation="auto", auto_for=(13, 1.0)))
    (said,) = (line for line in lines if "dilation auto" in line)
    assert said.endswith(" here, for 13 nodes and their master of 1 core each")


def test_a_plan_that_can_decide_nothing_is_said_to_be_one():
    once = [a_trial(1, "hdd"), a_trial(2, "ssd")]
    again = [a_trial(3, "hdd", 2), a_trial(4, "ssd", 2)]
    assert "each combination runs once" in why_undecided(a_plan(*once))
    assert why_undecided(a_plan(*once, *again)) == ""
    assert "compares nothing" in why_undecided(a_plan(once[0], again[0]))
    assert why_undecided(a_plan(*once), budget_s=3600) == "", "the time is used for repetitions"
    assert "compares nothing" in why_undecided(a_plan(once[0]), budget_s=3600)


def test_a_time_is_a_range_and_that_of_a_jar_is_unknown():
    reckoned = ResourceEstimate(disk_bytes=GIB, memory_bytes=GIB, seconds=60, most_s=180)
    seen = ResourceEstimate(disk_bytes=GIB, memory_bytes=GIB, seconds=60, records=2, least_s=50, most_s=70)
    assert needs_of(reckoned, seen)[0] == "test: 2 trials, 1:50 min to 4:10 min"
    lines = needs_of(reckoned, seen.model_copy(update={"known": False}))
    assert lines[0] == "test: 2 trials, time unknown (a jar that has not run here)"
    assert lines[-1].startswith("  in all: time unknown (a jar that has not run here); at most")


def test_where_engines_are_compared_it_is_said_what_each_gets():
    trials = [
        a_trial(number).model_copy(update={"engine": engine}) for number, engine in ((1, "mapreduce"), (2, "tez"))
    ]
    own = [trial.model_copy(update={"cluster": EmbeddedSpec()}) for trial in trials]
    tasks = "gets of a node: 6 tasks of 1024 MiB at once, and a master of 2048 MiB"
    assert given_lines(a_plan(*own)) == [f"mapreduce {tasks}", f"tez {tasks}"]
    assert given_lines(a_plan(own[0])) == []
