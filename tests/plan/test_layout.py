"""Proves that directories realise fractions as nearly as they can, and that roles are kept apart."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from assay.model.trial import Placement, pure
from assay.plan.layout import MOST_DIRECTORIES, in_turn, lay_out

PLACES = {"hdd": Path("/hdd"), "ssd": Path("/ssd")}


@pytest.mark.parametrize(("share", "directories"), [(0.25, 4), (0.5, 2), (0.75, 4), (0.1, 10), (0.33, 3)])
def test_fractions_become_few_directories(share, directories):
    turns = in_turn({"ssd": share, "hdd": 1 - share})
    assert len(turns) == directories
    assert abs(Counter(turns)["ssd"] / directories - share) < 0.005


@given(some.floats(min_value=0.01, max_value=0.99))
def test_any_fraction_is_met_within_half_a_directory(share):
    turns = in_turn({"ssd": share, "hdd": 1 - share})
    assert len(turns) <= MOST_DIRECTORIES
    assert abs(Counter(turns)["ssd"] / len(turns) - share) <= max(0.5 / MOST_DIRECTORIES, 0.05 - share, share - 0.95)


def test_a_pure_placement_has_one_directory_of_each_kind_and_one_for_the_jobs_own_files():
    layout = lay_out(pure("hdd"), {"": PLACES}, Path("/neutral"))
    assert [(one.path, one.medium, one.roles) for one in layout.data] == [
        (Path("/hdd/data-0"), "hdd", ("input", "output")), (Path("/neutral/system"), "neutral", ()),
    ]  # fmt: skip
    assert [one.path for one in layout.local] == [Path("/hdd/local-0")]


def test_roles_placed_differently_have_directories_of_their_own():
    placement = Placement(name="x", input={"hdd": 1}, intermediate={"ssd": 1}, output={"ssd": 0.5, "hdd": 0.5})
    layout = lay_out(placement, {"": PLACES}, Path("/neutral"))
    media = {
        roles: {one.medium for one in layout.data if one.roles == roles} for roles in (("input",), ("output",), ())
    }
    assert media == {("input",): {"hdd"}, ("output",): {"hdd", "ssd"}, (): {"neutral"}}
    assert {one.medium for one in layout.local} == {"ssd"}
    assert len(set(layout.directories)) == len(layout.directories)


def test_each_node_has_the_directories_of_one_alone_on_its_own_media():
    places = {node: {name: Path(f"/{node}/{name}") for name in PLACES} for node in ("worker-1", "worker-2")}
    layout = lay_out(pure("ssd"), places, Path("/neutral"))
    for node, own in layout.nodes.items():
        assert own.neutral == Path("/neutral", node)
        assert [one.path for one in own.data] == [Path(f"/{node}/ssd/data-0"), Path(f"/neutral/{node}/system")]
        assert [one.path for one in own.local] == [Path(f"/{node}/ssd/local-0")]
    assert list(layout.nodes) == ["worker-1", "worker-2"]
    assert layout.data == (*layout.nodes["worker-1"].data, *layout.nodes["worker-2"].data)
    assert layout.local == (*layout.nodes["worker-1"].local, *layout.nodes["worker-2"].local)
