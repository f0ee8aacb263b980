"""Proves what staging took and how bytes were amplified, on one node and on several, and that promises are compared."""

import json

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.network import Pair
from assay.model.record import Amount, Promise, StagedInput, Step
from assay.model.trial import Landed, StoreSpec
from assay.probe.disk import DISK_SHARED
from assay.report.staging import _staging
from assay.report.values import staging_values
from assay.stats.run_doubts import promises_unequal
from assay.stats.staging import figures, staging_use
from assay.stats.trial_summary import summarise
from tests.builders import a_record, a_trial, a_view, summaries

MIB = 1 << 20
MEMORY = Promise(copies=2, reach="memory")


def section(records):
    return _staging(a_view(None, records))


def amount(probe, subject, series, value, part="staging", node=None):
    return Amount(probe=probe, subject=subject, series=series, part=part, value=value, node=node)


def staged(trial, promise=MEMORY, size=10 * MIB, **others):
    return a_record(
        trial,
        steps=(Step(name="stage", started_ms=0, seconds=4.0), Step(name="run", started_ms=5000, seconds=2.0)),
        staged=StagedInput(bytes=size, basis="measured", promise=promise),
        landed=(
            Landed(role="input", when="staged", bytes=24 * MIB, shares={"hdd": 1.0}),
            Landed(role="log", when="staged", bytes=6 * MIB, shares={"hdd": 1.0}),
            Landed(role="input", when="run", bytes=99 * MIB, shares={"hdd": 1.0}),
        ),
        **others,
    )


ONE_NODE = (
    amount("disk", "hdd", "read_bytes", 5 * MIB),
    amount("disk", "hdd", "written_bytes", 60 * MIB),
    amount("disk", "hdd", "written_bytes", 7 * MIB, "run"),
    amount("processes", "regionserver", "user_s", 3.0),
    amount("processes", "assay", "user_s", 9.0),
    amount("processes", "regionserver", "resident_peak_bytes", 500 * MIB),
    amount("network", "n: clients > regionserver", "hbase_rpc_to_server_bytes", 12 * MIB),
    amount("network", "interface lo", "sent_bytes", 77 * MIB),
    amount("daemon-counters", "regionserver", "log_written_bytes", 15 * MIB),
    amount("daemon-counters", "regionserver", "compaction_written_bytes", 11 * MIB),
    amount("daemon-counters", "regionserver", "compaction_written_bytes", 99 * MIB, "run"),
)


def test_bytes_on_media_are_put_against_those_of_the_input():
    use = staging_use(staged(a_trial(1, "hdd", 1, "count"), amounts=ONE_NODE))
    assert figures(use) == {
        "staging_s": 4.0, "staged_bytes": 10 * MIB, "staging_read_bytes": 5 * MIB, "staging_written_bytes": 60 * MIB,
        "staging_kept_bytes": 30 * MIB, "staging_processor_s": 3.0, "staging_memory_bytes": 500 * MIB,
        "write_amplification": 6.0, "write_amplification_of_copy": 3.0, "read_amplification": 0.5,
        "space_amplification": 3.0,
    }  # fmt: skip
    assert use.traffic == {"HBase write": 12 * MIB}
    assert use.kinds == {"written to the log": 15 * MIB, "compacted": 11 * MIB}


def test_a_device_that_others_use_is_not_asked():
    shared = [
        amount("disk-processes", "datanode", "written_bytes", 50 * MIB),
        amount("disk-processes", "datanode", "cancelled_write_bytes", 10 * MIB),
        amount("disk-processes", "assay", "written_bytes", 5 * MIB),
        amount("disk-processes", "namenode", "written_bytes", 64 * MIB),
    ]
    record = staged(a_trial(1, "hdd", 1, "count"), amounts=(*ONE_NODE, *shared))
    record = record.model_copy(update={"doubts": (DISK_SHARED.doubt("it is shared", "hdd"),)})
    use = staging_use(record)
    assert (use.written_bytes, use.disks_estimated) == (40 * MIB, True)


def test_several_nodes_add_up_and_are_told_apart():
    nodes = ("master", "worker-1", "worker-2")
    amounts = [
        amount("cpu", "machine", "user_s", 99.0),
        *(amount("processes", "datanode", "user_s", 2.0, node=node) for node in nodes),
        *(amount("disk-processes", "datanode", "written_bytes", 20 * MIB, node=node) for node in nodes),
        amount("network", Pair("worker-1", "worker-2", "").subject, "replication_to_server_bytes", 10 * MIB,
               node="worker-1"),
    ]  # fmt: skip
    cluster = EmbeddedSpec(nodes=2)
    trial = a_trial(1, "hdd", 1, "count").model_copy(update={"cluster": cluster})
    record = staged(trial, amounts=tuple(amounts))
    use = staging_use(record)
    assert (use.processor_s, use.written_bytes, use.traffic) == (6.0, 40 * MIB, {"replication": 10 * MIB})
    (row,) = json.loads(section([record]).json())
    (passed,) = row["of_nodes"][record.trial.id]["transfers"]
    assert (passed["sender"], passed["receiver"], passed["bytes"]) == (
        "worker-1", "worker-2", {"replication": 10 * MIB},
    )  # fmt: skip


def test_unknown_input_has_no_amplification():
    use = staging_use(staged(a_trial(1, "hdd", 1, "count"), size=None, amounts=ONE_NODE))
    assert (use.write_amplification, use.space_amplification, use.written_bytes) == (None, None, 60 * MIB)
    assert staging_use(a_record(a_trial(1, "hdd", 1, "count"))) is None
    assert staging_values(summarise(a_record(a_trial(1, "hdd", 1, "count")))) is None


def test_an_estimate_of_earlier_versions_has_no_amplification():
    record = staged(a_trial(1, "hdd", 1, "count"), amounts=ONE_NODE)
    estimated = record.staged.model_copy(update={"basis": "estimated"})
    use = staging_use(record.model_copy(update={"staged": estimated}))
    assert (use.input_bytes, use.write_amplification) == (None, None)


def test_a_record_of_earlier_versions_promises_what_it_did_while_staging():
    told = {"bytes": 1, "basis": "measured", "promise": {"copies": 2, "reach": "drives"}}
    old = StagedInput.model_validate(told)
    assert (old.lasting, old.guaranteed) == (Promise(copies=2, reach="drives"), "2 copies on drives")
    new = StagedInput.model_validate({**told, "promise_afterwards": {"copies": 2, "reach": "memory"}})
    assert new.lasting == MEMORY
    assert new.guaranteed == "2 copies in memory, on drives later (while staging 2 copies on drives)"


def test_the_section_has_each_combination_and_is_news_where_servers_count():
    records = [staged(a_trial(at, "hdd", at, "count"), amounts=ONE_NODE) for at in (1, 2)]
    view = section(records)
    (row,) = json.loads(view.json())
    assert (row["trials"], row["write_amplification"], row["promise"]) == (
        2,
        6.0,
        "2 copies in memory, on drives later",
    )
    assert row["counted_bytes"] == {"written to the log": 15 * MIB, "compacted": 11 * MIB}
    assert "compacted" in view.text()
    assert "6.00" in view.markdown()
    assert '<h2 id="staging">' in view.html()
    assert "0 throughout" not in view.markdown()
    silent = section([staged(a_trial(1, "hdd", 1, "count"), amounts=ONE_NODE[:3])])
    assert (silent.text(), silent.summary_html()) == ("", "")
    assert section([a_record(a_trial(1, "hdd", 1, "count"))]) is None


def of_store(number, store, promise, **levels):
    trial = a_trial(number, "hdd", 1, "count").model_copy(update={"store": StoreSpec(kind=store), "levels": levels})
    return staged(trial, promise)


@pytest.mark.parametrize(
    ("promise", "doubted"),
    [(MEMORY, False), (Promise(copies=2, reach="drives"), True), (Promise(copies=3, reach="memory"), True)],
)
def test_unequal_promises_of_what_is_compared_are_doubted(promise, doubted):
    doubts = promises_unequal(summaries([of_store(1, "hdfs", MEMORY), of_store(2, "hbase", promise)]))
    assert [doubt.kind for doubt in doubts] == ["promises-unequal"] * doubted
    if doubted:
        assert promise.words in doubts[0].what
        assert MEMORY.words in doubts[0].what


def test_what_was_promised_while_staging_is_told_and_what_is_promised_afterwards_compared():
    drives, nothing = Promise(copies=2, reach="drives"), Promise(copies=2, reach="one server")
    files, synced, skipped = (
        record.model_copy(update={"staged": record.staged.model_copy(update={"promise_afterwards": afterwards})})
        for record, afterwards in (
            (of_store(1, "hdfs", MEMORY), MEMORY),
            (of_store(2, "hbase", drives), MEMORY),
            (of_store(3, "hbase", nothing), drives),
        )
    )
    assert promises_unequal(summaries([files, synced])) == []
    (doubt,) = promises_unequal(summaries([files, skipped]))
    assert "2 copies in memory, on drives later: " in doubt.what
    assert "2 copies on drives (while staging nothing but one server's memory): " in doubt.what


def test_levels_that_an_experiment_varies_may_promise_different_things():
    drives = Promise(copies=2, reach="drives")
    assert not promises_unequal(
        summaries([of_store(1, "hdfs", MEMORY, sync="no"), of_store(2, "hdfs", drives, sync="yes")])
    )


def test_what_is_0_for_all_is_left_out_and_said_in_half_a_sentence():
    zero = amount("daemon-counters", "regionserver", "flush_written_bytes", 0)
    records = [
        staged(a_trial(1, "hdd", 1, "count"), amounts=(*ONE_NODE, zero)),
        staged(a_trial(2, "ssd", 1, "count"), amounts=(*ONE_NODE[:2], zero)),
    ]
    view = section(records)
    assert [(column.head, column.cells) for column in view.counted] == [
        ("workload", ["count"]), ("placement", ["hdd"]), ("written to the log", ["15.0 MiB"]),
        ("compacted", ["11.0 MiB"]), ("HBase write", ["12.0 MiB"]),
    ]  # fmt: skip
    assert view.markdown().endswith("Counted as 0 throughout: flushed.")
    assert "Counted as 0 throughout: flushed." in view.html()
    assert json.loads(view.json())[0]["counted_bytes"]["flushed"] == 0
    nothing = section(records[1:])
    assert nothing.counted == []
    assert "one copy of their bytes. " not in nothing.markdown()
    assert nothing.markdown().endswith("Counted as 0 throughout: flushed.")
