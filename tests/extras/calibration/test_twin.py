"""Proves that a directory that can have no twin is refused with its reason, and that differences are those of the times."""

from types import SimpleNamespace

import pytest
from rich.console import Console

from assay.host.yaml_file import YamlFile
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.stats.noise import Interval
from assay_extras.calibration import twin
from assay_extras.calibration.twin import (
    Difference,
    Request,
    busy_share,
    check_place,
    conclude,
    counted,
    differences,
    print_differences,
    write_experiment,
)
from tests.report.made_runs import made_run, made_trials, two_jobs


@pytest.fixture
def installation(tmp_path):
    return Installation(root=tmp_path, parts=tmp_path, jobs_jar=tmp_path / "x", cache=tmp_path, state=tmp_path)


@pytest.fixture
def usable(monkeypatch):
    """A directory on an idle drive with 10 GiB free, of a machine that emulates drives; `changed` makes it another."""
    mount = SimpleNamespace(file_system="ext4", source="/dev/sdz1", device_number="8:1")
    state = {"free": 10 << 30, "direct": True, "missing": [], "busy": 0.0, "mount": mount, "device": object()}
    monkeypatch.setattr(twin, "mount_of", lambda _: state["mount"])
    monkeypatch.setattr(twin, "block_device", lambda _: state["device"])
    monkeypatch.setattr(twin.shutil, "disk_usage", lambda _: SimpleNamespace(free=state["free"]))
    monkeypatch.setattr(twin, "direct_in", lambda _: state["direct"])
    monkeypatch.setattr(twin, "missing", lambda _: state["missing"])
    monkeypatch.setattr(twin, "busy_share", lambda _: state["busy"])
    return state


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"free": 1 << 30}, "has only 1.0 GiB free, and calibration and jobs need 3.0 GiB"),
        ({"busy": 0.45}, r"\(/dev/sdz1\) is busy for 45% of the time; stop what uses it"),
        ({"direct": False}, "has no direct I/O"),
        ({"device": None}, "which has no block device"),
        ({"missing": ["there is no losetup"]}, "can't be emulated here: there is no losetup"),
        ({"mount": SimpleNamespace(file_system="tmpfs", source="tmpfs", device_number="0:1")}, r"in memory \(tmpfs\)"),
    ],
)
def test_a_directory_without_a_twin_is_refused_with_the_reason(usable, installation, tmp_path, change, reason):
    check_place(tmp_path, installation)
    usable.update(change)
    with pytest.raises(BadInputError, match=reason):
        check_place(tmp_path, installation)


def test_what_is_no_directory_is_refused(installation, tmp_path):
    with pytest.raises(BadInputError, match="is not a directory"):
        check_place(tmp_path / "absent", installation)


def test_how_busy_a_drive_is_comes_from_the_kernels_own_count(tmp_path, monkeypatch):
    monkeypatch.setattr(twin, "SAMPLE_S", 0.1)
    (tmp_path / "stat").write_text("1 2 3 4 5 6 7 8 0 500 11\n")
    monkeypatch.setattr(twin.time, "sleep", lambda _: (tmp_path / "stat").write_text("1 2 3 4 5 6 7 8 0 550 11\n"))
    times = iter([10.0, 10.1])
    monkeypatch.setattr(twin.time, "monotonic", lambda: next(times))
    assert busy_share(tmp_path) == pytest.approx(0.5)
    assert busy_share(tmp_path / "absent") == 0.0


def test_the_experiment_has_both_drives_and_nothing_that_compares_others(usable, tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "experiment: mine\nworkloads:\n  - {name: terasort}\nmedia: {a: {}}\nplacement: [a]\nmemory: 1GiB\n"
    )
    tree, file = YamlFile(tmp_path / "mine.yaml").tree, tmp_path / "made.yaml"
    wanted = Request(path=tmp_path, jobs=file, pairs=3, seconds=60)
    write_experiment(tree, wanted, str(tmp_path / "p.yaml"), file)
    made = YamlFile(file).tree
    assert (made["experiment"], made["memory"], made["repetitions"]) == ("mine", "1GiB", 3)
    assert made["media"]["real"] == {"path": str(tmp_path)}
    assert made["media"]["twin"]["profile"] == str(tmp_path / "p.yaml")
    assert "placement" not in made


def test_differences_are_of_each_job_and_phase_with_their_goals():
    """The twin takes twice as long in each job; phases below 5 s are shown and not judged."""
    plan, records = made_run(
        made_trials(("terasort",), ("real", "twin"), repetitions=4), 0.001, times={"real": 20, "twin": 40}
    )
    plan = plan.model_copy(update={"placements": ("real", "twin")})
    found = differences(plan, [record.model_copy(update=two_jobs(record)) for record in records])
    jobs = {one.job: one for one in found if not one.phase}
    assert jobs.keys() == {"sort", "check"}
    for one in jobs.values():
        assert one.ratio == pytest.approx(2.0, rel=0.01)
        assert one.interval.low < 2.0 < one.interval.high
        assert (one.goal, one.verdict, one.pairs) == (0.10, "missed", 4)
    phases = {(one.job, one.phase): one for one in found if one.phase}
    assert phases["sort", "map"].goal == 0.15
    assert phases["check", "reduce"].verdict is None
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        print_differences(found, console)
    assert "+100%" in captured.get()
    assert "missed" in captured.get()


def a_difference(low, high, goal=0.10):
    return Difference(
        workload="terasort", job="sort", pairs=2, real_s=20.0, twin_s=20.0 * (low * high) ** 0.5,
        ratio=(low * high) ** 0.5, interval=Interval(low=low, high=high), goal=goal,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.92, 1.09, "met"),
        (0.7, 1.6, "not certain"),
        (1.05, 1.3, "not certain"),
        (1.12, 1.3, "missed"),
        (0.5, 0.8, "missed"),
    ],
)
def test_a_goal_is_judged_by_the_whole_interval(low, high, verdict):
    assert a_difference(low, high).verdict == verdict
    assert a_difference(low, high, goal=None).verdict is None


def test_how_many_goals_are_met_says_what_is_not_certain():
    assert counted(["met", "missed", "not certain"]) == (
        "1 of 3 jobs and long phases are within their goals, 1 are not; 1 are not certain: more pairs would tell"
    )
    assert counted(["met"]) == "1 of 1 jobs and long phases are within their goals"


@pytest.mark.parametrize(
    ("measured", "code", "kept"),
    [([a_difference(0.9, 1.0)], 0, True), ([a_difference(0.9, 1.0)], 1, False), ([], 0, False)],
)
def test_only_a_run_that_succeeded_and_can_be_compared_leaves_its_differences(tmp_path, measured, code, kept):
    console = Console(width=100, force_terminal=False)
    with console.capture():
        assert (conclude(tmp_path, measured, code, console) == 0) is kept
    assert (tmp_path / "twin.json").exists() is kept
