"""Records and plans of schema 2, as those of schema 3: losslessly, and what they lack is null.

The tables here are those that schema 2 was written by; they never change.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

VERSION = 2

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

MEDIUM_DEFAULTS = {"path": None, "size_bytes": None, "profile": None, "file_system": "ext4", "slowdown": 1}
"""Every medium had all of these fields, with these values where they said nothing."""

MEDIUM_FIELDS: Mapping[str, tuple[str, ...]] = {
    "directory": ("path",), "memory": ("path", "size_bytes"), "emulated": tuple(MEDIUM_DEFAULTS), "existing": (),
}  # fmt: skip
"""Those that a kind of medium has."""

EVENTS = {
    "missing": "probe-missing", "stopped": "probe-stopped", "unread": "probe-stopped",
    "counter-went-back": "counter-went-back",
}  # fmt: skip
"""What befell a probe, whose name was part of the kind: now the instrument."""

_OF_A_PROBE = re.compile(r"probe-(?P<instrument>.+)-(?P<event>missing|stopped|unread|counter-went-back)")


def converted(content: Mapping[str, Any]) -> dict[str, Any]:
    """A record's or plan's JSON of schema 2 in the form of schema 3; what is not of schema 2 is left as it is."""
    content_3 = {**content, "schema_version": 3}
    if isinstance(content.get("trial"), dict):
        content_3["trial"] = _trial(content["trial"])
    if isinstance(content.get("trials"), list):
        content_3["trials"] = [_trial(item) if isinstance(item, dict) else item for item in content["trials"]]
    for name, convert in (("doubts", _doubt), ("jobs", _job), ("staging_jobs", _job)):
        if isinstance(content.get(name), list):
            content_3[name] = [convert(item) if isinstance(item, dict) else item for item in content[name]]
    if isinstance(content.get("totals"), dict):
        content_3["totals"] = _with_phases(content["totals"])
    return content_3


def renamed(table: "pyarrow.Table") -> "pyarrow.Table":
    """A table of tasks of schema 2 with the names of schema 3; any other as it is."""
    return table.rename_columns(["stage" if name == "kind" else name for name in table.column_names])


def _trial(trial: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a trial: its media lose the other kinds' fields; an existing cluster's nodes were not known."""
    trial_3, media, cluster = dict(trial), trial.get("media"), trial.get("cluster")
    if isinstance(media, list):
        trial_3["media"] = [_medium(medium) if isinstance(medium, dict) else medium for medium in media]
    if isinstance(cluster, dict) and cluster.get("kind") == "existing":
        trial_3["cluster"] = {"nodes": None, **cluster}
    return trial_3


def _medium(medium: Mapping[str, Any]) -> dict[str, Any]:
    fields = MEDIUM_FIELDS.get(str(medium.get("kind")), tuple(MEDIUM_DEFAULTS))
    silent = {name for name, value in MEDIUM_DEFAULTS.items() if name not in fields and medium.get(name) == value}
    return {name: value for name, value in medium.items() if name not in silent}


def _job(job: Mapping[str, Any]) -> dict[str, Any]:
    """Its two stages by name."""
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
    """The kind's instrument and severity; of what it is was only said in words, so it is left open."""
    kind = str(doubt.get("kind"))
    severity = 10 * (len(DECISIVE) - DECISIVE.index(kind)) if kind in DECISIVE else 0
    of_a_probe = _OF_A_PROBE.fullmatch(kind)
    if of_a_probe:
        event = of_a_probe["event"]
        return {**doubt, "kind": EVENTS[event], "instrument": of_a_probe["instrument"], "severity": severity}
    begins = "disk-processes" if kind.startswith("disk-processes-") else kind.partition("-")[0]
    return {**doubt, "instrument": INSTRUMENTS.get(begins, ""), "severity": severity}
