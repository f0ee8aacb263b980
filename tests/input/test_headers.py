"""Proves that a header is skipped by its bytes in a store of files, and left out where lines have no offsets."""

import bz2
import gzip

import pytest

from assay.model.engine import LaunchReport
from assay.model.progress import Silent
from assay.model.store import Store

EDGES = b"1 2\n1 3\n2 3\n"
MARK = b"\xef\xbb\xbf"


class Lines(Store):
    """A store of lines, whose number in a table is all that jobs know of their place."""

    def __init__(self):
        self.contents, self.deleted = {}, []

    def location(self, path):
        return f"table:{path}"

    def put(self, source, path):
        self.contents[path] = source.read_bytes()

    def lines(self, path):
        raise NotImplementedError

    def size_bytes(self, path):
        raise NotImplementedError

    def delete(self, path):
        self.deleted.append(path)


class LinesOfFiles(Lines):
    def list_files(self, path):
        raise NotImplementedError

    def pieces(self, path, offset=0, size=None):
        raise NotImplementedError


class Launches:
    """An engine that remembers the options of its jobs."""

    def run(self, launch, progress):
        self.options = launch.options
        return LaunchReport(jobs=(), result={})


def staged(dataset, store):
    engine = Launches()
    dataset.stage("/run/input", store, engine, Silent())
    assert store.deleted == ["/run/input-raw"]
    ((path, content),) = store.contents.items()
    return path, content, engine.options


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("header", [b"a b\n", MARK, MARK + b"a b\n", b"3,3,u,graph\n", b"# c\n3\n3\n"])
def test_lines_without_offsets_are_put_without_the_header(opener, header, pack):
    dataset = opener(pack(header + EDGES))
    path, content, options = staged(dataset, Lines())
    assert (path, content) == ("/run/input-raw/lines.txt", EDGES)
    assert options == ("--comment", "#%")
    assert dataset.graph().edges.tolist() == [[1, 2], [1, 3], [2, 3]]


def test_files_are_put_whole_and_jobs_skip_the_header(opener):
    path, content, options = staged(opener(MARK + b"a b w\n1 2 5\n"), LinesOfFiles())
    assert (path, content) == ("/run/input-raw/graph.txt", MARK + b"a b w\n1 2 5\n")
    assert options == ("--skip-bytes", "9", "--comment", "#%", "--extra-columns", "allow")
    _, content, options = staged(opener(MARK + b"a b w\n1 2 5\n"), Lines())
    assert (content, options) == (b"1 2 5\n", ("--comment", "#%", "--extra-columns", "allow"))


def test_lines_without_a_header_are_put_as_they_are(opener):
    packed = gzip.compress(b"# c\n" + EDGES)
    path, content, _ = staged(opener(packed, "graph.gz"), Lines())
    assert (path, content) == ("/run/input-raw/graph.gz", packed)
