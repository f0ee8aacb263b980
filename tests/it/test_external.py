"""Proves that commands of an engine's file run on a real cluster, with verified outputs, phases and histories."""

import pytest

from assay.model.doubt import Outcome
from tests.it.driving import ROOT

pytestmark = pytest.mark.it

ENGINES = ROOT / "engines"
EXPERIMENT = """
experiment: foreign
workloads: {workload}
media: {media}
engine: {engines}
settings: small
hadoop: {{mapreduce.job.reduces: 2, dfs.blocksize: 2m}}
"""


def by_engine(place, workload, *engines):
    text = EXPERIMENT.format(workload=workload, media=place.media, engines=list(map(str, engines)))
    return {record.trial.engine: record for record in place.verified(text)}


def test_a_command_of_the_clients_machine_is_verified_and_has_its_phases(place):
    record = by_engine(place, "{name: sort-lines, options: {size: 4MB, files: 2}}", ENGINES / "coreutils.yaml")[
        "coreutils"
    ]
    (job,) = record.jobs
    assert list(job.phases) == ["fetch", "sort", "store"]
    assert job.elapsed_s > 0
    assert "sort (GNU coreutils)" in str(record.model_dump())
    (page,) = (place.home / "run").glob("report.html")
    assert "coreutils" in page.read_text()


@pytest.mark.long
@pytest.mark.parametrize("file", ["hadoop", "shuffle-plug-in"])
def test_jobs_of_hadoop_have_their_histories(place, file):
    records = by_engine(place, "{name: terasort, options: {size: 8MB}}", "mapreduce", ENGINES / f"{file}.yaml")
    assert len(records) == 2
    for record in records.values():
        (job,) = record.jobs
        assert [stage.name for stage in job.stages] == ["map", "reduce"]
        assert job.counters["org.apache.hadoop.mapreduce.TaskCounter"]["REDUCE_OUTPUT_RECORDS"] == 80_000


@pytest.mark.long
def test_word_count_by_a_command_is_verified(place):
    record = by_engine(place, "{name: word-count, options: {size: 2MB, files: 2}}", ENGINES / "hadoop.yaml")[
        "hadoop-as-foreign"
    ]
    # Its command tells of no counters, so that nothing is said of them.
    assert len(record.verdicts) == 2
    assert all(verdict.outcome is Outcome.PASS for verdict in record.verdicts)
    assert not [verdict for verdict in record.verdicts if verdict.check.startswith("counters")]


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("'{hadoop} fs -mkdir {output}'", "ended with code 0 and wrote nothing"),
        ("'setsid sleep 600 & {hadoop} fs -cp {input} {output}'", "left 1 processes, which were ended: sleep"),
    ],
)
def test_what_a_command_leaves_or_does_not_write_fails_the_trial(place, command, error):
    (place.home / "mine.yaml").write_text(f"engine: mine\nabout: of this site\ncommands: {{sort-lines: {command}}}\n")
    workload = "{name: sort-lines, options: {size: 1MB, files: 2}}"
    text = EXPERIMENT.format(workload=workload, media=place.media, engines="mine.yaml")
    place.start("run", place.experiment(text), "--out", "run").exit_code()
    (record,) = place.records("run")
    assert record.outcome is Outcome.FAIL
    assert error in record.error
    assert place.left_over() == []
