"""Proves that a directory that can have no twin is refused with its reason, and that differences are those of the times."""

import json
from types import SimpleNamespace

import pytest
from rich.console import Console

from assay.host.yaml_file import YamlFile
from assay.model.errors import BadInputError
from assay.report.analysis import analyse
from assay.report.terminal import print_report
from assay.stats.changes import compares_twin
from assay.stats.noise import ConfidenceInterval
from assay_extras.calibration import twin
from assay_extras.calibration.differences import DifferencesView, TwinDifference, differences, rows_of
from assay_extras.calibration.twin import Request, busy_share, check_jobs, check_place, write_experiment
from tests.builders import a_measured_run, an_installation, summaries
from tests.report.made_runs import made_run, made_trials, page, two_jobs


@pytest.fixture
def installation(tmp_path):
    return an_installation(tmp_path)


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


def test_jobs_are_checked_with_another_profile_before_anything_is_measured(usable, tmp_path):
    """What the planner says of the made experiment is said of the user's own file."""
    jobs, file, asked = tmp_path / "mine.yaml", tmp_path / "made.yaml", []

    def run(experiment, **options):
        asked.append((YamlFile(experiment).tree["media"]["twin"]["profile"], options["dry_run"]))
        raise BadInputError(f"{experiment}, line 3: zip: unknown factor 'media'")

    wanted = Request(path=tmp_path, jobs=jobs, pairs=2, seconds=60)
    with pytest.raises(BadInputError) as refused:
        check_jobs({"experiment": "mine", "workloads": ["terasort"]}, wanted, file, run)
    assert str(refused.value) == f"{jobs}, with the drive and its twin as media: zip: unknown factor 'media'"
    assert asked == [("cloud-volume-3000-iops", True)]


def twin_run(ratio=1.2, noise=0.001, repetitions=4):
    """A plan and records of a drive that takes 20 s and of its twin, in two jobs each."""
    trials = made_trials(("terasort",), ("real", "twin"), repetitions=repetitions)
    plan, records = made_run(trials, noise, times={"real": 20, "twin": 20 * ratio})
    kinds = {"real": "directory", "twin": "emulated"}
    records = [
        record.model_copy(
            update={
                "trial": record.trial.model_copy(
                    update={
                        "media": tuple(one.model_copy(update={"kind": kinds[one.name]}) for one in record.trial.media)
                    }
                ),
                **two_jobs(record),
            }
        )
        for record in records
    ]
    trials = tuple(record.trial for record in records)
    return plan.model_copy(update={"placements": ("real", "twin"), "trials": trials}), records


def test_differences_are_of_each_job_and_phase_with_their_goals():
    """The twin takes 1.2 times as long in each job; phases below 5 s are shown and not judged."""
    found = differences(*twin_run())
    jobs = {one.job: one for one in found if not one.phase}
    assert jobs.keys() == {"sort", "check"}
    for one in jobs.values():
        assert one.ratio == pytest.approx(1.2, rel=0.01)
        assert one.interval.low < 1.2 < one.interval.high
        assert (one.goal, one.verdict, one.pairs) == (0.10, "open", 4)
    phases = {(one.job, one.phase): one for one in found if one.phase}
    assert phases["sort", "map"].goal == 0.15
    assert phases["check", "reduce"].verdict == ""
    view = DifferencesView(found)
    for form in (view.text(), view.markdown(), view.html()):
        assert "+20%" in form
        assert "open" in form
    assert json.loads(view.json()) == json.loads(json.dumps(rows_of(found)))
    assert json.loads(view.json())[0]["verdict"] == "open"


@pytest.mark.parametrize(
    ("ratio", "noise", "headline"),
    [
        (1.02, 0.001, "the emulated drive takes 2 % more time than the real one, which is within 10 %"),
        (1.4, 0.001, "the emulated drive takes 40 % more time than the real one, which is not within 10 %"),
        (1.1, 0.05, "and whether that is within 10 % is not known yet"),
    ],
)
def test_a_twins_report_says_how_far_it_is_from_the_drive(ratio, noise, headline):
    """Not which of both is worth it; the page and the terminal have what `twin.json` holds."""
    plan, records = twin_run(ratio, noise, repetitions=8)
    analysis = analyse(a_measured_run(plan, records))
    ((_, answer, *_),) = analysis.answers
    assert headline in answer.headline
    assert [line.label for line in answer.lines] == ["On the real drive", "On its twin"]
    assert "worth" not in " ".join([answer.headline, *(line.words for line in answer.lines), *answer.notes])
    assert list(analysis.sections) == ["twin"]
    html = page(plan, records)
    assert 'id="twin"' in html
    assert "worth it" not in html
    assert 'id="parts"' not in html
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        print_report("twin", summaries(records), analysis, console)
    assert headline in " ".join(captured.get().split())
    assert "worth it" not in captured.get()


def test_drives_of_these_names_that_are_both_emulated_are_a_choice():
    plan, records = twin_run()
    media = [medium.model_copy(update={"kind": "emulated"}) for medium in records[0].trial.media]
    trials = tuple(trial.model_copy(update={"media": tuple(media)}) for trial in plan.trials)
    assert not compares_twin(plan.model_copy(update={"trials": trials}))
    assert compares_twin(plan)


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.95, 1.09, "met"), (0.85, 1.05, "open"), (1.05, 1.3, "open"), (1.12, 1.3, "missed")]
)
def test_a_goal_is_met_only_where_all_of_the_interval_is_within_it(low, high, verdict):
    one = TwinDifference(
        workload="x", job="sort", pairs=3, real_s=20, twin_s=20, ratio=1.0, interval=ConfidenceInterval(low=low, high=high),
        goal=0.1,
    )  # fmt: skip
    assert one.verdict == verdict
    assert one.model_copy(update={"goal": None}).verdict == ""
