"""Proves that a small SSD gets the jobs that save most, and never more than it holds at any time."""

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
    assert names([Candidate("large", 100, large), Candidate("small", 20, small)], 9 * GB) == ["large"]


def test_jobs_that_never_run_at_once_share_the_room():
    at_once = [Candidate("a", 9, [job_at(0, 2, 6 * GB)]), Candidate("b", 8, [job_at(1, 2, 6 * GB)])]
    after = [at_once[0], Candidate("b", 8, [job_at(2, 2, 6 * GB)])]
    elsewhere = [at_once[0], Candidate("b", 8, [job_at(1, 2, 6 * GB, ("b",))])]
    assert names(at_once) == ["a"]
    assert names(after) == names(elsewhere) == ["a", "b"]


def test_what_does_not_fit_makes_room_for_what_does():
    too_large = Candidate("too large", 900, [job_at(0, 1, GB), job_at(5, 1, 11 * GB)])
    assert names([too_large, Candidate("fits", 1, [job_at(0, 1, 9 * GB)])]) == ["fits"]


def test_what_saves_nothing_gets_none():
    assert names([Candidate("computes", 0.0, [job_at(0, 1, GB)])]) == []


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4), st.integers(1, 9), st.integers(0, 50)), max_size=9),
    st.integers(1, 12),
)
def test_all_that_are_chosen_fit_at_any_time(made, size):
    candidates = [
        Candidate(str(number), saved, [job_at(begins, hours, peak * GB)])
        for number, (begins, hours, peak, saved) in enumerate(made)
    ]
    chosen = few_jobs(candidates, size * GB)
    assert peak_at_once([run for of in chosen for run in of.runs]) <= size * GB
    assert all(of.saved_s > 0 for of in chosen)
