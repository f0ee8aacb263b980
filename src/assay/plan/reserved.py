"""Hadoop properties that an experiment can't set on an embedded cluster: where things lie, and where they listen.

Overriding them would put bytes on another medium than the record says, or services on other interfaces than loopback.
"""

import re
from collections.abc import Iterable

_DIRECTORIES = (
    "hadoop.tmp.dir", "dfs.namenode.name.dir", "dfs.datanode.data.dir", "yarn.nodemanager.local-dirs",
    "yarn.nodemanager.log-dirs", "mapreduce.cluster.local.dir", "mapreduce.framework.name",
    "yarn.nodemanager.container-executor.class", "dfs.datanode.fsdataset.volume.choosing.policy",
)  # fmt: skip
_ADDRESSES = re.compile(r"(fs\.defaultFS|fs\.default\.name|.*([.-]address|\.bind-host|\.hostname|\.port))")


def reserved(names: Iterable[str]) -> list[str]:
    """Those of some property names that belong to the cluster itself, in their order."""
    return [name for name in names if name in _DIRECTORIES or _ADDRESSES.fullmatch(name)]
