"""Proves that the page, the markdown and the terminal say what a run says of its study, agreement first."""

import re

from assay.model.trial import Plan
from assay.report.page import page, template
from assay.report.study import STUDY_CLASSES, study_markdown, study_text, study_view
from tests.builders import a_plan, a_record
from tests.study.builders import a_graph_trial, thrice

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
    view = study_view(*the_run())
    assert view is not None
    return view


def study_html(view):
    return template("study.html.j2").render(study=view, study_classes=STUDY_CLASSES)


def test_the_page_has_it_between_the_table_and_the_doubts():
    html = page(*the_run(), [])
    assert html.index('id="combinations"') < html.index('id="study"') < html.index('id="doubts"')
    assert 'id="study"' not in page(a_plan(), [a_record()], [])


def test_an_experiment_of_ones_own_has_no_such_part():
    assert study_view(a_plan(), [a_record()]) is None


def test_the_page_begins_with_agreement_and_has_every_value():
    html = study_html(the_view())
    # Shuffle and reduce of the closing job as published; its merge the other way round.
    assert html.index("2 of 3 comparisons have the direction that the study has") < html.index("Spearman")
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
    assert view.passed_over == {"0003-triangles-hdd": "it did not finish"}
    assert "0003-triangles-hdd" in study_html(view)
    assert "0003-triangles-hdd" in study_markdown(view)


def test_the_terminal_and_markdown_say_the_same():
    view = the_view()
    text, markdown = study_text(view), study_markdown(view)
    for part in ("2 of 3 comparisons", "T22", "ssd2 / hdd = 1.50 (1.50 to 1.50, 3 pairs)"):
        assert part in text
        assert part in markdown
    assert "Table 9   directions 2 of 3" in text
    assert (
        "| YouTube, merge, defaults" in markdown
        or "| defaults, YouTube, merge | ssd2 / hdd | 0.81 | 1.50 (1.50 to 1.50, 3 pairs) | differs |" in markdown
    )


def test_a_run_without_records_says_so():
    plan = Plan(experiment="thesis-tables-6-8", description="", seed=1, trials=())
    view = study_view(plan, [])
    assert view is not None
    assert view.summary.startswith("The study gives no numbers for what was measured.")
    assert "0 confirmed, 0 refuted, 0 undecided" in study_text(view)
    assert "<table" not in study_html(view)
    assert study_markdown(view)
