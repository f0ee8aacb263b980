"""Proves that a cluster keeps what its kind has, and nothing else."""

from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from assay.model.cluster import CLUSTERS, EmbeddedSpec, ExistingSpec, NodeSourceSpec, TrialCluster, UnmanagedSpec
from assay.model.network import NO_NETWORK
from tests.toys import plugged_in

OVER_SSH = {"hosts": ["a"], "user": "me", "port": None, "key": "/keys/id", "options": []}
SPEC = TypeAdapter(TrialCluster)


@pytest.mark.parametrize(
    "spec",
    [
        EmbeddedSpec(nodes=3, dilation="auto", jobs_at_once=2, write_back="node", write_back_age_s=1.0),
        ExistingSpec(conf_dir=Path("/conf"), node_sources=(NodeSourceSpec(name="ssh", options=OVER_SSH),)),
    ],
)
def test_it_is_read_back_as_it_was_written_with_what_its_kind_has_alone(spec):
    text = SPEC.dump_json(spec)
    assert SPEC.validate_json(text) == spec
    assert set(SPEC.validate_python(SPEC.dump_python(spec)).model_dump()) == set(type(spec).model_fields)


def test_a_platform_brings_its_own_type_and_one_that_is_not_installed_is_read_all_the_same():
    class Simulated(UnmanagedSpec):
        kind: str = "simulated"
        hosts: int = 1000

    written = SPEC.dump_python(Simulated(hosts=10))
    assert written == {"kind": "simulated", "hosts": 10}
    assert SPEC.dump_python(SPEC.validate_python(written)) == written
    with plugged_in():
        CLUSTERS.add("simulated", Simulated)
        assert SPEC.validate_python(written) == Simulated(hosts=10)
        with pytest.raises(ValidationError, match="hosst"):
            SPEC.validate_python({"kind": "simulated", "hosst": 10})


def test_what_no_experiment_chooses_of_an_existing_cluster_is_not_known():
    spec = ExistingSpec(conf_dir=Path("/conf"))
    assert (spec.nodes, spec.network, spec.limit_memory_bytes, spec.workers) == (None, NO_NETWORK, None, ())


@pytest.mark.parametrize(
    "further",
    [
        {"nodess": 3},
        {"kind": "existing", "conf_dir": "/conf", "histry": "/done"},
        {"kind": "existing", "conf_dir": "/conf", "ssh": OVER_SSH},
    ],
)
def test_a_key_that_its_kind_does_not_have_is_refused(further):
    with pytest.raises(ValidationError):
        SPEC.validate_python(further)
