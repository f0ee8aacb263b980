"""Proves that of two stores one keeps what jobs read, and the other all else, and that both are asked where bytes landed."""

from pathlib import Path

import pytest

from assay.model.fault import Redundancy
from assay.model.installed import stack_of
from assay.model.layout import Directory
from assay.model.registry import STORES
from assay.model.store import Placer, Store, raw
from assay.model.trial import Landed
from assay.store.divided import DividedPlacer, DividedStore


class Kept(Store, Placer):
    """Remembers what it was told."""

    def __init__(self, name):
        self.name, self.told = name, []

    def location(self, path):
        return f"{self.name}:{path}"

    def put(self, source, path):
        self.told.append(("put", path))

    def put_all(self, files):
        self.told.append(("put_all", *(path for _, path in files)))

    def write(self, path, pieces):
        self.told.append(("write", path, *pieces))

    def lines(self, path):
        yield self.name.encode()

    def size_bytes(self, path):
        return len(self.name)

    def delete(self, path):
        self.told.append(("delete", path))

    def prepare(self, base, input_path):
        self.told.append(("prepare", base, input_path))

    def landed(self, role, when, path):
        return Landed(role=role, when=when, bytes=len(self.name), shares={self.name: 1.0})


@pytest.fixture
def stores():
    return Kept("table"), Kept("file")


@pytest.fixture
def divided(stores):
    store = DividedStore(*stores)
    DividedPlacer(store, *stores).prepare("/base", "/base/input")
    return store


def test_input_and_all_else_are_apart(divided, stores):
    of_input, of_output = stores
    divided.put(Path("a"), "/base/input/points/a")
    divided.write("/base/input", [b"1"])
    divided.write("/base/inputs", [b"2"])
    divided.put(Path("a"), raw("/base/input") + "/a")
    divided.put(Path("a"), "/base/centres/a")
    prepared = ("prepare", "/base", "/base/input")
    assert of_input.told == [
        prepared, ("put", "/base/input/points/a"), ("write", "/base/input", b"1"), ("put", "/base/input-raw/a"),
    ]  # fmt: skip
    assert of_output.told == [prepared, ("write", "/base/inputs", b"2"), ("put", "/base/centres/a")]
    assert [divided.location(path) for path in ("/base/input/points", "/base/output")] == [
        "table:/base/input/points", "file:/base/output",
    ]  # fmt: skip
    assert (list(divided.lines("/base/input")), list(divided.lines("/base/output"))) == ([b"table"], [b"file"])
    assert (divided.size_bytes("/base/input"), divided.size_bytes("/base/output")) == (5, 4)
    divided.delete("/base")
    assert of_input.told[-1] == of_output.told[-1] == ("delete", "/base")


def test_files_that_follow_each_other_into_a_store_are_put_together(divided, stores):
    of_input, of_output = stores
    divided.put_all((Path("f"), path) for path in ("/base/input/1", "/base/input/2", "/base/x", "/base/input/3"))
    assert of_input.told[1:] == [("put_all", "/base/input/1", "/base/input/2"), ("put_all", "/base/input/3")]
    assert of_output.told[1:] == [("put_all", "/base/x")]


def test_bytes_land_where_their_store_says(divided, stores):
    placer = DividedPlacer(divided, *stores)
    assert placer.landed("input", "staged", "/base/input").shares == {"table": 1.0}
    assert placer.landed("output", "run", "/base/output").shares == {"file": 1.0}


class Copied(Kept):
    """Keeps several copies."""

    def redundancy(self, lost):
        return Redundancy(copies_lost=len(lost), under_replicated_blocks=0, missing_blocks=0, dead_datanodes=1)


def test_copies_are_those_of_a_store_that_has_several(divided):
    plain, copied = Kept("table"), Copied("file")
    lost = [Directory(path=Path("/hdd"), medium="hdd")]
    for pair in ((copied, plain), (plain, copied)):
        assert DividedPlacer(divided, *pair).redundancy(lost).copies_lost == 1
    assert DividedPlacer(divided, plain, plain).redundancy(lost) is None


@pytest.mark.parametrize("name", ["hbase-to-hdfs", "hdfs-to-hbase"])
def test_their_stack_has_the_services_of_both(name):
    assert {"hbase", "hdfs", "zookeeper"} <= {service.name for service in stack_of(name).services}
    assert STORES[name].promise({"dfs.replication": "3"}, 2).copies == 2
