"""What an experiment takes over of a site's settings: what decides how often a job's bytes meet a drive."""

from collections.abc import Mapping

from assay.engine.past.job import TAKEN_OVER

_BLOCK_SIZE, _SORT_MB, _REDUCES = "dfs.blocksize", "mapreduce.task.io.sort.mb", "mapreduce.job.reduces"
_MOST_SORT_MB = 512
"""Of the heap of a map in a container of Hadoop's own size."""
_CONTAINERS_MB = "yarn.nodemanager.resource.memory-mb"
USUAL_CONTAINER_BYTES = 8 << 30
"""What yarn-default.xml offers where the site says nothing, or says -1 without looking for the machine's memory."""


def for_sample(settings: Mapping[str, str], sample_bytes: int, reduces_per_byte: float | None) -> dict[str, str]:
    """Those for a sample of the job's own input: splits and sort buffers as they are, reducers in proportion."""
    taken = {name: settings[name] for name in TAKEN_OVER if name in settings}
    if _BLOCK_SIZE in settings:
        taken[_BLOCK_SIZE] = settings[_BLOCK_SIZE]
    if settings.get(_SORT_MB, "").isdecimal():
        taken[_SORT_MB] = str(min(int(settings[_SORT_MB]), _MOST_SORT_MB))
    if reduces_per_byte is not None:
        taken[_REDUCES] = str(max(1, round(reduces_per_byte * sample_bytes)))
    return taken


def container_bytes(settings: Mapping[str, str]) -> int | None:
    """How much of a node's memory containers may take; None where the settings don't say it."""
    offered = settings.get(_CONTAINERS_MB, "")
    return int(offered) << 20 if offered.isdecimal() else None
