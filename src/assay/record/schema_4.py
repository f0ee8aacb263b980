"""Records of schema 4, as those of schema 5: losslessly.

What a medium's device did was there by `MEDIUM`, or by `NODE/MEDIUM` on several nodes; no name of a node or of a medium
has a `/` in it.
"""

from collections.abc import Mapping
from typing import Any

VERSION = 4


def converted(content: Mapping[str, Any]) -> dict[str, Any]:
    """A record's or plan's JSON of schema 4 in the form of schema 5."""
    devices = content.get("devices")
    if not isinstance(devices, dict):
        return {**content, "schema_version": 5}
    return {**content, "schema_version": 5, "devices": [_drive(name, reports) for name, reports in devices.items()]}


def _drive(name: str, reports: object) -> dict[str, Any]:
    node, _, medium = name.rpartition("/")
    return {"medium": medium, "node": node or None, "reports": reports}
