"""Proves that extras take part in a trial where an experiment or the environment asks for them, and not otherwise."""

import pytest

from assay.plan.experiment import ExperimentFile
from assay.probe.sampler import probes_of
from tests.probe.faking import a_context


def names(environment=None, level="default"):
    return [one.name for one in probes_of(level, a_context(environment))]


def test_redfish_is_read_where_the_environment_names_controllers():
    assert "redfish" not in names()
    assert names({"ASSAY_REDFISH": "/controllers.json"}) == [*names(), "redfish"]


def test_a_level_that_is_none_is_refused():
    with pytest.raises(ValueError, match="Input should be 'default' or 'none'"):
        ExperimentFile.model_validate(
            {"experiment": "e", "workloads": ["grep"], "media": {"disk": "directory"}, "probes": "captur"}
        )
