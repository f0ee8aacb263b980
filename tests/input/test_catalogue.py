"""Published graphs are downloaded once, whole or not at all, and checked; against a server on this machine."""

import functools
import gzip
import http.server
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.input import catalogue
from assay.input.catalogue import Published, PublishedCounts, PublishedGraph, all_published, open_dataset
from assay.model.dataset import DatasetSpec
from assay.model.doubt import Outcome
from assay.model.errors import BadInputError
from assay.model.progress import Silent
from tests.serving import running
from tests.watching import Watcher

EDGES = b"# both directions\n0\t1\n1\t0\n1\t2\n2\t1\n0\t2\n2\t0\n"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and prints nothing."""

    def log_message(self, *_: object) -> None:
        """Silent."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.fixture
def server(site: Path) -> Iterator[str]:
    handler = functools.partial(QuietHandler, directory=str(site))
    with running(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)) as answering:
        yield f"http://127.0.0.1:{answering.server_port}"


@pytest.fixture
def triangle(monkeypatch: pytest.MonkeyPatch) -> Published:
    """A graph of three vertices in the place of a published one; `member` as an archive has it."""
    graph = all_published()["brightkite"].model_copy(update={"counts": PublishedCounts(nodes=3, edges=3, triangles=1)})
    monkeypatch.setattr(catalogue, "published", lambda *_: graph)
    return graph


def opened(cache: Path, mirror: str) -> PublishedGraph:
    dataset = open_dataset(DatasetSpec(name="b", get="brightkite"), cache, mirror)
    assert isinstance(dataset, PublishedGraph)
    return dataset


@pytest.mark.usefixtures("triangle")
def test_downloads_once_with_progress_and_checks(site: Path, server: str, tmp_path: Path) -> None:
    (site / "loc-brightkite_edges.txt.gz").write_bytes(gzip.compress(EDGES))
    dataset, watcher = opened(tmp_path / "cache", server), Watcher()
    staged = dataset.file(watcher)
    assert any("downloaded" in detail for detail in watcher.details)
    assert staged.name == "loc-brightkite_edges.txt.gz"
    assert not staged.canonical
    (site / "loc-brightkite_edges.txt.gz").unlink()
    assert opened(tmp_path / "cache", server).file(Silent()) == staged
    assert dataset.graph().edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert [verdict.outcome for verdict in dataset.verdicts()] == [Outcome.PASS]
    assert catalogue.is_downloaded("brightkite", tmp_path / "cache")


@pytest.mark.usefixtures("triangle")
def test_other_counts_than_published_are_an_error_with_both_numbers(site: Path, server: str, tmp_path: Path) -> None:
    (site / "loc-brightkite_edges.txt.gz").write_bytes(gzip.compress(EDGES + b"2\t3\n"))
    with pytest.raises(BadInputError, match="has 4 nodes, but 3 are published"):
        opened(tmp_path, server).file(Silent())


@pytest.mark.usefixtures("triangle")
def test_a_cut_off_file_is_told(site: Path, server: str, tmp_path: Path) -> None:
    (site / "loc-brightkite_edges.txt.gz").write_bytes(gzip.compress(EDGES)[:-6])
    with pytest.raises(BadInputError, match="gzip data are broken or cut off"):
        opened(tmp_path, server).file(Silent())


def test_without_a_network_it_says_where_to_put_the_file(tmp_path: Path) -> None:
    with pytest.raises(BadInputError) as told:
        opened(tmp_path, "http://127.0.0.1:9").file(Silent())
    assert "http://127.0.0.1:9/loc-brightkite_edges.txt.gz can't be downloaded" in str(told.value)
    assert str(tmp_path / "datasets" / "get-brightkite" / "loc-brightkite_edges.txt.gz") in str(told.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_file_address_works_and_an_unknown_page_is_told(site: Path, server: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="404 File not found"):
        opened(tmp_path, server).file(Silent())
    with pytest.raises(BadInputError, match="has to begin with https"):
        opened(tmp_path, "ftp://nowhere").file(Silent())
    (site / "loc-brightkite_edges.txt.gz").write_bytes(gzip.compress(EDGES))
    with pytest.raises(BadInputError, match="3 nodes, but 58,228 are published"):
        opened(tmp_path, site.as_uri()).file(Silent())


def test_konect_s_archive_is_unpacked(
    site: Path, tmp_path: Path, triangle: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = triangle.model_copy(
        update={"url": "http://x/t.tar.bz2", "member": "t/out.t", "format": "konect"},
    )
    monkeypatch.setattr(catalogue, "published", lambda *_: graph)
    content = b"% sym unweighted\n% 3 3 3\n1 2\n2 3\n1 3\n"
    with tarfile.open(site / "t.tar.bz2", "w:bz2") as tar:
        entry = tarfile.TarInfo("t/out.t")
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    dataset = opened(tmp_path / "cache", site.as_uri())
    assert dataset.facts().triangles == 1
    assert dataset.file(Silent()).normalise_options[-2:] == ("--extra-columns", "allow")


def test_the_list_has_the_ten_graphs_of_the_studies(tmp_path: Path) -> None:
    graphs = list(all_published().values())
    assert len(graphs) == 10
    assert graphs[0].name == "brightkite"
    assert all(graph.licence and graph.citation and graph.sources for graph in graphs)
