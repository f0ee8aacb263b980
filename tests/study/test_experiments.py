"""Proves that every shipped experiment loads, and that the studies' are known by their names, in both sizes."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from assay.cluster.sizing import check_containers
from assay.model.installation import Installation
from assay.parts import vocabulary
from assay.plan.experiment import ExperimentFile
from assay.plan.make import make_plan
from assay.study.experiment import study_experiment

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "experiments"
PARTS = ROOT / ".assay"
INSTALLATION = Installation(root=ROOT, parts=PARTS, jobs_jar=PARTS / "jobs.jar", cache=PARTS, state=PARTS)
EXPERIMENTS = sorted(FOLDER.glob("*.yaml"))
STUDIES = [file for file in EXPERIMENTS if file.stem.startswith(("thesis-", "hybrid-"))]
LIST_OF_LEVELS = ": ["
MEDIA_AND_LEVELS = {"experiment": "a", "workloads": "sort", "media": {"d": "directory"}, "hadoop": {"p": ["1", "2"]}}


def takes_lists() -> bool:
    """Whether a Hadoop property may be a list of levels."""
    try:
        ExperimentFile.model_validate(MEDIA_AND_LEVELS)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("file", EXPERIMENTS, ids=lambda file: file.stem)
def test_it_loads(file):
    hadoop = file.read_text().partition("\nhadoop:\n")[2]
    if LIST_OF_LEVELS in hadoop and not takes_lists():
        pytest.skip("a Hadoop property as a list of levels is not understood here")
    plan = make_plan(file, vocabulary(INSTALLATION))
    assert plan.trials
    for trial in plan.trials:
        assert "[" not in "".join(trial.settings.properties.values())
        check_containers(trial.cluster, trial.settings.properties)


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_a_studys_experiment_is_known_by_its_name(file):
    text = file.read_text()
    assert f"\nexperiment: {file.stem}\n" in text
    found = study_experiment(file.stem)
    assert found is not None
    assert found.scaled == file.stem.endswith("-scaled") == ("# Scaled:" in text)


def test_every_one_has_a_scaled_form():
    names = {file.stem for file in STUDIES}
    plain = {name for name in names if not name.endswith("-scaled")}
    assert {f"{name}-scaled" for name in plain} <= names
    assert len(plain) == 15


def test_settings_and_media_have_the_thesis_names():
    for file in STUDIES:
        if file.stem.startswith("thesis-t") and LIST_OF_LEVELS not in file.read_text().partition("\nhadoop:\n")[2]:
            plan = make_plan(file, vocabulary(INSTALLATION))
            assert {trial.placement.name for trial in plan.trials} <= {"hdd", "ssd1", "ssd2"}
            names = {trial.settings.name.removesuffix("-scaled") for trial in plan.trials}
            known = {"defaults", "containers", "customs", "single-sort-factor", "single-file-buffer"}
            assert names <= known | {"single-file-buffer-512k"}
