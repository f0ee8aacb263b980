"""Proves that the suites that come with Assay have each workload in each variant that their engine runs."""

from pathlib import Path

import pytest

from assay.cli.context import vocabulary
from assay.model.installed import variants_on
from assay.model.registry import ENGINES, WORKLOADS
from tests.builders import an_installation, make_plan

ROOT = Path(__file__).parents[2]
# An application and a query of the user's own, of which Assay brings none.
OF_USERS = {("command", "submitted"), ("command", "query")}


@pytest.mark.parametrize("suite", ["suite", "suite-large", "suite-spark"])
def test_a_suite_has_every_workload_and_variant(suite, tmp_path):
    trials = make_plan(ROOT / "experiments" / f"{suite}.yaml", vocabulary(an_installation(ROOT, tmp_path))).trials
    specs, (engine,) = [trial.workload for trial in trials], {trial.engine for trial in trials}
    for spec in specs:
        assert WORKLOADS[spec.name](spec, "/base").spec == spec
    every = {(name, variant) for name in WORKLOADS for variant in variants_on(name, ENGINES[engine])}
    assert every - OF_USERS == {(spec.name, spec.variant) for spec in specs}
