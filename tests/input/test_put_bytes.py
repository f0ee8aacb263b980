"""Proves that an input says how many bytes a store's client is given of it, whatever jobs make of them afterwards."""

import gzip

import pytest

from assay.input.directed import DirectedInput
from assay.input.graph_file import UserGraph
from assay.input.points import GeneratedPoints
from assay.input.rows import GeneratedRows
from assay.model.dataset import DatasetSpec
from assay.model.engine import LaunchReport
from assay.model.progress import Silent

EDGES = "".join(f"{number} {number * number}\n" for number in range(2, 3000))


class Weighing:
    """A store that counts bytes; a job that would normalise them is no part of it."""

    streams = False

    def __init__(self):
        self.bytes = 0

    def put(self, source, path):
        self.bytes += source.stat().st_size

    def put_all(self, files):
        for source, path in files:
            self.put(source, path)

    def delete(self, path):
        pass

    def run(self, launch, progress):
        return LaunchReport(jobs=(), result={})


def user_graph(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    return UserGraph(DatasetSpec(name="graph", file=tmp_path / name), tmp_path / name, tmp_path / "cache")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "inexact"),
    [
        (lambda folder: user_graph(folder, "graph.txt", EDGES.encode()), 0),
        (lambda folder: user_graph(folder, "graph.txt.gz", gzip.compress(EDGES.encode())), 0),
        (
            lambda folder: user_graph(
                folder, "graph.csv", f"source,weight,target\n{EDGES.replace(' ', ',1,')}".encode()
            ),
            0,
        ),
        (lambda _: DirectedInput(None, scale=10, edge_factor=4, seed=1), 0),
        (lambda _: GeneratedPoints(5000, attributes=5, seed=1), 0.01),
        (lambda _: GeneratedRows(5000, line_bytes=50, seed=1), 0),
    ],
    ids=["graph", "compressed", "rewritten", "directed", "points", "rows"],
)
def test_as_many_bytes_are_put_as_the_input_says(tmp_path, make, inexact):
    staged, store = make(tmp_path), Weighing()
    staged.stage("/run/input", store, store, Silent())
    assert store.bytes == pytest.approx(staged.put_bytes(), rel=inexact)
