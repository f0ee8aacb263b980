"""Proves that directories realise fractions as nearly as they can, and that roles are kept apart."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from assay.model.installed import stack_of
from assay.model.layout import Role, in_order
from assay.model.trial import Placement
from assay.plan.layout import MOST_DIRECTORIES, OTHERS, in_turn, lay_out
from tests.builders import pure

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


ROLES = stack_of().roles


def test_a_pure_placement_has_one_directory_of_each_kind_and_one_for_the_jobs_own_files():
    layout = lay_out(pure("hdd"), {"": PLACES}, Path("/neutral"), ROLES)
    assert [(one.path, one.medium, one.roles) for one in layout.directories] == [
        (Path("/hdd/data-0"), "hdd", ("input", "output")), (Path("/neutral/system"), "neutral", ("system",)),
        (Path("/hdd/local-0"), "hdd", ("intermediate",)),
    ]  # fmt: skip


def test_roles_placed_differently_have_directories_of_their_own():
    placement = Placement(name="x", input={"hdd": 1}, intermediate={"ssd": 1}, output={"ssd": 0.5, "hdd": 0.5})
    layout = lay_out(placement, {"": PLACES}, Path("/neutral"), ROLES)
    media = {one.roles: {other.medium for other in layout.of(*one.roles)} for one in layout.directories}
    assert media == {
        ("input",): {"hdd"}, ("system",): {"neutral"}, ("intermediate",): {"ssd"}, ("output",): {"hdd", "ssd"},
    }  # fmt: skip
    assert len(set(layout.paths)) == len(layout.paths)


def test_a_role_of_another_service_has_directories_of_its_own_and_passing_files_are_marked():
    log = Role("log", "what was written last", follows="output")
    placement = Placement.of_roles("x", {"input": {"hdd": 1}, "log": {"ssd": 0.5, "hdd": 0.5}, "output": {"hdd": 1}})
    layout = lay_out(placement, {"": PLACES}, Path("/neutral"), in_order([*ROLES, log]))
    assert [one.path for one in layout.of("log")] == [Path("/hdd/log-0"), Path("/ssd/log-1")]
    assert [one.roles for one in layout.directories if one.passing] == [("intermediate",)]


def test_each_node_has_the_directories_of_one_alone_on_its_own_media():
    places = {node: {name: Path(f"/{node}/{name}") for name in PLACES} for node in ("worker-1", "worker-2")}
    layout = lay_out(pure("ssd"), places, Path("/neutral"), ROLES)
    for node, own in layout.nodes.items():
        assert own.paths == (
            Path("/neutral", node), Path(f"/{node}/ssd/data-0"), Path(f"/neutral/{node}/system"),
            Path(f"/{node}/ssd/local-0"),
        )  # fmt: skip
    assert list(layout.nodes) == ["worker-1", "worker-2"]
    assert layout.directories == (*layout.nodes["worker-1"].directories, *layout.nodes["worker-2"].directories)


@pytest.mark.parametrize(
    ("how", "tiers"), [("directed", [OTHERS, "SSD_1"]), ("hadoop", ["", ""]), ("in-turn", ["", ""])]
)
def test_local_directories_have_tags_where_jobs_are_directed(how, tiers):
    halves = {"ssd-1": 0.5, "hdd": 0.5}
    placement = Placement.of_roles("x", {"input": halves, "intermediate": halves, "output": halves}, how)
    places = {node: {name: Path(f"/{node}/{name}") for name in halves} for node in ("worker-1", "worker-2")}
    layout = lay_out(placement, places, Path("/neutral"), ROLES, ["ssd-1"])
    for node in layout.nodes.values():
        assert node.local_directories == how
        assert [place.tier for place in node.of("intermediate")] == tiers
        assert not any(place.tier for place in node.of("input", "output"))
