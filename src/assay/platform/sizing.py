"""What fits below a cluster's memory limit: what its NodeManager may promise to containers, and what a job needs."""

from collections.abc import Mapping

from assay.model.errors import BadInputError
from assay.model.platform import ClusterSpec

MIB = 1 << 20
# What the five daemons hold at once below a limit (measured: 0.55 GiB when healthy), with room to grow.
DAEMONS_MB = 640

_MASTER = ("yarn.app.mapreduce.am.resource.mb", 1536)
_TASKS = (("mapreduce.map.memory.mb", 1024), ("mapreduce.reduce.memory.mb", 1024))
_STEP = ("yarn.scheduler.minimum-allocation-mb", 1024)
_OFFERED = "yarn.nodemanager.resource.memory-mb"
_MOST = "yarn.scheduler.maximum-allocation-mb"
_MOST_CORES = "yarn.scheduler.maximum-allocation-vcores"
_CORES = ("yarn.app.mapreduce.am.resource.cpu-vcores", "mapreduce.map.cpu.vcores", "mapreduce.reduce.cpu.vcores")
MOST_CORES = 4
"""That one container may have where nothing else is said: Hadoop's own default."""
_IN_MASTER = "mapreduce.job.ubertask.enable"


def offered_mb(spec: ClusterSpec) -> int:
    """What the NodeManager offers to containers: as asked for, but no more than the limit leaves to the whole cluster.

    The daemons' own memory is not taken off, as Hadoop takes nothing off on a machine of that size: what a container
    asks for is a ceiling that it seldom reaches, and what all really use is bounded by the kernel.
    """
    if spec.limit_memory_bytes is None:
        return spec.memory_mb
    return min(spec.memory_mb, spec.limit_memory_bytes // MIB)


def check_containers(spec: ClusterSpec, properties: Mapping[str, str]) -> None:
    """Raises BadInputError when a job with these properties has no room beside the daemons, or in the NodeManager."""
    master, tasks = _asked(properties, _MASTER), [_asked(properties, task) for task in _TASKS]
    if spec.limit_memory_bytes is not None:
        limit_mb, least_mb = spec.limit_memory_bytes // MIB, DAEMONS_MB + max(master, *tasks)
        if limit_mb < least_mb:
            raise BadInputError(
                f"a memory limit of {limit_mb} MiB is too small: the five daemons take about {DAEMONS_MB} MiB, and the "
                f"largest container asks for {max(master, *tasks)} MiB; give at least {least_mb} MiB, or ask "
                f"for smaller containers ({_MASTER[0]}, {_TASKS[0][0]}, {_TASKS[1][0]})"
            )
    step = _asked(properties, _STEP)
    _check_allocation(
        spec, properties, {_MASTER[0]: master, **dict(zip([name for name, _ in _TASKS], tasks, strict=True))}
    )
    at_once = _rounded(master, step)
    if properties.get(_IN_MASTER, "false").lower() != "true":
        at_once += max(_rounded(task, step) for task in tasks)
    offered = _asked(properties, (_OFFERED, offered_mb(spec)))
    if offered < at_once:
        limit = spec.limit_memory_bytes
        below = "" if limit is None else f"below a memory limit of {limit // MIB} MiB "
        raise BadInputError(
            f"{below}the NodeManager offers {offered} MiB, and a job's master and one task take {at_once} MiB "
            f"(each rounded up to {_STEP[0]}, {step} MiB): it would wait for ever; give at least "
            f"{at_once} MiB, or ask for smaller containers"
        )


def _check_allocation(spec: ClusterSpec, properties: Mapping[str, str], asked: Mapping[str, int]) -> None:
    """What the scheduler is told to allow one container at most, against what the jobs' containers ask for."""
    if _MOST in properties:
        most = _asked(properties, (_MOST, offered_mb(spec)))
        for name, size in ((_STEP[0], _asked(properties, _STEP)), *asked.items()):
            if size > most:
                raise BadInputError(
                    f"{name} is {size} MiB, and {_MOST} allows {most} MiB: no such container could start; give at most "
                    f"{most} MiB, or allow more"
                )
    cores = _asked(properties, (_MOST_CORES, min(spec.vcores, MOST_CORES)))
    for name in _CORES:
        if _asked(properties, (name, 1)) > cores:
            raise BadInputError(
                f"{name} is {properties[name]}, and {_MOST_CORES} allows {cores}: no such container could start; give "
                f"at most {cores}, or allow more"
            )


def _asked(properties: Mapping[str, str], of: tuple[str, int]) -> int:
    """A size in MiB; what is not a positive number means Hadoop's default, as -1 does there."""
    name, default = of
    value = properties.get(name, "").strip()
    usable = value.isascii() and value.isdecimal() and len(value) < 19
    return int(value) if usable and int(value) > 0 else default


def _rounded(size_mb: int, step_mb: int) -> int:
    return -(-size_mb // step_mb) * step_mb
