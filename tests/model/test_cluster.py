"""Proves that a cluster keeps what its kind has, and that records from before that had one type are read whole."""

from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from assay.model.cluster import ClusterSpec, EmbeddedSpec, ExistingSpec
from assay.model.network import NO_NETWORK
from assay.model.node_source import NodeSourceSpec

OVER_SSH = {"hosts": ["a"], "user": "me", "port": None, "key": "/keys/id", "options": []}
SPEC = TypeAdapter(ClusterSpec)
OF_OWN = {
    "starts": "brisk", "memory_mb": 8192, "vcores": 8, "nodes": None, "network": "none", "limit_memory_bytes": None,
    "limit_cpus": None, "page_cache_bytes": None, "fault": None, "racks": [], "instead_of": "", "dilation": None,
    "auto_for": None,
}  # fmt: skip
OF_EXISTING = dict.fromkeys(("conf_dir", "ca_file", "prometheus", "history", "node_source", "kerberos"))


@pytest.mark.parametrize(
    "spec",
    [
        EmbeddedSpec(nodes=3, dilation="auto", jobs_at_once=2),
        ExistingSpec(conf_dir=Path("/conf"), node_source=NodeSourceSpec(name="ssh", **OVER_SSH)),
    ],
)
def test_it_is_read_back_as_it_was_written_with_what_its_kind_has_alone(spec):
    text = SPEC.dump_json(spec)
    assert SPEC.validate_json(text) == spec
    assert set(SPEC.validate_python(SPEC.dump_python(spec)).model_dump()) == set(type(spec).model_fields)


def test_what_no_experiment_chooses_of_an_existing_cluster_is_not_known():
    spec = ExistingSpec(conf_dir=Path("/conf"))
    assert (spec.nodes, spec.network, spec.limit_memory_bytes, spec.workers) == (None, NO_NETWORK, None, ())


def test_records_from_before_have_the_keys_of_both_kinds():
    old = SPEC.validate_python({"kind": "embedded", **OF_EXISTING, **OF_OWN, "nodes": 3})
    assert old == EmbeddedSpec(nodes=3)
    old = SPEC.validate_python({"kind": "existing", **OF_EXISTING, **OF_OWN, "conf_dir": "/conf", "history": "/done"})
    assert old == ExistingSpec(conf_dir=Path("/conf"), history="/done")


def test_a_key_of_an_older_record_becomes_the_way_to_read_nodes_that_it_names():
    older = {"kind": "existing", "conf_dir": "/conf", "ssh": OVER_SSH, "yarn_sampler": None}
    source = SPEC.validate_python(older).node_source
    assert (source.name, source.options) == ("ssh", OVER_SSH)
    assert SPEC.validate_python({"ssh": None, "yarn_sampler": None}) == EmbeddedSpec()


@pytest.mark.parametrize(
    "further",
    [
        {"nodess": 3},
        {"conf_dir": "/conf", "histry": "/done"},
        {"conf_dir": "/conf", "ssh": OVER_SSH, "yarn_sampler": {"queue": "small"}},
    ],
)
def test_what_no_record_had_is_refused(further):
    with pytest.raises(ValidationError):
        SPEC.validate_python(further)
