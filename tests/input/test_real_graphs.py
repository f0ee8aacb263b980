"""Published graphs as they are found, quirks and all, give the counts that two other programs gave."""

from pathlib import Path

import pytest

from assay.input.catalogue import open_dataset
from assay.model.dataset import DatasetSpec
from assay.model.errors import BadInputError
from assay.model.progress import Silent

FILES = ("brightkite.txt.gz", "ego-twitter-undirected.jlg", "Email-euAll.txt.gz", "CA-GrQc.txt.gz", "Wiki-Vote.txt.gz")
COUNTS = {
    "nodes": (58228, 81306, 265009, 5242, 7115),
    "edges": (214078, 1342296, 364481, 14484, 100762),
    "triangles": (494728, 13082506, 267313, 48260, 608389),
    "wedges": (13423403, 230093274, 195288557, 229867, 14545580),
    "degree_squares": (27274962, 462871140, 391306076, 488702, 29292684),
    "wedges_by_id": (8732401, 140364258, 186617492, 76333, 6761569),
    "wedges_by_degree": (1017736, 20996500, 1064198, 51700, 1758511),
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests, so that each file is read once."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.slow
@pytest.mark.parametrize("place", range(5), ids=FILES)
def test_counts_as_published(real_graphs: Path, cache: Path, place: int) -> None:
    header = 1 if FILES[place] == "Email-euAll.txt.gz" else None
    spec = DatasetSpec(name="real", file=real_graphs / FILES[place], header_lines=header)
    facts = open_dataset(spec, cache).facts()
    assert facts.model_dump() == {count: values[place] for count, values in COUNTS.items()}


@pytest.mark.slow
def test_a_header_that_parses_as_an_edge_is_refused(real_graphs: Path, cache: Path) -> None:
    spec = DatasetSpec(name="e", file=real_graphs / "Email-euAll.txt.gz")
    with pytest.raises(BadInputError, match=r"Email-euAll.txt.gz, line 1: `265214 364481`.*header_lines: 1"):
        open_dataset(spec, cache).file(Silent())


@pytest.mark.slow
def test_what_each_file_was_made_of(real_graphs: Path, cache: Path) -> None:
    expected = {
        "ego-twitter-undirected.jlg": (1, 14, 0),
        "CA-GrQc.txt.gz": (0, 12, 14484),
        "Wiki-Vote.txt.gz": (2, 0, 2927),
    }
    for file, counted in expected.items():
        dataset = open_dataset(DatasetSpec(name=file, file=real_graphs / file), cache)
        counts = dataset.counts()
        assert (counts.header, counts.self_loops, counts.duplicates) == counted, file


@pytest.mark.slow
def test_the_staged_file_is_the_user_s_own(real_graphs: Path, cache: Path) -> None:
    path = real_graphs / "ego-twitter-undirected.jlg"
    staged = open_dataset(DatasetSpec(name="t", file=path), cache).file(Silent())
    assert staged.path == path
    assert staged.name == "ego-twitter-undirected.jlg.gz"
    assert staged.normalise_options == ("--skip-bytes", "22", "--comment", "#%")
