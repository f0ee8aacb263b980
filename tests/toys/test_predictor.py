"""Proves that a plugged-in predictor's trials stand beside measured ones in every form, marked, and change none of them."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

import assay
from assay.cli import cli
from assay.model.record import totals
from assay.record.folder import RunFolder
from assay.report.analysis import analyse, read_run
from assay.report.words import seconds_text
from tests.report.made_runs import decided_run, write_run
from tests.toys import plugged_in

BASIS = "half of the first time, for no reason"


@pytest.fixture
def folder(tmp_path):
    plan, records = decided_run()
    whole = [record.model_copy(update={"totals": totals(record.jobs, ())}) for record in records]
    write_run(tmp_path / "run", plan, whole)
    with plugged_in("predictor"):
        yield tmp_path / "run"


def report(folder, *words):
    done = CliRunner().invoke(
        cli, ["report", str(folder), *words], standalone_mode=False, catch_exceptions=False, env={"COLUMNS": "100"}
    )
    assert done.return_value == 0
    return done.output


def rows(folder, kind):
    return list(csv.DictReader(io.StringIO(report(folder, "--format", "csv", "--rows", kind))))


def first_time(folder):
    return assay.load(folder).summaries[0].elapsed_s


def test_the_terminal_marks_it_and_gives_its_interval(folder):
    text, seconds = " ".join(report(folder, "--verbose").split()), first_time(folder)
    low, half, high = (seconds_text(seconds * share) for share in (0.4, 0.5, 0.625))
    assert f"predicted by coin: terasort, nvme: {half} s ({low} to {high})" in text
    assert "predicted by coin" in text.partition("Seconds. elapsed")[0]  # the table
    line = text.partition("On nvme, predicted")[2]
    assert line.split(" s ")[0].strip() == str(round(seconds / 2))
    assert f"by coin, {low} to {high} s: " in line
    assert "less time (95 % interval " in line
    assert BASIS in line
    assert "count in no verdict" in text


def test_the_page_has_it_in_table_charts_and_answer(folder):
    report(folder, "--format", "html")
    html = (folder / "report.html").read_text()
    assert '<tr class="predicted"><td>On nvme, predicted</td>' in html
    assert "<td>predicted by coin</td>" in html
    assert f"{BASIS}.</li>" in html
    assert "by coin, not measured" in html  # beside the bar that shows where the time went
    assert "nvme, predicted by coin" in html  # beside its line in the chart of times
    assert 'stroke-dasharray="4 3"' in html


def test_the_csv_tells_it_from_measured_rows(folder):
    combinations = {row["placement"]: row for row in rows(folder, "combinations")}
    assert {name: row["source"] for name, row in combinations.items()} == {
        "hdd": "measured", "ssd": "measured", "nvme": "predicted", "zero-delay": "measured",
    }  # fmt: skip
    nvme, half_s = combinations["nvme"], first_time(folder) / 2
    assert (nvme["trials"], nvme["finished"], nvme["predictor"], nvme["base"]) == ("0", "0", "coin", "hdd")
    assert [float(nvme[f"elapsed{end}_s"]) / half_s for end in ("", "_low", "_high")] == pytest.approx([1, 0.8, 1.25])
    assert float(nvme["ratio_low"]) < float(nvme["ratio"]) < float(nvme["ratio_high"])
    assert nvme["significant"] == nvme["p_adjusted"] == nvme["outcome"] == ""
    *measured, last = rows(folder, "trials")
    assert {row["source"] for row in measured} == {"measured"}
    assert (last["source"], last["counts"], last["like"]) == ("predicted", "false", measured[0]["trial"])
    of_nvme = rows(folder, "placements")[-1]
    assert (of_nvme["level"], of_nvme["predictor"], of_nvme["trials"], of_nvme["verdict"]) == ("nvme", "coin", "0", "")
    assert float(of_nvme["saving_low"]) < float(of_nvme["saving"]) < float(of_nvme["saving_high"])


def test_notebooks_and_json_have_it(folder):
    run = assay.load(folder)
    *measured, last = run.trials.to_pylist()
    assert [row["source"] for row in measured] == ["measured"] * 9
    assert (last["source"], last["predictor"], last["placement"]) == ("predicted", "coin", "nvme")
    assert (last["elapsed_s"], last["repetition"]) == (first_time(folder) / 2, None)
    (made,) = json.loads(report(folder, "--format", "json"))["predictions"]
    assert (made["predictor"], made["levels"], made["low_s"]) == ("coin", {"placement": "nvme"}, last["elapsed_low_s"])


def test_nothing_measured_changes(folder):
    run = read_run(RunFolder(folder))
    alone, beside = analyse(run.measured), analyse(run.measured, predicted=run.predicted)
    assert [row for row in beside.rows if not row.predictor] == list(alone.rows)
    assert len(beside.rows) == len(alone.rows) + 1
    for part in ("decisions", "others", "doubts"):
        assert getattr(beside, part) == getattr(alone, part)
    (answer,), (same,) = beside.answers, alone.answers
    assert answer._replace(words=answer.words._replace(lines=answer.words.lines[:-1]), predicted=same.predicted) == same
