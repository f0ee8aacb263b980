"""Which kinds of things there are: the one place where a spec's name meets the class behind it.

A new Medium, Probe or Store is one file in its own folder and one line here; a Workload registers itself.
"""

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager

from assay.host.lease import Lease
from assay.input.opening import open_dataset
from assay.model.installation import Installation
from assay.model.platform import PlatformContext, TrialSetup
from assay.model.registry import PLATFORMS, WORKLOADS
from assay.model.trial import Trial
from assay.probe.sampler import probes_of


@contextmanager
def open_trial(trial: Trial, installation: Installation) -> Iterator[TrialSetup]:
    """The real setup of one trial for the time of a scope; what it holds on this machine goes with its lease."""
    kind = PLATFORMS.find(trial.cluster.kind)
    with Lease(installation.state, "trial") as lease:
        environment = dict(os.environ)
        platform = kind.open(PlatformContext(trial, installation, lease, environment))
        # No other run uses that directory of the store.
        base = f"/user/{getpass.getuser()}/assay/{lease.id}"
        dataset = None if trial.dataset.is_none else open_dataset(trial.dataset, installation.cache)
        yield TrialSetup(
            platform=platform,
            workload=lambda: WORKLOADS.find(trial.workload.name)(trial.workload, base, dataset),
            probes=lambda context: (
                probes_of(trial.probes, context._replace(environment=lease.environment(environment)))
                if kind.ours
                else ()
            ),
        )
