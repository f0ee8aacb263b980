"""Proves that the page of a large run stays small, shows what matters most, and says what it leaves out."""

import json
import os
import random
import tarfile

import pytest
from docs.kept_runs import RESULTS
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.cli.report import json_lines
from assay.model.doubt import Doubt, Outcome
from assay.model.record import Amount, Record, Step, totals
from assay.record.folder import RunFolder
from assay.record.summaries import FILE
from assay.report.analysis import (
    MOST_ROWS,
    MOST_TRIALS_SHOWN,
    analyse,
    analyse_run,
    by_kind,
    read_run,
    rows_shown,
    trials_shown,
)
from assay.report.evidence import MOST_OTHERS
from assay.report.figures import figures_of
from assay.report.next_steps import next_steps
from assay.report.page import run_page
from assay.report.values import trial_values
from assay.stats.summary import rows_of
from assay.stats.trial_summary import summaries_of, summarise
from tests.builders import a_folder, a_measured_run, a_plan, a_record, a_trial, device_reports, summaries
from tests.golden.making import RUNS
from tests.report.made_runs import decided_run, made_run, made_trials, write_run


def test_all_rows_are_shown_where_there_is_room():
    _, records = made_run(made_trials(repetitions=2))
    rows = rows_of(summaries(records))
    assert rows_shown(rows) == rows


def test_of_many_rows_whole_groups_that_fail_or_differ_most_are_shown_of_every_workload():
    settings = [f"s{number}" for number in range(60)]
    trials = list(made_trials(("triangles", "components"), settings=settings, repetitions=1))
    _, records = made_run(trials, noise=0.0)
    odd = next(place for place, one in enumerate(trials) if one.settings.name == "s59" and one.placement.name == "ssd")
    records[odd] = a_record(trials[odd], elapsed_s=1.0)
    bad = next(place for place, one in enumerate(trials) if one.settings.name == "s40")
    records[bad] = a_record(trials[bad], elapsed_s=100.0, outcome=Outcome.FAIL)
    rows = rows_of(summaries(records))
    shown = rows_shown(rows, 8)
    assert len(shown) == 8
    assert {row.group.workload for row in shown} == {"triangles", "components"}
    assert {"s59", "s40"} <= {row.group.settings for row in shown}
    assert all(sum(one.group == row.group for one in shown) == 2 for row in shown)
    assert [row for row in rows if row in shown] == shown


def test_failed_and_odd_trials_are_told_before_others():
    records = [a_record(a_trial(number)) for number in range(1, 101)]
    records[70] = a_record(a_trial(71), outcome=Outcome.FAIL)
    ids = trials_shown(summaries(records), {"0090-triangles-disk"}, {"0080-triangles-disk"}, most=10)
    assert len(ids) == 10
    assert {"0071-triangles-disk", "0080-triangles-disk", "0090-triangles-disk"} <= set(ids)
    assert ids == sorted(ids)


def test_doubts_of_one_kind_are_put_together():
    doubts = [Doubt(kind=f"k{number % 2}", what=f"w{number}", why="y", cure="c") for number in range(40)]
    found = by_kind(doubts)
    assert [(one.what, len(others), more) for one, others, more in found] == [("w0", 10, 9), ("w1", 10, 9)]


@pytest.mark.slow
def test_the_page_of_many_trials_is_small_and_says_what_it_leaves_out(tmp_path):
    settings = [f"s{number}" for number in range(100)]
    plan, records = made_run(made_trials(settings=settings, repetitions=2))
    run = read_run(write_run(tmp_path / "run", plan, records))
    assert len(run.trials) == 400
    assert len(run.shown) == MOST_TRIALS_SHOWN
    assert run.shown[0].jobs[0].counters
    html = run_page(run, analyse(run.measured))
    combinations = html[html.index('<table id="combinations"') :]
    assert combinations[: combinations.index("</table>")].count("<tr data-levels") == MOST_ROWS
    others = html[html.index('<h2 id="others">') :]
    assert others[: others.index("</table>")].count("<tr data-levels") == MOST_OTHERS
    assert f"{MOST_ROWS} of 200 combinations are shown" in html
    assert f"{MOST_TRIALS_SHOWN} of 400 trials are shown" in html
    assert len(html) < 1 << 20


def test_a_trial_that_is_shown_and_whose_record_was_damaged_unseen_is_left_out(tmp_path):
    """Its summary is kept, and the record has the size and the time that it had then."""
    plan, records = made_run(made_trials(repetitions=2))
    folder = write_run(tmp_path / "run", plan, records)
    read_run(folder)
    file = folder.file(records[0].trial.id, "record.json")
    before = file.stat()
    file.write_text(file.read_text().replace('"devices":[]', '"devices":17')[: before.st_size])
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    run = read_run(RunFolder(folder.path))
    assert len(run.trials) == 3
    assert [one.folder.name for one in run.damaged] == [records[0].trial.id]
    assert "was left out" in run_page(run, analyse(run.measured))


def test_a_record_that_was_damaged_unseen_and_is_not_shown_is_left_out_of_the_document(tmp_path):
    folder = write_run(tmp_path / "run", *made_run(made_trials(repetitions=30)))
    read_run(folder)  # keeps the summaries
    shown = {record.trial.id for record in read_run(folder).shown}
    hidden = next(trial.id for trial in folder.plan().trials if trial.id not in shown)
    file = folder.file(hidden, "record.json")
    kept, text = file.stat(), file.read_text()
    file.write_text("?" + text[1:])
    os.utime(file, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    run = read_run(folder)
    document = json.loads("\n".join(json_lines(run, analyse_run(run))))
    assert hidden not in {record["trial"]["id"] for record in document["records"]}
    assert [left_out["folder"] for left_out in document["left_out"]] == [str(folder.file(hidden, "record.json").parent)]


def test_a_plan_without_trials_read_is_no_error(tmp_path):
    folder = a_folder(tmp_path / "run", a_plan())
    assert "1 of 1 planned trials are not in this report" in run_page(
        read_run(folder), analyse(a_measured_run(folder.plan(), []))
    )


def kept_runs():
    """Archives of runs that took place, on clusters of Assay's own and on an existing one."""
    return sorted([*RESULTS.glob("*.tar.xz"), *RUNS.values()])


def all_said(folder):
    """All that is said of a run: decisions, next steps, sections in all forms, the page and the rows of a CSV."""
    run = read_run(RunFolder(folder), details=False)
    analysis = analyse_run(run)
    sections = [(name, view.json(), view.text(), view.html()) for name, view in analysis.sections.items()]
    figures = figures_of(run.trials)
    return [
        next_steps(run, analysis.decisions), analysis.answers, analysis.doubts, sections, run_page(run, analysis),
        list(trial_values(run.trials)), figures,
    ]  # fmt: skip


def other_order(folder, chance):
    """Write the lines of a run's summaries in another order."""
    file = folder / FILE
    lines = file.read_text().splitlines(keepends=True)
    chance.shuffle(lines)
    file.write_text("".join(lines))


@pytest.mark.slow
@pytest.mark.parametrize("archive", kept_runs(), ids=lambda archive: archive.name.removesuffix(".tar.xz"))
def test_a_kept_run_is_judged_the_same_in_any_order_and_with_and_without_its_summaries(archive, tmp_path):
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    chance = random.Random(1)
    for folder in sorted(file.parent for file in tmp_path.rglob("plan.json")):
        made = all_said(folder)
        written = (folder / FILE).read_bytes()
        assert all_said(folder) == made
        assert (folder / FILE).read_bytes() == written, "nothing was made again"
        other_order(folder, chance)
        assert all_said(folder) == made
        whole = [summarise(record) for record in RunFolder(folder).each() if isinstance(record, Record)]
        kept, _ = summaries_of(RunFolder(folder))
        assert kept == whole, "a kept summary is what its record says"
        assert repr(kept) == repr(whole), "whole numbers stay whole"
        (folder / FILE).unlink()
        assert all_said(folder) == made


SECONDS = st.floats(0, 60, allow_nan=False).map(lambda value: round(value, 3))
SERIES = {
    ("blocked-time", "cluster"): ("computing_s", "running_s", "blocked_s", "waiting_s", "idle_s", "io_some_s", "io_full_s"),
    ("blocked-time", "map"): ("blocked_s",),
    ("cpu", "machine"): ("user_s", "idle_s"),
    ("disk", "hdd"): ("busy_s",),
    ("disk", "ssd"): ("busy_s",),
    ("processes", "hdd"): ("busy_s",),
    ("processes", "emulator"): ("user_s", "system_s"),
    ("own-cost", "probes"): ("busy_s",),
}  # fmt: skip


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_run_in_memory_is_judged_as_the_same_run_from_its_file(tmp_path_factory, data):
    plan, records = decided_run(repetitions=2)
    if data.draw(st.booleans()):  # without a baseline
        records = [record for record in records if not record.trial.zero_delay]
        plan = plan.model_copy(update={"trials": tuple(record.trial for record in records)})
    measured = []
    for record in records:
        amounts = [
            Amount(probe=probe, subject=subject, series=name, part="run", value=data.draw(SECONDS))
            for (probe, subject), series in SERIES.items() if data.draw(st.booleans()) for name in series
        ]  # fmt: skip
        busy = {"reads": {"bytes": 5, "requests": 2}, "writes": {"bytes": 7}, "busy_seconds": data.draw(SECONDS)}
        devices = device_reports({"hdd": {"run": busy, "staging": busy}}) if data.draw(st.booleans()) else ()
        steps = (Step(name="run", started_ms=0, seconds=record.totals.elapsed_s),)
        parts = {"amounts": tuple(amounts), "devices": devices, "steps": steps, "totals": totals(record.jobs, ())}
        measured.append(record.model_copy(update=parts))
    folder = write_run(tmp_path_factory.mktemp("run") / "run", plan, measured)
    in_memory = a_measured_run(plan, measured)
    for _ in ("made", "kept"):
        kept, damaged = summaries_of(folder)
        assert not damaged
        assert repr(kept) == repr(in_memory.trials)
        other_order(folder.path, data.draw(st.randoms()))
        kept = in_memory._replace(trials=summaries_of(folder)[0])
        assert analyse(kept)._replace(sections={}) == analyse(in_memory)._replace(sections={})
