"""Refuses what an experiment can't ask for, with its line and the cure.

On an embedded cluster: where things lie, how its parts run, and where they listen. Overriding them would put bytes on
another medium than the record says, or services on other interfaces than loopback. On any cluster: what makes an output
that can't be judged.

Sources: Hadoop 3.4's own checks, in the classes named below, and `Integer.parseInt` where nothing else is.

`deprecated.txt` is what Hadoop itself tells of its deprecated names.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from assay.host.files import absolute
from assay.host.yaml_file import line_of
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import BadInputError
from assay.model.input import DATASET
from assay.model.naming import nearest
from assay.model.store import names_store
from assay.plan.experiment import COPIES, ExperimentFile, WorkloadEntry
from assay.plan.source import INPUT, Vocabulary


def check_words(path: Path, experiment: ExperimentFile, tree: Any, vocabulary: Vocabulary) -> None:
    """Raises BadInputError for a workload, variant, preset or catalogue name that there is not."""
    for index, workload in enumerate(experiment.workloads):
        place = ["workloads", index] if isinstance(tree["workloads"], list) else ["workloads"]
        check_word(path, line_of(tree, place), "workload", workload.name, list(vocabulary.workloads))
        variants = list(vocabulary.workloads[workload.name])
        if workload.variant is not None:
            line = line_of(tree, [*place, "variant"])
            check_word(path, line, f"{workload.name} variant", workload.variant, variants)
        if not experiment.datasets and vocabulary.needs_dataset(workload.name, workload.options):
            raise BadInputError(
                f"{path}, line {line_of(tree, place)}: {workload.name} needs a dataset, and 'datasets' is missing"
            )
    needing = any(vocabulary.needs_dataset(one.name, one.options) for one in experiment.workloads)
    if experiment.datasets and not needing:
        raise BadInputError(
            f"{path}, line {line_of(tree, ['datasets'])}: 'datasets' has no effect: all workloads generate "
            "their own input; leave it out"
        )
    for index, dataset in enumerate(experiment.datasets):
        place = ["datasets", index] if isinstance(tree["datasets"], list) else ["datasets"]
        if dataset.make is not None:
            check_word(path, line_of(tree, [*place, "make"]), "preset", dataset.make, vocabulary.presets)
        if dataset.get is not None:
            check_word(path, line_of(tree, [*place, "get"]), "catalogue name", dataset.get, vocabulary.catalogue)


def check_levels(path: Path, experiment: ExperimentFile, tree: Any, vocabulary: Vocabulary) -> None:
    """Raises BadInputError for a store, an engine, a network or a number of nodes that there is not."""
    cluster = experiment.cluster
    for place, what, given, offered in (
        (["store"], "store", experiment.store, vocabulary.stores),
        (["engine"], "engine", experiment.engine, vocabulary.engines),
        (["cluster", "network"], "network", cluster.network, vocabulary.networks),
        (["cluster", "nodes"], "number of nodes", list(map(str, cluster.nodes)), list(map(str, vocabulary.nodes))),
    ):
        for at, word in enumerate(given):
            check_word(path, line_of(tree, [*place, at]), what, word, offered)


def check_word(path: Path, line: int | None, what: str, word: str, words: Sequence[str]) -> None:
    """Raises BadInputError for a word that is none of these."""
    if word not in words:
        raise BadInputError(f"{path}, line {line}: unknown {what} {word!r}; {nearest(word, words)}")


def refuse_doubles(path: Path, line: int | None, what: str, names: Sequence[str], cure: str = "leave one out") -> None:
    """Raises BadInputError for a name that comes twice."""
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise BadInputError(f"{path}, line {line}: {what} has {doubles[0]!r} twice; {cure}")


_DIRECTORIES = (
    "hadoop.tmp.dir", "dfs.namenode.name.dir", "dfs.datanode.data.dir", "yarn.nodemanager.local-dirs",
    "yarn.nodemanager.log-dirs", "mapreduce.cluster.local.dir", "mapreduce.framework.name",
    "yarn.nodemanager.container-executor.class", "dfs.datanode.fsdataset.volume.choosing.policy",
)  # fmt: skip
_ADDRESSES = re.compile(r"(fs\.defaultFS|fs\.default\.name|.*([.-]address|\.bind-host|\.hostname|\.port))")
# The second is the name that Hadoop 1 had for it, which is still understood.
_COMPRESSED_OUTPUT = ("mapreduce.output.fileoutputformat.compress", "mapred.output.compress")
_REDUCERS = "mapreduce.job.reduces"
# The workload whose output is judged by the user's own command, if at all.
_OWN_JUDGE = "command"

Place = Sequence[object]


def refuse_reserved(path: Path, experiment: ExperimentFile, tree: Any) -> None:
    """On a cluster of our own, where bytes lie and services listen is decided by the plan's media alone.

    Raises BadInputError.
    """
    if experiment.cluster.kind == "existing":
        return
    for place, name, _, _ in properties_of(experiment):
        if name in _DIRECTORIES or _ADDRESSES.fullmatch(name):
            raise BadInputError(
                f"{path}, line {line_of(tree, [*place, name])}: {name} can't be set on an embedded cluster: the "
                "media decide where bytes lie, and Assay how its daemons run and listen; leave it out"
            )


def refuse_unjudged(path: Path, experiment: ExperimentFile, tree: Any) -> None:
    """What is compressed, or was not reduced, can't be judged, nor read by the next job of a chain.

    Raises BadInputError.
    """
    for place, name, value, workloads in properties_of(experiment):
        read = next((workload for workload in workloads if workload != _OWN_JUDGE), None)
        if read is None:
            continue
        given, line = value.strip().lower(), f"{path}, line {line_of(tree, [*place, name])}"
        if name in _COMPRESSED_OUTPUT and given == "true":
            raise BadInputError(
                f"{line}: {name} can't be true for {read}, whose verification reads outputs that aren't compressed; "
                "leave it out (mapreduce.map.output.compress compresses what is shuffled)"
            )
        if name == _REDUCERS and given == "0":
            raise BadInputError(f"{line}: {name} can't be 0 for {read}, which is done by its reducers; give 1 or more")


def properties_of(experiment: ExperimentFile) -> Iterator[tuple[Place, str, str, Sequence[str]]]:
    """Each property with its place in the file, each of its values, and the workloads that it holds for."""
    everywhere = [workload.name for workload in experiment.workloads]
    for name, values in experiment.hadoop.items():
        for value in values:
            yield ["hadoop"], name, value, everywhere
    for at, workload in enumerate(experiment.workloads):
        for name, values in workload.hadoop.items():
            for value in values:
                yield ["workloads", at, "hadoop"], name, value, [workload.name]
    for profile, entry in experiment.profiles.items():
        for name, value in entry.properties.items():
            yield ["profiles", profile, "properties"], name, value, everywhere


_MOST = 2**31 - 1
_MOST_LONG = 2**63 - 1
_BLOCK = "dfs.blocksize"
_LEAST_BLOCK = "dfs.namenode.fs-limits.min-block-size"
_CHECKSUM_BYTES = 512
_SIZE = re.compile(r"(-?[0-9]{1,19})([kmgtpe]?)", re.IGNORECASE)
_SHARE = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,20})?([eE]-?[0-9]{1,3})?[fFdD]?")
# What a name or value of Hadoop's can't hold: its files are XML.
_NAME = re.compile(r"[^\s<>&\"']+")


class Bounds(NamedTuple):
    """The least and the most, as numbers; `whole` ones have no fraction, `sizes` may have a unit (`64m`)."""

    least: float
    most: float
    whole: bool = True
    size: bool = False
    besides: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """How they are told."""
        kind = "a whole number" if self.whole else "a number"
        if self.size:
            kind = "a size in bytes (a unit such as 64m is allowed)"
        end = "" if self.most >= _MOST else f" to {self.most:g}"
        besides = f", or {' or '.join(self.besides)} for Hadoop's own choice" if self.besides else ""
        return f"{kind} from {self.least:g}{end or ' on'}{besides}"


_COUNT, _COUNT_OR_NONE, _SHARE_OF_ONE = Bounds(1, _MOST), Bounds(0, _MOST), Bounds(0, 1, whole=False)
_ABOVE_NOTHING = Bounds(0.001, 1, whole=False)
_CONTAINER = Bounds(1, _MOST, besides=("-1",))

BOUNDS: Mapping[str, Bounds] = {
    "mapreduce.job.reduces": _COUNT_OR_NONE,
    "mapreduce.job.maps": _COUNT,
    _BLOCK: Bounds(1, _MOST_LONG, size=True),
    _LEAST_BLOCK: Bounds(0, _MOST_LONG, size=True),
    COPIES: Bounds(1, 512),  # dfs.replication.max
    "dfs.bytes-per-checksum": _COUNT,
    "io.file.buffer.size": _COUNT,
    "mapreduce.task.io.sort.mb": Bounds(1, 2047),  # MapTask.MapOutputBuffer
    "mapreduce.task.io.sort.factor": Bounds(2, _MOST),  # fewer files than two can't be merged
    "mapreduce.map.sort.spill.percent": _ABOVE_NOTHING,  # MapTask.MapOutputBuffer
    "mapreduce.reduce.shuffle.parallelcopies": _COUNT,
    "mapreduce.reduce.shuffle.input.buffer.percent": _SHARE_OF_ONE,  # MergeManagerImpl
    "mapreduce.reduce.shuffle.memory.limit.percent": _ABOVE_NOTHING,  # MergeManagerImpl
    "mapreduce.reduce.shuffle.merge.percent": _ABOVE_NOTHING,
    "mapreduce.reduce.input.buffer.percent": _SHARE_OF_ONE,
    "mapreduce.job.reduce.slowstart.completedmaps": _SHARE_OF_ONE,  # above, reducers would wait for ever
    "mapreduce.map.maxattempts": _COUNT,
    "mapreduce.reduce.maxattempts": _COUNT,
    "mapreduce.map.memory.mb": _CONTAINER,
    "mapreduce.reduce.memory.mb": _CONTAINER,
    "mapreduce.map.cpu.vcores": _COUNT,
    "mapreduce.reduce.cpu.vcores": _COUNT,
    "yarn.app.mapreduce.am.resource.mb": _COUNT,
    "yarn.app.mapreduce.am.resource.cpu-vcores": _COUNT,
    "yarn.scheduler.minimum-allocation-mb": _COUNT,
    "yarn.scheduler.maximum-allocation-mb": _COUNT,
    "yarn.scheduler.minimum-allocation-vcores": _COUNT,
    "yarn.scheduler.maximum-allocation-vcores": _COUNT,
    "yarn.nodemanager.resource.memory-mb": _CONTAINER,
    "yarn.nodemanager.resource.cpu-vcores": _CONTAINER,
}

# Read when a daemon starts, so that a workload's jobs can't have one of their own.
_DAEMONS = ("yarn.nodemanager.", "yarn.resourcemanager.", "yarn.scheduler.", "dfs.namenode.", "dfs.datanode.")


def check_values(path: Path, experiment: ExperimentFile, tree: Any) -> None:
    """Raises BadInputError with the line for a name that is none, a value that can't be, and one that nobody reads."""
    given = {name for _, name, _, _ in properties_of(experiment)}
    for place, name, value, workloads in properties_of(experiment):
        where = f"{path}, line {line_of(tree, [*place, name])}"
        if not _NAME.fullmatch(name):
            raise BadInputError(
                f"{where}: {name!r} is not the name of a property; write one without spaces, quotes, < > and &"
            )
        if place[0] == "workloads" and name.startswith(_DAEMONS):
            raise BadInputError(
                f"{where}: {name} is read by the cluster's daemons, not by {workloads[0]}'s jobs; give it under the "
                "experiment's own `hadoop`"
            )
        bounds = BOUNDS.get(name)
        if bounds is not None and not _within(value.strip(), bounds):
            raise BadInputError(f"{where}: {name} is {value!r}, and must be {bounds.words}")
        if name == _BLOCK and _LEAST_BLOCK not in given and experiment.cluster.kind == "embedded":
            _check_block(where, value)


def _within(text: str, bounds: Bounds) -> bool:
    if text in bounds.besides:
        return True
    if not bounds.whole:
        return _SHARE.fullmatch(text) is not None and bounds.least <= float(text.rstrip("fFdD")) <= bounds.most
    number = _bytes(text)
    if number is None or (not bounds.size and not text.lstrip("-").isdecimal()):
        return False
    return bounds.least <= number <= bounds.most


def _bytes(text: str) -> int | None:
    found = _SIZE.fullmatch(text)
    return int(found[1]) * 1024 ** " kmgtpe".index(found[2].lower() or " ") if found else None


def _check_block(where: str, value: str) -> None:
    """A NameNode takes no smaller blocks, and a client none that a checksum's bytes do not divide."""
    size = _bytes(value.strip()) or 0
    if size < 1 << 20 or size % _CHECKSUM_BYTES:
        raise BadInputError(
            f"{where}: {_BLOCK} is {value!r}, and must be 1m or more, a multiple of {_CHECKSUM_BYTES} bytes "
            f"({_LEAST_BLOCK} is the least that a NameNode takes)"
        )


# Hadoop knows names like these by their form: a part stands for a queue, a service, a host or a class.
_BY_FORM = re.compile(
    r"(yarn\.scheduler\.capacity|yarn\.nodemanager\.aux-services|yarn\.nodemanager\.resource-plugins|hadoop\.proxyuser"
    r"|hadoop\.security|fs\.[a-z0-9]+\.impl|ipc\.\d+|dfs\.(namenode|datanode|ha|nameservices?|journalnode)"
    r"|mapreduce\.job\.(map|reduce|combine|partitioner|inputformat|outputformat)\.class)\..+|.*\.impl"
)  # fmt: skip
_OWN_WORDS = (
    "mapreduce",
    "mapred",
    "yarn",
    "dfs",
    "io",
    "fs",
    "hadoop",
    "ipc",
    "ha",
    "net",
    "file",
    "ftp",
    "s3",
    "tfile",
)
"""Beginnings of Hadoop's own names: any other belongs to somebody's job."""
_SIZE_properties = re.compile(r"(-?\d+(?:\.\d+)?)([kmgtpe]?)", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(\.\d+)?([kmgtpe]|ns|us|ms|s|h|d|%)?", re.IGNORECASE)
"""With a size's prefix or a time's unit, of which `m` is both."""


@cache
def renamed() -> Mapping[str, str]:
    """What Hadoop calls a property now, by its deprecated name; several names apart by commas."""
    lines = files("assay.plan").joinpath("deprecated.txt").read_text().splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


def refuse_equal(path: Path, line: int | None, name: str, levels: Sequence[str]) -> None:
    """Raises BadInputError for a level that comes twice, also in two spellings, such as `4m` and `4194304`."""
    refuse_doubles(path, line, name, levels)
    spelt: dict[str, str] = {}
    for level in levels:
        other = spelt.setdefault(_as_read(level), level)
        if other != level:
            raise BadInputError(
                f"{path}, line {line}: {name} has one level twice, as {other} and {level}; leave one out"
            )


def _as_read(level: str) -> str:
    """One spelling of all that Hadoop reads as the same: numbers and sizes in bytes, and `true` in any case."""
    text = level.strip().lower()
    found = _SIZE_properties.fullmatch(text)
    return str(float(found[1]) * 1024 ** " kmgtpe".index(found[2] or " ")) if found else text


def check_properties(path: Path, experiment: ExperimentFile, tree: Any, known: Mapping[str, str]) -> list[Doubt]:
    """A doubt for each property that Hadoop does not know, and each level that is no number where Hadoop's own is one.

    As far as `known` tells, which has Hadoop's own values. Raises BadInputError for a property that has another name
    now.
    """
    doubts: dict[str, Doubt] = {}
    for place, name, value, _ in properties_of(experiment):
        if name in renamed():
            now = " and ".join(renamed()[name].split(","))
            raise BadInputError(
                f"{path}, line {line_of(tree, [*place, name])}: {name} is deprecated; Hadoop calls it {now} now"
            )
        if known and not _is_known(name, known):
            doubts[name] = _unknown(name, known, f"line {line_of(tree, [*place, name])}")
        elif _NUMBER.fullmatch(known.get(name, "")) and not _NUMBER.fullmatch(value.strip()):
            doubts[f"{name}={value}"] = _no_number(name, value, known[name], f"line {line_of(tree, [*place, name])}")
    return list(doubts.values())


NOT_A_NUMBER = doubt_kind(
    "not-a-number",
    "property",
    why="whatever reads it as a number fails, and only once it runs",
    cure="write a number; leave it if Hadoop's documentation has words for it",
)


def _no_number(name: str, value: str, default: str, line: str) -> Doubt:
    return NOT_A_NUMBER.doubt(f"{name} is {value!r} ({line}), and Hadoop's own value, {default}, is a number", name)


def _is_known(name: str, known: Collection[str]) -> bool:
    ours = name.split(".", maxsplit=1)[0] in _OWN_WORDS
    return not ours or name in known or _BY_FORM.fullmatch(name) is not None


UNKNOWN_PROPERTY = doubt_kind(
    "unknown-property",
    "property",
    why="a name that nobody reads changes nothing: its levels would all be the same",
    cure="correct the name; leave it if the jobs' own code reads it",
)


def _unknown(name: str, known: Collection[str], line: str) -> Doubt:
    close = nearest(name, sorted(known))
    hint = f"; {close}" if close.startswith("did") else ""
    return UNKNOWN_PROPERTY.doubt(f"Hadoop has no property {name} ({line}){hint}", name)


REPLICATION_UNMET = doubt_kind(
    "replication-unmet",
    "run",
    why="HDFS keeps one copy there, whatever is asked for: the levels of replication are all the same",
    cure="run on an existing cluster (cluster: {conf_dir: ...}), or leave replication out",
)


def one_copy(experiment: ExperimentFile) -> Iterator[Doubt]:
    """A doubt where more copies of a block are asked for than Assay's own cluster has DataNodes."""
    if experiment.cluster.kind == "existing":
        return
    asked = [value for _, name, value, _ in properties_of(experiment) if name == COPIES]
    most = max([*experiment.replication, *(int(value) for value in asked)], default=1)
    if most > 1:
        yield REPLICATION_UNMET.doubt(
            f"{most} copies of each block were asked for, and Assay's own cluster has one DataNode"
        )


def with_paths(entry: WorkloadEntry, paths: Mapping[str, str], folder: Path) -> dict[str, str]:
    """A workload's options with those that are `paths` (with their defaults) made absolute.

    What is empty, names a place in a store (`hdfs:/logs`), or, as an input, stands for the dataset stays as it is.
    Raises BadInputError for what can't be a path.
    """
    options = dict(entry.options)
    for name, default in paths.items():
        text = options.get(name, default)
        stands_for_dataset = name == INPUT and text == DATASET
        if text and not stands_for_dataset and not names_store(text):
            options[name] = str(absolute(folder, Path(text)))
    return options


def refuse_stored(path: Path, experiment: ExperimentFile, tree: Any, paths: Mapping[str, Mapping[str, str]]) -> None:
    """Raises BadInputError for an input that is said to lie in a store where each trial has a store of its own."""
    if experiment.cluster.kind == "existing":
        return
    several = isinstance(tree["workloads"], list)
    for at, entry in enumerate(experiment.workloads):
        for name in paths.get(entry.name, {}):
            text = entry.options.get(name, "")
            if names_store(text):
                line = line_of(tree, ["workloads", *([at] if several else []), "options", name])
                raise BadInputError(
                    f"{path}, line {line}: {name} is {text!r}, and a cluster of Assay's own starts with an empty "
                    "store; name a file or folder of this machine, or an existing cluster (cluster: {conf_dir: ...})"
                )
