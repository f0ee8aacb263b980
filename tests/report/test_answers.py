"""Proves that the answers say who wins, by how much and how sure that is, and claim nothing that the figures don't."""

import pytest

from assay.model.doubt import Outcome
from assay.model.record import Status
from assay.model.trial import MediumSpec, WorkloadSpec
from assay.report.answer import answers
from assay.report.effects import effect_tables
from assay.report.judged import judge
from assay.report.overview import overview
from assay.report.page import page
from assay.stats.comparison import compare
from assay.stats.run_doubts import doubts_of
from assay.stats.sample import samples
from assay.stats.summary import summarise
from tests.builders import a_plan, a_record, a_trial
from tests.report.made_runs import made_run, made_trials


def answers_of(**changes):
    noise, times = changes.pop("noise", 0.02), changes.pop("times", {"hdd": 60.0, "ssd": 40.0, "memory": 39.0})
    _, records = made_run(made_trials(**changes), noise=noise, times=times)
    return answers(summarise(records), compare(samples(records)))


def test_a_clear_difference_is_told_with_its_interval_and_chance():
    (one,), beside = answers_of(repetitions=8)
    assert one.subject == "triangles"
    assert one.headline.startswith("ssd wins: ssd took 0.67 times as long as hdd (0.6")
    assert one.headline.endswith(" % less time")
    assert one.belief == "sure"
    assert one.why == "chance alone would do this in less than 1 in 1000 of cases (8 pairs)"
    assert one.times.startswith("hdd 1")
    assert beside == []


def test_the_first_level_can_win_too():
    (one,), _ = answers_of(repetitions=8, times={"hdd": 30.0, "ssd": 60.0})
    assert one.headline.startswith("hdd wins: ssd took 2.0")
    assert one.belief == "sure"


def test_no_winner_is_named_where_none_can_be_told():
    (one,), _ = answers_of(repetitions=8, noise=0.2, times={"hdd": 60.0, "ssd": 60.0})
    assert one.headline.startswith("no winner can be told: ssd took ")
    assert one.belief == "not proven"
    assert ", not significant (" in one.details[0][1]


def test_one_repetition_proves_nothing():
    (one,), _ = answers_of(repetitions=1)
    assert one.headline.startswith("ssd took 0.6")
    assert one.headline.endswith("but that may be chance")
    assert (one.belief, one.why) == ("not proven", "nothing ran twice")


def test_of_several_levels_only_what_is_told_from_all_others_wins():
    (one,), _ = answers_of(
        media=("hdd", "ssd", "memory"), repetitions=9, times={"hdd": 60.0, "ssd": 40.0, "memory": 40.0}
    )
    assert one.headline.startswith("ssd and memory lead before hdd: ssd took 0.6")
    assert (one.belief, one.why) == ("partly sure", "between ssd and memory no difference can be told")
    (one,), _ = answers_of(
        media=("hdd", "ssd", "memory"), repetitions=9, times={"hdd": 60.0, "ssd": 40.0, "memory": 20.0}
    )
    assert one.headline.startswith("memory wins: memory took 0.3")
    assert one.belief == "sure"


def test_of_many_levels_the_fastest_is_not_said_to_win():
    times = {f"m{number}": 60.0 - 9 * number for number in range(6)}
    (one,), _ = answers_of(media=tuple(times), repetitions=9, times=times)
    assert one.headline.startswith("m5 is fastest: m5 took 0.2")
    assert one.belief == "partly sure"
    assert one.why.endswith("m1, m2, m3 and m4 were compared with m0 only")


def test_over_several_combinations_wins_are_counted():
    (one,), (settings,) = answers_of(settings=("defaults", "customs", "containers"), repetitions=9)
    assert one.headline.startswith("ssd wins in 3 of 3 combinations (0.6")
    assert len(one.details) == 3
    assert {of for of, _ in one.details} == {f"settings {name}" for name in ("defaults", "customs", "containers")}
    assert settings.headline.startswith("settings: customs wins in 2 of 2 combinations")


def test_without_several_placements_the_other_factors_are_the_question():
    main, beside = answers_of(media=("ssd",), settings=("defaults", "customs"), repetitions=8)
    assert [one.headline.partition(":")[0] for one in main] == ["settings"]
    assert beside == []


def test_table_and_cards_tell_the_same_comparisons():
    times = {"hdd": 60.0, "ssd": 57.5, "memory": 57.0}
    for seed in range(8):
        plan, records = made_run(made_trials(media=tuple(times), repetitions=8), seed=seed, times=times)
        judged = judge(plan, records)
        told = {words for one in (*judged.answers, *judged.beside) for _, words in one.details}
        compared = [row.comparison for row in judged.rows if row.comparison]
        assert [f"{row.words}." for row in judged.rows if row.comparison and f"{row.words}." not in told] == []
        assert {one.comparisons for one in compared} == {2}


def test_more_work_is_no_loser():
    trials = [
        trial.model_copy(
            update={"workload": WorkloadSpec(name="sort", options={"size": size}), "id": f"{trial.id}-{size}"}
        )
        for trial in made_trials(("sort",), ("ssd",), repetitions=4)
        for size in ("1GB", "2GB")
    ]
    _, records = made_run(trials)
    assert answers(summarise(records), compare(samples(records))) == ([], [])


def test_each_workload_has_its_answer_and_the_page_says_it():
    plan, records = made_run(made_trials(("triangles", "components"), repetitions=8))
    html = page(plan, records, [])
    main, _ = answers(summarise(records), compare(samples(records)))
    assert [one.subject for one in main] == ["components", "triangles"]
    for one in main:
        assert f'<p class="headline">{one.headline}.</p>' in html
    assert html.index(main[0].headline) < html.index('<h2 id="elapsed-time">')


def test_a_run_of_one_combination_says_that_nothing_is_compared():
    html = page(a_plan(), [a_record()], [])
    assert "It took 10.0 s; nothing is compared with it." in html


def test_a_run_without_any_readable_trial_has_a_page():
    html = page(a_plan(), [], [])
    assert "no trial was read" in html
    assert "No trial finished, so there is no time to show." in html


def test_the_overview_says_what_to_believe(tmp_path):
    records = [
        a_record(a_trial(1)),
        a_record(a_trial(2, "memory"), outcome=Outcome.UNKNOWN),
        a_record(a_trial(3, "memory"), status=Status.FAILED),
    ]
    told = overview(a_plan(*(one.trial for one in records), a_trial(4)), records, [], doubts_of(records))
    assert told.checked == "1 of 3 outputs are right, 1 failed, 1 could not be checked"
    assert told.missing == "1 of 4 planned trials are not in this report"
    assert not told.right
    assert told.compared[0] == ("compared", "disk (a disk of the machine), memory (a disk of the machine)")


@pytest.mark.parametrize(("slowdown", "said"), [(1, "emulated wd10ezex"), (8, "emulated wd10ezex, 8 times slower")])
def test_the_overview_names_emulated_drives(slowdown, said):
    medium = MediumSpec(name="disk", kind="emulated", profile="wd10ezex", slowdown=slowdown)
    record = a_record(a_trial(1).model_copy(update={"media": (medium,)}))
    other = a_record(a_trial(2, "memory"))
    told = overview(a_plan(record.trial, other.trial), [record, other], [], ())
    assert told.compared[0][1].startswith(f"disk ({said}), ")


@pytest.mark.parametrize(("settings", "tables"), [(("defaults",), 0), (("defaults", "customs"), 1)])
def test_effects_are_shown_where_several_factors_vary(settings, tables):
    _, records = made_run(made_trials(settings=settings, repetitions=6))
    found = effect_tables(records)
    assert len(found) == tables
    if found:
        assert [line.name for line in found[0].lines][:2] == ["settings", "placement"]
        assert found[0].lines[1].levels.startswith("hdd 1.2")
