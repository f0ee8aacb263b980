"""Proves that what advice had foretold stands beside what was seen, and that other files, and other jobs, are refused."""

import json

import pytest

from assay.advise.advice import ADVICE_VERSION, Advice, DirectedJobs, Payback
from assay.advise.alternatives import LOCAL_ON_SSD, ONE_MORE_DISK
from assay.advise.foretold import Within, foretold, foretold_lines, read_advice
from assay.advise.saving import JobSaving
from assay.advise.sizes import Sizes
from assay.model.errors import BadInputError
from assay.stats.before_after import ChangeVerdict
from assay.stats.noise import ConfidenceInterval
from assay.triage.changed import Change, HistoriesChange, JobChange
from tests.advise.test_advice import row


def saving(job, likely, low, high):
    """Shares of ten hours a month."""
    return JobSaving(
        job=job, runs=30, hours=10, likely_hours=None if likely is None else 10 * likely, low_hours=10 * low,
        high_hours=10 * high, most_hours=9,
    )  # fmt: skip


def advice(*jobs, **more):
    rows = (row("cheap", 0), row("ssd", 1000, 5, Payback.PAYS, jobs=jobs, kinds=(LOCAL_ON_SSD,)))
    return Advice(**{
        "first": 1, "alternatives": rows, "nodes": 2, "nights": 7, "month_hours": 30, "uncounted_hours": 0,
        "night_unknown": 0, "worth": 0.1, "no_gain": {}, "assumed": (), "move": None,
        "sizes": Sizes(
            peak_bytes=1, needed_bytes=1, has_bytes=1, written_a_day_bytes=0, writes_a_day=1, years=None
        ),
        "directed": DirectedJobs(ssd_bytes=1, peak_bytes=0, jobs=()), **more,
    })  # fmt: skip


def seen(job, saved, low, high, *, control=False, seconds=100.0):
    change = Change(
        ratio=1 - saved, interval=ConfidenceInterval(low=1 - high, high=1 - low), verdict=ChangeVerdict.HELPED
    )
    return JobChange(
        job=job, control=control, runs_before=7, runs_after=7, seconds=seconds, input_ratio=1.0, plain_ratio=1 - saved,
        change=change, stages={},
    )  # fmt: skip


def change_of(*jobs):
    return HistoriesChange(
        changed_ms=0, nights_before=7, nights_after=7, worth=0.1, total=None, batch=None, batch_s=0.0, drift=None,
        unseen=0.0, jobs=jobs, remarks=(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("saved", "low", "high", "within"),
    [
        (0.25, 0.1, 0.6, Within.YES), (0.05, 0.0, 0.1, Within.NO), (0.5, 0.45, 0.55, Within.NO),
        (0.45, 0.3, 0.6, Within.NOT_KNOWN),
    ],
)  # fmt: skip
def test_what_was_seen_lies_within_the_interval_or_not_or_nobody_knows(saved, low, high, within):
    told = foretold(advice(saving("sort", 0.3, 0.2, 0.4)), None, change_of(seen("sort", saved, low, high)))
    (job,) = told.jobs
    assert job.within is within
    assert (job.likely, job.low, job.high) == pytest.approx((0.3, 0.2, 0.4))
    assert (job.seen, job.seen_low, job.seen_high) == pytest.approx((saved, low, high))


def test_sums_are_of_the_time_of_jobs_that_are_in_both():
    told = foretold(
        advice(saving("sort", 0.3, 0.2, 0.4), saving("join", None, 0, 0.9), saving("renamed", 0.5, 0.4, 0.6),
               saving("train", 0.01, 0.0, 0.02)), None,
        change_of(
            seen("sort", 0.2, 0.1, 0.3), seen("join", 0.1, 0.0, 0.2, seconds=300.0), seen("new", 0.1, 0.0, 0.2),
            seen("train", 0.0, 0.0, 0.0, control=True),
        ),
    )  # fmt: skip
    assert told.alternative == "ssd"
    sums = (told.seconds, told.likely_s, told.low_s, told.high_s, told.seen_s)
    assert sums == pytest.approx((400, 30, 20, 40 + 270, 20 + 30))
    assert told.within is Within.YES
    assert told.remarks == (
        "not compared, though a saving was foretold: 1 job (renamed)",
        "compared, though nothing was foretold: 1 job (new)",
    )
    text = " ".join(" ".join(foretold_lines(told, 100, None)).split())
    assert "30 s less a night, 8 % of 2 jobs' time (5 % to 78 %). Seen: 12 %, within the interval." in text
    assert "join - 0 to 90 % 10 % 0 to 20 % yes" in text


def test_a_saving_that_was_good_for_an_order_alone_is_no_forecast():
    jobs = (saving("sort", 0.3, 0.0, 0.9),)
    guess = row("ssd", 1000, 3, jobs=jobs, kinds=(LOCAL_ON_SSD,), unknown="nobody measured it")
    told = foretold(advice(alternatives=(guess,), first=0), None, change_of(seen("sort", 0.2, 0.1, 0.3)))
    said = "what was foretold is good for an order alone (?), since nobody measured it: only its intervals count"
    assert told.remarks == (said,)


def test_another_alternative_is_named_by_its_name_or_kind():
    jobs = (saving("sort", 0.3, 0.2, 0.4),)
    alternatives = (row("one", kinds=(ONE_MORE_DISK,), jobs=jobs), row("two", 1000, 5))
    named = advice(first=None, alternatives=alternatives)
    for done in ("one", ONE_MORE_DISK):
        assert foretold(named, done, change_of(seen("sort", 0.2, 0.1, 0.3))).alternative == "one"
    with pytest.raises(BadInputError, match="--done 'thre' is no alternative of --advised; "):
        foretold(named, "thre", change_of())
    with pytest.raises(BadInputError, match="--advised advises no change; say with --done"):
        foretold(named, None, change_of())


@pytest.mark.parametrize(
    ("first", "done", "said"), [(0, None, "what --advised has first, cheap,"), (1, "cheap", "--done 'cheap'")]
)
def test_what_changes_no_drives_is_refused(first, done, said):
    with pytest.raises(BadInputError, match=f"{said} changes no drives: .* were put in: {LOCAL_ON_SSD}"):
        foretold(advice(saving("sort", 0.3, 0.2, 0.4), first=first), done, change_of(seen("sort", 0.2, 0.1, 0.3)))


@pytest.mark.parametrize(
    ("low", "high", "within", "said"),
    [
        (0.45, 0.55, Within.NO, "outside the interval."),
        (0.35, 0.65, Within.NOT_KNOWN, "outside the interval, into which its own reaches: not known"),
    ],
)
def test_of_all_jobs_a_saving_is_outside_where_its_own_interval_is(low, high, within, said):
    told = foretold(advice(saving("sort", 0.3, 0.2, 0.4)), None, change_of(seen("sort", 0.5, low, high)))
    assert told.within is within
    assert said in " ".join(" ".join(foretold_lines(told, 100, None)).split())


def test_jobs_that_do_not_occur_are_refused():
    with pytest.raises(
        BadInputError, match=r"none of the jobs of which --advised foretells a saving by ssd .*\(sort\)"
    ):
        foretold(advice(saving("sort", 0.3, 0.2, 0.4)), None, change_of(seen("join", 0.2, 0.1, 0.3)))


def test_what_was_written_is_read_again(tmp_path):
    file = tmp_path / "advice.json"
    written = advice(saving("sort", 0.3, 0.2, 0.4))
    file.write_text(written.model_dump_json(indent=1))
    assert read_advice(file) == written


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: "no JSON", "is no advice; write it with"),
        (lambda _: "[1]", "is no advice"),
        (lambda _: '{"summary": 1}', "is no advice"),
        (lambda whole: json.dumps(whole | {"version": ADVICE_VERSION + 1}), r"has version 3 of advice, this Assay reads 2"),
        (lambda whole: json.dumps({name: of for name, of in whole.items() if name != "nights"}), "as its nights shows"),
    ],
)  # fmt: skip
def test_other_files_are_refused_in_a_sentence(tmp_path, change, message):
    file = tmp_path / "advice.json"
    file.write_text(change(json.loads(advice().model_dump_json())))
    with pytest.raises(BadInputError, match=message):
        read_advice(file)
