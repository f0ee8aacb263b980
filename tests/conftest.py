"""Tests that no continuous integration may skip: where ASSAY_TESTS_MUST_RUN is set, a skip among them is a failure.

`.ci/run` sets it: that machine has root, FUSE, namespaces, control groups, fio, sshd and a Kerberos server. Elsewhere,
such as for a user without root, they are skipped with their reasons.
"""

import gc
import os

import pytest
from hypothesis import settings

# Thousands of tests leave little to collect: with Python's own thresholds a quarter of their time would go into looking.
gc.set_threshold(100_000, 50, 100)


def pytest_collection_finish(session):
    """What is there when the tests begin stays: it is not looked through again.

    Tests without a cluster judge what is written, not whether it outlives a loss of power: they wait for no disk,
    but where one calls `os.fdatasync`.
    """
    gc.freeze()
    if not any(item.get_closest_marker("it") for item in session.items):
        os.fsync = lambda _: None


# How long an example takes is the machine's affair.
settings.register_profile("without-deadline", deadline=None)
settings.load_profile("without-deadline")

VARIABLE = "ASSAY_TESTS_MUST_RUN"
MUST_RUN = (
    "tests/host/test_control_groups.py",
    "tests/host/test_listening.py",
    "tests/it/test_calibration.py",
    "tests/it/test_dilation.py",
    "tests/it/test_emulated.py",
    "tests/it/test_fault_run.py",
    "tests/it/test_foreign_cluster.py",
    "tests/it/test_hbase_faults.py",
    "tests/it/test_nodes.py",
    "tests/it/test_nodes_read.py",
    "tests/it/test_nodes_run.py",
    "tests/it/test_own_job.py",
    "tests/it/test_placement.py",
    "tests/it/test_secured_cluster.py",
    "tests/it/test_ssh.py",
    "tests/it/test_tickets.py",
    "tests/media/test_commands.py",
    "tests/media/test_profile.py",
    "tests/plan/test_properties.py",
    "tests/platform/test_accounting.py",
    "tests/platform/test_limits.py",
    "tests/platform/test_loopback.py",
    "tests/platform/test_page_cache_budget.py",
    "tests/platform/test_read_site.py",
    "tests/platform/test_real_cluster.py",
    "tests/platform/test_scale.py",
    "tests/probe/test_file_map.py",
    "tests/probe/test_nftables.py",
)
"""Files of tests. What needs tshark, a published graph or the kernel's tracing is not among them."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Of a test, or of what it is set up with."""
    return failed_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Of a whole file, where it skips itself before it has any test."""
    return failed_if_skipped((yield))


def failed_if_skipped(report):
    """The report, with a failure in the place of a skip that may not be."""
    if report.skipped and os.environ.get(VARIABLE) and report.nodeid.partition("::")[0] in MUST_RUN:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} must not be skipped where {VARIABLE} is set: {reason}"
    return report
