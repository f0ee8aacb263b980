"""Proves that a report says what to do next and how long that takes, and that its commands name what the run kept."""

import pytest

from assay.model.record import Status
from assay.model.trial import MediumSpec, SiteShape
from assay.report.analysis import RunData, analyse, read_run
from assay.report.markdown import markdown
from assay.report.next_steps import next_steps
from assay.report.page import run_page
from assay.stats.caveats import MachineShared, NotRepeated, NotTheDrives
from assay.stats.decision import Verdict
from tests.builders import a_measured_run, a_plan, a_record, a_trial
from tests.report.made_decisions import bounded, conditions, decision, not_worth_it, undecided
from tests.report.made_runs import made_run, made_trials, write_run

WORKLOADS = ("triangles", "mutual-friends", "components")


def steps_of(*decisions, **plan):
    return next_steps(RunData(a_measured_run(a_plan().model_copy(update=plan), []), [], []), decisions)


def test_what_is_open_is_repeated_and_its_time_is_said_with_a_margin():
    (step,) = steps_of(undecided(seconds=380))
    assert (
        step.words
        == "To decide whether the SSD saves 10 % of the time on the hard disk, repeat the experiment for about 6 min"
    )
    assert step.command.endswith("--resume --for 8min")
    (step,) = steps_of(undecided(seconds=380), decision(), undecided(seconds=40))
    assert step.words == "To decide the 2 that are open, repeat the experiment for about 7 min"


def test_without_repetitions_no_time_to_a_verdict_is_promised():
    alone = undecided(seconds=380, repetitions=2)
    (step,) = steps_of(alone.model_copy(update={"caveats": (NotRepeated(),)}))
    assert step.words.endswith("first repeat the experiment once (about 3 min): then it can be estimated how often")
    assert step.command.endswith("--for 4min")


def test_repeating_keeps_the_levels_that_were_chosen_and_no_other_option():
    options = ("--only", "cache=cold", "--for", "120s", "--sensitivity")
    (step,) = steps_of(undecided(seconds=380), options=options)
    assert step.command.endswith("--resume --only cache=cold --for 8min")


def test_on_a_shared_machine_other_programs_are_closed_first():
    (step,) = steps_of(undecided().model_copy(update={"caveats": (MachineShared(trials=2),)}))
    aim = "To decide whether the SSD saves 10 % of the time on the hard disk"
    assert step.words.startswith(f"{aim}, close other programs, and repeat the experiment for about")


def test_what_can_not_be_decided_by_repeating_is_not_repeated():
    (step,) = steps_of(undecided(repetitions=0))
    assert "--resume" not in step.command
    assert "quieter machine" in step.words


def test_what_no_drive_made_is_looked_for_on_an_idle_machine_and_not_repeated():
    apart = {"caveats": (NotTheDrives(of=("ssd",), busy_s=0.2),)}
    (step,) = steps_of(undecided(repetitions=0).model_copy(update=apart))
    assert step.words.startswith("To rule out what slowed trials down besides the drives")
    assert "on an idle machine, or with larger data" in step.words
    assert "--resume" not in step.command


def a_small_job(moved_mb, size=None, **cluster):
    """A run on an emulated drive whose jobs moved so many megabytes, and a decision whose drives were hardly used."""
    medium = MediumSpec(name="hdd", kind="emulated")
    trial = a_trial(1, "hdd", workload="terasort")
    workload = trial.workload.model_copy(update={"options": {"size": size} if size else {}})
    trial = trial.model_copy(
        update={"media": (medium,), "workload": workload, "cluster": trial.cluster.model_copy(update=cluster)}
    )
    counters = {"org.apache.hadoop.mapreduce.FileSystemCounter": {"HDFS_BYTES_READ": moved_mb * 10**6}}
    record = a_record(trial)
    record = record.model_copy(update={"totals": record.totals.model_copy(update={"counters": counters})})
    own = decision(conditions=conditions(read=0.2)).model_copy(update={"levels": dict(trial.factors)})
    return RunData(a_measured_run(a_plan(trial), [record]), [], []), [own]


@pytest.mark.parametrize(
    ("run", "words", "command"),
    [
        (a_small_job(2000, limit_memory_bytes=4 << 30), "within less memory, since the job moved 1.9 GiB", "--memory 1590MiB"),
        (a_small_job(2000), "within less memory, since the job moved 1.9 GiB", "--memory 1590MiB"),
        (a_small_job(100, "50MB", limit_memory_bytes=1 << 30), "an input 13 times as large, since the job moved 95.4 MiB", "--size 650MB"),
        (a_small_job(100, limit_memory_bytes=1 << 30), "an input 13 times as large", ""),
        (a_small_job(2000, page_cache_bytes=64 << 20), "run it with less page cache", "--page-cache 40MiB"),
        (a_small_job(2000, page_cache_bytes=49 << 20), "use a larger input, since the job moved 1.9 GiB: a page cache has at least 32.0 MiB", ""),
    ],
)  # fmt: skip
def test_where_the_question_was_not_asked_well_the_command_has_a_number_that_follows_from_the_job(run, words, command):
    (step,) = next_steps(*run)
    assert words in step.words
    assert command in step.command
    assert bool(step.command) == bool(command)


def test_more_data_is_not_asked_for_where_all_of_it_reached_the_drives():
    run, (own,) = a_small_job(2000)
    (step,) = next_steps(run, [own.model_copy(update={"reached_drives": True})])
    assert "reach the drives" not in step.words


def test_at_the_ratio_of_a_site_a_larger_sample_is_advised_and_no_smaller_page_cache():
    run, decided = a_small_job(2000, page_cache_bytes=100_000_000)
    plan = run.plan.model_copy(update={"stands_for": SiteShape(ratio=3.0)})
    run = run._replace(measured=run.measured._replace(plan=plan))
    (step,) = next_steps(run, decided)
    assert "a larger sample at the same ratio" in step.words
    assert "--sample 600MB" in step.words
    node = SiteShape(ratio=3.0, drives=1, new_drives=6, read_bytes=32_000_000_000, shared=True)
    run = run._replace(measured=run.measured._replace(plan=plan.model_copy(update={"stands_for": node})))
    (step,) = next_steps(run, decided)
    assert "--sample 5334MB" in step.words


def test_what_was_worth_it_is_asked_of_the_intermediate_data_alone():
    trials = [a_trial(number, name) for number, name in enumerate(("hdd", "ssd"), 1)]
    (step,) = steps_of(decision(), trials=tuple(trials))
    assert step.command.endswith(
        "--placement '[hdd, {name: intermediate-on-ssd, input: hdd, intermediate: ssd, output: hdd}]'"
    )


def test_a_trial_that_failed_is_mended_first():
    plan, records = made_run(made_trials(repetitions=2))
    failed = records[0].model_copy(update={"status": Status.FAILED, "error": "the DataNode was killed"})
    first, *_ = next_steps(
        RunData(a_measured_run(plan, [failed, *records[1:]]), [], []), [bounded(verdict=Verdict.NOT_KNOWN_YET)]
    )
    assert first.words.startswith("Mend the cause of the trial that failed")
    assert first.command


def test_the_experiment_says_what_follows_it():
    (step,) = steps_of(decision(), next="Run the others: `assay run x.yaml`.")
    assert step == ("Run the others: `assay run x.yaml`", "")


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (decision(), "intermediate data alone"),
        (not_worth_it().model_copy(update={"conditions": ()}), "what the job waits for"),
        (bounded(verdict=Verdict.NOT_KNOWN_YET), "add another medium"),
    ],
)
def test_without_that_it_follows_from_the_verdict(one, words):
    (step,) = steps_of(one)
    assert words in step.words


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("existing", "--out runs/again && assay compare RUN runs/again"),
        ("directory", "--set media.other=NAME"),
        ("emulated", "--zero-delay-baseline true"),
    ],
)
def test_only_what_is_possible_on_the_media_is_proposed(kind, words):
    medium = MediumSpec(name="own", kind=kind)
    trial = a_trial().model_copy(update={"media": (medium,)})
    (step,) = steps_of(bounded(verdict=Verdict.NOT_KNOWN_YET), trials=(trial,))
    assert words in step.command


def test_a_run_without_trials_has_no_next_step():
    assert steps_of() == []


def test_the_page_and_the_text_have_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_COMMAND", "./assay")
    plan, records = made_run(made_trials(WORKLOADS, repetitions=3), times={"hdd": 60.0, "ssd": 55.0})
    folder = write_run("runs/first one", plan.model_copy(update={"options": ("--only", "cache=cold")}), records)
    html = run_page(read_run(folder), analyse(a_measured_run(plan, records)))
    assert "file was not kept with this run" in html
    folder.keep_experiment("experiment: test\n")
    html, text = (
        run_page(run := read_run(folder), analysis := analyse(a_measured_run(plan, records))),
        markdown(run, analysis),
    )
    assert {one.verdict for one in analysis.decisions} == {Verdict.NOT_KNOWN_YET}
    more = "./assay run 'runs/first one/experiment.yaml' --out 'runs/first one' --resume --only cache=cold --for "
    (step,) = next_steps(run, analysis.decisions)
    for words in (more, step.words):
        assert words in html.replace("&#39;", "'")
        assert words in text
    again = "./assay run 'runs/first one/experiment.yaml' --out runs/again --only cache=cold\n./assay compare 'runs/first one' runs/again"
    assert again in html.replace("&#39;", "'")
    assert "was not kept" not in html
