"""The names that an experiment may use: of workloads, datasets, drives and Hadoop's properties."""

from assay.input.catalogue import all_published, open_dataset
from assay.model.input import InputKind
from assay.model.installation import Installation
from assay.model.registry import ENGINES, STORES, WORKLOADS
from assay.plan.source import Vocabulary
from assay.platform.distribution import known_properties


def vocabulary(installation: Installation) -> Vocabulary:
    """Of this copy of Assay; no properties where its Hadoop was not prepared yet."""
    return Vocabulary(
        workloads={name: tuple(kind.variants) for name, kind in WORKLOADS.items()},
        presets=list(all_published()),
        catalogue=list(all_published()),
        profiles=sorted(file.stem for file in installation.profiles.glob("*.yaml")),
        own_input={name for name, kind in WORKLOADS.items() if kind.takes is not InputKind.GRAPH},
        any_output={name for name, kind in WORKLOADS.items() if not kind.plain_output},
        path_options={
            name: {key: option.default for key, option in kind.known_options.items() if option.is_path}
            for name, kind in WORKLOADS.items()
        },
        levels={"store": list(STORES), "engine": list(ENGINES), "nodes": ["1"], "network": ["none"]},
        properties=known_properties(installation),
        check_workload=lambda spec: WORKLOADS[spec.name](spec, "/"),
        check_dataset=lambda spec: open_dataset(spec, installation.cache),
    )
