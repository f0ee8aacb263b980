"""Proves how a public table is compared with forecasts that were made before, on made tables and runs."""

import csv
import json
import subprocess

import pytest
from benchmarks import aloja
from benchmarks.aloja import (
    DISKS,
    LOCAL,
    SSD,
    Forecast,
    block,
    change_of,
    forecasts,
    goal_met,
    observed,
    ordered,
    scored,
    source_rows,
)

from assay.model.result import TrialResult
from assay.record.folder import RunFolder
from tests.builders import a_folder
from tests.stats.terasort import terasort_run

SORT = Forecast(
    benchmark="sort", change=SSD, base_s=40, other_s=22, zero_s=20, half=0.1, rests_on="aloja", old_ratio=0.8,
    old_rests_on="engines",
)  # fmt: skip
KMEANS = Forecast(benchmark="kmeans", change=SSD, base_s=20, other_s=20, zero_s=20, half=0.02, rests_on="aloja")
BY_CHANGE = {(one.benchmark, one.change): one for one in (SORT, KMEANS)}


def row(benchmark, disk, seconds, maps=12, **changes):
    return {
        "Benchmark": benchmark, "Exe.Time": str(seconds), "Net": "ETH", "Disk": disk, "Maps": str(maps), "IO.SFac": "10",
        "Rep": "1", "IO.FBuf": "65536", "Comp": "0", "Blk.size": "64", "Cl.Name": "m1", "Datanodes": "3", "VM.Cores": "12",
        "VM.RAM": "128.000", "Bench.Type": "HiBench",
    } | changes  # fmt: skip


def a_table(benchmark="sort", ratio=0.5, disk="SSD", **changes):
    """Three settings, each twice, whose jobs take longer the fewer maps they have."""
    return [
        row(benchmark, name, seconds * factor, maps, **changes)
        for maps, seconds in ((4, 300), (8, 200), (12, 100))
        for name, factor in (("HDD", 1), ("HDD", 1.2), (disk, ratio), (disk, 1.2 * ratio))
    ]


def test_a_forecast_is_the_ratio_of_the_times_here_scaled_by_the_processors_there():
    assert SORT.ratio() == pytest.approx(22 / 40)
    assert SORT.ratio(speed=2) == pytest.approx((10 + 2) / (10 + 20))
    assert SORT.without_delay == 0.5
    low, high = SORT.interval()
    assert low == pytest.approx(12 / 30 * 0.905, rel=0.001)
    assert high == pytest.approx((40 + 2) / (40 + 20) * 1.105, rel=0.001)
    disks = SORT.model_copy(update={"change": DISKS})
    assert disks.ratio(disks=4) == pytest.approx((20 + 20 / 4) / 40)


def test_changes_of_which_there_is_a_forecast():
    assert [change_of(name) for name in ("SSD", "HS1", "HD4")] == [(SSD, 1), (LOCAL, 1), (DISKS, 4)]
    assert {change_of(name) for name in ("HDD", "RR1", "RL2", "HS4", "HD")} == {("", 1)}


def test_only_equal_settings_are_compared_and_enough_of_them():
    (case,) = observed([*a_table(), row("sort", "SSD", 1, maps=24), row("sort", "RR1", 1)])
    assert (case.benchmark, case.change, case.pairs, case.speed) == ("sort", SSD, 3, 1)
    assert case.ratio == pytest.approx(0.5)
    assert observed(a_table()[4:]) == [], "two settings are too few"
    assert observed(a_table("bayes")) == observed(a_table("prep_sort")) == []
    assert observed(a_table(**{"VM.RAM": "7.5"})) == [], "that is another ratio of data to memory"
    (case,) = observed(a_table(**{"VM.Cores": "24"}))
    assert case.speed == 2


def test_a_score_says_how_far_each_source_is_off_and_what_it_says_of_a_tenth():
    tables = [*a_table(), *a_table("kmeans", 0.8), *a_table(ratio=0.25, **{"Cl.Name": "m2"})]
    cases = scored(observed(tables), BY_CHANGE)
    assert [(case.benchmark, case.cluster, case.other_cluster) for case in cases] == [
        ("kmeans", "m1", None), ("sort", "m1", pytest.approx(0.25)), ("sort", "m2", pytest.approx(0.5)),
    ]  # fmt: skip
    rows = {name: cells for name, *cells in source_rows(cases)}
    # 0.55 for 0.5 and 0.25, and 1 for 0.8.
    assert rows["forecast"] == ["3", "1.25", "1.25", "2.20", "2 of 3"]
    assert rows["no difference"] == ["3", "2.00", "1.25", "4.00", "0 of 3"]
    assert rows["the job on other clusters of the file"] == ["2", "2.00", "1.65", "2.00", "2 of 2"]
    assert rows["the ratio under the old conditions"] == ["2", "2.40", "1.65", "3.20", "2 of 2"]
    assert [case.missed_gain for case in cases] == [True, False, False]
    assert ordered(cases) == (1, 1)


def test_the_forecast_is_judged_against_each_baseline_on_that_one_s_cases():
    near, far = scored(observed([*a_table(ratio=0.55), *a_table("kmeans", 0.8)]), BY_CHANGE)[::-1]
    assert (near.benchmark, far.benchmark) == ("sort", "kmeans")
    cases = [near, near, near, far.model_copy(update={"forecast": 0.79})]
    assert goal_met(cases)
    assert not goal_met([near.model_copy(update={"forecast": 0.8})]), "off by 1.45"
    of_another = cases[3].model_copy(update={"forecast": 0.9, "other_cluster": 0.8})
    assert not goal_met([*cases[:3], of_another]), "the other clusters are nearer where they say something"


def test_what_is_kept_of_a_score_is_what_the_page_shows(tmp_path):
    assert block(tmp_path / "none.json").startswith("No result yet")
    cases = scored(observed([*a_table(), *a_table("kmeans", 0.8)]), BY_CHANGE)
    (tmp_path / "score.json").write_text(json.dumps({"cases": [case.model_dump() for case in cases]}))
    text = block(tmp_path / "score.json")
    assert (
        "The intervals hold 1 of 2 ratios (50 %). Of 1 pairs of jobs that differ by a tenth, 1 are in the right" in text
    )
    assert "In 1 cases no gain was to be expected where more than 10 % was saved." in text
    assert "| kmeans | m1, ETH | SSD | 3 | 0.80 | 1.00 | 0.98 to 1.02 | no |" in text


def test_a_forecast_that_is_not_committed_does_not_count(tmp_path):
    file = tmp_path / "forecast.json"
    file.write_text("{}")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run([*git, *words], check=True)
    with pytest.raises(SystemExit, match="is not committed"):
        aloja._committed(file)
    subprocess.run([*git, "commit", "-qm", "forecast"], check=True)
    assert len(aloja._committed(file)) >= 7
    file.write_text("[]")
    with pytest.raises(SystemExit, match="is not committed"):
        aloja._committed(file)


def finished(tmp_path):
    """A run of TeraSort."""
    plan, records = terasort_run()
    folder = a_folder(tmp_path / "aloja", plan)
    for record in records:
        folder.write(TrialResult(record=record))
    return folder


def test_forecasts_of_a_run_rest_on_its_means_and_name_it(tmp_path, monkeypatch):
    folder = finished(tmp_path)
    with pytest.raises(SystemExit, match="no finished trials of sort"):
        forecasts(folder, None)
    monkeypatch.setattr(aloja, "BENCHMARKS", {"terasort": "terasort"})
    of_ssd, of_disks = forecasts(folder, folder)
    assert (of_ssd.change, of_disks.change, of_ssd.rests_on) == (SSD, DISKS, "aloja")
    assert of_ssd.zero_s < of_ssd.other_s < of_ssd.base_s
    assert of_ssd.half > 0
    assert of_ssd.old_ratio == pytest.approx(of_ssd.ratio(), rel=0.05)
    assert of_disks.old_ratio is None


def test_a_saving_without_an_interval_is_no_forecast(tmp_path, monkeypatch):
    decided = dict(aloja._decided(finished(tmp_path)))["terasort"]
    base, other = decided.placements
    for saving in (None, other.saving.model_copy(update={"low": None}), other.saving.model_copy(update={"high": 1.0})):
        unsure = decided.model_copy(update={"placements": (base, other.model_copy(update={"saving": saving}))})
        monkeypatch.setattr(aloja, "_decided", lambda _, unsure=unsure: [("terasort", unsure)])
        monkeypatch.setattr(aloja, "BENCHMARKS", {"terasort": "terasort"})
        with pytest.raises(SystemExit, match="the saving of terasort on ssd in aloja has no interval"):
            forecasts(RunFolder(tmp_path / "aloja"), None)


def test_what_a_gb_costs_is_told_of_the_table_and_of_the_run():
    (case,) = scored(observed(a_table()), BY_CHANGE)
    assert (case.before_s, case.after_s) == (220, 110)
    assert aloja.cost_rows([case]) == [["sort", "m1, ETH", "41 s", "147 s", "3 s", "10 s"]]
    assert aloja.cost_rows(scored(observed(a_table("kmeans")), BY_CHANGE)) == []  # what it reads is not known


def test_the_summary_names_the_baselines_that_were_nearer(tmp_path):
    (case,) = scored(observed(a_table(ratio=0.8)), BY_CHANGE)
    score = tmp_path / "score.json"
    score.write_text(json.dumps({"cases": [case.model_dump()]}), encoding="utf-8")
    met = "The goal for the median factor is not met, and nearer in the median than the forecast: "
    assert met + "no difference; the ratio under the old conditions. The" in block(score)
    near = case.model_copy(update={"observed": 0.55})
    score.write_text(json.dumps({"cases": [near.model_dump()]}), encoding="utf-8")
    assert "The goal for the median factor is met. The" in block(score)


def test_a_second_run_stands_beside_the_first(tmp_path, monkeypatch):
    again = tmp_path / "again.json"
    assert aloja.again_block(again=again).startswith("No result yet")
    table = tmp_path / "table.csv"
    rows = a_table()
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    monkeypatch.setattr(aloja, "_committed", lambda _: "abcdef0")
    for name, forecast in (("first", SORT), ("again", SORT.model_copy(update={"other_s": 30}))):
        made = tmp_path / f"{name}-forecast.json"
        made.write_text(json.dumps({"forecasts": [forecast.model_dump()]}))
        aloja.write_score(table, made, tmp_path / f"{name}.json")
    text = aloja.again_block(tmp_path / "first.json", again)
    (row,) = [line for line in text.splitlines() if line.startswith("| sort") and " to " in line]
    assert "| 0.55 (" in row
    assert "| 0.75 (" in row
    table.write_text(",".join(rows[0]) + "\n")
    with pytest.raises(SystemExit, match="has no change of which there is a forecast"):
        aloja.write_score(table, tmp_path / "first-forecast.json", again)
