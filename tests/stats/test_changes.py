"""Proves that an experiment that changes one factor at a time has a verdict for each change, against all as it is."""

from pathlib import Path

import pytest

from assay.cli.context import find_installation, vocabulary
from assay.plan.make import plan_and_more
from assay.plan.source import ExperimentSource
from assay.report.analysis import analyse
from assay.report.answer import answer_of
from assay.report.predicted import predicted_lines
from assay.run.schedule import decided_work
from assay.stats.changes import AS_IT_IS, CHANGE, change_order, change_text
from assay.stats.decision import Verdict, decisions
from assay.stats.predicted import beside
from tests.builders import a_measured_run, a_prediction, a_record, device_reports, summaries

SHIPPED = Path(__file__).parents[2] / "experiments" / "before-you-buy.yaml"
SSD, DISK, MEMORY = "local-directories-on-ssd", "a-second-disk", "memory 2100MiB"
COMPRESSION, BUFFER = "mapreduce.map.output.compress true", "mapreduce.task.io.sort.mb 180"
SECONDS = {AS_IT_IS: 100.0, SSD: 70.0, DISK: 99.0, MEMORY: 101.0, COMPRESSION: 60.0, BUFFER: 89.0, "zero-delay": 55.0}


def plan_of(tmp_path, *changed):
    text = SHIPPED.read_text()
    for before, after in changed:
        assert before in text
        text = text.replace(before, after)
    (tmp_path / "it.yaml").write_text(text)
    return plan_and_more(ExperimentSource(tmp_path / "it.yaml"), vocabulary(find_installation()))[0]


def records_of(plan):
    """Each change takes its seconds, give or take a half per cent in turn."""
    return [
        a_record(trial, elapsed_s=SECONDS[change_text(trial.factors, plan.base)] * (1 + (-1) ** trial.number * 0.005))
        for trial in plan.trials
    ]


@pytest.fixture
def plan(tmp_path):
    return plan_of(tmp_path)


def test_changes_run_together_there_and_back_and_the_baseline_once(plan):
    texts = [change_text(trial.factors, plan.base) for trial in plan.trials]
    first = texts[:13]
    assert first[0] == AS_IT_IS
    assert first[6] == "zero-delay"
    assert first == first[::-1]
    assert sorted(first[:7]) == sorted(SECONDS)
    assert change_order(plan) == list(SECONDS)


def test_each_change_has_a_verdict_against_all_as_it_is(plan):
    (decision,) = decisions(plan, summaries(records_of(plan)))
    assert decision.factor == CHANGE
    assert {one.placement: one.verdict for one in decision.placements} == {
        AS_IT_IS: None, SSD: Verdict.WORTH_IT, COMPRESSION: Verdict.WORTH_IT, DISK: Verdict.NOT_WORTH_IT,
        MEMORY: Verdict.NOT_WORTH_IT, BUFFER: Verdict.NOT_KNOWN_YET,
    }  # fmt: skip
    assert [one.placement for one in decision.placements] == list(SECONDS)[:-1]
    assert decision.baseline is not None
    assert decision.best == COMPRESSION


def test_a_change_without_a_verdict_is_repeated_though_another_is_worth_it(plan):
    records = records_of(plan)
    (decision,) = decisions(plan, summaries(records))
    assert (decision.verdict, decision.is_open) == (Verdict.WORTH_IT, True)
    assert decided_work(plan, summaries(records)) == set()
    asked = f"{decision.more.repetitions} more repetition"
    assert any(asked in note and f"whether {BUFFER} saves 10 % of" in note for note in answer_of(decision).caveats)
    closed = [
        placement.model_copy(update={"verdict": placement.verdict and Verdict.WORTH_IT})
        for placement in decision.placements
    ]
    assert not decision.model_copy(update={"placements": tuple(closed)}).is_open


def test_storage_shares_are_of_what_differs_from_the_baseline_in_its_drives_alone(plan):
    (decision,) = decisions(plan, summaries(records_of(plan)))
    with_share = {one.placement for one in decision.placements if one.storage_share is not None}
    assert with_share == {AS_IT_IS, SSD, DISK}
    assert {one.placement for one in decision.placements if one.won_back is not None} == {SSD, DISK}


def test_more_memory_may_read_less_from_its_drives_and_the_answer_stands(plan):
    ran = {"run": {"reads": {"bytes": 700}, "writes": {"bytes": 900}, "busy_seconds": 60.0}}
    records = [
        record.model_copy(update={"devices": device_reports({medium.name: ran for medium in record.trial.media})})
        for record in records_of(plan)
    ]
    (decision,) = decisions(plan, summaries(records))
    assert {condition.subject for condition in decision.conditions} == {AS_IT_IS, SSD, DISK}


def test_the_answer_says_the_changes_by_their_verdicts(plan):
    answer = answer_of(decisions(plan, summaries(records_of(plan)))[0])
    assert answer.headline == (
        f"worth it: {COMPRESSION} (39 % less time), {SSD} (30 % less time); not worth it: {DISK}, {MEMORY}; "
        f"not known yet: {BUFFER}"
    )
    assert [line.label for line in answer.lines] == [
        "As it is", f"With {SSD}", f"With {DISK}", f"With {MEMORY}", f"With {COMPRESSION}", f"With {BUFFER}",
        "With zero storage delay",
    ]  # fmt: skip
    assert answer.lines[0].words.startswith("of which storage: 45 s, 45 % (")
    assert f"{SSD} wins back" in answer.lines[-1].words
    assert not any("on as it is" in text for text in (*answer.notes, *(line.words for line in answer.lines)))


def test_what_is_predicted_of_a_change_stands_beside_the_decision(plan):
    records = records_of(plan)
    as_it_is = next(record for record in records if change_text(record.trial.factors, plan.base) == AS_IT_IS)
    predicted = a_prediction(as_it_is, (75, 80, 85), **{"mapreduce.task.io.sort.mb": "300"})
    decided = decisions(plan, summaries(records))
    ((level,),) = beside(plan, decided, summaries(records), [predicted])
    assert (level.level, level.elapsed_s.value) == ("mapreduce.task.io.sort.mb 300", 80)
    assert level.saving.value == pytest.approx(0.2, abs=0.01)
    (line,) = predicted_lines(decided[0], [level])
    assert line.label == "With mapreduce.task.io.sort.mb 300, predicted"


def test_no_change_is_told_a_second_time_with_another_significance(plan):
    analysis = analyse(a_measured_run(plan, records_of(plan)))
    assert [decision.factor for decision in analysis.decisions] == [CHANGE]
    assert analysis.others == []
    assert analysis.answers[0].breakdown.levels == analysis.decisions[0].levels


def test_where_each_change_runs_on_all_placements_these_are_asked_about(tmp_path):
    plan = plan_of(tmp_path, ("placement: one-disk, memory", "memory"))
    found = decisions(plan, summaries([a_record(trial) for trial in plan.trials]))
    assert {decision.factor for decision in found} == {"placement"}
    assert len(found) == 4


def test_what_has_not_run_is_said(plan):
    records = [one for one in records_of(plan) if one.trial.placement.name != DISK]
    (decision,) = decisions(plan, summaries(records))
    assert DISK not in [one.placement for one in decision.placements]


def test_two_workloads_have_their_own_verdicts(tmp_path):
    two = (
        "  - {name: terasort, options: {size: 400MB}}",
        "  - {name: terasort, options: {size: 400MB}}\n  - word-count",
    )
    plan = plan_of(tmp_path, two)
    assert len(plan.trials) == 52
    found = decisions(plan, summaries(records_of(plan)))
    assert [(one.factor, one.levels["workload"], len(one.placements)) for one in found] == [
        (CHANGE, "terasort", 6), (CHANGE, "word-count", 6),
    ]  # fmt: skip
