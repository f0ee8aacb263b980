"""Proves that a cluster's nodes are drawn and told: the matrix of what passed between them, their use, the uneven one."""

import csv
import io
import json
import re
from html import unescape
from xml.etree import ElementTree

import pytest
from rich.console import Console

from assay.cli.report import csv_of, json_lines
from assay.model.trial_summary import Imbalance
from assay.report.analysis import RunData, analyse
from assay.report.charts.matrix import COLOURS, MOST_NUMBERED
from assay.report.markdown import markdown
from assay.report.nodes import LARGE, imbalance_columns, imbalance_words, nodes_in
from assay.report.terminal import MOST_PAIRS, print_nodes
from assay.stats.nodes import CONTROL, RESOURCES, purposes, transfers
from tests.builders import a_measured_run, a_plan
from tests.report.made_nodes import MIB, a_cluster_record, cluster_tables
from tests.report.made_runs import page
from tests.report.made_trials import the_tables

SVG = "{http://www.w3.org/2000/svg}"
TWO = "gigabit+ten-gigabit"


def drawn(record):
    return [ElementTree.fromstring(figure) for figure in nodes_in(record).matrices()]


def words(figure):
    return [part.text for part in figure.iter() if part.text]


def cells(figure):
    """What the pointer is told in each cell."""
    return [title.text for title in figure.iter(f"{SVG}title")]


def table(columns):
    rows = zip(*(one.cells for one in columns), strict=True)
    return [dict(zip([one.head for one in columns], row, strict=True)) for row in rows]


class TestTheMatrix:
    def test_every_pair_has_a_cell_with_its_bytes_and_their_purposes(self):
        (figure,) = drawn(a_cluster_record())
        told = cells(figure)
        assert len(told) == 4 * 3
        between = "worker-1 to worker-2: 86.3 MiB, HDFS read 6.0 MiB, replication 48.0 MiB, shuffle 32.1 MiB"
        assert any(one.startswith(between) for one in told)
        assert "86.3" in words(figure)
        assert "network (gigabit)" in words(figure)

    def test_rows_and_columns_add_up_to_what_nodes_sent_and_received(self):
        record = a_cluster_record()
        (figure,) = drawn(record)
        for node in ("master", "worker-2"):
            for side in ("sender", "receiver"):
                mib = sum(one.total for one in transfers(record) if getattr(one, side) == node) / MIB
                assert (f"{mib:.0f}" if mib >= 100 else f"{mib:.1f}" if mib >= 10 else f"{mib:.2f}") in words(figure)

    def test_bars_are_as_long_as_their_bytes_and_lie_within_their_cells(self):
        (figure,) = drawn(a_cluster_record())
        for group in figure.iter(f"{SVG}g"):
            cell, *bars = [
                {name: float(part.get(name)) for name in ("x", "width")} for part in group.iter(f"{SVG}rect")
            ]
            assert all(cell["x"] < one["x"] and one["x"] + one["width"] < cell["x"] + cell["width"] for one in bars)
        lengths = {
            title.text.partition(":")[0]: sum(
                float(part.get("width")) for part in group.iter(f"{SVG}rect") if part.get("fill") in COLOURS
            )
            for group in figure.iter(f"{SVG}g")
            for title in group.iter(f"{SVG}title")
        }
        assert lengths["worker-1 to worker-2"] / lengths["worker-1 to worker-3"] == pytest.approx(86.3 / 46.3, rel=0.02)

    def test_two_networks_are_two_figures_on_one_scale(self):
        control, data = drawn(a_cluster_record(network=TWO))
        assert "control network (gigabit)" in words(control)
        assert "data network (ten-gigabit)" in words(data)
        assert control.get("viewBox").split()[2:3] == data.get("viewBox").split()[2:3]
        assert not [one for one in cells(control) if "shuffle" in one or "replication" in one or "HDFS" in one]
        assert not [one for one in cells(data) if "control" in one]
        assert [one for one in words(control) if one.startswith("MiB")] == [
            one for one in words(data) if one.startswith("MiB")
        ]

    @pytest.mark.slow
    @pytest.mark.parametrize("workers", [1, 4, 13, MOST_NUMBERED + 6])
    def test_words_stay_within_the_figure(self, workers):
        (figure,) = drawn(a_cluster_record(workers))
        width, height = map(float, figure.get("viewBox").split()[2:])
        letters_px = 7.2
        for part in figure.iter(f"{SVG}text"):
            if part.get("transform"):
                continue
            x, y, length_px = float(part.get("x")), float(part.get("y")), letters_px * len("".join(part.itertext()))
            left = x - {"end": length_px, "middle": length_px / 2}.get(part.get("text-anchor"), 0)
            assert left >= -1
            assert left + length_px <= width + 1
            assert 0 < y < height
        assert len(cells(figure)) == (workers + 1) * workers
        heads = [part for part in figure.iter(f"{SVG}text") if part.text == "worker-1"]
        assert len(heads) == 2

    def test_without_any_pair_there_is_no_figure(self):
        record = a_cluster_record()
        alone = [one for one in record.amounts if " > " not in one.subject]
        assert drawn(record.model_copy(update={"amounts": tuple(alone)})) == []


class TestTables:
    def test_each_node_has_a_line(self):
        found = {row["node"]: row for row in table(nodes_in(a_cluster_record()).columns())}
        assert found["worker-2"]["read"] == "600.0 MiB"
        assert found["worker-2"]["processor (s)"] == "47.0"
        assert found["master"]["read"] == "-"

    def test_pairs_are_told_by_purpose_the_largest_first_where_not_all_are(self):
        nodes = nodes_in(a_cluster_record(network=TWO))
        every = table(nodes.pair_columns())
        assert len(every) == len(nodes.transfers) == 24
        assert {row["network"] for row in every} == {"control", "data"}
        carried = {purpose for transfer in nodes.transfers for purpose in transfer.bytes}
        assert {"HDFS read", "HDFS write", CONTROL} < carried < every[0].keys()
        assert carried < set(purposes())
        few = [float(row["all"]) for row in table(nodes.pair_columns(5))]
        assert few == sorted(few, reverse=True)
        assert few[0] == max(float(row["all"]) for row in every)
        assert "network" not in table(nodes_in(a_cluster_record()).pair_columns())[0]

    def test_of_several_trials_each_has_its_uneven_worker(self):
        nodes = nodes_in(a_cluster_record())
        (row,) = table(imbalance_columns([("hdd", nodes.imbalances)]))
        assert row["processor"] == "1.45 (worker-2)"
        assert row["disk bytes"] == "1.00 (worker-1)"


class TestWhatToConclude:
    def test_of_what_is_even_nothing_is_said(self):
        assert imbalance_words([[Imbalance(one, LARGE - 0.01, "a") for one in RESOURCES]]) == []

    @pytest.mark.parametrize("resource", RESOURCES)
    def test_each_resource_has_a_conclusion_that_names_the_node(self, resource):
        (told,) = imbalance_words([[Imbalance(resource, 1.6, "worker-3")]])
        assert "worker-3 has the most in this trial, 1.60 times the workers' mean. It" in told

    def test_the_same_node_in_most_trials_is_another_case_than_a_different_one_in_each(self):
        same = [[Imbalance("processor", 1.5, node)] for node in ("b", "b", "a")]
        assert "b has the most in 2 of 3 trials, 1.50 times" in imbalance_words(same)[0]
        changing = [[Imbalance("processor", 1.5, node)] for node in ("a", "b", "c")]
        assert "chance" in imbalance_words(changing)[0]


def run_of(*detailed):
    records = [one.record for one in detailed]
    return RunData(a_measured_run(a_plan(*(record.trial for record in records)), records), [], records, list(detailed))


def html_of(*detailed):
    records = [one.record for one in detailed]
    return page(a_plan(*(record.trial for record in records)), records, [], detailed)


def printed(run, width=80):
    console = Console(file=io.StringIO(), width=width)
    print_nodes(run.detailed, console)
    return console.file.getvalue()


class TestReports:
    def test_the_page_has_the_matrix_the_nodes_and_what_to_conclude(self):
        html = html_of(cluster_tables(1, "hdd"), cluster_tables(2, "ssd"))
        assert html.count("bytes from each node to each other, by purpose") == 2
        text = unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)))
        assert "Processor: worker-2 has the most in 2 of 2 trials, 1.45 times the workers' mean" in text
        assert "1.45 (worker-2)" in text
        assert "Read and written: by each node's drives" in text

    def test_a_page_of_one_node_has_nothing_of_it(self):
        html = html_of(the_tables())
        assert "Nodes and what passed between them" not in html
        assert "between its own processes" not in html

    def test_one_worker_beside_a_master_is_not_uneven(self):
        html = html_of(cluster_tables(workers=1))
        assert "Nodes and what passed between them" in html
        assert "times the workers" not in html

    def test_markdown_has_the_tables_of_the_first_trial(self):
        run = run_of(cluster_tables(1), cluster_tables(2, repetition=2))
        text = markdown(run, analyse(run.measured))
        assert "| worker-1 | worker-2 | 6.0 | - | 48.0 | 32.1 | 0.2 | 86.3 |" in text
        assert text.count("Nodes of 000") == 1

    def test_a_terminal_has_it_within_its_width(self):
        text = printed(run_of(cluster_tables(workers=5)))
        assert max(map(len, text.splitlines())) <= 80
        assert f"and {6 * 5 - MOST_PAIRS} more pairs with less, on the page" in text
        both = " ".join(printed(run_of(cluster_tables(network=TWO))).split())
        assert "Control network (gigabit): control 5.4 MiB. Data network (ten-gigabit): HDFS read 45.0 MiB, " in both
        assert printed(run_of(the_tables())) == ""

    def test_csv_has_a_column_for_each_resource_and_json_all_of_it(self):
        run = run_of(cluster_tables(1), cluster_tables(2, repetition=2))
        analysis = analyse(run.measured)
        for rows in ("trials", "combinations"):
            for line in csv.DictReader(io.StringIO("\n".join(csv_of(run, analysis, rows)))):
                assert float(line["imbalance_processor"]) == pytest.approx(47 / ((25 + 47 + 25) / 3))
        alone = run_of(the_tables())
        assert "imbalance" not in next(csv_of(alone, analyse(alone.measured), "trials"))
        (first, _) = json.loads("".join(json_lines(run, analysis)))["nodes"].values()
        assert {one["node"] for one in first["nodes"]} == {"master", "worker-1", "worker-2", "worker-3"}
        assert first["nodes"][2]["processor_s"] == 47.0
        assert first["transfers"][0]["bytes"]["control"] == pytest.approx(0.7 * MIB)
        assert {one["resource"] for one in first["imbalances"]} == set(RESOURCES)
        assert json.loads("".join(json_lines(alone, analyse(alone.measured))))["nodes"] == {}
