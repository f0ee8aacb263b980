"""Proves that whatever stands in the place of a value is read or refused in one sentence.

In experiments and drive profiles, in site files, and on the command line.
"""

import copy
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.cli.context import find_installation, vocabulary
from assay.engine.existing import historyservers, resourcemanagers
from assay.host.yaml_file import plain, tree_of
from assay.media.emulated.profile import read_profile
from assay.model.errors import BadInputError
from assay.model.existing import Site
from assay.plan.source import ExperimentSource
from assay.platform.configuration import read_site, to_xml
from assay.store.hdfs_existing import namenodes
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


@pytest.mark.slow
def test_an_experiment_with_anything_anywhere_is_planned_or_refused(tmp_path: Path) -> None:
    words = vocabulary(find_installation())
    (tmp_path / "graph.txt").write_text("a,b\n1,2\n")
    file = tmp_path / "mine.yaml"
    file.write_text(HOSTS)
    make_plan(file, words)
    assert refused(file, HOSTS, lambda changed: make_plan(changed, words), most=100) > 40


@pytest.mark.slow
def test_a_drive_profile_with_anything_anywhere_is_read_or_refused(tmp_path: Path) -> None:
    assert refused(tmp_path / "mine.yaml", DRIVE, read_profile, most=60) > 20


@pytest.mark.parametrize("kind", [["memory"], {"memory": 1}, None, 7])
def test_the_kind_of_a_medium_is_a_name(tmp_path: Path, kind: object) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(json.dumps({"experiment": "x", "workloads": ["triangles"], "media": {"mem": {"kind": kind}}}))
    with pytest.raises(BadInputError, match=r"mine.yaml, line 1: media.mem.kind is "):
        ExperimentSource(file)


def refusal(read: Callable[[], object]) -> str | None:
    """What is said where something is refused; None where it is read."""
    try:
        read()
    except BadInputError as error:
        return str(error)
    return None


EXPERIMENTS = sorted((ROOT / "experiments").rglob("*.yaml"))


def scalars(tree: Any) -> Iterator[tuple[Any, ...]]:
    """Where a value stands that is neither a list nor a map."""
    for place in places(tree):
        value = tree
        for key in place:
            value = value[key]
        if not isinstance(value, dict | list):
            yield place


@pytest.mark.slow
def test_every_shipped_experiment_with_a_list_a_map_or_nothing_in_a_scalars_place_is_planned_or_refused(
    tmp_path: Path,
) -> None:
    """A few places of each, so that all of them take seconds."""
    words = vocabulary(find_installation())
    chance = random.Random(2)
    planned = 0
    for shipped in EXPERIMENTS:
        tree = plain(tree_of(shipped.read_text(encoding="utf-8"), shipped))
        file = tmp_path / shipped.name
        changes = [(place, value) for place in scalars(tree) for value in (["x"], {"x": 1}, None)]
        for place, value in chance.sample(changes, 3):
            file.write_text(json.dumps(replaced(tree, place, value)))
            message = refusal(partial(make_plan, file, words))
            assert message is None or file.name in message, (place, value)
            planned += message is None
    assert planned < len(EXPERIMENTS), "most of them can't be"


SITES = [
    b"", b"\xff\xfe", b"[1]", b"null", b"<configuration>", b"<a/>", b"<property/>", b"<configuration><property/></configuration>",
    b"<configuration><property><name>fs.defaultFS</name></property></configuration>",
    b"<configuration><property><name/><value>1</value></property></configuration>",
    b"<configuration><property><name>fs.defaultFS</name><value><b>hdfs://a:1</b></value></property></configuration>",
    b'<configuration><property name="fs.defaultFS" value="${${fs.defaultFS}}"/></configuration>',
    b'<!DOCTYPE a [<!ENTITY b "c">]><configuration><property name="fs.defaultFS" value="&b;"/></configuration>',
    b'<?xml version="1.0" encoding="nonsense"?><configuration/>',
    b"<configuration><x xmlns='http://www.w3.org/2001/XInclude'/></configuration>",
    b'<configuration><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file://[/x"/></configuration>',
    b'<configuration><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="' + b"x" * 5000 + b'"/></configuration>',
    b"<a>" * 400,
]  # fmt: skip
ADDRESSES = [
    "",
    " ",
    "hdfs",
    "hdfs://",
    "hdfs://[",
    "hdfs://[::1",
    "hdfs://a:b:c",
    "hdfs://a:99999999",
    "hdfs://${x}",
    "[]",
    "{}",
    ":",
    "\u00e4",
]


def found_cluster(conf_dir: Path) -> None:
    """Reads a client's configuration and where its daemons are."""
    site = Site(read_site(conf_dir), conf_dir)
    for addresses in (namenodes, resourcemanagers, historyservers):
        addresses(site)


@pytest.mark.parametrize("content", SITES, ids=range(len(SITES)))
def test_a_site_file_of_nonsense_is_refused_by_its_folder(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "core-site.xml").write_bytes(content)
    with pytest.raises(BadInputError, match=re.escape(str(tmp_path))):
        found_cluster(tmp_path)


def test_an_address_of_nonsense_is_read_or_refused_by_its_folder(tmp_path: Path) -> None:
    keys = ("fs.defaultFS", "dfs.namenode.http-address", "yarn.resourcemanager.webapp.address", "dfs.nameservices",
            "yarn.resourcemanager.ha.rm-ids", "mapreduce.jobhistory.webapp.address")  # fmt: skip
    right = dict.fromkeys(keys[1:4:2], "") | {
        "fs.defaultFS": "hdfs://a:8020",
        "yarn.resourcemanager.ha.enabled": "true",
    }
    refusals = 0
    for key in keys:
        for value in ADDRESSES:
            (tmp_path / "core-site.xml").write_text(to_xml(right | {key: value}), encoding="utf-8")
            message = refusal(lambda: found_cluster(tmp_path))
            assert message is None or str(tmp_path) in message
            refusals += message is not None
    assert refusals > 2 * len(ADDRESSES)


NONSENSE = [
    "", " ", "-1", "1e999", "nan", "[]", "{}", "null", "/", "a\nb", "\x1b[2J", "\u00e4", "\udcff", "x" * 5000, "1,2,3", ",", "1,", "9" * 5000,
]  # fmt: skip
COMMANDS = [
    ("check", "*"), ("check", "graph.txt", "--columns", "*"), ("check", "graph.txt", "--format", "*"),
    ("check", "graph.txt", "--header-lines", "*"), ("get", "*"), ("make", "*"),
    # What is there already is refused before any work.
    ("make", "brightkite", "--to", "graph.txt", "--seed", "*"), ("make", "brightkite", "--to", "graph.txt", "--scale", "*"),
    ("make", "brightkite", "--scale", "0", "--to", "*"), ("get", "brightkite", "--to", "/nowhere/*"), ("*",),
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nonsense_on_the_command_line_of_data_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "graph.txt").write_text("1 2\n2 3\n1 3\n")
    for word in NONSENSE:
        monkeypatch.setattr(sys, "argv", ["assay", "data", *(given.replace("*", word) for given in command)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code, said.err.count("\n")) == (2, 1), (word, said)
        assert said.err.startswith("assay: ")
        assert said.err.strip().isprintable()
    assert sorted(file.name for file in tmp_path.iterdir() if file.name != "cache") == ["graph.txt"]
