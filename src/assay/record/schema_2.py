"""Records and plans of schema 2, as those of schema 3: losslessly, and what they lack is null.

The tables here are those that schema 2 was written by; they never change.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

DECISIVE = (
    "wrong-outputs", "no-emulated-drives", "different-machines", "medium-changed", "placement-missed",
    "few-repetitions", "same-names-for-other-things", "medium-is-no-disk", "cache-unknown", "page-cache-hides-medium",
    "emulator-was-late", "drive-too-fast-for-this-machine", "emulator-was-slow", "emulated-beside-real",
    "memory-not-bounded", "out-of-memory", "history-incomplete", "cache-not-quite-cold", "parts-apart",
    "processors-varied", "machine-shared",
)  # fmt: skip
"""The kinds of doubt that could change a comparison's answer, the worst first."""

INSTRUMENTS: Mapping[str, str] = {
    "clock": "sampler", "cluster": "memory", "cpu": "processes", "disk": "disk", "disk-processes": "disk-processes",
    "energy": "rapl", "history": "job-history", "network": "network", "probes": "all", "redfish": "redfish",
    "samples": "sampler", "task": "task-logs", "trace": "block-trace", "watched": "processes",
}  # fmt: skip
"""What could not see all, by how a kind of doubt began."""

STAGES = ("map", "reduce")

_OF_A_PROBE = re.compile(r"probe-(?P<instrument>.+)-(?P<event>missing|stopped|unread|counter-went-back)")
_MEDIUM = re.compile(r"(?:\bof medium |\bon which medium |\bon medium |\(medium |^media )'(?P<name>[^']+)'")


def converted(content: Mapping[str, Any]) -> dict[str, Any]:
    """A record's or plan's JSON of schema 2 in the form of schema 3; what is not of schema 2 is left as it is."""
    found = {**content, "schema_version": 3}
    for name, convert in (("doubts", _doubt), ("jobs", _job), ("staging_jobs", _job)):
        if isinstance(content.get(name), list):
            found[name] = [convert(one) if isinstance(one, dict) else one for one in content[name]]
    if isinstance(content.get("totals"), dict):
        found["totals"] = _with_phases(content["totals"])
    return found


def renamed(table: "pyarrow.Table") -> "pyarrow.Table":
    """A table of tasks of schema 2 with the names of schema 3; any other as it is."""
    return table.rename_columns(["stage" if name == "kind" else name for name in table.column_names])


def _job(job: Mapping[str, Any]) -> dict[str, Any]:
    """MapReduce's two stages by name."""
    if not {"maps", "reduces"} <= job.keys():
        return _with_phases(job)
    old = {f"{way}{stage}s" for stage in STAGES for way in ("", "failed_")}
    stages = [
        {"name": stage, "tasks": job[f"{stage}s"], "failed_attempts": job.get(f"failed_{stage}s", 0)}
        for stage in STAGES
    ]
    return _with_phases({**{name: value for name, value in job.items() if name not in old}, "stages": stages})


def _with_phases(of: Mapping[str, Any]) -> dict[str, Any]:
    """Phases by their names, without the unit."""
    phases = of.get("phases")
    if not isinstance(phases, dict):
        return dict(of)
    return {**of, "phases": {str(name).removesuffix("_s"): seconds for name, seconds in phases.items()}}


def _doubt(doubt: Mapping[str, Any]) -> dict[str, Any]:
    """The kind's instrument and severity, and the medium that the sentence names."""
    kind = str(doubt.get("kind"))
    severity = 10 * (len(DECISIVE) - DECISIVE.index(kind)) if kind in DECISIVE else 0
    of_a_probe = _OF_A_PROBE.fullmatch(kind)
    if of_a_probe:
        event = of_a_probe["event"]
        new_kind = event if event == "counter-went-back" else f"probe-{event}"
        return {**doubt, "kind": new_kind, "instrument": of_a_probe["instrument"], "severity": severity}
    begins = "disk-processes" if kind.startswith("disk-processes-") else kind.partition("-")[0]
    medium = _MEDIUM.search(str(doubt.get("what")))
    return {
        **doubt,
        "instrument": INSTRUMENTS.get(begins, ""),
        "severity": severity,
        "subject": medium["name"] if medium else "",
    }
