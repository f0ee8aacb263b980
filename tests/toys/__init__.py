"""A kind of each sort, as somebody outside the package would add it: one file with its registration."""

from contextlib import contextmanager
from importlib import import_module, reload
from sys import modules

from assay.model import registry
from assay.model.cluster import CLUSTERS


@contextmanager
def plugged_in(*names):
    """These toys are registered for the time of a scope, as plug-ins are when they are imported."""
    known = (*vars(registry).values(), CLUSTERS)
    registries = [one for one in known if isinstance(one, registry.Registry)]
    before = [(one, dict(one._read()), dict(one._places)) for one in registries]
    try:
        for name in (f"tests.toys.{name}" for name in names):
            _ = reload(modules[name]) if name in modules else import_module(name)
        yield
    finally:
        for one, kinds, places in before:
            one._kinds, one._places = kinds, places
