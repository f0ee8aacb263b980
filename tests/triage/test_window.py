"""Proves which runs are on a night's critical chain, what its window loses if they are shorter, and how it is shown."""

import io
import re
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.context import find_installation
from assay.engine.past.made_histories import MadeJob, history
from assay.engine.past.mapreduce import read_job
from assay.triage.drives import drives_by_role
from assay.triage.names import numbered
from assay.triage.ranking import DriveSite, triage
from assay.triage.timeline import MOST_JOBS, window_picture
from assay.triage.views import anonymous, page, sums
from assay.triage.window import LATEST_FOLLOWER_MS, TimedRun, anonymous_window, batch_window, window_words

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
EVENING = int(datetime(2026, 11, 21, 22, tzinfo=UTC).timestamp() * 1000)
GIB = 1 << 30


@pytest.fixture(autouse=True)
def zone(monkeypatch):
    """Clocks show UTC, unless a test has another zone."""

    def use(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    use("UTC")
    yield use
    monkeypatch.undo()
    time.tzset()


def run(job, begins, minutes, bound_min=0.0, likely_min=None, zero=EVENING):
    """A run that begins so many minutes after the evening and takes so many, with what drives save of it."""
    began_ms = zero + round(begins * MINUTE)
    likely_s = None if likely_min is None else 60 * likely_min
    return TimedRun(job, began_ms - 3000, began_ms, began_ms + round(minutes * MINUTE), 60 * bound_min, likely_s)


def night(*runs):
    window = batch_window(runs)
    assert len(window.nights) == 1
    return window.nights[0]


def test_the_chain_leads_from_run_to_run_back_from_the_last_end():
    jobs = [
        run("early", 0, 20),
        run("load", 30, 60),
        run("join", 91, 30),
        run("beside", 40, 40),
        run("report", 123, 10),
    ]
    of_night = night(*jobs)
    assert of_night.chain == ("load", "join", "report")
    assert of_night.chain_began_ms == jobs[1].began_ms
    assert (of_night.length_s, of_night.runs) == (133 * 60, 5)


def test_nights_without_runs_are_nights_of_the_calendar():
    window = batch_window([run("load", 24 * 60 * day, 60) for day in (0, 1, 7)])
    assert (len(window.nights), window.calendar_nights) == (3, 8)
    assert batch_window([run("load", 0, 60)]).calendar_nights == 1


@pytest.mark.parametrize(("pause_min", "chain"), [(4.9, ("first", "second")), (5.1, ("second",))])
def test_what_begins_much_later_begins_a_chain(pause_min, chain):
    assert LATEST_FOLLOWER_MS == 5 * MINUTE
    pause_min += 0.05  # from its submission, which is three seconds before its start
    assert night(run("first", 0, 10), run("second", 10 + pause_min, 10)).chain == chain


def test_what_waited_in_its_queue_until_another_ended_follows_on_that():
    queued = run("queued", 60, 10)._replace(submitted_ms=EVENING + 15 * MINUTE)
    assert night(run("first", 0, 14), run("large", 5, 54), queued).chain == ("large", "queued")
    # Nothing ended while it waited: so it follows on what had ended when it was submitted.
    assert night(run("first", 0, 14), queued).chain == ("first", "queued")
    unknown = queued._replace(submitted_ms=0)
    assert night(run("first", 0, 14), unknown).chain == ("queued",)


def test_of_runs_that_end_together_the_longest_counts():
    assert night(run("short", 5, 5), run("long", 0, 10), run("next", 10, 5), run("beside", 11, 4)).chain == (
        "long", "next",
    )  # fmt: skip
    # Whatever their order, and whichever of them is first in the list.
    assert night(run("next", 10, 5), run("long", 0, 10), run("short", 5, 5)).chain == ("long", "next")


def test_clocks_may_differ_by_seconds_and_no_run_follows_on_itself_or_on_one_that_began_with_it():
    overlapping = run("second", 10, 5)._replace(began_ms=EVENING + 10 * MINUTE - 4000)
    assert night(run("first", 0, 10), overlapping).chain == ("first", "second")
    at_once = [run(name, 0, 0.02) for name in "ab"]
    assert len(night(*at_once).chain) == 1


def test_the_window_loses_what_its_chain_saves_until_another_job_ends_last():
    chain = [run("load", 0, 60, 30), run("join", 61, 60, 10)]
    assert night(*chain).bound_s == 40 * 60
    beside = run("beside", 40, 60, 50)
    assert night(*chain, beside).bound_s == 40 * 60  # off the chain nothing is saved of the time of day
    assert night(*chain, beside).jobs_bound_s == 90 * 60
    stays = run("stays", 40, 70)
    assert night(*chain, stays).bound_s == 11 * 60
    assert night(*chain, stays).chain == ("load", "join")


def test_overlapping_jobs_shift_only_what_follows_on_them():
    jobs = [run("a", 0, 30, 20), run("b", 10, 40, 5), run("after b", 51, 30), run("after a", 31, 45)]
    of_night = night(*jobs)
    assert of_night.chain == ("b", "after b")
    assert of_night.bound_s == 5 * 60


@given(
    st.lists(
        st.tuples(st.integers(0, 600), st.integers(0, 120), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30
    )
)
def test_the_window_loses_no_more_than_its_jobs_and_less_is_likely(drawn):
    runs = [
        run(str(number), begins, minutes, minutes * bound, minutes * bound * likely)
        for number, (begins, minutes, bound, likely) in enumerate(drawn)
    ]
    of_night = night(*runs)
    assert -1e-6 <= of_night.likely_s <= of_night.bound_s + 1e-6
    assert of_night.bound_s <= of_night.jobs_bound_s + 1e-6
    assert of_night.bound_s <= of_night.length_s + 1e-6
    assert of_night.jobs_likely_s <= of_night.jobs_bound_s + 1e-6


def test_what_is_likely_is_known_where_it_is_of_all_runs_with_a_bound():
    known = [run("a", 0, 10, 5, 2), run("b", 11, 10, 0)]
    assert (night(*known).likely_s, night(*known).jobs_likely_s) == (120, 120)
    guessed = [*known, run("c", 22, 10, 3)]
    assert (night(*guessed).likely_s, night(*guessed).jobs_likely_s) == (None, None)
    unknown = run("d", 33, 10)._replace(bound_s=None)
    assert night(*guessed).unknown == 0
    assert night(*guessed, unknown).unknown == 1
    (words,) = window_words(batch_window([*guessed, unknown]), str)
    assert words.endswith(" (all its jobs: 8:00 min), without 1 run on the chain of which nothing is known.")


def test_a_night_is_cut_at_the_quietest_hour_of_the_day():
    runs = [
        run(f"{name}", begins, 100, zero=EVENING + day * DAY)
        for day in range(3) for name, begins in (("load", 0), ("export", 240), ("report", 345))
    ]  # fmt: skip
    window = batch_window(runs)
    assert [of_night.runs for of_night in window.nights] == [3, 3, 3]
    assert {of_night.length_s for of_night in window.nights} == {445 * 60}
    # A short job at midday belongs to the night whose clock has begun; it does not join two nights.
    assert len(batch_window([*runs, run("noon", 14 * 60, 5), run("noon", 14 * 60, 5, zero=EVENING + DAY)]).nights) == 3


def test_of_nights_the_longest_is_shown_and_of_several_the_last():
    runs = [run("a", 0, minutes, zero=EVENING + day * DAY) for day, minutes in enumerate((10, 30, 30, 20))]
    window = batch_window(runs)
    assert window.longest == 2
    assert [of_run.began_ms for of_run in window.runs] == [runs[2].began_ms]


def test_runs_of_one_day_at_most_are_one_window_whenever_they_ran():
    runs = [run(str(hour), 60 * hour, 30) for hour in range(24)]
    assert night(*runs).runs == 24


def test_nights_around_a_change_of_the_clock_are_whole_and_a_job_at_a_fixed_time_is_no_follower(zone):
    """In the night of 25 October 2026 the clock goes from 3:00 back to 2:00: by the sun, 4:30 is an hour later."""
    zone("Europe/Berlin")
    local = [datetime(2026, 10, day, 23).astimezone() for day in (22, 23, 24, 25)]
    runs = []
    for number, evening in enumerate(local):
        zero = round(evening.timestamp() * 1000)
        fixed = round(evening.replace(hour=4, minute=30, day=evening.day + 1).replace(tzinfo=None).timestamp() * 1000)
        load_min = 326 + (60 if number == 2 else 0) + 2 * (number % 3)
        runs += [run("load", 0, load_min, zero=zero), run("fixed", 0, 60, zero=fixed), run("next", 61, 9, zero=fixed)]
    window = batch_window(runs)
    assert [of_night.runs for of_night in window.nights] == [3] * 4
    assert window.longest == 2
    assert window.longest_night.length_s == (330 + 60 + 70) * 60
    assert {of_night.chain for of_night in window.nights} == {("fixed", "next")}


def test_what_varies_with_the_end_of_another_follows_on_it_whatever_the_night():
    minutes = (50, 57, 62, 49, 71)
    runs = [
        part for day, took in enumerate(minutes)
        for part in (run("a", 0, took, zero=EVENING + day * DAY), run("b", took + 1, 10, zero=EVENING + day * DAY))
    ]  # fmt: skip
    assert {of_night.chain for of_night in batch_window(runs).nights} == {("a", "b")}
    by_clock = [part._replace(began_ms=EVENING + day * DAY + 72 * MINUTE) if part.job == "b" else part
                for day, part in ((number // 2, part) for number, part in enumerate(runs))]  # fmt: skip
    by_clock = [part._replace(ended_ms=part.began_ms + 10 * MINUTE) if part.job == "b" else part for part in by_clock]
    assert batch_window(by_clock).nights[-1].chain == ("b",)
    assert batch_window(by_clock[-4:]).nights[-1].chain == ("a", "b")  # two nights tell nothing of clocks


def test_jobs_that_run_each_hour_are_compared_by_their_places_in_the_night():
    runs = [run("hourly", 60 * hour, 20 + day, zero=EVENING + day * DAY) for day in range(4) for hour in range(6)]
    assert {of_night.chain for of_night in batch_window(runs).nights} == {("hourly",)}


def site():
    return DriveSite(drives_by_role("1xhdd", find_installation().profiles))


def made(**changes):
    job = MadeJob(maps=8, reduces=2, slots=4, cpu=0.1, map_ms=20_000, reduce_ms=40_000, read_bytes=4 * GIB,
                  map_output_bytes=4 * GIB, written_bytes=4 * GIB)._replace(**changes)  # fmt: skip
    return read_job(io.BytesIO(history(job)), {})


FIRST = made(name="<load> 2026-11-21")
SECOND = made(name="join 2026-11-21", number=2, submitted_ms=FIRST.finished_ms + 20_000)


def test_a_chain_of_histories_is_in_the_words_the_page_and_json():
    answer = triage([FIRST, SECOND], site(), 0.1, "1 x disk", 0, [])
    words = next(sentence for sentence in sums(answer) if sentence.startswith("Batch window: "))
    assert re.match(r"Batch window: 3:\d\d min \(.* to .*\); critical chain since \d\d:\d\d: <load>, join\. ", words)
    of_night = answer.window.longest_night
    assert of_night.bound_s == pytest.approx(sum(row.bound_s for row in answer.rows))
    assert [of_run.critical for of_run in answer.window.runs] == [True, True]
    html = page(answer)
    assert "<h2>The batch window</h2>" in html.replace(' id="the-batch-window"', "")
    assert "the critical chain is &lt;load&gt;, join" in html
    assert "<load>" not in html
    assert html.count("<g data-levels=") == 2


def test_a_single_run_has_a_window_and_no_words_and_no_picture():
    answer = triage([FIRST], site(), 0.1, "", 0, [])
    assert answer.window.longest_night.chain == ("<load>",)
    assert window_picture(answer.window) is None
    assert not list(window_words(answer.window, str))
    assert "batch window" not in page(answer)


def test_runs_without_an_end_sessions_and_what_runs_for_days_are_no_part_of_it():
    endless = made(name="cut", number=3)._replace(finished_ms=0)
    long = made(name="service", number=4)._replace(finished_ms=FIRST.started_ms + DAY)
    session = made(name="shell", number=5)._replace(finished_ms=FIRST.started_ms + 8 * HOUR, ran_ms=HOUR)
    failed = made(name="failed", number=6, state="FAILED", submitted_ms=SECOND.finished_ms + 9000)
    answer = triage([FIRST, SECOND, endless, long, session, failed], site(), 0.1, "", 0, [])
    window = answer.window
    assert [of_run.job for of_run in window.runs] == ["<load>", "join", "failed"]
    assert (window.left_out, window.runs[-1].bound_s, window.longest_night.unknown) == (2, None, 1)
    assert "Left out everywhere: 2 sessions" in window_picture(window).caption
    assert triage([endless], site(), 0.1, "", 0, []).window is None


def test_no_name_is_left_in_a_window_without_names():
    answer = anonymous(triage([FIRST, SECOND], site(), 0.1, "", 0, []))
    assert sorted(answer.window.longest_night.chain) == ["job 1", "job 2"]
    assert {of_run.job for of_run in answer.window.runs} == {"job 1", "job 2"}
    assert "load" not in window_picture(answer.window).svg
    assert anonymous_window(None, numbered([])) is None


def test_of_many_jobs_the_chain_and_what_could_save_most_are_drawn():
    runs = [run(f"job {number}", number, 5, bound_min=number / 100) for number in range(3 * MOST_JOBS)]
    runs.append(run("last", 3 * MOST_JOBS + 30, 5))
    picture = window_picture(batch_window(runs))
    assert picture.svg.count("<g data-levels=") == MOST_JOBS
    assert f"Jobs of that night that are not drawn: {2 * MOST_JOBS + 1}." in picture.caption
    assert "last: " not in picture.svg
    assert ">last</text>" in picture.svg
    assert ">job 119</text>" in picture.svg
    assert ">job 0</text>" not in picture.svg


def test_bars_are_as_long_as_runs_and_their_ends_as_what_is_saved():
    picture = window_picture(batch_window([run("a", 0, 60, 30, 15), run("b", 61, 59, 0)]))
    widths = [
        float(width) for width in re.findall(r'<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)" height="11"', picture.svg)
    ]
    whole, bound, likely, frame, second, second_frame = widths
    assert bound == pytest.approx(whole / 2, abs=0.11)
    assert likely == pytest.approx(whole / 4, abs=0.11)
    assert frame == whole
    assert second == pytest.approx(whole * 59 / 60, abs=0.11)
    assert second_frame == second
    assert "a\n22:00 to 23:00, 1 h 00 min; saved by drives: at most 30:00 min, probably 15:00 min" in picture.svg


@pytest.mark.parametrize(("name", "clocks"), [("UTC", "22:00"), ("Asia/Kolkata", "03:30")])
def test_times_are_those_of_this_machines_clock(zone, name, clocks):
    zone(name)
    picture = window_picture(batch_window([run("a", 0, 60), run("b", 61, 120)]))
    ticks = re.findall(r">(\d\d:\d\d)</text>", picture.svg)
    assert ticks[0] == clocks
    assert {tick[-1] for tick in ticks} <= {"0", "5"}
