"""Proves that a version says its source: it changes with any file of it, and with nothing else."""

import re

import pytest

import assay
from assay import version
from assay.host.machine import machine_facts

ROOT = version.PACKAGE


def write(file):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(file.name)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A small package with plug-ins; digests are those of them, and read anew whenever they are asked for."""
    package = tmp_path / "src" / "assay"
    plugins = ("redfish/power.py", "studies/claims.py")
    for name in (*version.DURING_A_TRIAL, "runner.py", "report/page.py", "report/page.html.j2", "profiles/drive.yaml"):
        write(package / name)
    for name in plugins:
        write(tmp_path / "extras" / "assay_extras" / name)
    monkeypatch.setattr(version, "PACKAGE", package)
    monkeypatch.setattr(version, "version", version.version.__wrapped__)
    monkeypatch.setattr(version, "measuring_code_sha256", version.measuring_code_sha256.__wrapped__)
    return package


def both():
    return version.version(), version.measuring_code_sha256()


def test_the_version_is_one_of_python_packages_and_is_in_the_facts():
    assert re.fullmatch(r"\d+\.\d+\.\d+\+[0-9a-f]{12}", assay.__version__)
    assert machine_facts()["assay"] == assay.__version__
    with pytest.raises(AttributeError, match="no attribute 'versoin'"):
        _ = assay.versoin


def test_code_that_measures_changes_both_digests_and_a_report_the_version_alone(copy):
    before = both()
    (copy / "report" / "page.html.j2").write_text("other")
    judged = both()
    assert (judged[0] != before[0], judged[1] != before[1]) == (True, False)
    (copy / "runner.py").write_text("other")
    assert [now != then for now, then in zip(both(), judged, strict=True)] == [True, True]


def test_what_trials_work_out_with_statistics_changes_both_digests(copy):
    before = both()
    (copy / "stats" / "trial_doubts.py").write_text("other")
    assert [now != then for now, then in zip(both(), before, strict=True)] == [True, True]


def test_all_statistics_that_trials_use_are_known():
    used, left = set(), [ROOT / "trial.py", ROOT / "trial_parts.py"]
    while left:
        names = re.findall(r"^from assay\.(stats\.\w+) import", left.pop().read_text(), re.MULTILINE)
        new = {name.replace(".", "/") + ".py" for name in names} - used
        used |= new
        left += [ROOT / name for name in new]
    assert used == set(version.DURING_A_TRIAL)


def test_a_plug_in_that_measures_changes_both_digests_and_one_that_reads_records_the_version_alone(copy):
    plugins, before = copy.parents[1] / "extras" / "assay_extras", both()
    (plugins / "studies" / "claims.py").write_text("other")
    judged = both()
    assert (judged[0] != before[0], judged[1] != before[1]) == (True, False)
    (plugins / "redfish" / "power.py").write_text("other")
    assert [now != then for now, then in zip(both(), judged, strict=True)] == [True, True]


def test_a_file_that_came_went_or_was_renamed_changes_the_version(copy):
    seen = [version.version()]
    (copy / "new.py").write_text("")
    seen.append(version.version())
    (copy / "new.py").rename(copy / "newer.py")
    seen.append(version.version())
    assert len(set(seen)) == 3
    (copy / "newer.py").unlink()
    assert version.version() == seen[0]


def test_what_is_compiled_left_by_an_editor_or_a_profile_changes_nothing(copy):
    before = both()
    (copy / "report" / "__pycache__").mkdir()
    (copy / "report" / "__pycache__" / "page.py").write_text("x")
    (copy / ".runner.py").write_text("x")
    (copy / "runner.py~").write_text("x")
    (copy / "profiles" / "drive.yaml").write_text("x")
    assert both() == before


def test_what_only_judges_is_there_under_its_names():
    folders = {file.name for place in (ROOT, *version.plugins()) for file in place.iterdir() if file.is_dir()}
    assert folders >= version.ONLY_JUDGING
    suffixes = {
        file.suffix
        for place in (ROOT, *version.plugins())
        for file in place.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert suffixes == version.SUFFIXES
