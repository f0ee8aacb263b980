"""Proves that a small SSD gets the jobs that save most, and never more than it holds at any time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.advise.few_jobs import Candidate, few_jobs
from assay.advise.sizes import peak_at_once
from tests.advise.test_advice import GB, job_at


def names(candidates, size=10 * GB):
    return [of.job for of in few_jobs(candidates, size)]


def test_jobs_are_taken_by_saved_time_for_each_byte_of_their_peaks():
    small, large = [job_at(0, 1, 2 * GB)], [job_at(0, 1, 8 * GB)]
    assert names([Candidate("large", 100, large), Candidate("small", 90, small)]) == ["small", "large"]
    assert names([Candidate("large", 100, large), Candidate("small", 40, small)], 9 * GB) == ["large"]


def test_jobs_that_never_run_at_once_share_the_room():
    at_once = [Candidate("a", 90, [job_at(0, 2, 6 * GB)]), Candidate("b", 80, [job_at(1, 2, 6 * GB)])]
    after = [at_once[0], Candidate("b", 80, [job_at(2, 2, 6 * GB)])]
    elsewhere = [at_once[0], Candidate("b", 80, [job_at(1, 2, 6 * GB, ("b",))])]
    assert names(at_once) == ["a"]
    assert names(after) == names(elsewhere) == ["a", "b"]


def test_what_does_not_fit_makes_room_for_what_does():
    too_large = Candidate("too large", 900, [job_at(0, 1, GB), job_at(5, 1, 11 * GB)])
    assert names([too_large, Candidate("fits", 100, [job_at(0, 1, 9 * GB)])]) == ["fits"]


@pytest.mark.parametrize("saved_s", [0.0, 35.0])
def test_what_saves_less_than_a_hundredth_of_its_hour_gets_none(saved_s):
    assert names([Candidate("computes", saved_s, [job_at(0, 1, GB)])]) == []
    assert names([Candidate("gains", 37.0, [job_at(0, 1, GB)])]) == ["gains"]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4), st.integers(1, 9), st.integers(0, 500)), max_size=9),
    st.integers(1, 12),
)
def test_all_that_are_chosen_fit_at_any_time(made, size):
    candidates = [
        Candidate(str(number), saved, [job_at(begins, hours, peak * GB)])
        for number, (begins, hours, peak, saved) in enumerate(made)
    ]
    chosen = few_jobs(candidates, size * GB)
    assert peak_at_once([run for of in chosen for run in of.runs]) <= size * GB
    assert all(of.gains for of in chosen)
