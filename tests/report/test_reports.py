"""Proves that the page and the table say what the records say, need nothing from outside, and hide no failure."""

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from assay import report
from assay.model.doubt import DOUBTS, Outcome
from assay.model.record import DeviceReport, Stage, Status
from assay.record.folder import Damaged
from assay.report.analysis import analyse
from assay.report.terminal import print_report
from assay.report.values import trial_values
from assay.stats.summary import rows_of
from tests.builders import a_measured_run, a_plan, a_record, a_trial, device_reports, summaries
from tests.report.made_runs import made_run, made_trials, page
from tests.report.made_trials import a_report

RECORDS = [a_record(a_trial(1), elapsed_s=12.34), a_record(a_trial(2, medium="memory"), elapsed_s=6.17)]
PLAN = a_plan(a_trial(1), a_trial(2, medium="memory"))


def table_text(records, *, verbose=False):
    console = Console(record=True, width=140, file=None, quiet=False, force_terminal=False)
    with console.capture() as captured:
        print_report("demo", summaries(records), analyse(a_measured_run(PLAN, records)), console, verbose=verbose)
    return captured.get()


def test_the_page_is_self_contained():
    html = page(PLAN, RECORDS, [])
    assert "<svg" in html
    outside = re.findall(r"""(?:src|href)\s*=\s*["']([^"'#]+)""", html)
    assert outside == []
    assert "<script src" not in html
    assert "@import" not in html


def with_stages(count):
    stages = tuple(Stage(name=f"stage {number}", tasks=10 + number) for number in range(count))
    return RECORDS[0].model_copy(update={"jobs": (RECORDS[0].jobs[0].model_copy(update={"stages": stages}),)})


def test_few_stages_have_a_column_each_and_many_are_counted():
    assert {">maps<", ">reduces<"} <= set(re.findall(">[a-z]+<", page(PLAN, RECORDS, [])))
    few = page(PLAN, [with_stages(2), RECORDS[1]], [])
    assert ">tasks, stage 1</th>" in few
    assert '<td class="number">11</td>' in few
    many = page(PLAN, [with_stages(5), RECORDS[1]], [])
    assert "tasks, stage" not in many
    assert '>stages</th><th class="number">tasks</th>' in many
    assert '<td class="number">5</td><td class="number">60</td>' in many


def test_the_page_has_the_records_numbers():
    html = page(PLAN, RECORDS, [])
    for number in ("12.3", "6.2", "0.50", "job_1_0001", "/dev/x", "2.0 KiB"):
        assert number in html


def test_the_page_says_how_late_an_emulated_drive_was():
    known = a_report(20.0) | {"late": {"requests": 9, "share": 0.012}}
    for late, said in (({"late_seconds": 3.26}, ">3.3 s, 1.2 %<"), ({}, ">1.2 %<")):
        device = DeviceReport.model_validate(known | late)
        assert said in page(
            PLAN, [RECORDS[0].model_copy(update={"devices": device_reports({"hdd": {"run": device}})})], []
        )


def test_the_page_shows_failures_damage_and_what_is_missing(tmp_path):
    failed = a_record(a_trial(1), status=Status.FAILED, error="the <DataNode> died", totals=None, jobs=(), verdicts=())
    html = page(PLAN, [failed], [Damaged(tmp_path / "0002-x", "cut short")])
    assert "the &lt;DataNode&gt; died" in html
    assert "0002-x" in html
    assert "1 of 2 planned trials are not in this report" in html


def test_the_table_has_numbers_doubts_and_failed_checks():
    records = [RECORDS[0], a_record(a_trial(2, medium="memory"), elapsed_s=6.17, outcome=Outcome.UNKNOWN)]
    text = table_text(records, verbose=True)
    for part in ("12.3", "6.2", "0.50", "unknown", "triangles equal", "not known yet"):
        assert part in text


def test_what_several_trials_say_alike_is_told_once():
    unjudged = [a_record(a_trial(number), outcome=Outcome.UNKNOWN) for number in (1, 2, 3)]
    failed = a_record(a_trial(4), status=Status.FAILED, error="the jar is broken", totals=None, jobs=(), verdicts=())
    text = table_text([*unjudged, failed])
    assert text.count(": unknown: ") == 1
    assert "0001-triangles-disk and 2 more trials: triangles" in " ".join(text.split())
    assert "trial 0004-triangles-disk failed: the jar is broken" in text


def test_wrong_outputs_are_shown_marked_and_counted_as_left_out():
    plan, records = made_run(made_trials(repetitions=6))
    bad = [one.trial.id for one in records if one.trial.placement.name == "ssd"][:2]
    records = [
        a_record(one.trial, elapsed_s=1, outcome=Outcome.FAIL) if one.trial.id in bad else one for one in records
    ]
    html, analysis = page(plan, records, []), analyse(a_measured_run(plan, records))
    assert html.count('<path class="wrong"') == 2
    assert "4 of 6, 2 wrong" in html
    assert "wrong-outputs" in html
    assert [one.trials for one in analysis.decisions[0].placements] == [6, 4]
    values = list(trial_values(summaries(records)))
    assert [one["trial"] for one in values if not one["counts"]] == bad


def test_where_all_outputs_of_a_level_are_wrong_nothing_wins():
    plan, records = made_run(made_trials(repetitions=6))
    records = [
        a_record(one.trial, elapsed_s=1, outcome=Outcome.FAIL) if one.trial.placement.name == "ssd" else one
        for one in records
    ]
    ((_, one, *_),) = analyse(a_measured_run(plan, records)).answers
    assert one.notes[0] == (
        "No trial on ssd counts: each failed, has a wrong output, or is excluded since a check of its scale model "
        "failed."
    )
    assert one.verdict == "not known yet"
    assert one.notes[0] in page(plan, records, [])


def test_the_table_shows_why_a_trial_failed():
    failed = a_record(a_trial(1), status=Status.FAILED, error="no space left", totals=None, jobs=(), verdicts=())
    assert "no space left" in table_text([failed])


def test_the_terminal_has_the_doubts_that_could_change_the_answer_the_worst_first():
    kinds = ["probe-missing", "machine-shared", *["emulator-was-late"] * 3]
    doubts = [DOUBTS[kind].doubt(f"{kind} {n}") for n, kind in enumerate(kinds)]
    text = " ".join(table_text([a_record(a_trial(1), doubts=tuple(doubts))]).split())
    late = text.index("Doubt: emulator-was-late 2 (and 2 more of this kind).")
    assert late < text.index("Doubt: machine-shared 1.")
    assert "probe-missing" not in text
    assert "1 more caveat on the page, and with --verbose." in text


def test_the_terminal_takes_one_screen_and_has_tables_and_notes_with_verbose():
    plan, records = made_run(made_trials(repetitions=3))
    console = Console(width=80, file=StringIO())
    print_report("demo", summaries(records), analyse(a_measured_run(plan, records)), console)
    short = console.file.getvalue()
    assert len(short.splitlines()) <= 20
    print_report("demo", summaries(records), analyse(a_measured_run(plan, records)), console, verbose=True)
    whole = console.file.getvalue()[len(short) :]
    for words in ("placement  runs  elapsed", "noise estimate"):
        assert words not in short
        assert words in whole


def test_every_trial_median_and_interval_lies_where_the_axis_says():
    _, records = made_run(made_trials(("triangles", "components"), repetitions=6))
    rows = rows_of(summaries(records))
    html = page(a_plan(), records, [])
    charts = [one for one in re.findall(r"<svg class=\"chart\".*?</svg>", html) if "elapsed, seconds" in one]
    assert len(charts) == 2
    lines = [(chart, line) for chart in charts for line in re.findall(r"<g data-levels.*?</g>", chart)]
    for row, (chart, line) in zip(rows, lines, strict=True):
        ticks = [
            (float(x), float(value)) for x, value in re.findall(r'<text x="([\d.]+)"[^>]*middle">([\d.]+)<', chart)
        ]
        (zero, _), (last, most) = ticks[0], ticks[-1]
        pixel_s = most / (last - zero)
        own = [
            one.totals.elapsed_s
            for one in records
            if (one.trial.workload.name, one.trial.placement.name) == (row.group.workload, row.placement)
        ]
        rings = [(float(x) - zero) * pixel_s for x in re.findall(r'<circle cx="([\d.]+)"', line)]
        assert rings == pytest.approx(own, abs=pixel_s)
        marks = [(float(x) - zero) * pixel_s for x in re.findall(r'<path d="M([\d.]+),[\d.]+[Hv]', line)]
        assert marks == pytest.approx([row.elapsed.interval.low, row.elapsed_s], abs=pixel_s)


def test_the_head_of_each_table_is_repeated_on_each_printed_page():
    folder = Path(report.__file__).parent
    for template in folder.glob("*.j2"):
        first = re.findall(r"<table[^>]*>\s*(?:\{%.*?%\})*(<thead>)?<tr[^>]*>\s*(<t[hd])", template.read_text())
        assert all(head or cell == "<td" for head, cell in first), template.name
    assert re.search(r"@media print \{[^@]*thead, tr \{ break-inside: avoid; \}", (folder / "style.css").read_text())
