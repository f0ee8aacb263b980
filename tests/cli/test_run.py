"""Proves what `assay run` does with a plan, from its file to its records, with fakes for all that a trial touches."""

import errno
import io
import json
import re
from collections import Counter
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from rich.console import Console

from assay.cli import main
from assay.cli.console import Output
from assay.cli.report import report_run
from assay.cli.run import find_experiment, run_experiment
from assay.host.machine import machine_facts
from assay.model.errors import AssayError, BadInputError
from assay.model.record import Status
from assay.model.trial import SHIPPED_PRIOR
from assay.plan.overrides import Override, override_of
from assay.record.folder import RunFolder
from assay.report.analysis import read_run
from assay.run.schedule import Budget, work_of
from assay.stats.run_doubts import doubts_of
from assay.stats.summary import rows_of
from assay_extras.testing.fakes import Script, fake_setup
from tests.builders import an_installation, summaries

ROOT = Path(__file__).parents[2]
EXPERIMENT = """\
experiment: demo
workloads: [triangles, components]
datasets: {make: brightkite}
media: {hdd: directory, ssd: memory}
repetitions: 2
warm_up: 1
"""
MACHINE = {"kernel": "6.1", "memory_bytes": 8 << 30}
TRIALS = 1 + 2 * 2 * 2


class Command:
    """`assay run` in a folder of its own. `free_bytes` are on the one fake disk, `facts` are the machine's."""

    def __init__(self, folder, monkeypatch):
        self.experiment, self.out = folder / "demo.yaml", folder / "run"
        self.experiment.write_text(EXPERIMENT)
        self.installation = an_installation(ROOT, folder / "parts", cache=folder, state=folder / "state")
        self.script = Script()
        self.free_bytes = 1 << 40
        self.facts = MACHINE
        self.began = []
        monkeypatch.chdir(folder)
        monkeypatch.setattr("assay.cli.run.open_trial", self.set_up)
        monkeypatch.setattr("assay.cli.run.remove_left_overs", list)
        monkeypatch.setattr(
            "assay.cli.run.report_run", lambda folder, output: 0 if read_run(RunFolder(folder)).passed else 1
        )

    @contextmanager
    def set_up(self, trial, installation):
        setup = fake_setup(self.script, trial, self.free_bytes)
        setup.platform.facts = lambda: self.begin(trial)
        yield setup

    def begin(self, trial):
        self.began.append(trial.id)
        return self.facts

    def give_time(self, monkeypatch):
        """Each trial takes 10 s of a made-up clock."""
        clock = lambda: 10.0 * len(self.began)  # noqa: E731
        monkeypatch.setattr("assay.cli.run.Budget", partial(Budget, clock=clock))

    def run(self, *, as_json=False, **how):
        """The exit code, and what was said."""
        said = io.StringIO()
        self.began.clear()
        output = Output.on(Console(file=said, width=200))._replace(as_json=as_json)
        code = run_experiment(self.experiment, self.out, self.installation, output, **how)
        return code, said.getvalue()

    @property
    def records(self):
        return RunFolder(self.out).records()[0]


@pytest.fixture
def command(tmp_path, monkeypatch):
    return Command(tmp_path, monkeypatch)


def test_a_plan_runs_in_its_order_and_warm_ups_are_left_out(command):
    code, _ = command.run()
    assert code == 0
    assert command.began == [record.trial.id for record in command.records]
    assert len(command.began) == TRIALS
    assert [record.trial.warm_up for record in command.records] == [True] + [False] * (TRIALS - 1)
    assert [(row.trials, row.elapsed.values) for row in rows_of(summaries(command.records))] == [(2, 2)] * 4


def test_a_dry_run_shows_the_plan_and_leaves_nothing(command):
    code, said = command.run(dry_run=True)
    assert code == 0
    lines = [line for line in said.splitlines() if not line.startswith("assay: ")]
    assert re.match(rf"demo: {TRIALS} trials, [0-9:]+ min to [0-9:]+ min", lines[0])
    assert [line.split(":")[0].strip()[:4] for line in lines[1 : 1 + TRIALS]] == [f"000{n}" for n in range(1, 10)]
    assert "warm-up" in lines[1]
    assert re.search(r"in all: [0-9:]+ min to [0-9:]+ min, a rough estimate", lines[-1])
    assert not command.began
    assert not command.out.exists()


@pytest.mark.slow
def test_the_paths_ceiling_is_measured_once_before_the_first_emulated_drive_and_not_by_a_dry_run(command, monkeypatch):
    known, began = [], []
    monkeypatch.setattr("assay.cli.run.known_ceiling", lambda _installation: known[-1] if known else None)

    def measure(_installation):
        began.append(len(command.began))
        known.append("ceiling")

    monkeypatch.setattr("assay.cli.run.measure_ceiling", measure)
    command.run()
    assert began == [], "none of its drives is emulated"
    command.experiment.write_text(EXPERIMENT.replace("ssd: memory", "ssd: crucial-mx100-512gb"))
    command.out = command.out.with_name("emulated")
    command.run(dry_run=True)
    assert began == []
    command.run()
    assert began == [0]
    command.out = command.out.with_name("again")
    command.run()
    assert began == [0]


def test_what_does_not_fit_is_said_with_the_line_of_the_key_that_it_is_about(command):
    command.free_bytes = 1000
    with pytest.raises(BadInputError, match=r"demo.yaml, line 4: medium '\w+' has 1000 B free, .* a smaller input"):
        command.run(dry_run=True)


@pytest.mark.slow
def test_an_interrupted_run_says_how_to_go_on_and_goes_on(command):
    command.script = Script(fail_at="run answer", fail_with=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        command.run()
    assert not command.records
    command.script = Script()
    assert command.run(resume=True)[0] == 0
    assert len(command.began) == TRIALS
    assert command.run(resume=True)[0] == 0
    assert not command.began


@pytest.mark.slow
def test_a_part_runs_first_and_the_rest_later(command):
    command.run(levels=("placement=ssd", "workload=triangles"))
    first = set(command.began)
    assert {trial.partition("-")[2] for trial in first} == {"triangles-ssd"}
    command.run(resume=True)
    assert len(command.began) == TRIALS - len(first)
    assert first.isdisjoint(command.began)


@pytest.mark.slow
def test_earlier_runs_here_say_how_noisy_the_machine_is_and_the_run_keeps_that(command):
    command.experiment.write_text(EXPERIMENT.replace("ts]", "ts, k-core]").replace("s: 2", "s: 3"))
    command.facts = machine_facts()
    command.run()
    assert RunFolder(command.out).plan().prior == SHIPPED_PRIOR
    first = command.records
    for at, record in enumerate(first):
        file = command.out / "trials" / record.trial.id / "record.json"
        content = json.loads(file.read_text())
        content["totals"]["elapsed_s"] += at % 3  # fakes all take the same time
        file.write_text(json.dumps(content))
    command.out = command.out.parent / "later"
    command.run()
    prior = RunFolder(command.out).plan().prior
    assert (prior.source, prior.workloads, prior.trials) == ("history", 3, len(first) - 1)
    command.run(resume=True)
    assert RunFolder(command.out).plan().prior == prior


@pytest.mark.slow
def test_damaged_records_of_earlier_runs_are_left_out_and_named(command):
    command.run()
    file = command.out / "trials" / command.began[0] / "record.json"
    file.write_text("{")
    command.out = command.out.parent / "later"
    _, said = command.run()
    assert f"earlier record left out: {file} is damaged" in said.replace("\n", "")
    assert len(command.records) == TRIALS


@pytest.mark.slow
def test_the_run_keeps_its_experiment_and_can_be_made_again_and_gone_on_with_from_that(command):
    command.run(levels=("placement=ssd",))
    assert RunFolder(command.out).plan().options == ("--only", "placement=ssd")
    assert (command.out / "experiment.yaml").read_text() == f"folder: '{command.experiment.parent}'\n{EXPERIMENT}"
    command.experiment = command.out / "experiment.yaml"
    assert command.run(resume=True)[0] == 0
    assert len(command.records) == TRIALS
    assert RunFolder(command.out).plan().options == ()
    trials = [record.trial for record in command.records]
    command.out = command.out.parent / "again"
    assert command.run()[0] == 0
    assert [record.trial for record in command.records] == trials


@pytest.mark.slow
def test_resuming_needs_a_run_of_the_same_plan(command):
    with pytest.raises(BadInputError, match="is not a run folder: it has no plan.json"):
        command.run(resume=True)
    command.run()
    with pytest.raises(BadInputError, match="is not empty; name another folder with --out, or continue it"):
        command.run()
    command.experiment.write_text(EXPERIMENT.replace("triangles, components", "triangles"))
    with pytest.raises(BadInputError, match="holds another plan than this experiment makes now"):
        command.run(resume=True)


def test_too_little_time_runs_nothing_and_says_what_is_left(command):
    code, said = command.run(budget_s=0.001)
    assert f"the time is up, and {TRIALS} of {TRIALS} trials have not run; go on with --resume" in said
    assert not command.began
    assert code == 1


@pytest.mark.slow
def test_what_is_left_of_the_time_goes_to_whole_rounds_of_repetitions(command, monkeypatch):
    """Time for one repetition of everything, and then for one of the two workloads."""
    command.give_time(monkeypatch)
    code, said = command.run(budget_s=10.0 * TRIALS + 65)
    assert code == 0
    assert "6 further trials repeated the plan while there was time" in said
    more = [record.trial for record in command.records[TRIALS:]]
    assert [trial.repetition for trial in more] == [3] * 4 + [4] * 2
    assert {(trial.workload.name, trial.placement.name) for trial in more[:4]} == set(
        product(["triangles", "components"], ["hdd", "ssd"])
    )
    assert len({trial.workload.name for trial in more[4:]}) == 1
    assert {trial.placement.name for trial in more[4:]} == {"hdd", "ssd"}


@pytest.mark.slow
def test_where_no_repetition_fits_its_time_is_said(command, monkeypatch):
    command.give_time(monkeypatch)
    _, said = command.run(budget_s=10.0 * TRIALS + 5)
    assert "no repetition: 5 s were left of the time, and one takes about " in said


@pytest.mark.slow
def test_time_that_is_to_be_filled_goes_to_whole_rounds_though_all_is_decided(command, monkeypatch):
    """Then the times have no say in how many repetitions there are."""
    monkeypatch.setattr("assay.run.schedule.decided_work", lambda plan, _: {work_of(trial) for trial in plan.trials})
    command.give_time(monkeypatch)
    assert command.run(budget_s=10.0 * TRIALS + 65)[0] == 0
    assert len(command.records) == TRIALS
    command.out = command.out.with_name("filled")
    assert command.run(budget_s=10.0 * TRIALS + 65, fill=True)[0] == 0
    assert [record.trial.repetition for record in command.records[TRIALS:]] == [3] * 4 + [4] * 2


def test_the_whole_plan_runs_though_the_time_to_fill_is_over(command):
    assert command.run(budget_s=0.001, fill=True)[0] == 0
    assert len(command.records) == TRIALS


@pytest.mark.slow
def test_more_repetitions_can_be_asked_for_after_more_time(command, monkeypatch):
    command.give_time(monkeypatch)
    command.run(budget_s=10.0 * TRIALS + 65)
    before = {record.trial.id for record in command.records}
    command.experiment.write_text(EXPERIMENT.replace("repetitions: 2", "repetitions: 5"))
    assert command.run(resume=True)[0] == 0
    assert before.isdisjoint(command.began)
    assert len(command.records) == 1 + 5 * 2 * 2
    found = Counter((record.trial.repetition, record.trial.placement.name) for record in command.records[1:])
    assert found == dict.fromkeys(product(range(1, 6), ["hdd", "ssd"]), 2)


@pytest.mark.slow
def test_a_disk_that_fills_up_stops_the_plan_and_it_goes_on_when_there_is_room(command):
    begin = command.begin

    def fills_up(trial):
        command.free_bytes = 1 << 20 if len(command.began) == 3 else 1 << 40
        return begin(trial)

    command.begin = fills_up
    with pytest.raises(AssayError, match=r"trial 0005-\S+ has not enough space: medium '\w+' has 1\.0 MiB free, and about 300\.0 MiB are "
                       r"needed; free some space and continue with --resume"):  # fmt: skip
        command.run()
    assert len(command.records) == len(command.began) == 4
    command.free_bytes = 1 << 40
    command.begin = begin
    assert command.run(resume=True)[0] == 0
    assert len(command.began) == TRIALS - 4


def test_a_trial_that_found_the_disk_full_runs_again(command, monkeypatch):
    free = iter([1 << 40, 1 << 20])
    monkeypatch.setattr("assay.run.loop.lack_of_room", lambda trial, parts: None if next(free) > 1 << 30 else "full")
    command.script = Script(fail_at="run answer", fail_with=OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(AssayError, match="has not enough space: full; free some space and continue with --resume"):
        command.run()
    assert command.began
    assert not command.records


def test_a_trial_that_fails_with_room_enough_is_a_finding(command):
    command.script = Script(fail_at="run answer")
    assert command.run()[0] == 1
    assert {record.status for record in command.records} == {Status.FAILED}


@pytest.mark.slow
def test_a_record_that_does_not_fit_stops_the_plan_and_leaves_nothing_half_written(command, monkeypatch):
    def full(self, result):
        (self.path / "trials" / f".{result.record.trial.id}-draft").mkdir()
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "write", full)
        with pytest.raises(
            AssayError, match="could not be written: .*No space left.*; free some space and continue with --resume"
        ):
            command.run()
    assert len(command.began) == 1
    assert command.run(resume=True)[0] == 0
    assert len(command.records) == TRIALS
    assert not list((command.out / "trials").glob(".*"))


@pytest.mark.slow
def test_a_machine_that_changes_between_two_parts_of_a_run_is_told_apart(command):
    command.run(levels=("workload=triangles",))
    command.facts = {**MACHINE, "kernel": "6.2"}
    command.run(resume=True, levels=("workload=components",))
    assert {row.group.machine for row in rows_of(summaries(command.records))} == {"A (kernel 6.1)", "B (kernel 6.2)"}
    (doubt,) = [doubt for doubt in doubts_of(summaries(command.records)) if doubt.kind == "different-machines"]
    assert "A (kernel 6.1), B (kernel 6.2)" in doubt.what


@pytest.mark.slow
def test_repetitions_on_a_changed_machine_are_never_pooled(command):
    command.run(levels=("workload=triangles",))
    command.facts = {**MACHINE, "kernel": "6.2"}
    command.experiment.write_text(EXPERIMENT.replace("repetitions: 2", "repetitions: 4"))
    command.run(resume=True, levels=("workload=triangles",))
    rows = rows_of(summaries(command.records))
    assert sorted((row.group.machine, row.placement, row.trials) for row in rows) == [
        (machine, placement, 2) for machine in ("A (kernel 6.1)", "B (kernel 6.2)") for placement in ("hdd", "ssd")
    ]  # fmt: skip


def test_a_disk_that_is_full_anywhere_else_is_one_sentence(monkeypatch, capsys):
    def full(**_):
        raise OSError(errno.ENOSPC, "No space left on device", "/state/lease")

    monkeypatch.setattr("assay.cli.cli.main", full)
    with pytest.raises(SystemExit, match="1"):
        main()
    assert capsys.readouterr().err == "assay: /state/lease can't be used: no space is left on its disk; free some\n"


def test_a_run_as_json_is_its_summary_alone_on_standard_output(command, monkeypatch, capsys):
    monkeypatch.setattr("assay.cli.run.report_run", report_run)
    code, said = command.run(as_json=True)
    assert code == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["folder"], document["experiment"]) == (str(command.out), "demo")
    assert (document["planned"], document["finished"], document["failed"]) == (TRIALS, TRIALS, 0)
    assert [one["level"] for one in document["answers"]] == ["ssd", "ssd"]
    assert "Took " in said


def test_a_dry_run_as_json_has_the_trials_and_what_they_need(command, capsys):
    assert command.run(as_json=True, dry_run=True)[0] == 0
    document = json.loads(capsys.readouterr().out)
    assert [trial["trial"][:4] for trial in document["trials"]] == [f"000{number}" for number in range(1, TRIALS + 1)]
    assert [trial["warm_up"] for trial in document["trials"]] == [True] + [False] * (TRIALS - 1)
    assert document["seconds"] == pytest.approx(sum(trial["seconds"] for trial in document["trials"]))
    assert {name: room["free_bytes"] for name, room in document["media"].items()} == {"hdd": 1 << 40, "ssd": 1 << 40}
    assert not command.out.exists()


@pytest.mark.parametrize(("budget_s", "reason"), [(None, "each combination runs once"), (3600.0, "")])
def test_a_dry_run_as_json_says_that_nothing_is_decided_only_where_no_time_for_repetitions_is_given(
    command, capsys, budget_s, reason
):
    once = [Override("repetitions", 1, ("--repetitions", "1"))]
    assert command.run(as_json=True, dry_run=True, overrides=once, budget_s=budget_s)[0] == 0
    undecided = json.loads(capsys.readouterr().out)["undecided"]
    assert reason in undecided
    assert bool(undecided) == bool(reason)


@pytest.mark.slow
def test_values_that_are_set_count_and_are_kept_with_the_run(command):
    several = [override_of("workloads=triangles"), Override("repetitions", 3, ("--repetitions", "3"))]
    assert command.run(overrides=several)[0] == 0
    assert len(command.records) == 1 + 3 * 2
    command.experiment = command.out / "experiment.yaml"
    assert command.run(resume=True)[0] == 0, "the kept file makes the same plan without them"
    assert not command.began


def test_an_interrupted_run_names_what_was_set(command):
    command.script = Script(fail_at="run answer", fail_with=KeyboardInterrupt())
    said = io.StringIO()
    output = Output.on(Console(file=said, width=400))
    with pytest.raises(KeyboardInterrupt):
        run_experiment(
            command.experiment, command.out, command.installation, output, overrides=[override_of("worth=20%")]
        )
    assert "--resume --set worth=20%" in said.getvalue()


def test_a_shipped_experiment_is_found_by_its_name_and_a_file_comes_first(command):
    quickstart = find_experiment(Path("quickstart"), command.installation)
    assert quickstart == ROOT / "experiments" / "quickstart.yaml"
    assert find_experiment(Path("quickstart.yaml"), command.installation) == Path("quickstart.yaml")
    Path("quickstart").mkdir()
    assert find_experiment(Path("quickstart"), command.installation) == quickstart, "a folder is no experiment"
    Path("quickstart").rmdir()
    Path("quickstart").write_text(EXPERIMENT)
    assert find_experiment(Path("quickstart"), command.installation) == Path("quickstart")


def test_an_unknown_experiment_gets_a_suggestion(command):
    with pytest.raises(BadInputError, match="neither a file quickstrat nor a shipped .*; did you mean 'quickstart'"):
        find_experiment(Path("quickstrat"), command.installation)
    with pytest.raises(BadInputError, match="`assay experiments` lists those"):
        find_experiment(Path("zzz"), command.installation)
