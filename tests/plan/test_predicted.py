"""Proves which drives an experiment may have predicted, what a plan makes of them, and what is refused."""

import pytest

from assay.model.demand import OtherDrive
from assay.model.errors import BadInputError
from assay.plan.source import Vocabulary
from tests.builders import make_plan

WORDS = Vocabulary(
    workloads={"testdfsio": ("write",)}, presets=[], catalogue=[], own_input=["testdfsio"],
    profiles=["wd10ezex", "intel-p4500-1tb"],
)  # fmt: skip
GOOD = """\
experiment: demo
workloads: testdfsio
media: {hdd: wd10ezex}
"""


def plan_of(folder, text):
    file = folder / "demo.yaml"
    file.write_text(GOOD + text)
    return make_plan(file, WORDS)


def test_drives_are_media_of_the_experiment_usual_drives_profiles_or_files(tmp_path):
    plan = plan_of(
        tmp_path, "predict: [hdd, nvme, intel-p4500-1tb, own/fast.yaml, {drive: nvme, roles: intermediate}]\n"
    )
    assert plan.predict == (
        OtherDrive(name="hdd", profile="wd10ezex", slowdown=1),
        OtherDrive(name="nvme", profile="intel-p4500-1tb"),
        OtherDrive(name="intel-p4500-1tb", profile="intel-p4500-1tb"),
        OtherDrive(name="fast", profile=str(tmp_path / "own" / "fast.yaml")),
        OtherDrive(name="intermediate-nvme", profile="intel-p4500-1tb", roles=("intermediate",)),
    )


def test_a_medium_of_the_experiment_keeps_its_slowdown_and_its_users(tmp_path):
    own = "media: {hdd: {profile: wd10ezex, slowdown: 6}, ssd: {profile: intel-p4500-1tb, shared_by: 1.9}}\n"
    file = tmp_path / "demo.yaml"
    file.write_text(f"experiment: demo\nworkloads: testdfsio\n{own}placement: [hdd, ssd]\npredict: [hdd, ssd, nvme]\n")
    assert make_plan(file, WORDS).predict == (
        OtherDrive(name="hdd", profile="wd10ezex", slowdown=6),
        OtherDrive(name="ssd", profile="intel-p4500-1tb", slowdown=1, shared_by=1.9),
        OtherDrive(name="nvme", profile="intel-p4500-1tb"),
    )


def test_trials_keep_their_requests_for_it_and_plans_without_it_stay_as_they_were(tmp_path):
    assert all(trial.keep_requests for trial in plan_of(tmp_path, "predict: nvme\n").trials)
    without = plan_of(tmp_path, "")
    assert not any(trial.keep_requests for trial in without.trials)
    assert "predict" not in without.model_dump()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("predict: [nvm]", r"line 4: nobody describes the drive 'nvm'; did you mean 'nvme'"),
        ("predict: [{drive: nvme, roles: [shuffle-it]}]", r"line 4: unknown role 'shuffle-it'"),
        ("predict: [nvme, nvme]", "predict has 'nvme' twice"),
        ("predict: [{roles: input}]", "drive"),
        (
            "predict: nvme\ncluster: {nodes: 3}\ndilation: 4",
            "clusters of full speed alone; leave out predict, or dilation",
        ),
    ],
)
def test_what_can_not_be_predicted_is_refused_with_its_place(tmp_path, text, reason):
    with pytest.raises(BadInputError, match=reason):
        plan_of(tmp_path, f"{text}\n")
