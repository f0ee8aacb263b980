"""Proves that Tez reads its histories from HDFS, whatever store holds the trial's data."""

from pathlib import Path

import pytest

from assay.engine.tez import HISTORY_FOLDER, Tez
from assay.model.cluster import EmbeddedSpec
from assay.model.engine import EngineContext, JobReference
from assay.model.errors import BadInputError
from assay.model.running_cluster import RunningCluster
from assay_extras.testing.fake_hadoop import FakeStore, Script
from tests.plan.test_make import GOOD, WORDS, plan_of

HISTORY = Path(__file__).parents[1] / "fixtures" / "tez" / "history.txt"
JOB = JobReference(name="count", id="job_1795597626963_0002")


class Tables:
    """A store that holds no files."""


def test_histories_are_read_by_the_client_of_hdfs(tmp_path):
    hdfs = FakeStore(Script())
    hdfs.contents = {f"{HISTORY_FOLDER}/history.txt.appattempt_1795597626963_0002_000001": HISTORY.read_bytes()}
    cluster = RunningCluster(
        Path("/hadoop"), tmp_path, "3", {"historyserver": "http://127.0.0.1:9"}, clients={"hdfs": lambda _: hdfs},
        properties={"tez.cluster.additional.classpath.prefix": "/tez/*"},
    )  # fmt: skip
    engine = Tez(EngineContext(cluster, EmbeddedSpec(), Tables(), Path("/jobs.jar"), tmp_path, lambda: None))
    assert [stage.name for stage in engine.history(JOB).job.stages] == ["initialmap", "finalreduce"]


@pytest.mark.parametrize("name", ["tez.history.logging.service.class", "tez.simple.history.logging.dir"])
def test_its_histories_stay_where_they_are_read(tmp_path, name):
    with pytest.raises(BadInputError, match=f"{name} can't be set: Assay reads .* from the history that tez writes"):
        plan_of(tmp_path, f"{GOOD}tez: {{{name}: elsewhere}}\n", WORDS)
