"""Proves that k-means and PageRank run on a real cluster with verdict pass, in both variants, on made and given input."""

import pytest

from tests.it.driving import IN_ONE_CONTAINER

pytestmark = [pytest.mark.it, pytest.mark.long]

TASKS = "org.apache.hadoop.mapreduce.TaskCounter"


def test_both_variants_of_both(place):
    (place.home / "points.csv").write_text("".join(f"{at % 7},{at % 3},0.5\n" for at in range(200)))
    (place.home / "edges.txt").write_text("# a chain and a loop\n1 2\n2 3\n3 3\n")
    every = place.verified(f"""
experiment: points
workloads:
  - {{name: k-means, variant: paper, options: {{points: 20000, k: 5, iterations: 1, assign: true}}}}
  - {{name: k-means, variant: tuned, options: {{file: points.csv, k: 4, iterations: 1}}}}
  - {{name: page-rank, variant: paper, options: {{scale: 9, edge_factor: 8, iterations: 1}}}}
  - {{name: page-rank, variant: tuned, options: {{file: edges.txt, tolerance: 0.5}}}}
media: {place.media}
cache: warm
hadoop: {IN_ONE_CONTAINER}
""")
    records = {(record.trial.workload.name, record.trial.workload.variant): record for record in every}
    assert len(records) == 4
    check_k_means(records["k-means", "paper"])
    assert records["k-means", "tuned"].jobs[0].counters[TASKS]["REDUCE_INPUT_RECORDS"] == 4
    check_page_rank(records["page-rank", "paper"])
    assert [job.name for job in records["page-rank", "tuned"].jobs][:2] == ["adjacency", "iteration 1"]


def check_k_means(record):
    assert [job.name for job in record.jobs] == ["iteration 1", "assignment"]
    iteration, assignment = record.jobs
    assert iteration.stages[-1].tasks == 1
    assert iteration.counters[TASKS]["REDUCE_INPUT_RECORDS"] == 20_000
    assert iteration.counters[TASKS]["MAP_OUTPUT_BYTES"] == 20_000 * (6 + 8 * 10)
    assert assignment.stages[-1].tasks == 0


def check_page_rank(record):
    assert [job.name for job in record.jobs] == ["vertices", "join 1", "sum 1"]
    summary = record.outputs[0].summary
    for job in record.jobs[1:]:
        assert job.counters[TASKS]["MAP_OUTPUT_RECORDS"] == summary["vertices"] + summary["edges"]
        assert job.counters[TASKS]["MAP_OUTPUT_BYTES"] == 17 * (summary["vertices"] + summary["edges"])
    assert summary["vertices"] == 512
