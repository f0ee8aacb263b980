"""Proves what a page begins with: a card per decision where they are few, else a table of verdicts that leads to each."""

import re
from xml.etree import ElementTree

import pytest

from assay.model.doubt import DOUBTS, Outcome
from assay.report.analysis import Answered, Filter, RunAnalysis
from assay.report.answer import answer_of
from assay.report.bias import bias_text
from assay.report.charts.split import FULL, split_charts
from assay.report.first_screen import MOST_CARDS, MOST_FIRST, MOST_ROWS, details_of, first_screen, overview
from assay.stats.decision import Verdict
from assay.stats.estimate import Split
from tests.builders import a_plan, a_record, a_trial, summaries
from tests.report.made_decisions import (
    HDD,
    LEVELS,
    SSD,
    bounded,
    conditions,
    decision,
    estimate,
    not_worth_it,
    placed,
    undecided,
)
from tests.report.made_runs import decided_run, made_run, made_trials, page


def screen_of(decisions, filters=(), doubts=()):
    answers = [Answered(one, answer_of(one, decisions)) for one in decisions]
    return first_screen(RunAnalysis((), answers, (), doubts, {}), filters)


def of_workloads(names, make=decision, settings=("small",)):
    return [
        make().model_copy(update={"levels": {**LEVELS, "workload": name, "dataset": "tiny", "settings": level}})
        for name in names
        for level in settings
    ]


def chart(one, labels=None):
    (svg,) = split_charts([one], [labels or [line.label for line in answer_of(one).lines]])
    return ElementTree.fromstring(svg.replace('xmlns="http://www.w3.org/2000/svg"', ""))


def lengths(svg, end_s):
    """Seconds of each filled rectangle, in the order in which they are drawn."""
    return [
        round(float(one.get("width").rstrip("%")) / FULL * end_s, 1)
        for one in svg.iter("rect")
        if one.get("fill") != "none"
    ]


SPLIT = Split(computing_s=20.0, storage_s=HDD.storage_s, start_up_s=5.0, between_jobs_s=3.3)


def test_a_bars_parts_are_the_splits_seconds_on_the_axis():
    svg = chart(decision(HDD.model_copy(update={"split": SPLIT}), SSD))
    shown = lengths(svg, 50)[:3]
    assert shown == pytest.approx([45 / 41.7 * seconds for seconds in (20.0, 16.7, 5.0)], abs=0.06)
    assert sum(shown) == pytest.approx(HDD.elapsed_s.value, abs=0.2), "a bar ends at the time that the answer gives"
    words = " ".join(svg.itertext())
    for part in ("computing", "storage", "start-up"):
        assert part in words


def test_a_zero_delay_bar_that_is_slower_is_no_limit_and_no_time_is_called_computing():
    svg = chart(decision(HDD.model_copy(update={"split": SPLIT}), SSD, baseline=placed("zero-delay", seconds=69.0)))
    words = [one.text for one in svg.iter("text") if one.text]
    assert "With zero storage delay (slower than the drives: noise, not a limit)" in words
    assert "computing and storage" in " ".join(svg.itertext())
    assert not [one for one in svg.iter("line") if one.get("stroke-dasharray")]


def test_the_zero_delay_bar_is_set_apart_and_called_no_drive_to_buy():
    svg = chart(decision())
    labels = [one.text for one in svg.iter("text") if one.text]
    assert "With zero storage delay (the limit, not a drive to buy)" in labels
    dashed = [one for one in svg.iter("rect") if one.get("stroke-dasharray")]
    tops = [float(one.get("y")) for one in svg.iter("rect") if one.get("fill") != "none"]
    rows = sorted(set(tops))
    assert float(dashed[0].get("y")) == rows[-1]
    assert rows[2] - rows[1] > rows[1] - rows[0]


def test_the_whisker_lies_at_the_bars_end():
    svg = chart(decision(HDD.model_copy(update={"split": SPLIT}), baseline=None))
    group = next(svg.iter("g"))
    low, high = (float(next(iter(group)).get(end).rstrip("%")) / FULL * 50 for end in ("x1", "x2"))
    assert (round(low, 1), round(high, 1)) == (42.7, 47.2)  # 42.75 and 47.25 s


def test_without_a_baseline_computing_and_storage_are_one_part_and_without_tasks_times_all_is():
    assert "computing and storage" in " ".join(chart(bounded()).itertext())
    plain = chart(decision(placed(split=None), baseline=None))
    assert lengths(plain, 50) == [45.0]


def test_a_change_without_a_zero_delay_trial_of_its_own_is_not_called_computing():
    memory = placed(seconds=30.0).model_copy(update={"split": SPLIT.model_copy(update={"storage_s": None})})
    spoken = chart(decision(HDD.model_copy(update={"split": SPLIT}), memory), ["as it is", "memory", "zero"])
    assert "; memory: computing and storage 24" in spoken.get("aria-label")
    assert "as it is: computing 2" in spoken.get("aria-label")


def test_all_charts_share_an_axis_unless_one_could_not_be_read():
    small = decision(placed(seconds=4.0), baseline=None)
    medium = decision(placed(seconds=20.0), baseline=None)
    charts = split_charts([decision(), medium, small], [["a", "b", "c"], ["a"], ["a"]])
    last = [re.findall(r'text-anchor="middle">([\d.]+)</text>', one)[-1] for one in charts]
    assert last == ["50", "50", "5"]
    assert ["shorter axis" in one for one in charts] == [False, False, True]


def test_labels_are_escaped():
    (svg,) = split_charts([decision()], [["<script>", "b", "c"]])
    assert "<script>" not in svg


def test_few_decisions_are_cards_with_a_chart():
    screen = screen_of([decision(), not_worth_it(), undecided()])
    assert [card.kind for card in screen.first] == ["worth", "not-worth", "open"]
    assert all(card.chart.startswith("<svg") for card in screen.first)
    assert len({card.id for card in screen.first}) == 3
    assert [*screen.rows, *screen.workloads, *screen.cards] == []


def test_of_more_decisions_there_is_a_line_each_that_leads_to_a_card():
    decisions = [*of_workloads(("sort", "rank")), *of_workloads(("count", "walk"), undecided)]
    assert len(decisions) > MOST_FIRST
    screen = screen_of(decisions)
    assert (
        screen.headline
        == "4 workloads on tiny: ssd instead of hdd is worth it in 2 of 4 combinations, not known yet in 2"
    )
    assert [row.answer.subject.partition(" ")[0] for row in screen.rows] == ["sort", "rank", "count", "walk"]
    assert [row.id for row in screen.rows] == [card.id for card in screen.cards]
    first = screen.rows[0]
    assert (first.other.placement, first.base.placement, first.decision.verdict) == ("ssd", "hdd", Verdict.WORTH_IT)
    assert (first.change.value, first.change.low, first.change.high) == (0.33, 0.25, 0.4)


def test_the_headline_of_many_names_what_is_compared_only_where_that_is_the_same_in_all():
    def against(base, tried):
        placements = (placed(base), placed(tried, saving=estimate(-0.2, -0.3, -0.1)))
        changed = {"factor": "store", "placements": placements}
        return [one.model_copy(update=changed) for one in of_workloads("abcd", not_worth_it)]

    stores = against("files", "tables")
    assert ": store tables instead of files is not worth it in 4 of 4 combinations" in screen_of(stores).headline
    assert "instead" not in screen_of([*stores, *against("tables", "files")]).headline


def test_the_headline_of_many_says_of_each_drive_how_often_it_is_worth_it():
    nvme = placed("nvme", saving=estimate(0.08, 0.02, 0.14), verdict=Verdict.NOT_KNOWN_YET)
    tape = placed("tape", saving=estimate(-0.2, -0.3, -0.1), verdict=Verdict.NOT_WORTH_IT)
    others = [(nvme,), (nvme, SSD), (tape, SSD), (tape,)]
    decisions = [
        one.model_copy(update={"placements": (HDD, *tried)})
        for one, tried in zip(of_workloads("abcd"), others, strict=True)
    ]
    assert screen_of(decisions).headline.endswith(
        ": ssd instead of hdd is worth it in 2 of 2 combinations; nvme: in none of 2, not known yet in 2; tape: in none of 2"
    )
    without_ssd = [one for one in decisions if SSD not in one.placements]
    assert (
        ": nvme instead of hdd is worth it in none of 2 combinations, not known" in screen_of(without_ssd * 2).headline
    )


def test_of_very_many_decisions_there_is_a_line_for_each_workload():
    decisions = of_workloads(("sort", "rank"), settings=[f"s{number}" for number in range(MOST_ROWS)])
    screen = screen_of(decisions)
    every = f"worth it in {2 * MOST_ROWS} of {2 * MOST_ROWS} combinations"
    assert screen.headline == f"sort, rank on tiny: ssd instead of hdd is {every}"
    assert not screen.rows
    assert [dict(row.counts)["worth it"] for row in screen.workloads] == [MOST_ROWS, MOST_ROWS]
    assert len(screen.listed) == 2 * MOST_ROWS
    assert len(screen.cards) == MOST_CARDS
    assert {card.answer.subject.partition(" ")[0] for card in screen.cards} == {"sort", "rank"}
    assert screen.left_out == 2 * MOST_ROWS - MOST_CARDS


def test_filters_know_cards_and_lines_by_all_levels_but_the_placement():
    filters = [Filter(0, "workload", ("sort", "rank")), Filter(1, "placement", ("hdd", "ssd"))]
    assert [card.marks for card in screen_of(of_workloads(("sort", "rank")), filters).first] == ["f0-0", "f0-1"]


def test_only_doubts_that_could_change_the_answer_are_on_the_first_screen():
    doubts = [DOUBTS[kind].doubt(f"{kind} happened") for kind in ("outliers", "machine-shared")]
    screen = screen_of([decision()], doubts=[*doubts, doubts[1]])
    assert screen.caveats == [f"Doubt: machine-shared happened (and 1 more of this kind).{bias_text('machine-shared')}"]
    assert screen.more_caveats == 1


def test_caveats_that_differ_in_figures_alone_are_one_and_so_are_doubts_of_a_kind():
    kinds = ("probe-missing", "outliers", "emulator-was-late", "machine-shared")
    doubts = [DOUBTS[kind].doubt(f"{kind} {number}") for kind in kinds for number in range(5)]
    decisions = [
        one.model_copy(update={"conditions": conditions(read=read)})
        for one, read in zip(of_workloads(("sort", "rank", "grep")), (0.2, 0.21, 0.2), strict=True)
    ]
    screen = screen_of(decisions, doubts=doubts)
    first, *others = screen.caveats
    assert first.startswith("Do not generalise from this run: only 20 % of what the jobs read came from the hard disk ")
    assert first.endswith(" (And 1 more of this kind.)")
    assert [words.partition(" (and ")[0] for words in others] == [
        "Doubt: emulator-was-late 0",
        "Doubt: machine-shared 0",
    ]
    assert screen.more_caveats == 2, "two kinds of doubts that change no answer"


def test_at_most_three_caveats_are_on_the_first_screen_each_once():
    doubts = [DOUBTS[kind].doubt(f"{kind} happened") for kind in ("emulator-was-late", "machine-shared")]
    decisions = of_workloads(("sort", "rank"))
    open_ = [one.model_copy(update={"conditions": conditions(read=0.2, busy=0.1)}) for one in decisions]
    screen = screen_of(open_, doubts=doubts)
    assert [words.partition(":")[0] for words in screen.caveats] == [
        "Do not generalise from this run",
        "Doubt",
        "Doubt",
    ]
    assert screen.more_caveats == 0
    assert not set(screen.caveats) & set(details_of([Answered(one, answer_of(one, open_)) for one in open_]))


def test_the_page_has_all_of_the_method_in_one_closed_block(html):
    (block,) = re.findall(r'<details class="how" id="method"[^>]*>', html)
    assert "open" not in block
    before = html[: html.index(block)]
    assert "<h2 class=" not in before.replace('class="headline"', "")
    for words in ("Elapsed time", "Doubts", "Trials", "Facts and settings", "noise estimate"):
        assert words not in before
        assert words in html


@pytest.fixture(scope="module")
def html():
    return page(*decided_run(repetitions=3), [])


def test_the_page_begins_with_verdict_split_outputs_and_next_step(html):
    head = html[html.index("<h1>") : html.index('id="contents"')]
    places = [
        head.index(words)
        for words in (
            "the SSD is worth it",
            "On the hard disk (WD10EZEX)",
            'class="split"',
            "outputs passed",
            "Next",
        )
    ]
    assert places == sorted(places)
    assert '<h2 id="answer-terasort-on-tiny" class="headline">terasort on tiny: ' in head


def test_the_first_screen_speaks_of_no_energy(html):
    assert not re.search(
        r"joule|energy|watt|EDP", html[html.index("<h1>") : html.index('id="contents"')], re.IGNORECASE
    )


def test_the_baseline_is_no_drive_among_those_compared(html):
    compared = re.search(r"<dt>compared</dt><dd>(.*?)</dd>", html)[1]
    assert "zero" not in compared
    assert "not a drive to buy" in html


def test_jobs_and_phases_have_their_storage_share_and_short_ones_are_named_but_not_tested(html):
    part = html[html.index('<h2 id="parts">') :]
    part = part[: part.index("<h2", 10)]
    rows = re.findall(r"<tr[^>]*><td>([^<]*)</td><td>(hdd|ssd|zero-delay)</td>", part)
    assert ("1 sort", "hdd") in rows
    assert ("map phase", "ssd") in rows
    assert not [name for name, _ in rows if name.startswith("merge")]


def test_many_decisions_and_other_factors_stand_in_tables():
    html = page(*made_run(made_trials(("triangles", "components"), ("hdd", "ssd"), ("defaults", "customs"), 3)), [])
    assert 'id="answers"' in html
    assert html.count('class="verdicts sortable"') == 1
    assert '<h2 id="decisions">' in html
    others = html[html.index('<h2 id="others">') :]
    assert "<td>settings</td>" in others
    for link in re.findall(r'<a href="#(answer-[^"]*)"', html):
        assert f'id="{link}"' in html


def test_a_run_without_anything_decided_still_has_a_page():
    plan, records = made_run(made_trials(repetitions=1))
    failed = [one.model_copy(update={"totals": None, "jobs": ()}) for one in records]
    assert "<h1>" in page(plan, failed, [])


def test_no_bar_has_more_storage_than_its_drives_were_busy_for():
    busy = HDD.model_copy(update={"split": SPLIT, "drives_busy_s": 4.2})
    beyond = lengths(chart(decision(busy, SSD, busy_bound_s=4.2)), 50)[:4]
    of_times = lengths(chart(decision(busy, SSD)), 50)[:3]
    assert sum(beyond) == pytest.approx(sum(of_times), abs=0.2)
    assert beyond[2] == pytest.approx(4.2 * 45 / 41.7, abs=0.1)
    assert beyond[1] + beyond[2] == pytest.approx(of_times[1], abs=0.2), "beyond it is noise, which is of neither"


@pytest.mark.parametrize(
    ("outcomes", "words", "state"),
    [
        ((Outcome.PASS, Outcome.PASS), "all 2 outputs passed verification", "pass"),
        ((Outcome.UNKNOWN, Outcome.UNKNOWN), "no output was checked", "unknown"),
        ((Outcome.PASS, Outcome.UNKNOWN), "1 of 2 outputs passed verification, 1 was not checked", "unknown"),
        ((Outcome.FAIL, Outcome.UNKNOWN), "0 of 2 outputs are correct, 1 failed, 1 was not checked", "fail"),
    ],
)
def test_outputs_that_nobody_checked_are_not_called_wrong(outcomes, words, state):
    records = [a_record(a_trial(number), outcome=outcome) for number, outcome in enumerate(outcomes, 1)]
    head = overview(a_plan(*(record.trial for record in records)), summaries(records), [], [])
    assert (head.checked, head.outputs) == (words, state)
