"""Proves that a cluster keeps how its nodes are read, and that records from before that had one key are read whole."""

import pytest
from pydantic import ValidationError

from assay.model.cluster import ClusterSpec
from assay.model.node_source import NodeSourceSpec

OVER_SSH = {"hosts": ["a"], "user": "me", "port": None, "key": "/keys/id", "options": []}


def test_it_is_read_back_as_it_was_written():
    spec = ClusterSpec(kind="existing", node_source=NodeSourceSpec(name="ssh", **OVER_SSH))
    assert ClusterSpec.model_validate_json(spec.model_dump_json()) == spec
    assert ClusterSpec.model_validate_json(ClusterSpec().model_dump_json()).node_source is None


def test_a_key_of_an_older_record_becomes_the_way_that_it_names():
    source = ClusterSpec.model_validate({"kind": "existing", "ssh": OVER_SSH, "yarn_sampler": None}).node_source
    assert (source.name, source.options) == ("ssh", OVER_SSH)
    assert ClusterSpec.model_validate({"ssh": None, "yarn_sampler": None}) == ClusterSpec()


@pytest.mark.parametrize("further", [{"nodess": 3}, {"ssh": OVER_SSH, "yarn_sampler": {"queue": "small"}}])
def test_what_no_record_had_is_refused(further):
    with pytest.raises(ValidationError):
        ClusterSpec.model_validate(further)
