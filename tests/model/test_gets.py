"""Proves that percentiles lie between the bounds of the bucket that has them, also in a scale model's time."""

from collections import Counter

import pytest

from assay.model.gets import GROUP, get_times
from assay.model.record import totals
from assay.model.scale import ScaleReport
from assay.record.model_time import in_model_time
from assay.record.reading import whole_record
from tests.builders import a_job, a_record


def bucket(us):
    """As `org.assay.rows.GetTimes` names it: a time is at most its bucket's bound."""
    bounds = [round(10 ** (1 + at / 10)) for at in range(71)]
    return next((f"at_most_{bound}_us" for bound in bounds if us <= bound), "longer")


@pytest.mark.parametrize(
    ("times_us", "p50_s", "p99_s"),
    [
        ([5], (0, 1e-5), (0, 1e-5)),
        ([10, 10.5], (0, 1e-5), (1e-5, 1.3e-5)),
        ([100] * 50 + [101] * 50, (7.9e-5, 1e-4), (1e-4, 1.26e-4)),
        ([100] * 99 + [5e6], (7.9e-5, 1e-4), (7.9e-5, 1e-4)),
        ([100] * 98 + [5e6] * 2, (7.9e-5, 1e-4), (3.981072, 5.011872)),
        ([1e8] * 2 + [1.1e8], (79.432823, 100), (100, None)),
    ],
)  # fmt: skip
def test_a_percentile_is_the_smallest_bucket_with_as_many_gets_up_to_it(times_us, p50_s, p99_s):
    times = get_times(Counter(map(bucket, times_us)))
    assert times.gets == len(times_us)
    assert times.p50_s == pytest.approx(p50_s)
    assert times.p99_s[0] == pytest.approx(p99_s[0])
    assert times.p99_s[1] == (None if p99_s[1] is None else pytest.approx(p99_s[1]))


def test_jobs_that_time_no_get_have_no_times():
    assert get_times({}) is None
    record = a_record()
    assert record.totals.gets is None
    assert '"gets"' not in record.model_dump_json()


def test_a_scale_models_gets_are_as_much_shorter():
    job = a_job().model_copy(update={"counters": {GROUP: {"at_most_1000_us": 3, "longer": 1}}})
    record = a_record(jobs=(job,), totals=totals((job,), ()), scale=ScaleReport(dilation=10))
    assert record.totals.gets.p50_s == pytest.approx((794e-6, 1e-3))
    model = in_model_time(record)
    assert model.totals.gets.p50_s == pytest.approx((79.4e-6, 1e-4))
    assert model.totals.gets.p99_s == (10.0, None)
    for read in (record, model):
        assert whole_record(read.model_dump_json()).totals == read.totals
