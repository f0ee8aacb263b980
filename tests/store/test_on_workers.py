"""Proves which nodes have a daemon of a store, in which folders it keeps what, and that their bytes are counted."""

from pathlib import Path

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.layout import Directory, Layout
from assay.model.service import NodeContext
from assay.store.on_workers import FolderPlacer, RoleFolders, hosts

FOLDERS = RoleFolders("shelf", {"input": "of_input", "output": "of_output", "log": "commits"})


def a_directory(path, *roles):
    return Directory(path=Path(path), medium=Path(path).name, roles=roles)


def a_layout(home):
    return Layout(neutral=home, directories=(
        a_directory(home / "ssd", "input", "output"), a_directory(home / "hdd", "log"),
    ))  # fmt: skip


class Workers(EmbeddedSpec):
    """Twelve of them."""

    @property
    def workers(self):
        return tuple(f"worker-{number}" for number in range(1, 13))


def test_a_node_knows_the_others_by_their_names_on_its_network(tmp_path):
    for suffix in ("", "-data"):
        for name in ("master", "worker-1", "worker-12"):
            together = hosts(NodeContext(Workers(), a_layout(tmp_path), f"{name}{suffix}", f"master{suffix}"))
            assert together == tuple(f"worker-{number}{suffix}" for number in range(1, 13))
    assert hosts(NodeContext(EmbeddedSpec(), a_layout(tmp_path), "localhost", "localhost")) == ("localhost",)


def test_a_role_in_several_directories_is_refused():
    directories = (a_directory("/a", "input"), a_directory("/b", "input"), a_directory("/c", "output"))
    layout = Layout(neutral=Path("/"), directories=directories)
    assert FOLDERS.of(layout, "output") == Path("/c/shelf/of_output")
    with pytest.raises(BadInputError, match="shelf keeps what is of the role input in one directory, and the plac"):
        FOLDERS.of(layout, "input")


def test_bytes_of_each_role_are_counted_where_they_lie(tmp_path):
    sizes = {"ssd/shelf/of_input/t1": 5, "ssd/shelf/of_output/t2": 7, "hdd/shelf/commits": 11, "ssd/current": 100}
    for place, size in sizes.items():
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "file").write_bytes(bytes(size))

    def landed(role, home=tmp_path):
        return FolderPlacer(None, a_layout(home), FOLDERS, {}).landed(role, "run", "/run")

    assert {role: landed(role).bytes for role in ("input", "output", "log")} == {"input": 5, "output": 7, "log": 11}
    assert landed("log").shares == {"hdd": 1.0}
    assert (landed("input", tmp_path / "other").bytes, landed("input", tmp_path / "other").shares) == (0, {})


def test_a_role_that_a_daemon_keeps_nothing_of_has_no_bytes(tmp_path):
    folders = RoleFolders("shelf", {"log": "commits"})
    landed = FolderPlacer(None, a_layout(tmp_path), folders, {}).landed("input", "staged", "/run/input")
    assert (landed.bytes, landed.shares) == (0, {})
