"""Proves that the schema describes every key, and that experiments meet it."""

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from assay.cli.context import vocabulary
from assay.plan.schema import schema
from tests.builders import an_installation

ROOT = Path(__file__).parents[2]
INSTALLATION = an_installation(ROOT)
REFERENCE = ROOT / "docs" / "reference"
HINT = "# yaml-language-server: $schema="
EXPERIMENTS = sorted((ROOT / "experiments").rglob("*.yaml"))


@pytest.fixture(scope="module")
def validator():
    whole = schema(vocabulary(INSTALLATION))
    Draft202012Validator.check_schema(whole)
    return Draft202012Validator(whole)


def test_every_key_is_described():
    whole = schema(vocabulary(INSTALLATION))
    for part in (whole, *whole["$defs"].values()):
        for key, one in part["properties"].items():
            assert one.get("description"), key


@pytest.mark.parametrize("file", EXPERIMENTS, ids=lambda file: file.stem)
def test_shipped_experiments_meet_the_schema(file, validator):
    assert [error.message for error in validator.iter_errors(YAML(typ="safe").load(file.read_text()))] == []


@pytest.mark.parametrize("file", EXPERIMENTS, ids=lambda file: file.stem)
def test_a_hint_for_editors_leads_to_the_schema(file):
    first = file.read_text().splitlines()[0]
    assert first.startswith(HINT)
    assert (file.parent / first.removeprefix(HINT)).resolve() == REFERENCE / "experiment.schema.json"


WELL = {"experiment": "a", "workloads": "triangles", "datasets": {"make": "brightkite"}, "media": {"disk": "directory"}}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"hadoop": {"dfs.blocksize": ["8m", 16], "a": True}, "replication": [1, 2], "cpus": 2, "memory": ["2GiB", 5]},
        {"workloads": [{"name": "components", "variant": "paper", "hadoop": {"a": [1, 2]}}, "triangles"]},
        {"datasets": ["mine.txt", {"get": "amazon"}], "settings": ["defaults", "mine"]},
        {"media": {"hdd": "wd10ezex", "own": "drives/mine.yaml", "ram": {"kind": "memory", "size": "4GiB"}}},
        {"placement": ["disk", {"disk": 0.5, "b": 0.5}, {"input": "disk", "intermediate": {"disk": 1}, "output": "b"}]},
        {"zip": [["datasets", "memory"]], "exclude": [{"cpus": 2, "memory": ["2GiB"]}], "warm_up": 1},
        {"design": "one-at-a-time", "base": {"cpus": 2}, "cluster": "embedded", "cache": ["cold", "warm"]},
        {"cluster": {"starts": "stock", "memory_mb": 4096}},
    ],
)
def test_short_and_long_forms_meet_the_schema(validator, more):
    assert [error.message for error in validator.iter_errors({**WELL, **more})] == []


@pytest.mark.parametrize(
    "more",
    [
        {"workload": "triangles"},
        {"workloads": "triangels"},
        {"workloads": {"name": "triangles", "variant": "papr"}},
        {"datasets": {"get": "amazom"}},
        {"cache": "lukewarm"},
        {"repetitions": 0},
        {"replication": 0},
        {"hadoop": {"a": {}}},
        {"zip": [["memory"]]},
        {"cluster": {"limit_cpus": 2}},
        {"experiment": "a b"},
    ],
)
def test_mistakes_do_not(validator, more):
    assert list(validator.iter_errors({**WELL, **more}))
