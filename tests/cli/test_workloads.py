"""Proves that every workload says all of itself, and that it can be read."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from assay.cli.context import vocabulary
from assay.cli.workloads import (
    experiment_text,
    print_workload,
    print_workloads,
    workload_json,
)
from assay.model.errors import BadInputError
from assay.model.installed import variants_of
from assay.model.registry import WORKLOADS
from assay.plan.source import no_check
from tests.builders import an_installation, make_plan

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_tells_all_of_itself(name):
    kind = WORKLOADS[name]
    said = (kind.summary, kind.stresses, kind.source, kind.result, kind.verified)
    assert all(text and "\n" not in text for text in said)
    assert variants_of(name)
    for variant in variants_of(name).values():
        assert variant.about
        assert variant.jobs
    assert all(option.about for option in kind.known_options.values())


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_shown_experiment_is_one(name, tmp_path):
    (tmp_path / "shown.yaml").write_text(experiment_text(name))
    words = vocabulary(an_installation(ROOT, tmp_path))._replace(check_workload=no_check)
    plan = make_plan(tmp_path / "shown.yaml", words)
    assert [trial.workload.name for trial in plan.trials] == [name]


def printed(show, *arguments):
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        show(*arguments, console)
    return captured.get()


def test_the_list_has_them_all():
    shown = printed(print_workloads)
    assert all(name in shown for name in WORKLOADS)
    assert json.loads(json.dumps([workload_json(name) for name in WORKLOADS]))


@pytest.mark.parametrize("name", WORKLOADS)
def test_one_is_shown_with_jobs_options_and_an_experiment(name):
    shown, data = printed(print_workload, name), workload_json(name)
    assert data["summary"] in shown
    assert data["experiment"] in shown
    assert all(option["name"] in shown for option in data["options"])


def test_an_unknown_one_names_the_nearest():
    with pytest.raises(BadInputError, match=r"there is no workload 'terrasort'; did you mean 'terasort'\?"):
        workload_json("terrasort")
