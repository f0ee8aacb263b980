"""Proves what the two studies of clusters are told by a run: networks, nodes, ED2P, power by node, and bytes by node."""

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.record import Promise, StagedInput
from assay.model.scale import CheckId, ScaleCheck, ScaleReport
from assay.model.trial import Plan, SettingsSpec
from assay_extras.energy.account import counted, energy_account
from assay_extras.studies.clusters import hpc_values, storage_values
from assay_extras.studies.kept import study_run
from assay_extras.studies.overview import overview
from assay_extras.studies.published import study_experiment
from assay_extras.studies.storage import COUNT, evenly
from assay_extras.studies.values import StudyPoint, StudyTable
from assay_extras.studies.view import study_view
from tests.extras.studies.builders import a_cluster_trial, the_comparison, thrice, verdicts

GBE, IPOIB = "62.5Mbit", "1Gbit"


def of(record):
    return {(point.workload, point.metric): value for point, value in hpc_values(record)}


def stored(record, name="storage-figures-6.1-6.4-scaled"):
    return {(point.job, point.metric): value for point, value in storage_values(record, study_experiment(name))}


def counted_words(number=1, **more):
    return a_cluster_trial(
        number, workload="word-frequency", variant="paper", nodes=11, slowdown=1, network="gigabit", **more
    )


@pytest.mark.parametrize(
    ("network", "slowdown", "named"),
    [("62.5Mbit", 16, "GbE"), ("125Mbit", 8, "GbE"), ("gigabit", 1, "GbE"), ("1Gbit", 16, "IPoIB"),
     ("ipoib-qdr-like", 1, "IPoIB"), ("ten-gigabit", 16, None), ("none", 16, None), ("fast-ethernet+62.5Mbit", 16, "GbE")],
)  # fmt: skip
def test_a_network_is_named_by_what_it_stands_for(network, slowdown, named):
    points = [point for point, _ in hpc_values(a_cluster_trial(1, network=network, slowdown=slowdown))]
    assert {point.network for point in points} == ({named} if named else set())
    assert {point.nodes for point in points} == ({9} if named else set())


def test_ed2p_is_of_all_nodes_and_a_drive_counts_by_the_part_of_a_node():
    record = a_cluster_trial(1, 10.0, nodes=3, slowdown=16, drive_j=3.2)
    found = of(record)
    in_run = [one for one in counted(energy_account(record).energies) if one.part == "run"]
    drives_j = sum(one.energy_j.value for one in in_run if one.component == "hdd")
    assert drives_j == pytest.approx(2 * 3.2)
    joules = sum(one.energy_j.value for one in in_run) - drives_j + drives_j / 16
    assert found["terasort", "ed2p"] == pytest.approx(joules * 10.0**2)
    assert found["terasort", "elapsed"] == 10.0
    assert found["terasort", "least power"] == pytest.approx(found["terasort", "mean power"])
    assert found["terasort", "master's power"] < found["terasort", "least power"]


def test_without_the_nodes_processors_nothing_is_said_of_energy():
    record = a_cluster_trial(1)
    silent = record.model_copy(update={"amounts": tuple(one for one in record.amounts if one.probe != "processes")})
    assert {metric for _, metric in of(silent)} == {"elapsed", "reduce"}


def test_other_variants_and_single_nodes_have_no_place():
    assert of(a_cluster_trial(1, variant="validate")) == {}
    assert of(a_cluster_trial(1, workload="grep")) == {}
    found = the_comparison("hpc-figure-5a-scaled", a_cluster_trial(1, network="10Mbit"))
    assert list(found.passed_over.values()) == ["the study has no place for its workload, variant or dataset"]


def test_a_trial_whose_scale_model_was_not_kept_to_says_nothing():
    failed = ScaleCheck(id=CheckId.DRIVES, value=0.5, limit=0.02, passed=False, detail="")
    record = a_cluster_trial(1).model_copy(update={"scale": ScaleReport(dilation=4, clock="model", checks=(failed,))})
    found = the_comparison("hpc-figure-5a-scaled", record)
    assert list(found.passed_over.values()) == ["its scale model was not kept to"]
    assert found.values == 0


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ({3: (50, 51), 5: (40, 60)}, {"H01": "confirmed", "H02": "confirmed", "H03": "confirmed"}),
        ({3: (30, 60), 5: (60, 61)}, {"H01": "confirmed", "H02": "refuted", "H03": "refuted"}),
        ({3: (60, 50), 5: (60, 50)}, {"H01": "refuted", "H02": "refuted", "H03": "undecided"}),
    ],
)
def test_reading_over_two_networks(rates, told):
    records = [
        a_cluster_trial(
            10 * nodes + place, workload="testdfsio", variant="read", network=network, nodes=nodes, rate=rate
        )
        for nodes, own in rates.items()
        for place, (network, rate) in enumerate(zip((GBE, IPOIB), own, strict=True))
    ]
    found = verdicts(the_comparison("hpc-figure-3a-scaled", *thrice(*records)))
    assert {one: found[one] for one in told} == told


@pytest.mark.parametrize(("on_ssds", "verdict"), [({3: 100, 5: 60}, "confirmed"), ({3: 60, 5: 100}, "refuted")])
def test_ssds_gain_less_on_larger_clusters(on_ssds, verdict):
    write = {"workload": "testdfsio", "variant": "write"}
    records = [
        a_cluster_trial(10 * nodes + place, medium=medium, nodes=nodes, rate=rate, **write)
        for nodes, fast in on_ssds.items()
        for place, (medium, rate) in enumerate((("hdd", 40.0), ("ssd", fast)))
    ]
    assert verdicts(the_comparison("hpc-figure-3-scaled", *thrice(*records)))["H08"] == verdict


def test_words_take_as_long_on_all_and_energy_follows_time():
    words = {"workload": "word-count", "nodes": 3}
    records = [
        a_cluster_trial(1, 40.0, **words), a_cluster_trial(2, 40.5, medium="ssd", **words),
        a_cluster_trial(3, 39.8, network=IPOIB, **words), a_cluster_trial(4, 20.0, **{**words, "nodes": 5}),
    ]  # fmt: skip
    found = the_comparison("hpc-figure-4-scaled", *thrice(*records))
    assert {verdicts(found)[one] for one in ("H10", "H11", "H15", "H16")} == {"confirmed"}
    follows = next(one for one in found.statements if one.statement.id == "H15")
    assert any("(5 nodes) / (3 nodes): elapsed 0.50" in finding.text for finding in follows.findings)
    # With so much work on more nodes that energy grows faster than the square of the time falls.
    busy = [*records[:3], a_cluster_trial(4, 38.0, busy_s=38.0, **{**words, "nodes": 5})]
    found = verdicts(the_comparison("hpc-figure-4-scaled", *thrice(*busy)))
    assert (found["H15"], found["H16"]) == ("refuted", "refuted")


def test_places_that_do_not_differ_in_time_leave_what_follows_open():
    records = [
        a_cluster_trial(1, 40.0, workload="word-count"),
        a_cluster_trial(2, 40.0, workload="word-count", medium="ssd"),
    ]
    found = the_comparison("hpc-figure-4-scaled", *thrice(*records))
    (finding,) = next(one.findings for one in found.statements if one.statement.id == "H15")
    assert finding.text == "of 1 pairs of places none clearly differs in elapsed"
    assert verdicts(found)["H15"] == "undecided"


@pytest.mark.parametrize(("busiest", "verdict"), [(1.0, "confirmed"), (1.9, "refuted")])
def test_power_is_spread_evenly_over_the_workers(busiest, verdict):
    records = [a_cluster_trial(1, 20.0, busy_s=10.0, busiest=busiest, medium="ssd")]
    assert verdicts(the_comparison("hpc-figure-8-scaled", *thrice(*records)))["H42"] == verdict


def test_pagerank_has_published_ratios():
    rank = {"workload": "page-rank", "variant": "paper"}
    records = [
        a_cluster_trial(1, 100.0, reduce_s=9.0, **rank),
        a_cluster_trial(2, 80.0, network=IPOIB, reduce_s=6.0, **rank),
    ]
    found = the_comparison("hpc-figure-6-scaled", *thrice(*records))
    (table,) = found.tables
    assert (table.name, found.agreed, found.decided) == ("Figure 6a", 1, 1)
    assert {verdicts(found)[one] for one in ("H29", "H44", "H48")} == {"confirmed"}
    (time, _) = found.figures
    assert time.lines[1].dots[0].published == pytest.approx(76.7)
    assert "GbE" in study_view(found).markdown()


@pytest.mark.parametrize(("ethernet", "verdict"), [((50, 48), "confirmed"), ((60, 40), "refuted")])
def test_nodes_and_drives_may_change_together(ethernet, verdict):
    """Times on 9 nodes with SSDs and on 13 with hard disks; over the other network 13 nodes are far ahead."""
    rank = {"workload": "page-rank", "variant": "paper", "slowdown": 8}
    records = [
        a_cluster_trial(10 * place + nodes, elapsed_s, network=network, medium=medium, nodes=nodes, **rank)
        for place, (network, times) in enumerate((("125Mbit", ethernet), ("2Gbit", (60, 40))))
        for nodes, medium, elapsed_s in zip((9, 13), ("ssd", "hdd"), times, strict=True)
    ]
    assert verdicts(the_comparison("hpc-figure-6", *thrice(*records)))["H33"] == verdict


def test_bytes_are_in_multiples_of_what_the_jobs_read():
    found = stored(counted_words(drives=((10, 3000), (1010, 60)), sent=50))
    assert found["staging", "disk write"] == pytest.approx(3.0)
    assert found["count", "disk read"] == pytest.approx(1.01)
    assert found["count", "mean disk write"] == pytest.approx(0.006)
    assert found["count", "network"] == pytest.approx(0.05)
    assert found["count", "elapsed"] == 10.0


@pytest.mark.parametrize(
    ("drives", "more", "refuted"),
    [
        (((10, 3040), (1010, 60)), {"sent": 40}, set()),
        (((10, 3040), (1010, 60)), {"sent": 900}, {"S-C10"}),
        (((10, 3000), (1000, 60)), {"sent": 40, "most": 3.0}, {"S-C03", "S-C09"}),
    ],
)
def test_what_hdfs_reads_writes_and_sends(drives, more, refuted):
    found = the_comparison("storage-figures-6.1-6.4", *thrice(counted_words(drives=drives, **more)))
    told = {one: verdict for one, verdict in verdicts(found).items() if verdict != "not addressed"}
    assert set(told) == {"S-C03", "S-C09", "S-C10"}
    assert {one for one, verdict in told.items() if verdict == "refuted"} == refuted
    assert {one for one, verdict in told.items() if verdict == "confirmed"} == told.keys() - refuted


@pytest.mark.parametrize(("most", "truth"), [(1.0, "yes"), (1.2, "yes"), (1.5, "no")])
def test_nodes_that_read_alike_read_evenly_although_repetitions_vary(most, truth):
    point = StudyPoint("word-frequency", "count", metric="most disk read", store="hdfs")
    by_repetition = {number: most * (1 + number / 10_000) for number in (1, 2, 3)}
    measured = StudyTable(
        {point: by_repetition, point.at("metric", "mean disk read"): dict.fromkeys((1, 2, 3), 1.0001)}
    )
    (finding,) = evenly("disk read", COUNT).findings(measured)
    assert finding.truth == truth


def test_what_was_written_stands_beside_the_published():
    found = the_comparison("storage-figures-6.1-6.4-scaled", *thrice(counted_words(drives=((10, 3040), (1010, 60)))))
    by_name = {table.name: table for table in found.tables}
    assert set(by_name) == {"Figure 6.1", "Figure 6.3", "Section 6.1"}
    assert (found.decided, found.count("follows from the set-up")) == (0, 4)
    measured = {(cell.point.store, cell.point.metric): cell.measured for cell in by_name["Figure 6.1"].cells}
    assert measured["hdfs", "disk write"] == pytest.approx(3.04)
    assert measured["hbase", "disk write"] is None
    markdown = study_view(found).markdown()
    assert "published (x input) | measured (x input)" in markdown
    assert "published (s) | measured (s)" in markdown


def beside_hbase(hdfs, hbase, times=(40.0, 36.0), name="storage-figures-6.1-6.4-four-nodes-scaled", **more):
    """The same job with both stores: what drives and network moved, and how long it took."""
    records = [
        counted_words(number, elapsed_s=elapsed_s, store=store, drives=drives, sent=sent, **more)
        for number, store, elapsed_s, (drives, sent) in zip(
            (1, 2), ("hdfs", "hbase"), times, (hdfs, hbase), strict=True
        )
    ]
    return the_comparison(name, *thrice(*records))


LITTLE, MUCH = (((10, 3040), (1010, 60)), 40), (((1000, 9000), (1900, 2000)), 100)


def test_hbase_stands_beside_hdfs_and_what_follows_from_the_set_up_does_not_count():
    found = beside_hbase(LITTLE, MUCH)
    told = verdicts(found)
    confirmed = {"S-C01", "S-C05", "S-C07", "S-C08", "S-C09", "S-C10", "S-C11"}
    assert {one for one, verdict in told.items() if verdict == "confirmed"} == confirmed
    assert "refuted" not in told.values()
    by_store = [pair for table in found.tables for pair in table.contrasts if pair.field == "store"]
    assert {(pair.first.job, pair.first.metric) for pair in by_store if pair.set_up} == {
        ("staging", "disk write"), ("count", "disk write"), ("staging", "elapsed"), ("staging and count", "elapsed"),
    }  # fmt: skip
    assert found.count("agrees") == 3, "what staging and the job read, and the job's time"


def test_staging_is_timed_at_full_size_alone():
    """It took as long in both stores, the job less time on HBase; scaled, fixed starts would decide that."""
    full, scaled = (
        beside_hbase(LITTLE, MUCH, name=f"storage-figures-6.1-6.4{end}") for end in ("", "-four-nodes-scaled")
    )
    assert {verdicts(full)[one] for one in ("S-C06", "S-C12")} == {"refuted"}
    for one in scaled.statements:
        if one.statement.id in {"S-C06", "S-C12"}:
            assert one.verdict == "not addressed"
            assert "at this size making the text and the starts of programs" in one.reason
    assert full.possible == scaled.possible + 2, "the two comparisons of these times"


def test_what_is_said_by_construction_or_twice_is_judged_by_no_run():
    found = beside_hbase(LITTLE, MUCH)
    reasons = {one.statement.id: one.reason for one in found.statements if one.verdict == "not addressed"}
    assert "follows from the set-up" in reasons["S-C19"]
    assert "S-C16 counts that already" in reasons["S-C17"]


@pytest.mark.parametrize(
    ("hbase", "refuted"),
    [
        ((((1000, 3040), (1900, 2000)), 100), {"S-C05"}),
        ((((1000, 9000), (900, 120)), 100), {"S-C07", "S-C08"}),  # twice the writes: its log and its table
        ((((1000, 9000), (900, 2000)), 100), {"S-C07"}),
    ],
)
def test_what_hbase_does_not_do_is_refuted(hbase, refuted):
    told = verdicts(beside_hbase(LITTLE, hbase))
    assert {one for one, verdict in told.items() if verdict == "refuted"} == refuted


@pytest.mark.parametrize(
    ("hdfs_read", "hbase_read", "verdict"),
    [(10, 40, "undecided"), (0, 40, "undecided"), (10, 1000, "confirmed"), (600, 900, "refuted")],
)
def test_reads_of_less_than_a_twentieth_of_the_input_are_no_evidence(hdfs_read, hbase_read, verdict):
    """However many times as much HBase read; and what it wrote, as the set-up says, adds nothing."""
    hdfs, hbase = (((hdfs_read, 3040), (1010, 60)), 40), (((hbase_read, 9000), (1900, 2000)), 100)
    assert verdicts(beside_hbase(hdfs, hbase))["S-C01"] == verdict


def test_nodes_that_share_processors_tell_no_times():
    record = counted_words(store="hbase")
    fast = record.model_copy(
        update={
            "scale": None,
            "trial": record.trial.model_copy(
                update={"cluster": record.trial.cluster.model_copy(update={"dilation": None})}
            ),
        }
    )
    assert {metric for _, metric in stored(record)} - {metric for _, metric in stored(fast)} == {"elapsed"}
    cpus = fast.trial.cluster.model_copy(update={"limit_cpus": 0.1})
    own = fast.model_copy(update={"trial": fast.trial.model_copy(update={"cluster": cpus})})
    assert stored(own)["count", "elapsed"] == 10.0


def test_one_node_has_bytes_and_times_but_no_evenness():
    record = counted_words(store="hbase")
    cluster = EmbeddedSpec()
    alone = record.model_copy(
        update={
            "scale": None, "amounts": (), "trial": record.trial.model_copy(update={"cluster": cluster}),
            "devices": tuple(drive.model_copy(update={"node": None}) for drive in record.devices[:1]),
        }
    )  # fmt: skip
    found = stored(alone, "storage-figures-6.1-6.4-one-node-scaled")
    assert {metric for _, metric in found} == {"input", "disk read", "disk write", "elapsed"}
    assert found["staging", "elapsed"] == 10.0
    assert found["staging and count", "elapsed"] == 20.0


def test_tables_are_measured_by_what_was_staged():
    record = counted_words(store="hbase", drives=((10, 3000), (1010, 60)))
    promise = Promise(copies=3, reach="drives")
    staged = record.model_copy(update={"staged": StagedInput(bytes=500, basis="measured", promise=promise)})
    assert stored(staged)["staging", "disk write"] == pytest.approx(2 * stored(record)["staging", "disk write"])


def clustered(on_all, on_some, properties):
    """K-means with both stores, on points whose attributes all take part, and on points of which some do."""
    times = [(store, "0", seconds) for store, seconds in on_all.items()]
    times += [(store, "140", seconds) for store, seconds in on_some.items()]
    records = []
    for number, (store, unused, seconds) in enumerate(times):
        record = a_cluster_trial(
            number, seconds, workload="k-means", variant="paper", nodes=11, slowdown=1, network="gigabit", store=store,
            options={"points": "300000", "unused": unused},
        )  # fmt: skip
        settings = SettingsSpec(name="small", properties=properties)
        records.append(record.model_copy(update={"trial": record.trial.model_copy(update={"settings": settings})}))
    return the_comparison("storage-statement-c20-scaled", *thrice(*records))


APART = {"hbase.assay.columns": "used-apart"}


@pytest.mark.parametrize(
    ("on_some", "verdict"),
    [({"hdfs": 60.0, "hbase": 50.0}, "confirmed"), ({"hdfs": 60.0, "hbase": 90.0}, "refuted")],
)
def test_hbase_gains_more_where_some_attributes_take_part(on_some, verdict):
    found = clustered({"hdfs": 40.0, "hbase": 44.0}, on_some, APART)
    assert verdicts(found)["S-C20"] == verdict
    assert found.passed_over == {}
    others = {one for one, told in verdicts(found).items() if told != "not addressed"}
    assert others == {"S-C20"}, "its points are too few for what is said of k-means"


def test_tables_of_whole_lines_tell_nothing_of_columns():
    found = clustered({"hdfs": 40.0, "hbase": 44.0}, {"hdfs": 60.0, "hbase": 50.0}, {})
    assert verdicts(found)["S-C20"] == "not addressed"
    assert set(found.passed_over.values()) == {"the study has no place for its workload, variant or dataset"}


def test_no_store_is_best_is_judged_by_all_runs_together():
    words = [
        counted_words(number, elapsed_s=seconds, store=store)
        for number, (store, seconds) in enumerate((("hdfs", 30.0), ("hbase", 50.0)))
    ]
    more = {"workload": "k-means", "variant": "paper", "nodes": 11, "slowdown": 1, "network": "gigabit"}
    points = [
        a_cluster_trial(number, seconds, store=store, **more)
        for number, (store, seconds) in enumerate((("hdfs", 50.0), ("hbase", 40.0)))
    ]
    runs = []
    for name, records in (("6.1-6.4", words), ("6.5-6.6", points)):
        every = thrice(*records)
        trials = tuple(record.trial for record in every)
        plan = Plan(experiment=f"storage-figures-{name}-scaled", description="", seed=1, trials=trials)
        runs.append(study_run(plan, every))
    assert verdicts(the_comparison("storage-figures-6.1-6.4-scaled", *thrice(*words)))["S-C22"] == "undecided"
    (no_store,) = [one for one in overview(runs).statements if one.id == "S-C22"]
    assert no_store.verdict == "confirmed"
    alone = thrice(counted_words(1, elapsed_s=90.0, store="hdfs"))
    trials = tuple(record.trial for record in alone)
    plan = Plan(experiment="storage-figures-6.1-6.4-one-node-scaled", description="", seed=1, trials=trials)
    (not_of_it,) = [one for one in overview([*runs, study_run(plan, alone)]).statements if one.id == "S-C22"]
    assert not_of_it == no_store, "a run with one store alone lends its times to no comparison"


def test_points_stand_for_the_studys_and_iterations_for_one_another():
    record = a_cluster_trial(
        1, 30.0, workload="k-means", variant="paper", nodes=11, slowdown=1, network="gigabit",
        options={"points": "1000000", "k": "10"}, sent=2400,
    )  # fmt: skip
    found = the_comparison("storage-figures-6.5-6.6-scaled", *thrice(record))
    (network, _) = found.tables
    assert (network.name, network.cells[0].measured) == ("Figure 6.6", pytest.approx(2.4))
    points = dict(storage_values(record, study_experiment("storage-figures-6.5-6.6-scaled")))
    assert StudyPoint("k-means", "iteration", "k = 10", "10000000 points", store="hdfs") in points
    assert StudyPoint("k-means", "iteration", "k = 10", "1000000 points", store="hdfs") in dict(
        storage_values(record, study_experiment("storage-figures-6.5-6.6"))
    )


def test_a_job_that_is_no_iteration_is_not_counted_as_one():
    record = a_cluster_trial(
        1, 30.0, workload="k-means", variant="paper", nodes=11, store="hbase", options={"points": "1000000"}, sent=2400
    )
    publish = record.jobs[0].model_copy(update={"name": "publish", "finished_ms": record.jobs[0].started_ms + 9000})
    more = record.model_copy(update={"jobs": (*record.jobs, publish)})
    experiment = study_experiment("storage-figures-6.5-6.6-scaled")
    assert dict(storage_values(more, experiment)) == dict(storage_values(record, experiment))


@pytest.mark.parametrize(("half", "verdict"), [(15.0, "confirmed"), (25.0, "refuted")])
def test_an_iteration_takes_in_proportion_to_points_and_clusters(half, verdict):
    more = {"workload": "k-means", "variant": "paper", "nodes": 11, "slowdown": 1, "network": "gigabit"}
    records = [
        a_cluster_trial(number, time, options={"points": points, "k": k}, **more)
        for number, (points, k, time) in enumerate(
            (("10000000", "10", 30.0), ("5000000", "10", half), ("10000000", "5", half))
        )
    ]
    found = the_comparison("storage-figures-6.5-6.6", *thrice(*records))
    assert verdicts(found)["S-C18"] == verdict
    scaled = the_comparison("storage-figures-6.5-6.6-scaled", *thrice(*records))
    assert "its start above all" in next(one.reason for one in scaled.statements if one.statement.id == "S-C18")
