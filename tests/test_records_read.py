"""Tests that the records which the first job read are held against the lines that the store has taken."""

import pytest

from assay.model.doubt import Outcome
from assay.model.progress import Silent
from assay.trial import run_trial
from assay_extras.testing.fake_hadoop import FakeStore
from assay_extras.testing.fakes import FakePlatform, Script, fake_setup
from tests.test_faulty_trial import TRIAL

CHECK = "the first job read each staged line once"


class CountingStore(FakeStore):
    """It has taken nine lines."""

    def taken(self, path):
        return 9 if path == "/fake/input" else None

    def kept(self, path):
        return None


def record_with(store_of, **counters):
    tasks = {"org.apache.hadoop.mapreduce.TaskCounter": counters}
    script = Script(counters=tasks)
    platform = FakePlatform(script, TRIAL)
    platform.store = store_of(script)
    return run_trial(TRIAL, fake_setup(script, TRIAL)._replace(platform=platform), Silent()).record


@pytest.mark.parametrize(("read", "outcome"), [(9, Outcome.PASS), (8, Outcome.FAIL), (10, Outcome.FAIL)])
def test_other_records_than_were_staged_fail_the_trial(read, outcome):
    record = record_with(CountingStore, MAP_INPUT_RECORDS=read)
    (verdict,) = [verdict for verdict in record.verdicts if verdict.check == CHECK]
    assert (verdict.outcome, record.outcome) == (outcome, outcome)
    assert verdict.detail == f"{read} read, 9 staged"


def test_nothing_is_said_where_store_or_job_count_nothing():
    for record in (record_with(FakeStore, MAP_INPUT_RECORDS=9), record_with(CountingStore)):
        assert CHECK not in {verdict.check for verdict in record.verdicts}
