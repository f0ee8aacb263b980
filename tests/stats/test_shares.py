"""Proves that the table of several jobs with several levels has each decision at its place, and says what is missing."""

import re
from io import StringIO
from xml.etree import ElementTree

import pytest
from rich.console import Console

from assay.model.doubt import Outcome
from assay.model.record import Status
from assay.model.trial import ZERO_DELAY
from assay.report.analysis import analyse
from assay.report.charts.shares import shares_chart
from assay.report.shares import chart_notes, columns_of, notes_of, summary_sentences
from assay.report.terminal import print_report
from assay.stats.decision import Verdict
from assay.stats.shares import Missing
from tests.builders import a_measured_run, a_plan, a_record, a_trial, summaries
from tests.report.made_decisions import conditions
from tests.report.made_runs import page

PLACES = ("hdd", "ssd")
JOBS, ENGINES = ("grep", "sort", "walk"), ("mapreduce", "tez")
STORAGE_S = {"grep": 30.0, "sort": 15.0, "walk": 2.0, "walk2": 2.2}


def made(jobs=JOBS, engines=ENGINES, places=PLACES, baseline=True, variants=None):
    """On hdd a job takes 40 s and its storage, half of that with the second engine; ssd leaves a fifth of it."""
    records = []
    for repetition in range(1, 6):
        for job in jobs:
            for engine in engines:
                for name in (*places, *([ZERO_DELAY] if baseline else [])):
                    trial = a_trial(len(records) + 1, name, repetition, job)
                    workload = trial.workload.model_copy(update={"variant": (variants or {}).get(engine, "plain")})
                    trial = trial.model_copy(
                        update={"engine": engine, "workload": workload, "zero_delay": name == ZERO_DELAY}
                    )
                    left = {"hdd": 1.0, "ssd": 0.2}.get(name, 0.0)
                    storage_s = STORAGE_S[job] * left / (1 if engine == ENGINES[0] else 2)
                    noise = (0.99, 1.0, 1.01)[(repetition + len(records)) % 3]
                    records.append(a_record(trial, elapsed_s=(40.0 + storage_s) * noise))
    plan = a_plan(*(record.trial for record in records))
    return plan.model_copy(update={"placements": places, "worth": 0.1}), records


def mended(records, change, job, engine, places=(*PLACES, ZERO_DELAY)):
    """The records with some of them changed, or without these where a change gives None."""
    for record in records:
        trial = record.trial
        is_asked = (trial.workload.name, trial.engine) == (job, engine) and trial.placement.name in places
        mended_record = change(record) if is_asked else record
        if mended_record is not None:
            yield mended_record


def failed(record):
    return record.model_copy(update={"status": Status.FAILED, "error": "it was killed", "totals": None, "jobs": ()})


def line_of(table, job, engine):
    (lines,) = (lines for work, lines in table.rows.items() if dict(work)["workload"] == job)
    return next(line for level, line in lines.items() if dict(level)["engine"] == engine)


def cells_of(table, job, engine):
    columns, groups = columns_of(table, grouped=True)
    place = list(zip(groups, columns[1].cells, strict=True)).index((job, engine))
    return [column.cells[place] for column in columns[2:]]


def printed(plan, records, width=80, **how):
    console = Console(width=width, record=True, file=StringIO())
    print_report("demo", summaries(records), analyse(a_measured_run(plan, records)), console, **how)
    return console.export_text()


def test_each_decision_has_its_line_and_the_cells_are_its_figures():
    analysis = analyse(a_measured_run(*made()))
    table = analysis.shares
    assert (table.base, table.others, table.factors) == ("hdd", ("ssd",), ("engine",))
    assert [dict(work)["workload"] for work in table.rows] == list(JOBS)
    assert [dict(level) for level in table.levels] == [{"engine": "mapreduce"}, {"engine": "tez"}]
    lines = [line.decision for lines in table.rows.values() for line in lines.values()]
    assert {id(decision) for decision in lines} == {id(decision) for decision in analysis.decisions}
    decision = line_of(table, "sort", "tez").decision
    assert (decision.levels["workload"], decision.levels["engine"]) == ("sort", "tez")
    hdd, ssd = decision.placements
    time, share, saving, verdict = cells_of(table, "sort", "tez")
    assert time == f"{hdd.elapsed_s.value:.0f} s"
    for cell, known in ((share, hdd.storage_share), (saving, ssd.saving)):
        figures = (round(100 * figure) for figure in (known.value, known.low, known.high))
        assert cell == "{} % ({} to {} %)".format(*figures)
    assert verdict == ssd.verdict
    assert cells_of(table, "grep", "mapreduce")[-1] == Verdict.WORTH_IT


def test_each_level_is_summed_up_over_the_jobs_that_have_it():
    table = analyse(a_measured_run(*made())).shares
    for engine, sentence in zip(ENGINES, summary_sentences(table), strict=True):
        results = [line_of(table, job, engine).decision.placements for job in JOBS]
        shares = [round(100 * hdd.storage_share.value) for hdd, _ in results]
        savings = [round(100 * ssd.saving.value) for _, ssd in results]
        worth = sum(ssd.verdict is Verdict.WORTH_IT for _, ssd in results)
        assert sentence == (
            f"{engine}: storage takes {min(shares)} to {max(shares)} %; ssd saves {min(savings)} to {max(savings)} %: "
            f"worth it in {worth} of 3."
        )


def without_use(table, *jobs, changes=None):
    """The table with decisions whose base's drives served hardly any read of these jobs."""
    unused = {"conditions": conditions(read=0.1), **(changes or {})}
    rows = {
        work: {
            level: line._replace(decision=line.decision.model_copy(update=unused))
            if dict(work)["workload"] in jobs else line
            for level, line in lines.items()
        }
        for work, lines in table.rows.items()
    }  # fmt: skip
    return table._replace(rows=rows)


def test_shares_of_jobs_that_hardly_used_storage_are_noise_and_in_no_range():
    table = analyse(a_measured_run(*made(jobs=("sort", "walk", "walk2")))).shares
    assert next(summary_sentences(table)).startswith("mapreduce: storage takes 5 to ")
    table = without_use(table, "walk", "walk2")
    sort = line_of(table, "sort", "mapreduce").decision.placements
    storage, saving = (round(100 * share.value) for share in (sort[0].storage_share, sort[1].saving))
    assert next(summary_sentences(table)) == (
        f"mapreduce: storage takes {storage} %; ssd saves {saving} %: worth it in 1 of 3. In 2 storage was hardly used: "
        "their shares are left out."
    )
    assert columns_of(table, grouped=True)[0][3].cells[0] == f"{storage} %"
    notes = " ".join(notes_of(table))
    assert "the least and the greatest value, without the jobs marked *." in notes
    assert "* Storage was hardly used" in notes
    marked = re.findall(r">(-?\d+ %(?: \*)?)</text>", shares_chart(table))
    assert sum(text.endswith(" *") for text in marked) == 8, "of two jobs with two engines a share and a saving each"
    assert next(summary_sentences(without_use(table, "sort", changes={"placements": sort[:1]}))).startswith(
        "mapreduce: "
    )


def test_where_all_jobs_hardly_used_storage_no_share_is_told():
    table = without_use(analyse(a_measured_run(*made(jobs=("walk", "walk2")))).shares, "walk", "walk2")
    assert list(summary_sentences(table)) == [
        f"{engine}: storage was hardly used in 2 of 2 jobs." for engine in ENGINES
    ]


def test_jobs_whose_time_is_unknown_are_among_those_of_which_some_hardly_used_storage():
    plan, records = made(jobs=("sort", "walk", "walk2"))
    for engine in ENGINES:
        records = list(mended(records, failed, "sort", engine))
    table = without_use(analyse(a_measured_run(plan, records)).shares, "walk", "walk2")
    assert list(summary_sentences(table)) == [
        f"{engine}: storage was hardly used in 2 of 3 jobs." for engine in ENGINES
    ]


def test_a_job_that_hardly_used_storage_is_marked_where_there_is_no_verdict_too():
    table = without_use(
        analyse(a_measured_run(*made(places=("hdd",)))).shares, *JOBS, changes={"verdict": Verdict.NOT_WORTH_IT}
    )
    assert cells_of(table, "sort", "tez")[-1].endswith(") *")
    assert any(note.startswith("* Storage was hardly used") for note in notes_of(table))


@pytest.mark.slow
def test_a_storage_share_below_zero_is_said_to_be_noise():
    plan, records = made()
    slower = [
        record.model_copy(update={"totals": record.totals.model_copy(update={"elapsed_s": 50.0})})
        if record.trial.zero_delay and record.trial.workload.name == "walk" else record
        for record in records
    ]  # fmt: skip
    table = analyse(a_measured_run(plan, slower)).shares
    assert re.match(r"mapreduce: storage takes -\d+ to \d+ % \(below 0 is noise\); ", next(summary_sentences(table)))
    for notes in (notes_of, chart_notes):
        assert "A storage share below 0 is noise: no drive is faster than zero delay." in list(notes(table))
        assert "noise" not in " ".join(notes(analyse(a_measured_run(plan, records)).shares))


@pytest.mark.slow
def test_a_variant_that_follows_from_the_engine_is_no_factor_of_its_own_and_is_told_below():
    both = {"mapreduce": "tuned", "tez": "plain"}
    table = analyse(a_measured_run(*made(variants=both))).shares
    assert table.factors == ("engine",)
    told = "Variants: grep, sort, walk tuned (mapreduce), plain (tez)."
    assert (told in list(notes_of(table)), told in list(chart_notes(table))) == (True, True)
    assert "Variants" not in " ".join(notes_of(analyse(a_measured_run(*made())).shares))


@pytest.mark.slow
def test_jobs_with_the_same_variants_are_told_together_and_those_with_one_are_not():
    plan, records = made(engines=(*ENGINES, "third"), variants={"third": "rdd"})
    plain = plan.model_copy(
        update={
            "trials": tuple(
                trial.model_copy(update={"workload": trial.workload.model_copy(update={"variant": "plain"})})
                if trial.workload.name == "sort" else trial
                for trial in plan.trials
            )
        }
    )  # fmt: skip
    notes = list(notes_of(analyse(a_measured_run(plain, records)).shares))
    assert "Variants: grep, walk plain (mapreduce, tez), rdd (third)." in notes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "why"),
    [(failed, Missing.FAILED), (lambda _: None, Missing.NOT_RUN),
     (lambda record: a_record(record.trial, outcome=Outcome.FAIL), Missing.WRONG)],
)  # fmt: skip
@pytest.mark.parametrize("places", [("hdd",), (*PLACES, ZERO_DELAY)])
def test_a_line_without_a_time_on_the_base_says_why_and_nothing_else(change, why, places):
    plan, records = made()
    table = analyse(a_measured_run(plan, list(mended(records, change, "sort", "tez", places)))).shares
    line = line_of(table, "sort", "tez")
    assert (line.decision, line.missing["hdd"]) == (None, why)
    assert cells_of(table, "sort", "tez") == ["-", "-", "-", f"hdd {why}"]
    assert f"tez: hdd {why}<" in shares_chart(table)
    assert next(iter(summary_sentences(table))).endswith(" of 3.")
    assert list(summary_sentences(table))[1].endswith(" of 2.")


@pytest.mark.slow
def test_a_line_without_another_placement_or_the_baseline_keeps_what_is_known():
    plan, records = made()
    table = analyse(a_measured_run(plan, list(mended(records, failed, "sort", "tez", ("ssd",))))).shares
    assert cells_of(table, "sort", "tez")[2:] == ["-", "ssd failed"]
    assert re.fullmatch(r"1\d % \(.*\)", cells_of(table, "sort", "tez")[1])
    table = analyse(a_measured_run(plan, list(mended(records, failed, "sort", "tez", (ZERO_DELAY,))))).shares
    assert cells_of(table, "sort", "tez")[1] == "no baseline"
    assert cells_of(table, "sort", "tez")[2] != "-"


def test_without_any_baseline_there_are_savings_alone():
    table = analyse(a_measured_run(*made(baseline=False))).shares
    assert [column.head for column in columns_of(table, grouped=False)[0]] == [
        "job", "engine", "on hdd", "ssd saves", "verdict",
    ]  # fmt: skip
    assert "storage share" not in re.sub(r"aria-label=\"[^\"]*\"", "", shares_chart(table))


@pytest.mark.parametrize("less", [{"jobs": ("sort",)}, {"engines": ("tez",)}, {"places": ("hdd",), "baseline": False}])
def test_one_job_or_one_level_or_nothing_to_compare_makes_no_table(less):
    assert analyse(a_measured_run(*made(**less))).shares is None


def test_the_terminal_has_the_table_in_place_of_many_answers_and_both_when_asked_for_all():
    plan, records = made(jobs=JOBS, engines=(*ENGINES, "third"))
    text = printed(plan, records)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("worth it (threshold") == 0
    assert len(re.findall(r"^  (?:mapreduce|tez|third) +\d+ s  .*worth it", text, re.MULTILINE)) >= 3
    whole = printed(plan, records, verbose=True)
    assert whole.count("(threshold 10 %; 95 % interval") > 3
    assert "storage share" in whole
    assert "(threshold" in printed(*made(jobs=JOBS[:2]))


def test_a_panels_title_takes_more_lines_where_it_is_wider_than_the_panel():
    table = analyse(a_measured_run(*made(places=("hdd", "ssd", "the-scanned-table-on-ssd")))).shares
    assert ">ssd saves</text>" in shares_chart(table)
    assert "the-scanned-table-on-ssd saves</text>" not in shares_chart(table)


def test_the_chart_has_a_mark_for_each_share_at_its_place():
    table = analyse(a_measured_run(*made())).shares
    svg = ElementTree.fromstring(shares_chart(table).replace('xmlns="http://www.w3.org/2000/svg"', ""))
    places = {}
    for group in svg.iter("g"):
        if (title := group.find("title")) is not None:
            job, engine = re.match(r"(\w+), (\w+):", title.text).groups()
            moved = [float(re.match(r"translate\(([\d.]+),", one.get("transform"))[1]) for one in group.iter("g")
                     if one.get("transform")]  # fmt: skip
            places[job, engine] = moved
    known = {
        (job, engine): [line_of(table, job, engine).decision.placements[0].storage_share.value,
                        line_of(table, job, engine).decision.placements[1].saving.value]
        for job in JOBS for engine in ENGINES
    }  # fmt: skip
    assert places.keys() == known.keys()
    for panel in (0, 1):  # one linear scale, the same in both panels
        values = sorted((known[key][panel], places[key][panel]) for key in known)
        slopes = [
            (after[1] - values[0][1]) / (after[0] - values[0][0])
            for after in values[1:]
            if after[0] - values[0][0] > 0.05
        ]
        assert max(slopes) == pytest.approx(min(slopes), rel=0.02)


def test_the_page_begins_with_the_chart_and_lists_each_decision_below():
    html = page(*made())
    assert html.index("what storage costs and what ssd saves") < html.index('<h2 id="decisions">')
    assert html.index('<h2 id="decisions">') < html.index('<table class="verdicts')
