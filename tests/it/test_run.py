"""Proves that an experiment on a file as people write it gives right counts, a whole record, and leaves nothing."""

import gzip

import pytest
from pyarrow import parquet

from assay.model.doubt import Outcome
from assay.model.record import Status
from assay.report.words import seconds_text
from tests.it.driving import IN_ONE_CONTAINER
from tests.it.handwritten import TEXT, counted

pytestmark = pytest.mark.it

NORMALISE = "org.assay.jobs.normalise.NormaliseCounter"
TRIANGLES = "org.assay.jobs.triangles.TriangleCounter"
COUNTS = counted(TEXT)
ANSWERS = {"triangles": COUNTS.triangles, "components": COUNTS.components}
JOBS = {
    "triangles": ["triads", "closing", "total"],
    "components": ["friend-lists", "iteration 1", "iteration 2"],
}


@pytest.mark.parametrize(
    ("workload", "properties"),
    [("components", IN_ONE_CONTAINER), pytest.param("triangles", "{}", marks=pytest.mark.long)],
    ids=["components", "triangles"],
)
def test_an_experiment_from_a_raw_file_to_the_report(place, workload, properties):
    (place.home / "graph.txt.gz").write_bytes(gzip.compress(TEXT))
    experiment = place.experiment(f"""
experiment: hand-written
workloads: {workload}
datasets:
  - file: graph.txt.gz
media: {place.media}
hadoop: {properties}
""")
    place.assay("run", experiment, "--out", "run")
    (record,) = place.records("run")
    check_answer(record)
    check_jobs(record)
    check_rows(record, place.home / "run" / "trials" / record.trial.id)
    assert record.facts_of("disk")["place"] == str(place.disk.resolve())
    assert record.dataset.wedges_by_id == COUNTS.wedges
    if workload == "triangles":
        assert record.totals.counters[TRIANGLES]["WEDGES"] == COUNTS.wedges
    check_page((place.home / "run" / "report.html").read_text(), record)
    assert place.left_over() == []


def check_answer(record):
    name = record.trial.workload.name
    assert record.status is Status.FINISHED, record.error
    assert record.verdicts
    assert {verdict.outcome for verdict in record.verdicts} == {Outcome.PASS}, record.verdicts
    (output,) = record.outputs
    assert output.summary[name] == ANSWERS[name]
    assert output.bytes > 0
    facts = record.dataset
    assert (facts.nodes, facts.edges, facts.triangles) == (COUNTS.vertices, COUNTS.edges, COUNTS.triangles)


def check_jobs(record):
    """Staging stands apart; the totals are the measured jobs' alone; all phases took time."""
    (staging,) = record.staging_jobs
    assert staging.name == "normalise"
    counters = staging.counters[NORMALISE]
    assert counters["EDGES"] == COUNTS.edges
    assert counters["VERTICES"] == COUNTS.vertices
    assert counters["LONE_VERTICES"] == COUNTS.lone == 1
    assert counters["SELF_LOOPS"] == COUNTS.loops
    assert [job.name for job in record.jobs] == JOBS[record.trial.workload.name]
    assert all(job.state == "SUCCEEDED" for job in record.jobs)
    totals = record.totals
    assert totals.elapsed_s == pytest.approx(sum(job.elapsed_s for job in record.jobs))
    assert totals.submitted_s >= totals.elapsed_s > 0
    assert totals.staging_submitted_s == pytest.approx(staging.submitted_s)
    assert min(totals.phases["map"], totals.phases["shuffle"], totals.phases["reduce"]) > 0
    assert totals.phases["merge"] >= 0


def check_rows(record, folder):
    jobs = [*record.staging_jobs, *record.jobs]
    tasks = parquet.read_table(folder / "tasks.parquet")
    assert tasks.num_rows == sum(job.tasks + sum(stage.failed_attempts for stage in job.stages) for job in jobs)
    assert set(tasks["job"].to_pylist()) == {job.id for job in jobs}
    samples = parquet.read_table(folder / "samples.parquet")
    assert samples.num_rows > 0


def check_page(page, record):
    name = record.trial.workload.name
    assert f"{name} {ANSWERS[name]}" in page
    assert f">{seconds_text(record.totals.elapsed_s)}</td>" in page
    assert all(job.id in page for job in (*record.staging_jobs, *record.jobs))
    assert "normalise (staging)" in page
    assert 'class="fail"' not in page
