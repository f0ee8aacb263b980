"""What the ResourceManager lists of a cluster's applications: their kinds, and for how long they held processors.

Source: its REST interface, `/ws/v1/cluster/apps` (Hadoop: Cluster Applications API). `vcoreSeconds` of an application
are the virtual cores of its containers by the time for which they had them.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from assay.engine.past.job import PastJob
from assay.host.files import read_bytes
from assay.model.errors import BadInputError
from assay.model.naming import printable

_MOST_BYTES = 1 << 30
_HOW = (
    "save it with `curl -H 'Accept: application/json' http://RESOURCEMANAGER:8088/ws/v1/cluster/apps` from the one "
    "that is active, and with `--negotiate -u :` where it wants a login"
)
_BEGIN_CHARACTERS = 80
_OF_APPLICATION = re.compile(r"(?:job_|dag_)(\d+_\d+)(?:_(\d+))?")
_KINDS = {"MAPREDUCE": "MapReduce", "SPARK": "Spark", "TEZ": "Tez"}
"""What the types are called that applications give themselves, where that differs."""


class Application(NamedTuple):
    """An application: its kind, its times in milliseconds since the epoch, and the core seconds of its containers."""

    id: str
    kind: str
    began_ms: int
    ended_ms: int
    core_s: float

    def core_s_between(self, began_ms: int, ended_ms: int) -> float:
        """What of its core seconds falls between two times, if they are spread evenly over its own."""
        together_ms = min(ended_ms, self.ended_ms) - max(began_ms, self.began_ms)
        return self.core_s * max(0, together_ms) / max(1, self.ended_ms - self.began_ms)


def read_applications(file: Path) -> list[Application]:
    """The applications of a file with the ResourceManager's answer. Raises BadInputError."""
    content = read_bytes(file, _MOST_BYTES)
    try:
        listed = (json.loads(content)["apps"] or {}).get("app") or []
        # Of one that was forgotten while the answer was made nothing is left but zeros (Hadoop: YARN-3143).
        applications = [_application(entry) for entry in listed if "id" in entry]
    except (ValueError, LookupError, TypeError, AttributeError):
        begin = " ".join(content[:_BEGIN_CHARACTERS].decode(errors="replace").split())
        raise BadInputError(
            f"--applications {file} is no list of applications with their vcoreSeconds as JSON, and begins with "
            f"{printable(begin)!r}; {_HOW}"
        ) from None
    if not applications:
        raise BadInputError(f"--applications {file} lists no application; {_HOW}")
    return applications


def _application(entry: Mapping[str, Any]) -> Application:
    """Of one that has not ended, how it is so far. What nobody may see is -1 there."""
    began_ms = int(entry["startedTime"])
    ended_ms = int(entry["finishedTime"]) or began_ms + int(entry["elapsedTime"])
    kind = str(entry["applicationType"])
    name = _KINDS.get(kind.upper(), printable(kind)[:40])
    return Application(str(entry["id"]), name, began_ms, ended_ms, max(0.0, float(entry["vcoreSeconds"])))


def application_id(job: PastJob) -> str:
    """The id of the application that ran a job: MapReduce numbers both alike, and Tez each DAG of one."""
    return _OF_APPLICATION.sub(r"application_\1", job.id)


def number_in_application(job: PastJob) -> int:
    """Which of the jobs of its application it is, from 1 on: Tez numbers the DAGs of a session."""
    match = _OF_APPLICATION.fullmatch(job.id)
    return int(match[2]) if match and match[2] else 1
