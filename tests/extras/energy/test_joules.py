"""Proves that energy is in CSV, JSON, Markdown, pages and comparisons, with range and basis, and not on the terminal."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from assay.cli import cli
from assay.record.folder import RunFolder
from assay.report.analysis import read_run
from assay.report.figures import figures_of, medians_over
from assay.report.values import combination_trials
from assay.report.words import significant_text
from assay.stats.summary import rows_of
from assay_extras.energy.model import Efficiency, Ranged, give_or_take
from assay_extras.energy.values import energy_columns, energy_values, ranged_text
from tests.builders import a_plan
from tests.report.made_runs import write_run
from tests.report.made_trials import a_record

DRIVE = give_or_take(163, 0.3)


@pytest.fixture
def run(tmp_path):
    records = [a_record(2 * n + side, ("hdd", "ssd")[side - 1], 40 + n, n) for n in (1, 2, 3) for side in (1, 2)]
    plan = a_plan(*(record.trial for record in records))
    write_run(tmp_path / "run", plan, records)
    return tmp_path / "run"


def assay(*words):
    return CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False, catch_exceptions=False).output


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (12_345, "12,000"), (996, "1,000"), (99.6, "100"), (9.96, "10"), (1.04, "1.0"), (0.0123, "0.012"),
     (0.0996, "0.10"), (163, "160"), (None, "-")],
)  # fmt: skip
def test_people_read_two_significant_digits(value, text):
    assert significant_text(value) == text


def test_a_range_is_written_with_both_ends():
    assert ranged_text(Ranged(value=1234, low=790, high=1870)) == "1,200 (790 to 1,900)"


def test_values_are_medians_over_trials_end_by_end():
    found = [Efficiency(energy_j=give_or_take(100 * n, 0.1), seconds=10, basis="modelled") for n in (1, 2, 6)]
    (values,) = medians_over({str(n): energy_values(one) for n, one in enumerate([*found, None])}, ["0123"])
    assert (values["energy_j"], values["energy_low_j"], values["edp_js"], values["ed2p_high_js2"]) == (
        200, 180, 2000, pytest.approx(22_000),
    )  # fmt: skip
    assert [cell for column in energy_columns([values]) for cell in column.cells] == [
        "200 (180 to 220)",
        "2,000 (1,800 to 2,200)",
        "20,000 (18,000 to 22,000)",
        "modelled",
    ]
    assert energy_columns([energy_values(None)])[3].cells == ["missing"]


def test_each_combination_has_its_own_trials_energy(run):
    found = read_run(RunFolder(run), details=False)
    rows = rows_of(found.trials)
    known = figures_of(found.trials, ["energy"])["energy"]
    energies = medians_over(known, combination_trials(rows, found.trials))
    assert [row.placement for row in rows] == ["hdd", "ssd"]
    hdd = sorted(known[summary.id]["energy_j"] for summary in found.trials if "hdd" in summary.id)
    assert energies[0]["energy_j"] == hdd[1]


def test_the_terminal_has_no_energy_and_no_cost_of_the_probes(run):
    text = assay("report", run).lower()
    assert "ssd" in text
    for word in ("joule", "edp", "energy", "modelled", "own cost"):
        assert word not in text


@pytest.mark.parametrize("rows", ["combinations", "trials"])
def test_csv_has_energy_with_its_range_and_basis(run, rows):
    lines = list(csv.DictReader(io.StringIO(assay("report", run, "--format", "csv", "--rows", rows))))
    assert len(lines) == {"combinations": 2, "trials": 6}[rows]
    for line in lines:
        low, value, high = (float(line[name]) for name in ("energy_low_j", "energy_j", "energy_high_j"))
        assert low < value < high
        assert float(line["edp_js"]) == pytest.approx(value * float(line["energy_seconds"]))
        assert float(line["ed2p_js2"]) == pytest.approx(value * float(line["energy_seconds"]) ** 2)
        assert line["energy_basis"] == "modelled"


def test_json_has_each_trials_energy_by_component(run):
    document = json.loads(assay("report", run, "--format", "json"))
    assert list(document["energy"]) == [record["trial"]["id"] for record in document["records"]]
    one = document["energy"][document["records"][0]["trial"]["id"]]
    drive = next(own for own in one["components"] if (own["component"], own["part"]) == ("hdd", "run"))
    assert drive["energy_j"] == pytest.approx(DRIVE.model_dump())
    assert (drive["basis"], "power" in drive) == ("modelled", False)
    assert one["jobs"]["energy_basis"] == "modelled"


def test_markdown_the_page_and_comparisons_have_it_too(run, tmp_path):
    write_run(
        tmp_path / "again", RunFolder(run).plan(), [RunFolder(run).record(one) for one in RunFolder(run).trials()]
    )
    page = tmp_path / "page.html"
    assay("report", run, "--format", "html", "--out", page)
    assay("compare", run, tmp_path / "again", "--format", "html", "--out", tmp_path / "both.html")
    texts = [
        assay("report", run, "--format", "md"), page.read_text(), (tmp_path / "both.html").read_text(),
        assay("compare", run, tmp_path / "again", "--format", "md"),
    ]  # fmt: skip
    for text in texts:
        for word in ("EDP", "ED2P", "modelled"):
            assert word in text
    assert "energy_j" in assay("compare", run, tmp_path / "again", "--format", "csv").splitlines()[0]
