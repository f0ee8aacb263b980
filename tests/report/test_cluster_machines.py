"""Proves that a report says what each way to see an existing cluster added, and shows its machines side by side."""

import json

from assay.model.cluster import EmbeddedSpec, ExistingSpec
from assay.model.doubt import Doubt
from assay.model.record import Amount
from assay.report.cluster_machines import _machines
from tests.builders import a_plan, a_record, a_trial, a_view

DAEMONS = ("daemons", "datanode", "hdfs_read_bytes")


def amount(node, what, value, part="run"):
    probe, subject, series = what
    return Amount(probe=probe, subject=subject, series=series, part=part, value=value, node=node)


def view(*amounts, doubts=(), kind="existing"):
    spec = ExistingSpec(conf_dir="/conf") if kind == "existing" else EmbeddedSpec()
    trial = a_trial().model_copy(update={"cluster": spec})
    return _machines(a_view(a_plan(trial), [a_record(trial, amounts=amounts, doubts=doubts)]))


def test_a_cluster_of_assays_own_has_no_such_section():
    assert view(amount("n", DAEMONS, 5), kind="embedded") is None
    assert view() is None


def test_each_machine_has_a_line_and_columns_that_any_has():
    found = view(
        amount("w1", DAEMONS, 3 << 30), amount("w2", DAEMONS, 1 << 30), amount("w2", DAEMONS, 7 << 30, part="staging"),
        amount("w1", ("prometheus", "disk sda", "read_bytes"), 1 << 20),
        amount("w1", ("prometheus", "disk sdb", "read_bytes"), 1 << 20),
        amount("w1", ("prometheus", "processor", "user_s"), 2), amount("w1", ("prometheus", "processor", "idle_s"), 9),
        amount(None, ("daemons", "own", "requests_count"), 12),
    )  # fmt: skip
    (table,) = found.tables
    columns = {column.title: list(column.cells) for column in table.figures()}
    assert columns == {
        "machine": ["w1", "w2", "most over median"],
        "HDFS read": ["3.0 GiB", "1.0 GiB", "1.50"],
        "processor": ["2.00 s", "-", "-"],
        "drives read": ["2.0 MiB", "-", "-"],
    }
    assert "| w1 | 3.0 GiB | 2.00 s | 2.0 MiB |" in found.markdown()
    assert found.markdown().startswith("## The cluster's machines\n\n- `daemons`: The daemons' own counters")
    assert "<td>w1</td>" in found.html()
    told = json.loads(found.json())
    assert told["trials"][0]["machines"]["w2"]["HDFS read (bytes)"] == 1 << 30
    assert [way["machines"] for way in told["ways"]] == [2, 1]


def test_several_daemons_of_a_kind_add_up_to_their_machines_figure():
    found = view(
        amount("w1", ("daemons", "datanode 9864", "hdfs_read_bytes"), 3 << 20),
        amount("w1", ("daemons", "datanode 9964", "hdfs_read_bytes"), 1 << 20),
        amount("w1", ("daemons", "namenode 9870", "hdfs_read_bytes"), 1 << 20),
    )
    (row,) = found.tables[0].rows
    assert row == ("w1", [4 << 20])


def test_a_way_says_how_far_it_went_and_what_was_amiss():
    doubt = Doubt(kind="x", instrument="prometheus", what="it did not answer", why="", cure="")
    found = view(amount("w1", DAEMONS, 3), doubts=(doubt,))
    daemons, prometheus = found.text().splitlines()[1:]
    assert daemons.endswith("the bytes that each daemon served. Figures of 1 machine in 1 trial.")
    assert prometheus.endswith("No figures. It did not answer.")


def test_of_many_machines_the_first_are_shown():
    found = view(*(amount(f"w{number:02}", DAEMONS, number) for number in range(30)))
    (table,) = found.tables
    assert (len(table.rows), table.left_out, table.rows[0][0]) == (20, 10, "w29")
    assert "and 10 more machines" in found.markdown()
