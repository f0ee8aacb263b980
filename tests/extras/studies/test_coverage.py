"""Proves that the scaled experiments reach every published table and statement, but for those that are named here."""

from functools import cache
from pathlib import Path

import pytest

from assay.cli.context import vocabulary
from assay.model.record import Amount, Record, StoredOutput, totals
from assay.model.trial import Trial
from assay_extras.studies.comparison import CHECKS, NEVER, NEVER_SCALED, StudyComparison, compare
from assay_extras.studies.figures import SHAPES
from assay_extras.studies.published import StudyName, cells, contrasts, statements
from assay_extras.studies.values import LEAST_PAIRS
from tests.builders import a_record, an_installation, make_plan
from tests.extras.studies.builders import a_graph_job, on_nodes, on_one_node

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
INSTALLATION = an_installation(ROOT, ROOT / ".assay")
JOBS = {
    "mutual-friends": ("friend-lists", "triples", "lists"),
    "triangles": ("triads", "closing", "total"),
    "components": ("friend-lists", "iteration 1", "iteration 2"),
    "sort": ("sort",),
    "testdfsio": ("write",),
    "word-count": ("count",),
    "terasort": ("sort",),
    "page-rank": ("vertices", "join 1", "sum 1"),
    "word-frequency": ("count",),
    "k-means": ("iteration 1",),
}
SPENT_S = {"user_s": 50.0, "idle_s": 30.0, "iowait_s": 20.0}
ONLY_AT_FULL_SIZE = {"T25", "H33"}
"""Triads of Flickr: some 10 GB at any size that means something; PageRank on 13 nodes: more than an hour here."""
STUDIES = ("thesis", "hybrid", "hpc", "storage")


def as_if_run(trial: Trial) -> Record:
    """A record of a trial in which every phase took 10 s."""
    names = JOBS[trial.workload.name]
    if trial.workload.name == "components" and trial.workload.options.get("iterations") == "1":
        names = names[:-1]
    jobs = tuple(a_graph_job(name, (10.0, 10.0, 10.0, 10.0)) for name in names)
    amounts = tuple(
        Amount(probe="cpu", subject="machine", series=series, part="run", value=value)
        for series, value in SPENT_S.items()
    )
    output = StoredOutput(path="/out", bytes=1, summary={"throughput_mib_s": 100.0})
    record = a_record(trial, outputs=(output,))
    record = record.model_copy(update={"jobs": jobs, "totals": totals(jobs, ()), "amounts": amounts})
    if trial.cluster.workers:
        own = on_nodes(record, sent=40)
        return own if trial.cluster.dilation else own.model_copy(update={"scale": None})
    return on_one_node(record) if trial.workload.name in {"word-frequency", "k-means"} else record


@cache
def scaled(study: StudyName) -> dict[str, StudyComparison]:
    found = {}
    for file in sorted((ROOT / "experiments" / "studies").glob(f"{study}-*-scaled.yaml")):
        plan = make_plan(file, vocabulary(INSTALLATION))
        comparison = compare(plan, [as_if_run(trial) for trial in plan.trials])
        assert comparison is not None
        assert comparison.passed_over == {}
        found[file.stem] = comparison
    return found


@pytest.mark.slow
def test_every_statement_is_addressed_or_it_is_said_why_not():
    for study in STUDIES:
        addressed = {
            one.statement.id
            for comparison in scaled(study).values()
            for one in comparison.statements
            if one.verdict != "not addressed"
        }
        every = {one.id for one in statements(study)}
        assert every - addressed - set(NEVER[study]) == (ONLY_AT_FULL_SIZE & every) | set(NEVER_SCALED[study])
        assert set(CHECKS[study]) | set(NEVER[study]) == every


@pytest.mark.slow
def test_every_published_table_is_reached():
    for study in STUDIES:
        published = {one.table for one in (*cells(study), *contrasts(study))}
        reached = {table.name for comparison in scaled(study).values() for table in comparison.tables}
        assert published == reached


def test_the_reference_lists_what_each_experiment_reaches():
    text = (ROOT / "docs" / "research" / "studies.md").read_text()
    for study in STUDIES:
        for name, comparison in scaled(study).items():
            addressed = [one.statement.id for one in comparison.statements if one.verdict != "not addressed"]
            names = (f"| `{name}`", f"| `{name.removesuffix('-scaled')}`")
            (line,) = (line for line in text.splitlines() if line.startswith(names))
            assert line.split("|")[-3].split() == addressed


@pytest.mark.parametrize("study", ["thesis", "hybrid"])
def test_every_figure_of_numbers_is_drawn_as_a_line_at_least(study):
    drawn = {name: comparison.figures for name, comparison in scaled(study).items() if comparison.figures}
    assert {name.removesuffix("-scaled") for name in drawn} == {name for name in SHAPES if name.startswith(study)}
    for name, figures in drawn.items():
        assert [one.name for one in figures] == [shape.name for shape in SHAPES[name.removesuffix("-scaled")]]
        for figure in figures:
            assert max(len(line.dots) for line in figure.lines) > 1
            assert all(len(dot.values) >= LEAST_PAIRS for line in figure.lines for dot in line.dots)


def test_the_hpc_studys_figures_are_drawn_by_number_of_nodes():
    drawn = {name: comparison.figures for name, comparison in scaled("hpc").items() if comparison.figures}
    assert {name.removesuffix("-scaled") for name in drawn} == {name for name in SHAPES if name.startswith("hpc")}
    for name, figures in drawn.items():
        known = [shape.name for shape in SHAPES[name.removesuffix("-scaled")]]
        assert [one for one in known if one in {figure.name for figure in figures}] == [one.name for one in figures]
    for name in ("hpc-figure-3-scaled", "hpc-figure-3a-scaled", "hpc-figure-4-scaled", "hpc-figure-5-scaled"):
        assert {dot.at for figure in drawn[name] for line in figure.lines for dot in line.dots} == {3, 5}
