"""Proves that a report has the percentiles of all gets of a combination, and between which bounds those of its trials lie."""

import json

from assay.model.doubt import Outcome
from assay.model.gets import GROUP
from assay.model.record import totals
from assay.model.trial import Placement
from assay.report.gets import _gets
from tests.builders import a_job, a_plan, a_record, a_trial, a_view


def timed(number, placement, counted, **changes):
    trial = a_trial(number, repetition=number, workload="lookup")
    trial = trial.model_copy(update={"placement": Placement.of_roles(placement, {"input": {"disk": 1.0}})})
    job = a_job().model_copy(update={"counters": {GROUP: counted}})
    return a_record(trial, jobs=(job,), totals=totals((job,), ()), **changes)


def section(*records):
    plan = a_plan(*(record.trial for record in records)).model_copy(update={"placements": ("hdd", "ssd")})
    return _gets(a_view(plan, records))


QUICK, SLOW = {"at_most_1000_us": 90, "at_most_20_us": 1}, {"at_most_1259_us": 2, "longer": 9}


def test_gets_of_repetitions_are_put_together_and_their_trials_told_apart():
    wrong = timed(4, "hdd", SLOW, outcome=Outcome.FAIL)
    view = section(timed(1, "ssd", QUICK), timed(2, "hdd", QUICK), timed(3, "hdd", SLOW), wrong)
    shown = {column.title: list(column.cells) for column in view.columns}
    assert shown == {
        "workload": ["lookup", "lookup"],
        "placement": ["hdd", "ssd"],
        "trials": ["2", "1"],
        "gets": ["102", "91"],
        "p50 (ms)": ["0.79 to 1.0", "0.79 to 1.0"],
        "trials' p50 (ms)": ["above 0.79", "0.79 to 1.0"],
        "p99 (ms)": ["above 100,000", "0.79 to 1.0"],
        "trials' p99 (ms)": ["above 0.79", "0.79 to 1.0"],
    }
    of_hdd, _ = json.loads(view.json())
    assert (of_hdd["gets"], of_hdd["p50_s"], of_hdd["p99_s"]) == (102, [794e-6, 1e-3], [100, None])
    assert of_hdd["of_trials"] == {"p50_s": [794e-6, None], "p99_s": [794e-6, None]}
    assert all("0.79 to 1.0" in text for text in (view.html(), view.text(), view.markdown()))
    assert section(a_record(a_trial(1))) is None
