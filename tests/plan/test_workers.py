"""Proves that faults, media, links and racks of single workers are planned as written, and that what can't be is refused."""

import pytest

from assay.model.errors import BadInputError
from assay.model.fault import Fault, Phase
from assay.model.network import LINKS, read_networks
from tests.plan.test_make import WORDS, plan_of

HEAD = """\
experiment: demo
workloads: triangles
datasets: {make: brightkite}
media: {hdd: wd10ezex, disk: directory}
placement: hdd
replication: 2
cluster: {nodes: 3, network: gigabit}
"""
KILL = "{kill: nodemanager, on: 2, at: map 50%}"


def test_a_fault_is_a_factor_whose_base_is_none(tmp_path):
    plan = plan_of(tmp_path, HEAD + f"fault: [none, {KILL}, {{slow: drive, on: 1, factor: 4}}]\nrepetitions: 2\n")
    levels = [trial.factors["fault"] for trial in plan.trials]
    assert sorted(set(levels)) == ["kill nodemanager on 2 at map 50%", "none", "slow drive on 1 by 4"]
    assert [levels.count(level) for level in set(levels)] == [2, 2, 2]
    killed = next(trial.cluster.fault for trial in plan.trials if trial.factors["fault"].startswith("kill"))
    assert killed == Fault(kill="nodemanager", on=2, at="map 50%")
    assert killed.at == Phase(stage="map", percent=50)
    assert killed.worker == "worker-2"


def test_without_a_fault_nothing_goes_wrong(tmp_path):
    (trial,) = plan_of(tmp_path, HEAD).trials
    assert trial.cluster.fault is None
    assert trial.factors["fault"] == "none"


def test_a_phase_may_name_a_job_of_several_words():
    assert Fault(kill="datanode", on=1, at="iteration 3 reduce 5%").at == Phase(
        job="iteration 3", stage="reduce", percent=5
    )


@pytest.mark.parametrize(("at", "job"), [("stage 12 5%", ""), ("k means stage 12 5 %", "k means")])
def test_a_stage_may_have_a_number(at, job):
    assert Fault(kill="nodemanager", on=1, at=at).at == Phase(job=job, stage="stage 12", percent=5)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("{kill: nodemanager, on: 5, at: map 50%}", "line 8: .*there is no worker 5; the cluster has the workers 1 to 3"),
        ("{kill: nodemanager, on: 0, at: map 50%}", "line 8: fault.on is 0, and must be 1 or more"),
        ("{kill: nodemanger, on: 2, at: map 50%}", "no worker has a 'nodemanger' to be killed; did you mean 'nodemanager'"),
        ("{kill: namenode, on: 2, at: map 50%}", "no worker has a 'namenode' to be killed"),
        ("{kill: nodemanager, on: 2, at: shuffle 50%}", "have no phase 'shuffle' with a progress; possible are map, reduce"),
        ("{kill: nodemanager, on: 2, at: reduce 100%}", "at reduce 100% the job has ended; give less than 100%"),
        ("{kill: datanode, on: 2, at: staging 100%}", "at staging 100% the input has been staged; give less than 100%"),
        ("{kill: datanode, on: 2, at: closing staging 50%}", "staging is no stage of a job; leave out 'closing'"),
        ("{kill: nodemanager, on: 2, at: map 101%}", "`kill` needs `at`, the progress of a stage from 0% to 100%"),
        ("{kill: nodemanager, on: 2, at: half-way}", "`kill` needs `at`"),
        ("{kill: nodemanager, on: 2, at: 50}", "`kill` needs `at`"),
        ("{kill: nodemanager, on: 2, at: {stage: map, percent: 500}}", "percent is 500, and must be 100 or less"),
        ("{kill: nodemanager, on: 2}", "`kill` needs `at`"),
        ("{kill: nodemanager, on: 2, at: triad map 50%}", "triangles has no job 'triad'; did you mean 'triads'"),
        ("{kill: nodemanager, on: 2, at: map 50%, factor: 4}", "`factor` belongs to `slow`; leave it out"),
        ("{slow: drive, on: 2}", "`slow` needs `factor`, how many times slower"),
        ("{slow: drive, on: 2, factor: 4, at: map 50%}", "`at` belongs to `kill`"),
        ("{slow: drive, on: 2, factor: 400}", "fault.factor is 400, and must be 100 or less"),
        ("{slow: cpu, on: 2, factor: 4}", "fault.slow is 'cpu', and must be 'drive' or 'link'"),
        ("{on: 2}", "a fault has either `kill` or `slow`"),
        ("{kill: nodemanager, slow: drive, on: 2, at: map 50%, factor: 2}", "a fault has either `kill` or `slow`"),
        ("{kill: nodemanager, on: 2, at: map 50%, when: now}", "line 8: unknown key 'when'; possible are kill, slow, on, at, factor"),
        ("slow", "fault is 'slow': must be none, or a map such as"),
        ("[none, none]", "line 8: fault has 'none' twice; leave one out"),
    ],
)  # fmt: skip
def test_a_fault_that_can_not_be_is_refused_with_its_line(tmp_path, fault, words):
    with pytest.raises(BadInputError, match=words) as caught:
        plan_of(tmp_path, f"{HEAD}fault: {fault}\n")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("before", "after", "fault", "words"),
    [
        ("replication: 2\n", "", "{kill: datanode, on: 2, at: map 50%}", "with one copy of each block the data of worker 2 would be lost with it"),
        ("replication: 2\n", "", "{kill: node, on: 2, at: map 50%}", "say replication: 2, or more"),
        ("nodes: 3, network: gigabit", "nodes: 1", "{kill: datanode, on: 1, at: map 50%}", "the only node has the only DataNode, and all data would be lost"),
        ("nodes: 3, network: gigabit", "nodes: 1", KILL.replace("2", "1"), "nothing would be left to run the jobs, as the cluster has one node"),
        ("nodes: 3, network: gigabit", "nodes: 1", "{slow: drive, on: 1, factor: 2}", "which is another medium: give it a `slowdown`"),
        ("nodes: 3, network: gigabit", "nodes: 1", KILL, "there is no worker 2; the cluster has worker 1 alone"),
        ("network: gigabit", "network: none", "{slow: link, on: 2, factor: 2}", "the network is none, so there is no link with a rate"),
        ("network: gigabit", "network: {rate: 2Mbit}", "{slow: link, on: 2, factor: 4}", "less than 1 Mbit/s"),
        ("placement: hdd", "placement: disk", "{slow: drive, on: 2, factor: 2}", "medium 'disk' can't be 2 times slower: only emulated drives"),
        ("hdd: wd10ezex", "hdd: {profile: wd10ezex, slowdown: 60}", "{slow: drive, on: 2, factor: 2}", "up to a hundred times with their `slowdown`"),
        ("media: {hdd: wd10ezex, disk: directory}\nplacement: hdd\nreplication: 2\ncluster: {nodes: 3, network: gigabit}", "cluster: {conf_dir: .}", KILL, "fault can't be chosen on an existing cluster"),
    ],
)  # fmt: skip
def test_a_fault_that_would_lose_the_data_or_change_nothing_is_refused(tmp_path, before, after, fault, words):
    assert before in HEAD
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, f"{HEAD.replace(before, after)}fault: {fault}\n")


def test_a_daemon_that_serves_what_others_keep_may_be_killed_with_one_copy(tmp_path):
    words = WORDS._replace(levels={**WORDS.levels, "store": ("hdfs", "hbase")})
    text = HEAD.replace("replication: 2\n", "store: hbase\n")
    (trial,) = plan_of(tmp_path, f"{text}fault: {{kill: regionserver, on: 2, at: staging 50%}}\n", words).trials
    assert trial.cluster.fault.level == "kill regionserver on 2 at staging 50%"
    with pytest.raises(BadInputError, match="with one copy of each block"):
        plan_of(tmp_path, f"{text}fault: {{kill: datanode, on: 2, at: staging 50%}}\n", words)


def test_what_a_workload_writes_once_is_not_risked(tmp_path):
    words = WORDS._replace(workloads={"terasort": ("stock",)}, own_input=["terasort"])
    text = HEAD.replace("triangles", "{name: terasort}").replace("datasets: {make: brightkite}\n", "")
    text += "fault: {kill: datanode, on: 2, at: map 50%}\n"
    with pytest.raises(
        BadInputError, match=r"the output of terasort has one copy .*mapreduce.terasort.output.replication: 2"
    ):
        plan_of(tmp_path, text, words)
    more = "{name: terasort, hadoop: {mapreduce.terasort.output.replication: 2}}"
    assert plan_of(tmp_path, text.replace("{name: terasort}", more), words).trials


def test_only_combinations_that_run_are_checked(tmp_path):
    text = HEAD.replace("nodes: 3", "nodes: [1, 3]") + f"fault: [none, {KILL}]\n"
    with pytest.raises(BadInputError, match="worker 1 alone"):
        plan_of(tmp_path, text)
    kept = plan_of(tmp_path, text + "exclude: {nodes: 1, fault: kill nodemanager on 2 at map 50%}\n").trials
    assert {(trial.cluster.nodes, trial.cluster.fault is None) for trial in kept} == {(1, True), (3, True), (3, False)}


PLACED = HEAD.replace(
    "media: {hdd: wd10ezex, disk: directory}\nplacement: hdd\n",
    "media:\n  hdd: wd10ezex\n  disk: directory\n  mixed: {profile: nvme, on: [1, 2], elsewhere: hdd}\nplacement: [hdd, mixed]\n",
)


def test_a_medium_of_some_workers_has_another_one_elsewhere_under_its_name(tmp_path):
    trials = plan_of(tmp_path, PLACED).trials
    (medium,) = next(trial.media for trial in trials if trial.placement.name == "mixed")
    assert [medium.of_worker(number).model_extra["profile"] for number in (1, 2, 3)] == ["nvme", "nvme", "wd10ezex"]
    assert {medium.of_worker(number).name for number in (1, 2, 3)} == {"mixed"}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("on: [1, 2]", "on: [1, 4]", "medium mixed: there is no worker 4; the cluster has the workers 1 to 3"),
        (", elsewhere: hdd", "", "a medium `on` some workers needs `elsewhere`"),
        ("on: [1, 2], ", "", "`elsewhere` needs `on`"),
        ("elsewhere: hdd", "elsewhere: hd", "elsewhere is 'hd', no medium that all workers can have; did you mean 'hdd'"),
        ("elsewhere: hdd", "elsewhere: mixed", "elsewhere is 'mixed'"),
        ("elsewhere: hdd", "elsewhere: disk", "must be of one kind"),
        ("on: [1, 2]", "on: first", "on is 'first', and must be a whole number"),
    ],
)  # fmt: skip
def test_a_medium_that_workers_can_not_have_is_refused(tmp_path, before, after, words):
    assert before in PLACED
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, PLACED.replace(before, after))


def test_a_link_of_some_workers_is_theirs_alone(tmp_path):
    text = HEAD.replace("network: gigabit", "network: [gigabit, {rate: 100Mbit, on: [2, 3], elsewhere: gigabit}]")
    levels = {trial.cluster.network for trial in plan_of(tmp_path, text).trials}
    assert set(map(str, levels)) == {"gigabit", "100Mbit on 2 3 else gigabit"}
    (placed,) = levels - {read_networks("gigabit")}
    assert placed.links() == placed.links(1) == (LINKS["gigabit"],)
    assert [link.rate_bits_per_s for link in placed.links(3)] == [10**8]
    with pytest.raises(BadInputError, match="there is no worker 3; the cluster has the workers 1 to 2"):
        plan_of(tmp_path, text.replace("nodes: 3", "nodes: 2"))
    with pytest.raises(BadInputError, match="needs `elsewhere`"):
        plan_of(tmp_path, text.replace(", elsewhere: gigabit", ""))


def test_a_slow_link_divides_the_rate_of_its_worker_on_both_networks():
    fault = Fault(slow="link", on=2, factor=10)
    both = read_networks("gigabit+ten-gigabit")
    assert [link.rate_bits_per_s for link in both.links(2, fault)] == [10**8, 10**9]
    assert both.links(1, fault) == both.links() == both.links(2)
    assert read_networks("none").links(2, fault) == (None,)


@pytest.mark.parametrize(
    ("racks", "found"),
    [("2", ((1, 2), (3, 4))), ("3", ((1,), (2, 3), (4,))), ("[[1, 4], [2, 3]]", ((1, 4), (2, 3))), ("1", ()), ("9", ((1,), (2,), (3,), (4,)))],
)  # fmt: skip
def test_workers_are_in_racks(tmp_path, racks, found):
    (trial,) = plan_of(tmp_path, HEAD.replace("nodes: 3", f"nodes: 4, racks: {racks}")).trials
    assert trial.cluster.racks == found


@pytest.mark.parametrize(
    ("racks", "words"),
    [
        ("[[1], [2]]", "racks: worker 3 of 3 is in none"),
        ("[[1, 2], [3, 4]]", "racks: there is no worker 4"),
        ("[[1, 2], [2, 3]]", "must be a number of racks, or lists of workers' numbers, each once"),
        ("[]", "racks"),
        ("two", "must be a number of racks"),
    ],
)
def test_racks_that_can_not_be_are_refused(tmp_path, racks, words):
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, HEAD.replace("nodes: 3", f"nodes: 3, racks: {racks}"))


def test_a_stage_that_the_jobs_lack_is_not_waited_for(tmp_path):
    job = "workloads: {name: command, options: {jar: mine.jar, input: words.txt, arguments: '{input} {output}'}}\n"
    head = HEAD.replace("workloads: triangles\ndatasets: {make: brightkite}\n", job)
    fault = "fault: {kill: nodemanager, on: 2, at: reduce 50%}\n"
    words = r"the jobs have no phase 'reduce', as mapreduce\.job\.reduces is 0; choose map"
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, f"{head}{fault}hadoop: {{mapreduce.job.reduces: 0}}\n")
    assert plan_of(tmp_path, head + fault).trials
