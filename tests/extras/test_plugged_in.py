"""Proves that extras take part in a trial where an experiment or the environment asks for them, and not otherwise."""

import pytest

from assay.model.errors import BadInputError
from assay.plan.experiment import ExperimentFile
from assay.probe.sampler import probes_of
from assay_extras.packet_capture.capture import Capture
from tests.probe.faking import a_context


def names(environment=None, level="default"):
    return [one.name for one in probes_of(level, a_context(environment))]


def test_redfish_is_read_where_the_environment_names_controllers():
    assert "redfish" not in names()
    assert names({"ASSAY_REDFISH": "/controllers.json"}) == [*names(), "redfish"]


def test_a_capture_takes_the_place_of_the_packet_filter_and_nothing_else_changes():
    assert names(level="capture") == names()
    (network,) = (one for one in probes_of("capture", a_context()) if one.name == "network")
    assert isinstance(network._make_counter([1]), Capture)


def test_a_level_that_no_plug_in_offers_is_refused():
    with pytest.raises(BadInputError, match="there is no set of probes 'captur'; did you mean 'capture'"):
        names(level="captur")
    with pytest.raises(ValueError, match="Input should be 'default', 'capture' or 'none'"):
        ExperimentFile.model_validate(
            {"experiment": "e", "workloads": ["grep"], "media": {"disk": "directory"}, "probes": "captur"}
        )
