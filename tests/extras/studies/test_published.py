"""Proves that the packaged figures are whole, and that each check finds in the study's own numbers what it stands for."""

from itertools import product
from random import Random

import pytest

from assay_extras.studies.comparison import CHECKS, NEVER, judge, tables
from assay_extras.studies.published import cells, contrasts, dataset_names, statements
from assay_extras.studies.storage import ALL_ATTRIBUTES, SOME_ATTRIBUTES
from assay_extras.studies.values import PHASES, StudyPoint, StudyTable
from tests.extras.studies.builders import the_published


def test_every_published_value_is_there():
    assert len(cells("thesis")) == 552 + 20 + 20 + 2
    assert sum(cell.derived for cell in cells("thesis")) == 2
    assert len({cell.point for cell in cells("thesis")}) == len(cells("thesis"))
    youtube = StudyPoint("triangles", "closing", "customs", "YouTube", "ssd2", "merge")
    assert {cell.value for cell in cells("thesis") if cell.point == youtube} == {16.0}
    assert len(dataset_names()) == 10


def test_every_statement_has_a_check_or_a_reason():
    for study, count in (("thesis", 59), ("hybrid", 24), ("hpc", 22), ("storage", 22)):
        known = {one.id for one in statements(study)}
        assert len(known) == len(statements(study)) == count
        assert CHECKS[study].keys() | NEVER[study].keys() == known
        assert not CHECKS[study].keys() & NEVER[study].keys()


@pytest.mark.slow
def test_the_thesis_agrees_with_itself():
    for table in tables("thesis", the_published()):
        assert table.count("differs") == table.count("missing") == 0, table.name
        assert table.ranks is not None
        assert table.ranks.spearman == table.ranks.kendall == 1.0
    assert len(tables("thesis", the_published())) == 18


@pytest.mark.slow
def test_the_checks_find_in_the_thesis_numbers_what_they_support():
    for one in judge(statements("thesis"), CHECKS["thesis"], NEVER["thesis"], the_published()):
        if one.statement.support == "yes" and one.verdict != "not addressed":
            assert one.verdict == "confirmed", one


@pytest.mark.slow
def test_a_statement_that_its_own_table_speaks_against_is_refuted():
    found = {
        one.statement.id: one for one in judge(statements("thesis"), CHECKS["thesis"], NEVER["thesis"], the_published())
    }
    assert (found["T37"].verdict, found["T37"].places) == ("refuted", {"yes": 2, "no": 5, "unclear": 0})
    # One place of so many may point anywhere.
    assert (found["T18"].verdict, found["T18"].places["no"]) == ("undecided", 1)
    assert any("Gowalla" in finding.text and finding.truth == "no" for finding in found["T18"].findings)


JOBS = {"mutual-friends": ("friend-lists", "triples", "lists"), "triangles": ("triads", "closing"),
        "components": ("iteration 1", "all iterations")}  # fmt: skip
PROFILES = ("defaults", "containers", "customs")
SINGLE = ("single-sort-factor", "single-file-buffer", "single-file-buffer-512k")
DRIVES = ("hdd", "ssd1", "ssd2")
SHARES = ("0", "25", "50", "75", "100")
FIXED = {"size": 50, "block": 64, "buffer": 100, "streams": 10}
VARIED = {"size": (10, 20, 30, 50, 70), "block": (16, 64, 128, 512), "buffer": (20, 60, 80, 120), "streams": (2, 12)}


def places_of_jobs():
    """Whatever the thesis and the hybrid study speak of."""
    for workload, jobs in JOBS.items():
        settings = (*PROFILES, *SINGLE) if workload == "triangles" else PROFILES
        for job, profile, dataset, drive in product(jobs, settings, dataset_names().values(), DRIVES):
            base = StudyPoint(workload, job, profile, dataset, drive)
            yield from (base._replace(metric=metric) for metric in (*PHASES, "total", "elapsed"))
            yield from (base._replace(job="", metric=metric) for metric in ("busy", "iowait"))
    for kind, drive, size in product(("write", "read"), DRIVES, (1, 5, 20)):
        yield StudyPoint(f"testdfsio-{kind}", "", "defaults", "", drive, "throughput", size)
    for field, levels in VARIED.items():
        for level, share, metric in product((*levels, FIXED[field]), SHARES, ("elapsed", "map task", "reduce task")):
            yield StudyPoint("sort", "sort", medium=share, metric=metric, **{**FIXED, field: level})


POWER = ("mean power", "least power", "most power", "master's power")
BYTES = ("input", "disk read", "disk write", "mean disk read", "most disk read", "mean disk write", "most disk write",
         "mean disk", "network")  # fmt: skip


def places_of_clusters():
    """Whatever the HPC study and the storage subsystem study speak of."""
    for nodes, network, medium in product((3, 5, 9, 13), ("GbE", "IPoIB"), ("hdd", "ssd")):
        base = StudyPoint("", medium=medium, network=network, nodes=nodes)
        for kind in ("testdfsio-read", "testdfsio-write"):
            yield base._replace(workload=kind, metric="throughput")
        for workload, metric in product(("word-count", "terasort", "page-rank"), ("elapsed", "reduce", "ed2p", *POWER)):
            yield base._replace(workload=workload, metric=metric)
    jobs = ("staging", "count", "staging and count")
    for store, job, metric in product(("hdfs", "hbase", "hbase-to-hdfs"), jobs, (*BYTES, "elapsed")):
        yield StudyPoint("word-frequency", job, metric=metric, store=store)
    sizes = ((10_000_000, 10), (5_000_000, 10), (10_000_000, 5))
    for store, (points, k), metric in product(("hdfs", "hbase"), sizes, (*BYTES, "elapsed")):
        yield StudyPoint("k-means", "iteration", f"k = {k}", f"{points} points", metric=metric, store=store)
    for store, job in product(("hdfs", "hbase"), (ALL_ATTRIBUTES, SOME_ATTRIBUTES)):
        yield StudyPoint("k-means", job, "k = 10", "3000000 points", store=store)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "speaks_of"),
    [
        ("thesis", places_of_jobs),
        ("hybrid", places_of_jobs),
        ("hpc", places_of_clusters),
        ("storage", places_of_clusters),
    ],
    ids=("thesis", "hybrid", "hpc", "storage"),
)
def test_every_check_can_fail(study, speaks_of, monkeypatch):
    """By values from 1 to 100 s by chance, alike in all repetitions: all but what is said of some case is refuted once."""
    monkeypatch.setattr(StudyTable, "noise", lambda *_: None)  # there is none, and to find that takes most of the time
    of_some_case = {name for name, check in CHECKS[study].items() if all(part.quantifier == "some" for part in check)}
    left = [one for one in statements(study) if one.id in CHECKS[study].keys() - of_some_case]
    places = [*speaks_of()]
    for seed in range(12):
        if not left:
            break
        chance = Random(seed)
        values = StudyTable({place: dict.fromkeys((1, 2, 3), 100 ** chance.random()) for place in places})
        judged = judge(left, CHECKS[study], {}, values)
        assert "not addressed" not in {one.verdict for one in judged}
        left = [one.statement for one in judged if one.verdict != "refuted"]
    assert not left


@pytest.mark.parametrize(("figure", "count"), [("Figure 3a", 1), ("Figure 5a", 4), ("Figure 5b", 4)])
def test_the_hybrid_study_gives_ratios(figure, count):
    own = [one for one in contrasts("hybrid") if one.table == figure]
    assert len(own) == count
    assert all(one.first.medium == "0" for one in own)
    assert [one.direction for one in own] == [-1 if one.ratio < 0.95 else 0 for one in own]


def test_the_hpc_study_gives_ratios_of_pagerank_by_network_and_by_drive():
    own = contrasts("hpc")
    assert [(one.field, one.first.nodes, round(one.ratio, 3), one.direction) for one in own] == [
        ("network", 9, 0.767, -1), ("network", 13, 0.707, -1), ("network", 9, 0.759, -1),
        ("medium", 9, 0.961, 0), ("medium", 9, 0.971, 0),
    ]  # fmt: skip
    assert (own[0].first.network, own[0].second.network, own[0].first.medium) == ("GbE", "IPoIB", "hdd")
    assert cells("hpc") == ()


def test_the_storage_studys_bytes_are_in_multiples_of_the_input():
    values = {
        (one.point.store, one.point.job, one.point.metric): one.value
        for one in cells("storage")
        if one.table.startswith("Figure")
    }
    assert values["hdfs", "staging", "disk write"] == pytest.approx(383 / 126, rel=0.001)
    assert values["hbase", "staging", "disk read"] == pytest.approx((1230 - 126) / 126, rel=0.001)
    assert values["hdfs", "count", "disk read"] == pytest.approx(128 / 126, rel=0.001)
    assert values["hbase", "iteration", "network"] == pytest.approx(472 / 80 / 0.327, rel=0.001)
    told = {(one.field, one.second.job, one.second.metric): (one.direction, one.set_up) for one in contrasts("storage")}
    assert told == {
        ("store", "staging", "disk read"): (1, False), ("store", "staging", "disk write"): (1, True),
        ("store", "staging", "elapsed"): (1, False), ("store", "staging and count", "elapsed"): (1, False),
        ("store", "count", "disk read"): (1, False), ("store", "count", "disk write"): (1, True),
        ("store", "count", "elapsed"): (-1, False), ("store", "iteration", "network"): (1, False),
        ("store", "iteration", "elapsed"): (0, False),
        ("metric", "staging", "disk write"): (1, True), ("metric", "count", "disk write"): (-1, True),
        ("job", "count", "disk read"): (1, True), ("job", "count", "disk write"): (-1, True),
    }  # fmt: skip
