"""Proves that the benchmark of large histories measures triage of both forms, and notices a bound that is not kept."""

import pytest
from benchmarks import large_histories
from benchmarks.large_histories import MOST_MIB, MOST_S, broken, measured, text, write_files, write_log

KEPT = {"seconds": 30.4, "mib": 200, "megabytes": 90}


def test_a_bound_that_is_not_kept_is_noticed():
    assert broken({"files": KEPT, "log": KEPT}) == []
    assert broken({"files": KEPT | {"seconds": MOST_S + 1}, "log": KEPT | {"mib": MOST_MIB + 1}}) == ["files", "log"]


def test_the_page_says_what_each_form_takes():
    assert text({"dags": 1000, "tasks": 100, "forms": {"files": KEPT, "log": KEPT | {"seconds": 25.0}}}) == (
        "Triage of 1,000 made DAGs of 100 tasks each takes 30 s and 200 MiB from a file for each DAG (90 MB), and 25 s "
        "and 200 MiB from one log of a session (90 MB): seconds of processors, and the memory of its largest process."
    )


@pytest.mark.slow
@pytest.mark.parametrize("write", [write_files, write_log])
def test_triage_reads_all_dags_that_are_written(tmp_path, monkeypatch, write):
    monkeypatch.setattr(large_histories, "DAGS", 30)
    (tmp_path / "dags").mkdir()
    write(tmp_path / "dags")
    took = measured(tmp_path, "dags")
    assert 0 < took["seconds"] < MOST_S
    assert 10 < took["mib"] < MOST_MIB
