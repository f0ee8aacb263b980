"""Proves that what came of containers' tiers is counted from the NodeManagers' logs, job by job."""

from pathlib import Path

from assay.engine.directing import names_tier, of_mapreduce, of_spark, of_tez, with_outcomes
from assay.model.engine import History
from assay.model.running_cluster import ClusterNode, DaemonFacts
from assay.node.local import LocalNode
from tests.builders import a_job

LINE = "2024-01-01 00:00:00,000 INFO direct.TierExecutor: {} of container_{}_01_000002: [/ssd/local/usercache]\n"
OF_JOB, OF_ANOTHER = "1_0001", "e17_1_0002"


def test_outcomes_are_those_of_the_jobs_own_containers_on_all_nodes(tmp_path):
    logs = {
        "worker-1": [("DIRECTED", OF_JOB), ("DIRECTED", OF_ANOTHER), ("OVERFLOW_FULL", f"e17_{OF_JOB}")],
        "worker-2": [("DIRECTED", OF_JOB)],
    }
    nodes = [ClusterNode(LocalNode(), (DaemonFacts(role="nodemanager", pid=1, log=Path("/no/such")),))]
    for name, lines in logs.items():
        log = tmp_path / name
        log.write_text("other words\n" + "".join(LINE.format(*line) for line in lines))
        daemons = (
            DaemonFacts(role="nodemanager", pid=1, log=log), DaemonFacts(role="datanode", pid=2, log=log),
        )  # fmt: skip
        nodes.append(ClusterNode(LocalNode(), daemons))
    history = with_outcomes(History(job=a_job(), attempts=()), nodes)
    assert history.job.counters["AssayDirect"] == {"DIRECTED": 2, "OVERFLOW_FULL": 1}
    assert history.job.counters["group"] == {"RECORDS": 5}


def test_containers_of_jobs_that_direct_their_own_tasks_name_no_tier():
    assert names_tier(of_spark("ssd"))
    assert names_tier(of_tez("ssd"))
    assert not names_tier(of_mapreduce("ssd"))
