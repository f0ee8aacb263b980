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
    monkeypatch.setattr(twin, "LOOK_S", 0.1)
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
    """The twin takes 1.2 times as long in each job; phases below 5 s are shown and not judged."""
    plan, records = made_run(
        made_trials(("terasort",), ("real", "twin"), repetitions=4), 0.001, times={"real": 20, "twin": 24}
    )
    plan = plan.model_copy(update={"placements": ("real", "twin")})
    found = differences(plan, [record.model_copy(update=two_jobs(record)) for record in records])
    jobs = {one.job: one for one in found if not one.phase}
    assert jobs.keys() == {"sort", "check"}
    for one in jobs.values():
        assert one.ratio == pytest.approx(1.2, rel=0.01)
        assert one.interval.low < 1.2 < one.interval.high
        assert (one.goal, one.verdict, one.pairs) == (0.10, "open", 4)
    phases = {(one.job, one.phase): one for one in found if one.phase}
    assert phases["sort", "map"].goal == 0.15
    assert phases["check", "reduce"].verdict == ""
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        print_differences(found, console)
    assert "+20%" in captured.get()
    assert "open" in captured.get()


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.95, 1.09, "met"), (0.85, 1.05, "open"), (1.05, 1.3, "open"), (1.12, 1.3, "missed")]
)
def test_a_goal_is_met_only_where_all_of_the_interval_is_within_it(low, high, verdict):
    one = Difference(
        workload="x", job="sort", pairs=3, real_s=20, twin_s=20, ratio=1.0, interval=Interval(low=low, high=high),
        goal=0.1,
    )  # fmt: skip
    assert one.verdict == verdict
    assert one.model_copy(update={"goal": None}).verdict == ""
