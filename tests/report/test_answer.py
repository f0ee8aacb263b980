"""Proves that an answer says in plain words what the decision holds: costs, savings, verdict, limits, what to repeat."""

from typing import get_args

import pytest

from assay.model.trial import SiteShape
from assay.report.answer import answer_of, blocked_lines, subject_of
from assay.report.caveats import scope_of, scopes_of
from assay.report.terminal import answer_lines
from assay.report.words import percent
from assay.stats.blocked import BlockedShare
from assay.stats.caveats import (
    AssumedParameters,
    Caveat,
    LinksIdle,
    MachineShared,
    NothingCounts,
    NotRepeated,
    NotTheDrives,
    RanElsewhere,
    SlowedDrives,
    TimesApart,
    TimesModelled,
    WrittenLate,
)
from assay.stats.decision import More, Verdict
from tests.report.made_decisions import (
    HDD,
    LEVELS,
    SSD,
    bounded,
    conditions,
    decision,
    estimate,
    not_worth_it,
    placed,
    undecided,
)


def test_the_first_answer_has_the_form_that_the_readme_shows():
    answer = answer_of(decision())
    assert answer.subject == "terasort (size 400MB)"
    assert answer.headline == "the SSD is worth it: 33 % less time than the hard disk"
    assert list(answer_lines(answer, 110)) == [
        "  On the hard disk (WD10EZEX)  45 s  of which storage: 17 s, 37 % (30 to 43 %)",
        "  On the SSD (840 EVO)         30 s  33 % less time: worth it (threshold 10 %; 95 % interval 25 to 40 %)",
        "  With zero storage delay      28 s  the SSD wins back 88 % of what storage costs (70 to 100 %)",
    ]
    assert answer.notes == ("This holds for this job and input within 1400 MiB of memory, page cache included.",)


def test_at_80_columns_words_go_below_and_nothing_is_cut():
    lines = list(answer_lines(answer_of(decision()), 80))
    assert max(map(len, lines)) <= 80
    assert lines[1:3] == [
        "  On the SSD (840 EVO)         30 s",
        "    33 % less time: worth it (threshold 10 %; 95 % interval 25 to 40 %)",
    ]


def test_the_baseline_is_marked_and_never_called_a_drive():
    answer = answer_of(decision())
    assert [line.baseline for line in answer.lines] == [False, False, True]
    assert "No delays" not in " ".join(word for line in answer.lines for word in line[:3])


def test_a_drive_that_is_not_worth_it_is_said_to_save_so_little():
    answer = answer_of(not_worth_it().model_copy(update={"conditions": conditions(busy=0.3)}))
    assert answer.headline == "the SSD is not worth it: at most 5 % less time than the hard disk"
    assert answer.lines[0].words == "no significant storage share (at most 5 %)"
    assert answer.lines[1].words == "1 % less time: not worth it (threshold 10 %; 95 % interval 4 % more to 5 % less)"
    assert answer.lines[2].words == "no drive could save more than 5 % of the time on the hard disk"
    note, _ = answer.notes
    assert note == (
        "Do not generalise from this run: the hard disk was busy for only 30 % of the jobs' time (at least 50 % is needed). This "
        "job uses its storage little."
    )


HARDLY_USED = "storage was hardly used in this run: it says nothing about larger data or longer jobs"


def test_drives_that_were_hardly_used_answer_nothing_about_larger_data():
    for changes in ({"busy": 0.04}, {"read": 0.29}):
        unmet = {"conditions": conditions(**changes)}
        assert answer_of(not_worth_it().model_copy(update=unmet)).headline == HARDLY_USED
        assert answer_of(undecided().model_copy(update=unmet)).headline == HARDLY_USED
        assert answer_of(decision(**unmet)).headline.startswith("the SSD is worth it")
    used = {"conditions": conditions(busy=0.06, read=0.31)}
    assert answer_of(not_worth_it().model_copy(update=used)).headline.startswith("the SSD is not worth it")
    assert answer_of(bounded(busy_s=0.2)).headline == HARDLY_USED
    reached = bounded(busy_s=0.2).model_copy(update={"reached_drives": True})
    assert answer_of(reached).headline == "no faster drive is worth it: storage is less than 10 % of the time"
    cached = not_worth_it().model_copy(update={"conditions": conditions(read=0.29), "reached_drives": True})
    assert answer_of(cached).headline == HARDLY_USED
    assert answer_of(bounded(busy_s=0.2, verdict=Verdict.NOT_KNOWN_YET)).headline != HARDLY_USED


def test_drives_that_were_hardly_used_at_the_ratio_of_a_site_bound_what_any_drive_could_save_there():
    shape = SiteShape(ratio=2.9, drives=12, read_bytes=12_000_000_000, shared=True)
    unmet = not_worth_it().model_copy(update={"conditions": conditions(busy=0.04), "stands_for": shape})
    answer = answer_of(unmet)
    assert answer.headline.startswith("the hard disk was busy for 1.8 of 45.0 s, so no drive can save more than about")
    assert any("Your nodes have 12 of today" in words and "--sample 1000MB" in words for words in answer.caveats)
    assert any("the input is 2.9 times as large as the memory" in words for words in answer.details)
    assert not any("Do not generalise" in words for words in answer.notes)
    cached = unmet.model_copy(update={"conditions": conditions(read=0.2, busy=0.6)})
    assert answer_of(cached).headline.startswith("the SSD is not worth it")


def test_what_is_open_says_how_many_repetitions_and_minutes_would_decide_it():
    answer = answer_of(undecided())
    assert answer.headline == "not known yet whether the SSD saves 10 % of the time on the hard disk"
    (note, _) = answer.notes
    assert note == (
        "About 3 more repetitions (6 min) would decide whether the SSD saves 10 % of the time on the hard disk, if the "
        "times vary as they did so far."
    )
    assert "More than 200 repetitions" in answer_of(undecided(repetitions=0)).notes[0]
    among = undecided().model_copy(update={"corrected": 20})
    assert "of the time on the hard disk, corrected for 20 verdicts, if" in answer_of(among).notes[0]


def test_without_a_baseline_the_busy_time_bounds_what_a_drive_could_save():
    answer = answer_of(bounded())
    assert answer.headline == "no faster drive is worth it: storage is less than 10 % of the time"
    assert answer.lines[0].where == "On this machine's disk"
    (note, _) = answer.notes
    assert note == (
        "This machine's disk was busy for 4.0 of 73.0 s according to its counters; 1.5 times that, 6.0 s, is the most "
        "that another drive can save."
    )
    open_ = answer_of(bounded(busy_s=40.0, verdict=Verdict.NOT_KNOWN_YET))
    assert open_.headline == "a faster drive could save at most 82 % of the time on this machine's disk"


BLOCKED = BlockedShare(
    share=0.34, low=0.3, high=0.38, seconds=15.3, phases={"map": 12.0, "shuffle": 0.01, "outside": 3.3}, measured=True
)


def test_without_a_baseline_blocked_time_answers_what_storage_costs():
    words = [line.words for line in answer_of(decision(placed(blocked=BLOCKED), baseline=None)).lines]
    assert words == ["tasks and servers blocked on storage for about 15.3 s, 34 % (30 to 38 %), an estimate"]
    pressure = BLOCKED.model_copy(update={"measured": False, "low": None, "high": None})
    words = [line.words for line in answer_of(decision(placed(blocked=pressure), baseline=None)).lines]
    assert words == ["tasks and servers blocked on storage for at least 15.3 s, 34 %, an estimate"]


def test_hardly_any_blocked_time_is_one_bound():
    little = BLOCKED.model_copy(update={"share": 0.0004, "low": 0.0, "high": 0.003, "seconds": 0.02})
    words = answer_of(decision(placed(blocked=little), baseline=None)).lines[0].words
    assert words == "tasks and servers blocked on storage for under 1 % of the time, an estimate"


def test_blocked_time_is_too_low_where_a_drive_surely_saves_more():
    base, saving = placed(blocked=BLOCKED), estimate(0.51, 0.44, 0.57)
    faster = placed("ssd", "SSD", "840 EVO", 22.0, saving=saving, verdict=Verdict.WORTH_IT)
    too_low = "an estimate, too low: ssd saves 51 %, which is more"
    assert answer_of(decision(base, faster, baseline=None)).lines[0].words.endswith(too_low)
    may_save_less = faster.model_copy(update={"saving": estimate(0.4, 0.37, 0.43)})
    of_another_cause = (NotTheDrives(of=("ssd",), busy_s=1.0),)
    for others in (
        decision(base, may_save_less, baseline=None),
        decision(base, faster, baseline=None, factor="store"),
        decision(base, faster, baseline=None, caveats=of_another_cause),
    ):
        assert answer_of(others).lines[0].words.endswith("(30 to 38 %), an estimate")


@pytest.mark.parametrize(
    ("saving", "words"),
    [
        (estimate(0.08, 0.02, 0.14), "8 % less time: not worth it (threshold 10 %; 95 % interval 2 to 14 %)"),
        (estimate(0.08, -0.05, 0.19), "8 % less time: not worth it (threshold 10 %; 95 % interval 5 % more to 19 % less)"),
        (estimate(-0.04, -0.2, 0.09), "4 % more time: not worth it (threshold 10 %; 95 % interval 9 % less to 20 % more)"),
        (estimate(-2.14, -2.84, -1.56), "214 % more time: not worth it (threshold 10 %; 95 % interval 156 to 284 %)"),
        (estimate(0.04, -0.001, 0.09), "4 % less time: not worth it (threshold 10 %; 95 % interval 0 to 9 %)"),
    ],
)  # fmt: skip
def test_the_interval_reads_as_the_words_before_it(saving, words):
    other = placed("ssd", saving=saving, verdict=Verdict.NOT_WORTH_IT)
    assert answer_of(decision(placed(), other, baseline=None)).lines[1].words == words


def test_beside_the_interval_with_borrowed_noise_stands_that_of_the_run_alone():
    saving = SSD.saving.model_copy(update={"own_low": -0.12, "own_high": 0.6})
    words = answer_of(decision(HDD, SSD.model_copy(update={"saving": saving}))).lines[1].words
    assert words.endswith("95 % interval 25 to 40 %, by this run alone 12 % more to 60 % less)")
    same = SSD.saving.model_copy(update={"own_low": SSD.saving.low, "own_high": SSD.saving.high})
    words = answer_of(decision(HDD, SSD.model_copy(update={"saving": same}))).lines[1].words
    assert words.endswith("95 % interval 25 to 40 %)")


def test_beside_a_baseline_blocked_time_is_a_detail_below_the_answer():
    hdd = HDD.model_copy(update={"blocked": BLOCKED})
    assert "blocked" not in str(answer_of(decision(hdd, SSD)).lines)
    assert list(blocked_lines(decision(hdd, SSD))) == [
        "hdd: 15.3 s, 34 % (30 to 38 %); 12.0 s in map, 3.3 s in no task."
    ]


def test_a_bound_below_the_threshold_answers_where_placements_are_compared_too():
    one = decision(
        placed(seconds=24.9), placed("tape", seconds=24.0, saving=estimate(0.04, -0.1, 0.2)), baseline=None,
        verdict=Verdict.NOT_WORTH_IT, busy_bound_s=1.5, conditions=(),
    )  # fmt: skip
    assert answer_of(one).headline == "no faster drive is worth it: storage is less than 10 % of the time"


@pytest.mark.parametrize(("high", "says_why"), [(0.2, True), (0.09, False)])
def test_where_a_verdict_rests_on_the_bound_it_replaces_an_interval_that_contains_the_threshold(high, says_why):
    tape = placed("tape", seconds=28.4, saving=estimate(0.02, -0.1, high), verdict=Verdict.NOT_WORTH_IT, most_s=0.5)
    base = placed(seconds=29.0)
    small = decision(base, tape, baseline=None, verdict=Verdict.NOT_WORTH_IT, busy_bound_s=0.5, conditions=())
    why = (
        "2 % less time: not worth it (threshold 10 %): hdd was busy for 0.5 of 29.0 s; 1.5 times that is 3 %, the most "
        "that another can save"
    )
    interval = "2 % less time: not worth it (threshold 10 %; 95 % interval 10 % more to 9 % less)"
    known = [line.words for line in answer_of(small).lines]
    assert known[1] == (why if says_why else interval)
    unbounded = decision(
        base, tape.model_copy(update={"most_s": 20.0}), baseline=None, busy_bound_s=20.0, conditions=()
    )
    assert "was busy" not in answer_of(unbounded).lines[1].words


def test_a_baseline_slower_than_the_drives_is_no_limit():
    base = HDD.model_copy(update={"storage_s": estimate(-10, -20, 8), "storage_share": estimate(-0.17, -0.5, 0.19)})
    ssd = SSD.model_copy(update={"won_back": None})
    answer = answer_of(decision(base, ssd, baseline=placed("zero-delay", "SSD", "", 69.0)))
    assert answer.lines[2].words == "slower than the hard disk: noise, so this is no limit"


def test_a_drive_that_is_faster_than_no_delay_is_a_caveat():
    caveats = answer_of(decision(HDD, SSD, baseline=placed("zero-delay", "SSD", "", 40.0))).caveats
    assert any("No drive can be faster than without delay, so this is noise" in caveat for caveat in caveats)
    near = answer_of(decision(HDD, SSD, baseline=placed("zero-delay", "SSD", "", SSD.elapsed_s.value + 0.5))).caveats
    assert not any("No drive can be faster" in caveat for caveat in near)


def test_on_a_shared_machine_other_programs_are_the_reason_for_an_idle_drive():
    shared = (MachineShared(trials=1),)
    (note, _) = answer_of(decision(conditions=conditions(busy=0.3), caveats=shared)).notes
    assert note.endswith("Other programs slowed 1 trial down (doubt `machine-shared`).")


def test_where_nothing_was_measured_that_is_said():
    alone = placed("existing", "existing", "", 73.0)
    answer = answer_of(decision(alone, baseline=None, verdict=Verdict.NOT_KNOWN_YET, conditions=()))
    assert answer.headline == "only the cluster's own storage ran: there is nothing to compare it with"
    assert answer.lines[0].words == "what storage costs was not measured"


def test_two_placements_of_one_kind_go_by_their_own_names():
    other = SSD.model_copy(update={"placement": "evo", "drives": "870 EVO", "won_back": estimate(1.1)})
    answer = answer_of(decision(HDD, SSD, other))
    assert [line.where for line in answer.lines[:3]] == [
        "On the hard disk (WD10EZEX)",
        "On ssd (840 EVO)",
        "On evo (870 EVO)",
    ]
    assert answer.lines[3].words == (
        "ssd wins back 88 % of what storage costs (70 to 100 %); evo wins back all of what storage costs (110 to 100 %)"
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"read": 0.3}, "only 30 % of what the jobs read came from the hard disk (at least 60 % is needed)"),
        ({"written": 0.5}, "only 50 % of what was written to the hard disk was on it when the jobs ended"),
        ({"read": None}, "an unknown share"),
    ],
)
def test_a_condition_that_is_not_met_is_named_with_its_figure(changes, words):
    note, _ = answer_of(decision(conditions=conditions(**changes))).notes
    assert words in note
    assert note.startswith("Do not generalise from this run: ")


def test_a_subject_names_workload_data_set_and_what_differs_between_decisions():
    levels = {**LEVELS, "workload": "triangles", "options": "", "dataset": "brightkite-like"}
    one, other = (decision(levels={**levels, "settings": name}) for name in ("small", "customs"))
    assert subject_of(one) == "triangles on brightkite-like"
    assert subject_of(other, [one, other]) == "triangles on brightkite-like, settings customs"


def test_options_are_listed_as_people_write_them():
    levels = {**LEVELS, "options": "arguments=-a b points=1000000 size=400MB"}
    assert subject_of(decision(levels=levels)) == "terasort (arguments -a b, points 1,000,000, size 400MB)"


def test_of_paths_a_subject_has_the_last_name():
    levels = {
        **LEVELS,
        "workload": "own",
        "options": "arguments={input} /x input=/data/my logs jar=/a/b.jar size=/",
    }
    assert subject_of(decision(levels=levels)) == "own (arguments {input} /x, input my logs, jar b.jar, size /)"


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("arguments={input} {output} jar=/a/night-sort.jar", "night-sort"),
        ("arguments={input} {output} jar=/a/flow.py", "flow"),
        ("class=org.site.etl.Sessions jar=/a/etl.jar", "Sessions"),
        ("class=org.site.etl.Sessions jar=/a/etl.jar name=etl of the night", "etl of the night"),
    ],
)
def test_a_users_own_job_is_called_by_its_name_class_or_file_and_not_by_its_options(options, name):
    own = decision(levels={**LEVELS, "workload": "command", "options": options})
    assert subject_of(own) == name
    other = decision(levels={**own.levels, "options": f"{options} input=/other"})
    assert subject_of(own, [own, other]).startswith(f"{name} ("), "two of one name are told apart"


def test_shares_are_rounded_to_what_can_be_used():
    assert [percent(share) for share in (0.333, 0.004, 0.0, -0.02)] == ["33 %", "under 1 %", "0 %", "-2 %"]


def test_a_placement_on_several_kinds_of_media_goes_by_its_name_alone():
    mixed = SSD.model_copy(update={"placement": "intermediate-on-ssd", "kind": "", "drives": "WD10EZEX, 840 EVO"})
    assert answer_of(decision(HDD, mixed)).lines[1].where == "On intermediate-on-ssd"


@pytest.mark.parametrize(
    ("nodes", "memory", "cache", "words"),
    [
        (1, "1040MiB", "all", "on one node within 1040 MiB of memory, page cache included."),
        (1, "1040MiB", "96MiB", "on one node within 1040 MiB of memory, of which 96 MiB page cache."),
        (12, "all", "64MiB", "on 12 nodes with 64 MiB of page cache."),
        (12, "all", "all", "on 12 nodes."),
    ],
)
def test_the_last_note_says_what_the_answer_holds_for(nodes, memory, cache, words):
    one = decision(levels={**LEVELS, "memory": memory, "page_cache": cache}, nodes=nodes)
    assert answer_of(one).notes[-1] == f"This holds for this job and input {words}"


def test_answers_about_several_jobs_hold_for_all_of_them():
    sort, count = (decision(levels={**LEVELS, "workload": name}) for name in ("terasort", "word-count"))
    assert scopes_of([sort, sort]) == [scope_of(sort)]
    assert scopes_of([sort, count])[0].startswith("This holds for these jobs and inputs within 1400 MiB")


def test_an_answer_says_how_many_parameters_of_its_emulated_drives_are_assumed():
    caveats = (
        AssumedParameters(profile="intel-s4500-960gb", assumed=11, parameters=18),
        AssumedParameters(profile="wd10ezex", assumed=14, parameters=19),
    )
    counts = "11 of 18 parameters of intel-s4500-960gb and 14 of 19 parameters of wd10ezex"
    assert answer_of(decision(caveats=caveats)).notes[-1] == (
        f"The drives are emulated. {counts} are assumptions, neither published nor measured; the intervals do not account "
        "for errors in them."
    )


TOLD = {
    NothingCounts(of=("tape", "disk")): "No trial on tape, disk counts: ",
    NotTheDrives(
        of=("ssd",), busy_s=0.2
    ): "The difference on ssd cannot come from the drives, which were busy for 0.2 s",
    WrittenLate(of=("ssd",), trials=3, share=0.02): (
        "It is open whether ssd is worth it, whatever the times say: in 3 trials as little as 2 % of what the jobs wrote "
        "was on the drives when they ended"
    ),
    TimesApart(trials=("0007-sort-ssd",)): "In 0007-sort-ssd the jobs' own times contradict",
    RanElsewhere(of=("tape",)): "The trials on tape ran on another machine, system or medium",
    TimesModelled(times_slower=4): "These times are modelled: ",
    LinksIdle(): "No link had packets waiting",
    AssumedParameters(
        profile="wd10ezex", assumed=14, parameters=19
    ): "The drives are emulated. 14 of 19 parameters of ",
    SlowedDrives(times_slower=8): "The drives are 8 times slower than those they are named after",
    SlowedDrives(times_slower=6, alike=False): "The drives are up to 6 times slower than those they are named after",
}
BETWEEN_THE_LINES = {NotRepeated, MachineShared}
"""These change what is said of others; what is open says the first, a drive that was hardly busy the second."""


@pytest.mark.parametrize(("caveat", "words"), TOLD.items())
def test_each_caveat_is_a_note_where_it_holds_and_nowhere_else(caveat, words):
    assert [note for note in answer_of(decision(caveats=(caveat,))).notes if note.startswith(words)]
    assert not [note for note in answer_of(decision()).notes if note.startswith(words)]


def test_no_kind_of_caveat_goes_unsaid():
    assert {*map(type, TOLD), *BETWEEN_THE_LINES} == set(get_args(get_args(Caveat)[0]))


@pytest.mark.parametrize("saving", [estimate(0.45), estimate(0.33, -0.4, 0.9)])
def test_a_saving_that_busy_time_can_not_explain_is_open_for_that_reason(saving):
    ssd = placed("ssd", seconds=40.0, saving=saving, verdict=Verdict.NOT_KNOWN_YET, most_s=4.0)
    answer = answer_of(decision(placed(seconds=73.0), ssd, baseline=None, verdict=Verdict.NOT_KNOWN_YET,
                                busy_bound_s=4.0, conditions=()))  # fmt: skip
    assert "hdd was busy for 4.0 of 73.0 s, too little for such a saving" in answer.lines[1].words
    assert not any("can save" in note for note in answer.notes)


def test_what_jobs_ended_before_is_the_reason_and_repetitions_no_cure():
    ssd = SSD.model_copy(update={"verdict": Verdict.NOT_KNOWN_YET})
    late = WrittenLate(of=("ssd",), trials=2, share=0.05)
    open_ = decision(
        placed(), ssd, verdict=Verdict.NOT_KNOWN_YET, caveats=(late,), more=More(repetitions=9, seconds=90.0)
    )
    answer = answer_of(open_)
    reason = "much of what the jobs wrote was not on the drives when they ended"
    assert answer.headline == f"not known yet whether the SSD is worth it: {reason}"
    assert reason in answer.lines[1].words
    assert not any("would decide" in note for note in answer.notes)
    assert open_.open_levels == []


def test_what_reached_the_drives_within_the_job_stands_below_the_answer():
    shares = (placed(written_share=0.973), SSD.model_copy(update={"written_share": 0.9}))
    words = (
        "Share of the jobs' writes that was on the drives when the jobs ended: 97 % on the hard disk, 90 % on the SSD."
    )
    assert words in answer_of(decision(*shares)).details
    assert not any("on the drives" in note for note in answer_of(decision()).notes)


def test_times_that_contradict_each_other_are_the_reason_and_repetitions_no_cure():
    ssd = SSD.model_copy(update={"verdict": Verdict.NOT_KNOWN_YET})
    apart = (TimesApart(trials=("0007-sort-ssd",)),)
    answer = answer_of(decision(HDD, ssd, verdict=Verdict.NOT_KNOWN_YET, caveats=apart))
    assert "times contradict each other" in answer.headline
    assert "some trials' times contradict each other" in answer.lines[1].words
    assert not any("would decide" in note or "More than 200" in note for note in answer.notes)
    alone = answer_of(decision(HDD, verdict=Verdict.NOT_KNOWN_YET, caveats=apart))
    assert "times contradict each other" in alone.headline


def test_what_is_open_without_repetitions_asks_for_some():
    (note, _) = answer_of(undecided(repetitions=0).model_copy(update={"caveats": (NotRepeated(),)})).notes
    assert note == "Without repetitions it is not known how much equal trials differ: repeat the experiment."


def test_a_difference_that_no_drive_can_have_made_is_called_that():
    apart = NotTheDrives(of=("ssd",), busy_s=0.2)
    ssd = SSD.model_copy(update={"verdict": Verdict.NOT_KNOWN_YET})
    one = decision(HDD, ssd, verdict=Verdict.NOT_KNOWN_YET, caveats=(apart,))
    answer = answer_of(one)
    assert answer.headline == "this difference cannot come from the drives (busy for 0.2 s); repeat"
    assert answer.lines[1].words == "33 % less time, but not because of the drives"
    assert answer.caveats[0].startswith("The difference on ssd cannot come from the drives")
    assert "on an idle machine, or with larger data" in answer.caveats[0]
    assert not any("repetitions" in note for note in answer.notes), "repetitions would show the same difference"
    nvme = SSD.model_copy(update={"placement": "nvme", "verdict": Verdict.NOT_KNOWN_YET})
    more = More(repetitions=3, seconds=380)
    both = decision(HDD, ssd, nvme, verdict=Verdict.NOT_KNOWN_YET, caveats=(apart,), more=more)
    assert any(
        "would decide whether nvme saves 10 % of the time on the hard disk, if" in note
        for note in answer_of(both).notes
    )
