"""Proves that the page, the markdown and the terminal say what a run says of its study, agreement first."""

import re
from html import unescape

import pytest

from assay.model.trial import Plan, SettingsSpec
from assay_extras.studies.comparison import compare
from assay_extras.studies.view import STUDY_CLASSES, TWO_TESTS, study_view
from tests.builders import a_plan, a_record
from tests.extras.studies.builders import a_graph_trial, a_rate_trial, a_sort_trial, thrice
from tests.report.made_runs import page

HDD, SSD2 = (3.0, 60.0, 80.0, 70.0), (3.0, 15.0, 120.0, 50.0)


def the_run(name="thesis-tables-9-13-scaled", ssd2=SSD2):
    records = [
        *thrice(
            a_graph_trial(1, {"triads": (5, 1, 0, 100), "closing": HDD}),
            a_graph_trial(2, {"triads": (5, 1, 0, 99), "closing": ssd2}, medium="ssd2"),
        ),
        a_graph_trial(3, {"closing": HDD}, repetition=4, error="full <disk>", totals=None),
    ]
    plan = Plan(experiment=name, description="", seed=1, trials=tuple(one.trial for one in records))
    return plan, records


def the_view():
    return study_view(compare(*the_run()))


def test_the_page_has_it_before_the_method():
    html = page(*the_run(), [])
    assert html.index('class="believe"') < html.index('id="study"') < html.index('id="method"')
    assert 'id="study"' not in page(a_plan(), [a_record()], [])


def test_an_experiment_of_ones_own_has_no_such_part():
    assert compare(a_plan(), [a_record()]) is None


def test_the_page_begins_with_agreement_and_has_every_value():
    html = the_view().html()
    # Shuffle and reduce of the closing job as published; its merge the other way round.
    assert html.index(
        "3 of 3 comparisons are decided (100 %), 2 of them as in the study. Left out: 5 in which the study shows"
    ) < html.index("Spearman")
    assert html.index("Spearman") < html.index("What the study says") < html.index("ssd2 / hdd")
    for part in (
        "Table 9",
        "Table 10",
        "0.25 (0.25 to 0.25, 3 pairs)",
        "1.50 (1.50 to 1.50, 3 pairs)",
        "differs",
        "agrees",
        ">655<",
        ">60.0<",
        "T22",
    ):
        assert part in html
    assert "scaled form" in html
    assert "<script" not in html
    assert re.findall(r"""(?:src|href)\s*=\s*["']([^"'#]+)""", html) == []


def test_verdicts_stand_with_their_evidence():
    view = the_view()
    said = {one.id: one for one in view.statements}
    assert (said["T22"].verdict, said["T19"].verdict) == ("refuted", "confirmed")
    assert said["T22"].shown[0] == "2 places: 1 for it, 1 against it"
    assert said["T22"].shown[1].endswith("ssd2 / hdd = 1.50 (1.50 to 1.50, 3 pairs) - against it")
    assert [one.verdict for one in view.statements] == sorted(
        (one.verdict for one in view.statements), key=["confirmed", "refuted", "undecided"].index
    )
    assert {one.id for one in view.not_addressed} >= {"T17", "T10"}


def test_what_is_left_out_is_named_and_escaped():
    view = the_view()
    assert view.compared.passed_over == {"0003-triangles-hdd": "it did not finish"}
    assert "0003-triangles-hdd" in view.html()
    assert "0003-triangles-hdd" in view.markdown()


def test_the_terminal_and_markdown_say_the_same():
    view = the_view()
    text, markdown = view.text(), view.markdown()
    for part in ("3 of 3 comparisons", "T22", "ssd2 / hdd = 1.50 (1.50 to 1.50, 3 pairs)"):
        assert part in text
        assert part in markdown
    assert "Table 9   directions 2 of 3" in text
    assert (
        "| defaults, generated at 0.02 of YouTube's size, merge | ssd2 / hdd | 0.81 | 1.50 (1.50 to 1.50, 3 pairs) | differs |"
        in markdown
    )


def test_the_first_screen_says_why_its_answers_and_the_study_may_differ():
    html = page(*the_run(), [])
    assert "ot known yet" in html
    assert TWO_TESTS in unescape(html[: html.index('<h2 id="elapsed-time">')])
    view = the_view()
    assert TWO_TESTS in view.text()
    assert TWO_TESTS in view.markdown()


def test_the_summary_tells_how_many_directions_chance_makes_and_what_holds_everywhere():
    view = the_view()
    assert "chance would" not in view.summary  # of two jobs the four phases: 8 comparisons
    _, records = the_run()
    three = [
        one.model_copy(update={"trial": one.trial.model_copy(update={"settings": SettingsSpec(name=name)})})
        for name in ("defaults", "containers", "customs")
        for one in records[:6]
    ]
    # Of each profile and each two of them with each drive what the tables have, where they tell a direction.
    assert re.search(
        r"chance would decide about [12] of these \d\d",
        a_view("thesis-tables-9-13", three).summary,
    )
    assert re.search(r"\d+ confirmed \(\d+ clearly at every place\)", view.summary)
    assert view.summary.endswith("1 trial is left out.")


def test_a_direction_that_chance_may_make_is_not_shown_as_a_failure():
    assert STUDY_CLASSES["differs"] not in {"fail", STUDY_CLASSES["undecided"]}
    assert '<td class="unknown">differs</td>' in the_view().html()


def the_rates(repetitions=5):
    rates = {("hdd", "1GB"): 150.0, ("hdd", "8GB"): 140.0, ("ssd1", "1GB"): 380.0, ("ssd1", "8GB"): 130.0}
    return [
        a_rate_trial(10 * turn + number, "write", size, rate * (1 + turn / 100), medium, repetition=turn)
        for turn in range(1, repetitions + 1)
        for number, ((medium, size), rate) in enumerate(rates.items())
    ]


def the_sorts():
    return thrice(
        *(
            a_sort_trial(number, 100 - 10 * number, share=number / 4, block="128m", buffer="25", size="266MB")
            for number in range(5)
        )
    )


def a_view(name, records):
    plan = Plan(experiment=name, description="", seed=1, trials=tuple(one.trial for one in records))
    return study_view(compare(plan, records))


def test_throughput_by_file_size_is_a_figure_of_its_own():
    (figure,) = a_view("thesis-figures-2-3", the_rates()).figures
    assert figure.title == "Figure 2: writing files"
    assert figure.header == ("file size, GB", "hdd (MiB/s)", "ssd1 (MiB/s)")
    assert [(at, [cell.value for cell in cells]) for at, cells in figure.rows] == [
        ("1", ["154", "391"]), ("8", ["144", "134"]),
    ]  # fmt: skip
    assert figure.rows[0][1][0].interval == "151 to 158"
    assert figure.svg.count("<polyline") == 2
    assert figure.svg.count("<title>") == 4
    for words in ("MiB/s", "file size, GB, logarithmic", "hdd, 1 (file size, GB): 154 MiB/s", "5 runs"):
        assert words in figure.svg


def test_values_lie_where_the_axes_say():
    (figure,) = a_view("thesis-figures-2-3", the_rates()).figures
    hdd, ssd1 = re.findall(r'points="([^"]+)"', figure.svg)
    (left, upper), (right, lower) = ([float(part) for part in place.split(",")] for place in ssd1.split())
    marks = {
        words: (float(x), float(y))
        for x, y, words in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]+)</text>', figure.svg)
    }
    assert marks["1"][0] == pytest.approx(left, abs=6)
    assert marks["8"][0] == pytest.approx(right, abs=6)
    zero, top = marks["0"][1] - 4, marks["400"][1] - 4
    assert zero - (zero - top) * 391.4 / 400 == pytest.approx(upper, abs=0.2)
    assert zero - (zero - top) * 133.9 / 400 == pytest.approx(lower, abs=0.2)
    assert float(hdd.split(",")[0]) < left


def test_published_ratios_are_drawn_beside_what_was_measured():
    (figure,) = a_view("hybrid-figure-5a-scaled", the_sorts()).figures
    assert figure.title == "Figure 5(a): time by block size and share of SSD"
    assert figure.header == ("block, MB", *(f"{name} (seconds)" for name in (
        "hard disk", "25 % SSD", "50 % SSD", "75 % SSD", "SSD")))  # fmt: skip
    ((at, cells),) = figure.rows
    assert at == "512"
    assert [cell.value for cell in cells] == ["100", "90.0", "80.0", "70.0", "60.0"]
    assert [cell.published for cell in cells] == [
        "", *(f"the study's ratio: {value}" for value in ("96.2", "84.2", "76.4", "60.5")),
    ]  # fmt: skip
    assert "the study's ratio</text>" in unescape(figure.svg)


def test_average_task_times_are_drawn_by_the_share_of_ssd():
    records = thrice(
        *(
            a_sort_trial(number, 100 - number, share=number / 4, map_s=9 - number, reduce_s=20 - 3 * number)
            for number in range(5)
        )
    )
    whole, tasks = a_view("hybrid-figure-4-scaled", records).figures
    assert whole.header == ("share of SSD, %", "job (seconds)")
    assert tasks.title == "Figure 4(b): average time of a task by share of SSD"
    assert tasks.header == ("share of SSD, %", "map task (seconds)", "reduce task (seconds)")
    assert [(at, *(cell.value for cell in cells)) for at, cells in tasks.rows][-1] == ("100", "5.00", "8.00")
    assert "logarithmic" not in tasks.svg


def test_the_page_and_markdown_have_every_figure_with_its_values():
    records = the_rates(3)
    plan = Plan(experiment="thesis-figures-2-3", description="", seed=1, trials=tuple(one.trial for one in records))
    html = page(plan, records, [])
    assert html.index("The study's figures") < html.index('aria-label="Figure 2')
    assert 'viewBox="0 0 360 ' in html  # what a phone shows without moving it
    assert re.search(
        r"\| 1 \| 153 \(15\d to 15\d\) \| 388 \(3\d\d to 39\d\) \|",
        a_view("thesis-figures-2-3", records).markdown(),
    )
    assert a_view("thesis-tables-9-13-scaled", the_run()[1]).figures == []


def test_a_run_without_records_says_so():
    plan = Plan(experiment="thesis-tables-6-8", description="", seed=1, trials=())
    view = study_view(compare(plan, []))
    assert view.summary.startswith("The study gives no numbers for what was measured.")
    assert "0 confirmed, 0 refuted, 0 undecided" in view.text()
    assert "<table" not in view.html()
    assert view.markdown()
