"""Proves that both suites that come with Assay have every workload in every variant, with options that it takes."""

from pathlib import Path

import pytest

from assay.cli.context import vocabulary
from assay.model.installation import Installation
from assay.model.registry import WORKLOADS
from tests.builders import make_plan

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("suite", ["suite", "suite-large"])
def test_a_suite_has_every_workload_and_variant(suite, tmp_path):
    installation = Installation(root=ROOT, parts=tmp_path, jobs_jar=tmp_path, cache=tmp_path, state=tmp_path)
    specs = [
        trial.workload for trial in make_plan(ROOT / "experiments" / f"{suite}.yaml", vocabulary(installation)).trials
    ]
    for spec in specs:
        assert WORKLOADS[spec.name](spec, "/base").spec == spec
    every = {(name, variant) for name, kind in WORKLOADS.items() for variant in kind.variants}
    assert every == {(spec.name, spec.variant) for spec in specs}
