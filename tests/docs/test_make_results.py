"""Proves that the results in the pages are what the kept records say, and that each kept run is quoted."""

import re
import tarfile

import pyarrow
import pytest
from benchmarks.prediction import error_95, ranges_seen
from benchmarks.triage_truth import cases_of
from docs.kept_runs import RESULTS, ROOT, decision_lines, doubts_line, keep, unpacked
from docs.make_picture import PICTURE, PICTURE_OF_ADVICE, shown_words
from docs.make_predictions import kept_cases, known_cases
from docs.make_results import (
    RESULT_TEXTS,
    advise_headline,
    against_k1,
    by_memory,
    charts,
    disturbances,
    filled,
    main,
    model_error,
    named,
    pages,
)
from pyarrow import parquet

from assay.cli.context import find_installation
from assay.media.emulated.emulator import Emulator
from assay.predict import predictor

pytestmark = pytest.mark.slow
QUOTING = [page for page in pages() if named(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", QUOTING, ids=[str(page.relative_to(ROOT)) for page in QUOTING])
def test_a_page_quotes_what_the_records_say(page):
    text = page.read_text(encoding="utf-8")
    assert filled(text) == text, "run docs/make_results.py"


def test_charts_show_what_the_records_say():
    for file, text in charts().items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name}: run docs/make_results.py"


def test_the_picture_shows_the_answer_that_is_printed():
    assert shown_words(PICTURE.read_bytes()) == "\n".join(decision_lines("quickstart")), "run docs/make_picture.py"
    assert shown_words(PICTURE_OF_ADVICE.read_bytes()) == "\n".join(advise_headline()), "run docs/make_picture.py"


def test_every_result_is_quoted():
    assert {name for page in QUOTING for name in named(page.read_text(encoding="utf-8"))} == set(RESULT_TEXTS)


def test_a_page_with_another_number_is_noticed():
    name = next(iter(RESULT_TEXTS))
    page = f"<!-- result {name}: begin -->\n99 %\n<!-- result {name}: end -->"
    assert filled(page) != page


def test_packing_a_kept_run_again_changes_nothing(tmp_path, monkeypatch):
    archive = RESULTS / "quickstart.tar.xz"
    name = archive.name.removesuffix(".tar.xz")
    with unpacked(name) as run:
        files = sorted(str(file.relative_to(run)) for file in run.rglob("*") if file.is_file())
        assert "plan.json" in files
        monkeypatch.setattr("docs.kept_runs.RESULTS", tmp_path)  # other tests read the archive meanwhile
        packed = keep(run, name)
    assert packed.read_bytes() == archive.read_bytes()


def test_a_kept_run_has_its_tasks_and_no_hidden_path(tmp_path, monkeypatch):
    """So that the bounds of triage can be worked out again from it."""
    monkeypatch.setattr("docs.kept_runs.RESULTS", tmp_path)
    trial = tmp_path / "run" / "trials" / "0001-sort-hdd"
    trial.mkdir(parents=True)
    (tmp_path / "run" / "plan.json").write_text('{"folder": "/home/me/runs"}')
    (trial / "samples.parquet").write_bytes(b"not kept")
    tasks = pyarrow.table({"attempt": ["a_1", "a_2"], "reason": ["", "/home/me/runs/x is full"], "cpu_ms": [1, 2]})
    parquet.write_table(tasks, trial / "tasks.parquet")
    keep(tmp_path / "run", "tasks", ["/home/me"])
    with unpacked("tasks") as run:
        assert sorted(file.name for file in run.rglob("*") if file.is_file()) == ["plan.json", "tasks.parquet"]
        assert (run / "plan.json").read_text() == '{"folder": "/data/assay/runs"}'
        packed = parquet.read_table(next(run.rglob("tasks.parquet"))).to_pydict()
    assert packed == tasks.to_pydict() | {"reason": ["", "/data/assay/runs/x is full"]}
    keep(tmp_path / "run", "whole")
    with unpacked("whole") as run:
        assert next(run.rglob("tasks.parquet")).read_bytes() == (trial / "tasks.parquet").read_bytes()


def test_the_requests_to_drives_with_delays_are_kept_where_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("docs.kept_runs.RESULTS", tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "plan.json").write_text("{}")
    for trial in ("0001-sort-hdd", "0002-sort-zero-delay"):
        folder = tmp_path / "run" / "trials" / trial
        folder.mkdir(parents=True)
        parquet.write_table(pyarrow.table({"bytes": [1]}), folder / "requests.parquet")
    for requests, names in ((False, []), (True, ["0001-sort-hdd"])):
        keep(tmp_path / "run", "kept", requests=requests)
        with unpacked("kept") as run:
            assert [file.parent.name for file in run.rglob("requests.parquet")] == names


def test_a_folder_without_a_plan_is_not_packed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("docs.kept_runs.RESULTS", tmp_path)
    (tmp_path / "kept.tar.xz").write_bytes(b"an earlier run")
    monkeypatch.setattr("sys.argv", ["make_results.py", "keep", str(tmp_path / "run"), "kept"])
    (tmp_path / "run").mkdir()
    with pytest.raises(SystemExit):
        main()
    assert f"{tmp_path / 'run'} is not a run folder: it has no plan.json; name a folder that" in capsys.readouterr().err
    assert (tmp_path / "kept.tar.xz").read_bytes() == b"an earlier run"


@pytest.mark.skipif(Emulator(find_installation()).missing() is not None, reason="the emulator is not built")
def test_the_parameters_of_predictions_follow_from_the_kept_runs():
    """`docs/make_predictions.py` prints them."""
    cases, _ = kept_cases()
    assert error_95(known_cases(), cases) == predictor.ERROR_95
    if cases:
        depth, request_bytes = (seen[1:] for seen in (predictor.DEPTH, predictor.REQUEST_BYTES))
        assert ranges_seen(cases) == [depth, request_bytes]


def test_the_bounds_of_triage_can_be_worked_out_again_from_a_kept_run(tmp_path, monkeypatch):
    recorded = ROOT / "tests" / "golden" / "runs" / "comparison.tar.xz"
    with tarfile.open(recorded) as packed:
        packed.extractall(tmp_path, filter="data")
    monkeypatch.setattr("docs.kept_runs.RESULTS", tmp_path)
    keep(next(tmp_path.rglob("plan.json")).parent, "kept", ["/nowhere"])
    with unpacked("kept") as run:
        cases = list(cases_of(run, ROOT / "emulator" / "profiles"))
    assert {(case.drive, case.other) for case in cases} == {
        ("hdd", "ssd"),
        ("hdd", "zero-delay"),
        ("ssd", "zero-delay"),
    }
    assert all(0 < case.bound < 1 for case in cases)


def test_with_more_memory_the_first_runs_job_did_not_write_to_the_hard_disk_while_it_ran():
    """As the statistics page says."""
    rows = [row.strip("| ").split(" | ") for row in by_memory().splitlines() if row.startswith("| ")]
    least, *_, most = [row for row in rows if row[:2] == ["1,000,000", "host"]]
    assert int(most[2].split()[0]) < 3 * int(least[2].split()[0])
    assert (least[-2:], most[-2:]) == (["100 %", "worth it"], ["0 %", "not known yet"])


def test_the_checks_of_a_scale_model_detect_what_its_page_says():
    rows = [row.strip("| ").split(" | ") for row in disturbances().splitlines() if " of 3 |" in row]
    detected = {
        "control": "0 of 3",
        "load": "0 of 3",
        "links": "2 of 3",
        "drives late": "0 of 3",
        "drives slow": "0 of 3",
    }
    assert {row[0]: row[-1] for row in rows} == detected


def test_equivalence_with_the_cluster_is_not_shown_and_at_k_4_the_model_differs():
    """As the page on scale models says."""
    assert "| not shown |" in against_k1()
    assert "| shown |" not in against_k1()
    first, second = re.findall(r"\((-?\d+) to (\d+) %\)", model_error())
    assert int(first[0]) < 0 < int(second[0])


def test_doubts_are_counted_and_told_by_level_where_they_are_unevenly_spread():
    line = doubts_line("engines-terasort")
    assert "`machine-shared` in 27 of 27;" in line
    assert "`page-cache-dropped` in 9 of 9 (hdd alone)" in line
    assert "`page-cache-off-budget` in 17 of 27 (hdd 3 of 9, ssd 7 of 9, zero-delay 7 of 9)" in line
