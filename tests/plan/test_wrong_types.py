"""Proves that whatever stands in the place of a value, an experiment or a profile is read or refused in one sentence."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli.context import find_installation, vocabulary
from assay.host.yaml_file import plain, tree_of
from assay.media.emulated.profile import read_profile
from assay.model.errors import BadInputError
from assay.plan.source import Source
from tests.builders import make_plan

ROOT = Path(__file__).parents[2]
WRONG: list[Any] = [
    ["memory"], {"kind": "memory"}, [["memory"]], {"a": [1]}, [{}], [None], [], {}, None, 7, -1, 1.5, 10**30, True, "",
    "2020-01-01", "x" * 3000, "two\nlines", "\t\u00e9",
]  # fmt: skip
HOSTS = """\
experiment: hosts
workloads: {name: triangles, variant: paper, options: {}, hadoop: {mapreduce.job.reduces: 2}}
datasets: [{file: graph.txt, header_lines: 1, format: csv, columns: [a, 2], name: mine}]
media:
  a: {kind: memory, size: 4GiB, on: [1], elsewhere: b}
  b: memory
  c: {path: .}
placement: {input: a, intermediate: {a: 0.5, c: 0.5}, output: c}
settings: mine
profiles: {mine: {inherits: customs, about: mine, properties: {io.file.buffer.size: 8192}}}
hadoop: {mapreduce.task.io.sort.mb: [50, 100]}
design: one-at-a-time
base: {memory: 4GiB}
memory: [3GiB, 4GiB]
cluster:
  {kind: embedded, nodes: [2], network: [{rate: 1Gbit, latency: 100us}, {control: gigabit, data: {rate: 2Gbit}}],
   racks: [[1], [2]], starts: brisk}
fault: [none, {kill: nodemanager, on: 2, at: map 50%}]
exclude: [{memory: 3GiB, fault: none}]
"""
DRIVE = (ROOT / "emulator" / "profiles" / "wd10ezex.yaml").read_text()


def places(tree: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where anything stands, at any depth."""
    for key in tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield (*place, key)
        yield from places(tree[key], (*place, key))


def replaced(tree: Any, place: tuple[Any, ...], value: object) -> Any:
    changed = copy.deepcopy(tree)
    within = changed
    for key in place[:-1]:
        within = within[key]
    within[place[-1]] = value
    return changed


def refused(file: Path, text: str, read: Callable[[Path], object], most: int) -> int:
    """How many of at most so many changed files are refused; each by its name, and the others are read."""
    tree = plain(tree_of(text, file))
    changes = [(place, value) for place in places(tree) for value in WRONG]
    messages = []
    for place, value in random.Random(1).sample(changes, min(most, len(changes))):
        file.write_text(json.dumps(replaced(tree, place, value)))
        try:
            read(file)
        except BadInputError as error:
            messages.append(str(error))
    assert all(file.name in message for message in messages)
    return len(messages)


def test_an_experiment_with_anything_anywhere_is_planned_or_refused(tmp_path: Path) -> None:
    words = vocabulary(find_installation())
    (tmp_path / "graph.txt").write_text("a,b\n1,2\n")
    file = tmp_path / "mine.yaml"
    file.write_text(HOSTS)
    make_plan(file, words)
    assert refused(file, HOSTS, lambda changed: make_plan(changed, words), most=100) > 40


def test_a_drive_profile_with_anything_anywhere_is_read_or_refused(tmp_path: Path) -> None:
    assert refused(tmp_path / "mine.yaml", DRIVE, read_profile, most=60) > 20


@pytest.mark.parametrize("kind", [["memory"], {"memory": 1}, None, 7])
def test_the_kind_of_a_medium_is_a_name(tmp_path: Path, kind: object) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(json.dumps({"experiment": "x", "workloads": ["triangles"], "media": {"mem": {"kind": kind}}}))
    with pytest.raises(BadInputError, match=r"mine.yaml, line 1: media.mem.kind is "):
        Source(file)
