"""Proves that a fault's losses and cost are counted from attempts and comparisons, and that missed faults count nowhere."""

import pytest

from assay.engine.tasks import MapReduceAttempt
from assay.model.doubt import CheckResult, Outcome
from assay.model.fault import Fault, FaultReport, Redundancy
from assay.model.record import Status
from assay.report.analysis import analyse
from assay.report.first_screen import first_screen
from assay.report.values import placement_values
from assay.stats.fault_cost import with_losses
from assay.stats.sample import is_valid
from assay.stats.trial_doubts import fault_missed
from assay.stats.trial_summary import summarise
from tests.builders import a_job, a_measured_run, a_plan, a_record, a_trial
from tests.report.made_runs import page

KILL = Fault(kill="datanode", on=2, at="map 50%")
STRUCK_MS = 5000


def attempt(task, number, node, started_ms, finished_ms, state="SUCCEEDED", reason="", job="job_1_0001"):
    return MapReduceAttempt(
        job=job, attempt=f"attempt_1_0001_m_{task:06d}_{number}", stage="map", node=node, state=state,
        started_ms=started_ms, finished_ms=finished_ms, reason=reason,
    )  # fmt: skip


ATTEMPTS = [
    attempt(1, 0, "worker-1", 1000, 6000),
    attempt(2, 0, "worker-2", 1000, 4000, "FAILED", "Too many fetch failures.Failing the attempt."),
    attempt(2, 1, "worker-1", 7000, 8000),
    attempt(3, 0, "worker-2-data", 4000, 9000, "KILLED", "Container released on a *lost* node"),
    attempt(3, 1, "worker-3", 9000, 9500),
    attempt(4, 0, "worker-2", 1000, 2000, "FAILED", "it failed long before"),
    attempt(4, 1, "worker-1", 2000, 3000),
    attempt(5, 0, "worker-1", 6000, 6500, "FAILED", "another node's own trouble"),
    attempt(6, 0, "worker-2", 6000, 6500, "KILLED", "", job="job_1_0009"),
]


def test_lost_attempts_and_repeated_tasks_are_those_after_the_fault():
    report = with_losses(FaultReport(struck_ms=STRUCK_MS), KILL, [a_job()], ATTEMPTS)
    assert (report.lost_attempts, report.repeated_tasks) == (2, 2)
    assert report.struck_ms == STRUCK_MS


def test_what_struck_after_the_jobs_did_not_strike():
    late = with_losses(FaultReport(struck_ms=11_000), KILL, [a_job()], ATTEMPTS)
    assert late.struck_ms is None
    assert late.lost_attempts is None


def faulty(number, repetition, fault, elapsed_s, report, workload="triangles", **changes):
    trial = a_trial(number, repetition=repetition, workload=workload)
    trial = trial.model_copy(update={"cluster": trial.cluster.model_copy(update={"nodes": 3, "fault": fault})})
    return a_record(trial, elapsed_s=elapsed_s, fault=report, **changes)


STRUCK = FaultReport(
    struck_ms=STRUCK_MS, job="sort", progress={"map": 52, "reduce": 0}, processes={"datanode": 7}, containers=2,
    log=("datanode: last words",), lost_attempts=3, repeated_tasks=2,
    redundancy=Redundancy(copies_lost=9, under_replicated_blocks=4, missing_blocks=0, dead_datanodes=0),
)  # fmt: skip


@pytest.fixture
def run():
    records = []
    for repetition in (1, 2, 3, 4):
        records.append(faulty(2 * repetition - 1, repetition, None, 20 + 0.1 * repetition, None))
        records.append(faulty(2 * repetition, repetition, KILL, 30 + 0.1 * repetition, STRUCK))
    return records


def test_a_trial_without_its_fault_is_marked_and_counts_nowhere():
    missed, struck = (faulty(1, 1, KILL, 20, report) for report in (FaultReport(), STRUCK))
    assert summarise(missed).missed_fault
    assert not is_valid(summarise(missed))
    assert is_valid(summarise(struck))
    (doubt,) = fault_missed(missed.trial, missed.fault)
    assert doubt.kind == "fault-did-not-strike"
    assert "kill datanode on 2 at map 50% did not strike" in doubt.what
    assert not fault_missed(struck.trial, struck.fault)
    assert not fault_missed(a_trial(), None)


def test_the_report_says_what_the_fault_cost_against_trials_without_it(run):
    analysis = analyse(a_measured_run(a_plan(*(one.trial for one in run)), run))
    answer = analysis.answers[0].words
    assert answer.headline == "the fault kill datanode on 2 at map 50% costs 49 % more time"
    without, with_it = answer.lines
    assert without.label == "Without a fault"
    assert with_it.words.startswith("costs 10.0 s, 49 % more time (significant; 95 % interval ")
    text = analysis.sections["faults"].text()
    said = " ".join(text.split())
    assert "kill datanode on 2 at map 50%: it costs 10.0 s, 49 % (30.2 s in place of 20.2 s), significant" in said
    assert "3 task attempts lost; 2 tasks ran again; 9 copies of blocks lost; 4 blocks with too few copies" in said
    assert max(map(len, text.splitlines())) <= 80
    page = analysis.sections["faults"].html()
    for words in ("datanode: last words", "sort at map 52 %", "2 containers ran there"):
        assert words in page
    assert "What faults cost" in analysis.sections["faults"].markdown()


def test_a_table_of_decisions_on_faults_speaks_of_their_cost():
    """Of four workloads, so that there is a table: one loses time by the fault, and none is worth it or not."""
    records = []
    for place, workload in enumerate(("count", "rank", "sort", "walk")):
        for repetition in (1, 2, 3, 4):
            number, with_it_s = 8 * place + 2 * repetition, 30 if workload == "sort" else 20
            records.append(faulty(number - 1, repetition, None, 20 + 0.1 * repetition, None, workload))
            records.append(faulty(number, repetition, KILL, with_it_s + 0.1 * repetition, STRUCK, workload))
    plan = a_plan(*(one.trial for one in records))
    analysis = analyse(a_measured_run(plan, records))
    screen = first_screen(analysis._replace(doubts=()), ())
    assert screen.headline == "4 workloads on tiny: costs time in 1 of 4 combinations, no significant cost in 3"
    (sort,) = (row for row in screen.rows if row.answer.verdict == "costs time")
    assert sort.answer.subject == "sort on tiny"
    assert sort.change.value == pytest.approx(0.49, abs=0.01)
    assert sort.change.low < sort.change.value < sort.change.high
    html = page(plan, records)
    assert (
        '<th class="number">costs</th><th class="number">storage share</th><th class="number">time without a fault</th>'
        in html
    )
    assert "Costs: how much more time than without a fault the slowest fault takes." in html
    assert "worth it" not in html
    assert "not known yet" not in html
    assert {row["verdict"] for one in analysis.decisions for row in placement_values(one)} == {None}


def test_faults_alone_are_compared_with_the_first_of_them():
    other = KILL.model_copy(update={"kill": "nodemanager"})
    records = []
    for repetition in (1, 2, 3, 4):
        records.append(faulty(2 * repetition - 1, repetition, KILL, 30 + 0.1 * repetition, STRUCK))
        records.append(faulty(2 * repetition, repetition, other, 40 + 0.1 * repetition, STRUCK))
    ((_, answer, *_),) = analyse(a_measured_run(a_plan(*(one.trial for one in records)), records)).answers
    against = "costs 33 % more time against fault kill datanode on 2 at map 50%"
    assert answer.headline == f"the fault kill nodemanager on 2 at map 50% {against}"
    assert answer.verdict == "costs time"


def test_failures_wrong_outputs_and_missed_faults_are_counted_beside_the_times(run):
    wrong = faulty(9, 5, KILL, 1, STRUCK, outcome=Outcome.FAIL)
    failed = faulty(10, 6, KILL, 1, STRUCK, status=Status.FAILED, totals=None, error="the job failed")
    missed = faulty(11, 7, KILL, 1, FaultReport())
    every = [*run, wrong, failed, missed]
    section = analyse(a_measured_run(a_plan(*(one.trial for one in every)), every)).sections["faults"]
    (cost,) = section.costs
    assert (cost.trials, cost.struck, cost.failed, cost.wrong) == (7, 6, 1, 1)
    assert cost.seconds == pytest.approx(30.25)
    said = " ".join(section.text().split())
    assert "it struck in 6 of 7 trials" in said
    assert "1 of 6 trials failed by it; 1 of 6 outputs are wrong" in said
    assert "failed: the job failed" in section.html()


def test_a_job_of_several_that_failed_is_no_wrong_output(run):
    failed = CheckResult(check="sort: it came to its end", outcome=Outcome.FAIL, detail="no room", ended=False)
    every = [*run, faulty(9, 5, KILL, 1, STRUCK, verdicts=(failed,))]
    section = analyse(a_measured_run(a_plan(*(one.trial for one in every)), every)).sections["faults"]
    (cost,) = section.costs
    assert (cost.struck, cost.failed, cost.wrong) == (5, 1, 0)
    assert "failed: no room" in section.html()


def test_a_run_without_faults_has_no_such_section(run):
    assert "faults" not in analyse(a_measured_run(a_plan(run[0].trial), run[::2])).sections
