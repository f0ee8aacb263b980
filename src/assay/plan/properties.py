"""Which Hadoop properties an experiment may set, and to what.

On an embedded cluster they don't say where things lie, how daemons run, and where they listen: that would put bytes
on another medium than the record says, or services on other interfaces than loopback. On no cluster may they make an
output that can't be judged.

Sources: Hadoop 3.4's own checks, in the classes named below, and `Integer.parseInt` where nothing else is.
`kinds.txt` says how its code reads each property.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from itertools import chain, product
from typing import NamedTuple

from assay.host.yaml_file import Place
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import BadInputError, Mistakes
from assay.model.installed import stack_of
from assay.model.naming import lettered_size, nearest
from assay.model.registry import SERVICES, STORES, WORKLOADS
from assay.model.renamed import renamed
from assay.model.service import LeastSize
from assay.model.value_bounds import MOST_INT, MOST_LONG, ValueBounds
from assay.plan.experiment import ExperimentFile, WorkloadEntry
from assay.plan.property_keys import key_of, owner_of, property_keys, spelt_out
from assay.plan.source import ExperimentSource, Vocabulary

_ADDRESSES = re.compile(r"(fs\.defaultFS|fs\.default\.name|.*([.-]address|\.bind-host|\.hostname|\.port))")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([kmgtpe]|ns|us|ms|s|h|d|%)?", re.IGNORECASE)
"""With a size's prefix or a time's unit, of which `m` is both."""
# What a name or value of Hadoop's can't hold: its files are XML.
_NAME = re.compile(r"[^\s<>&\"']+")


def bounds() -> Mapping[str, ValueBounds]:
    """Return the bounds of all services, by property."""
    return {name: bound for service in SERVICES.values() for name, bound in service.bounds.items()}


class ValueForm(NamedTuple):
    """A way in which Hadoop's Configuration reads a value: its texts, the same in words, the largest number."""

    form: re.Pattern[str]
    meaning: str
    most: float = math.inf

    def takes(self, text: str) -> bool:
        """Whether Hadoop reads a text as such a value. What `${...}` stands for only Hadoop knows."""
        match = self.form.fullmatch(text)
        if match is None or self.most == math.inf:
            return match is not None or "${" in text
        digits, unit = match["number"], (match.groupdict().get("unit") or " ").lower()
        number: int = int(digits, 16 if "x" in digits.lower() else 10) * 1024 ** " kmgtpe".index(unit)
        return -self.most - 1 <= number <= self.most


_WHOLE = r"(?P<number>[-+]?(?:[0-9]{1,30}|0[xX][0-9a-fA-F]{1,30}))"
FORMS: Mapping[str, ValueForm] = {
    "truth": ValueForm(re.compile("true|false", re.IGNORECASE), "true or false"),
    "int": ValueForm(re.compile(_WHOLE), f"a whole number without a unit, {MOST_INT} at most", MOST_INT),
    "long": ValueForm(re.compile(_WHOLE), "a whole number without a unit", MOST_LONG),
    "size": ValueForm(
        re.compile(r"(?P<number>-?[0-9]{1,30})(?P<unit>[kmgtpe]?)", re.IGNORECASE),
        "a whole number of bytes, or one with a letter such as 64m", MOST_LONG,
    ),
    "time": ValueForm(
        re.compile(r"(?P<number>-?[0-9]{1,30})(?:ns|us|ms|s|m|h|d)?", re.IGNORECASE),
        "a whole number, or one with a unit of time such as 500ms or 3s", MOST_LONG,
    ),
    "fraction": ValueForm(
        re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?[fFdD]?"), "a number without a unit or %"
    ),
}  # fmt: skip
"""The forms of `kinds.txt`. For a truth value that it can't read Hadoop takes its default, for a number it fails."""
_YAMLS_TRUTH = frozenset({"yes", "no", "on", "off", "y", "n"})
# As Hadoop's own programs take them, and as a shell splits them.
_OPTION = re.compile(r"""(?:^|\s)["']?-D\s*["']?([^\s=]+)=("[^"]*"|'[^']*'|[^\s"']*)""")


class Property(NamedTuple):
    """A property in an experiment: its levels, its place in the file, and the workloads that it holds for.

    `key` is that of the service under which it stands, where it stands under one.
    """

    name: str
    levels: Sequence[str]
    keys: Place
    workloads: Sequence[str]
    key: str = ""

    @property
    def hadoops_name(self) -> str:
        """Its name without what a service cuts off before Hadoop reads it."""
        prefixes = (service.passes_on for service in SERVICES.values() if service.passes_on)
        return next((self.name.removeprefix(prefix) for prefix in prefixes if self.name.startswith(prefix)), self.name)


def properties_of(experiment: ExperimentFile) -> Iterator[Property]:
    """List the properties that the experiment sets: for all trials, for a workload's jobs, and in its profiles."""
    everywhere = [part.name for workload in experiment.workloads for part in workload.each]
    for key, properties in experiment.property_maps.items():
        for name, levels in properties.items():
            yield Property(name, levels, [key, name], everywhere, key)
    for workload, place in _workloads(experiment):
        for key, properties in workload.property_maps.items():
            for name, levels in properties.items():
                yield Property(name, levels, [*place, key, name], [workload.name], key)
    for profile, entry in experiment.profiles.items():
        for name, value in entry.properties.items():
            yield Property(name, [value], ["profiles", profile, "properties", name], everywhere)


@contextmanager
def located(source: ExperimentSource) -> Iterator[None]:
    """A mistake that is met meanwhile gets the file, and the line of the first of its keys that stands there."""
    try:
        yield
    except BadInputError as error:
        places: dict[str, Place] = {entry.name: entry.keys for entry in properties_of(source.experiment)}
        places |= {key: (key,) for key in source.tree}
        keys = next((places[key] for key in error.keys if key in places), None)
        raise error if keys is None else source.error_at(keys, str(error)) from None


def check_properties(source: ExperimentSource, vocabulary: Vocabulary) -> list[Doubt]:
    """Doubts about properties that Hadoop does not know, and levels that are no number where Hadoop's own is one.

    Raises BadInputError with the lines for what can't be a property or its value, for what an embedded cluster decides
    itself, for what makes an output that can't be judged, and for deprecated names.
    """
    doubts: dict[str, Doubt] = {}
    known = vocabulary.properties
    given = list(properties_of(source.experiment))
    own_cluster = source.experiment.platform.is_managed
    least_sizes = _least_sizes([entry.hadoops_name for entry in given]) if own_cluster else {}
    by_form = re.compile("|".join(form for service in SERVICES.values() for form in service.open_names))
    running = _running(source.experiment)
    placed = {role for placement in source.experiment.placement for role in placement.roles}
    refused = Mistakes()
    for entry in [*_arguments(source.experiment), *given]:
        verified = next((name for name in entry.workloads if name not in vocabulary.any_output), "")
        least = least_sizes.get(entry.hadoops_name)
        mistakes = chain(_unplaced(entry, placed), _mistakes(entry, verified, least, own_cluster=own_cluster))
        mistake = next(mistakes, _misread(entry, known))
        if mistake is not None:
            refused.sentences.append(str(source.error_at(entry.keys, mistake)))
    for entry in given:
        doubts |= {doubt.what: doubt for doubt in _yamls_truth(entry, known, source)}
        line = f"line {source.line(entry.keys)}"
        default = known.get(entry.name, "")
        owner = owner_of(entry.name)
        of_workloads = {WORKLOADS[workload].output_replication for workload in entry.workloads if workload in WORKLOADS}
        read = entry.name in {*known, *of_workloads}
        if owner is not None and running and owner.name not in running:
            problem = f"{entry.name} ({line}) is a property of {owner.name}, which no trial has"
            doubts[entry.name] = UNKNOWN_PROPERTY.doubt(problem, entry.name)
        elif known and owner is not None and not read and not by_form.fullmatch(entry.name):
            close = nearest(entry.name, sorted(known))
            hint = f"; {close}" if close.startswith("did") else ""
            problem = f"Hadoop has no property {entry.name} ({line}){hint}"
            doubts[entry.name] = UNKNOWN_PROPERTY.doubt(problem, entry.name)
        for value in entry.levels if _NUMBER.fullmatch(default) else ():
            if not _NUMBER.fullmatch(value.strip()):
                problem = f"{entry.name} is {value!r} ({line}), and Hadoop's default, {default}, is a number"
                doubts[f"{entry.name}={value}"] = NOT_A_NUMBER.doubt(problem, entry.name)
    refused.refuse()
    return list(doubts.values())


def _running(experiment: ExperimentFile) -> set[str]:
    """The names of the services that any of its stores and engines need, as far as these are installed."""
    names: set[str] = set()
    for spec, engine in product(experiment.store, experiment.engine):
        with suppress(BadInputError):
            names |= {service.name for service in stack_of(spec.kind, engine).services}
    return names


def _least_sizes(given: Sequence[str]) -> Mapping[str, LeastSize]:
    """Those that no given property sets, by the property that they hold for."""
    sizes = {name: size for service in SERVICES.values() for name, size in service.least_sizes.items()}
    return {name: size for name, size in sizes.items() if size.set_by not in given}


def _mistakes(entry: Property, verified: str, least: LeastSize | None, *, own_cluster: bool) -> Iterator[str]:
    """Say what is wrong with a property of jobs whose output the workload `verified` verifies."""
    name, hadoops_name, services = entry.name, entry.hadoops_name, SERVICES.values()
    if not _NAME.fullmatch(name):
        yield f"{name!r} is not the name of a property; write one without spaces, quotes, < > and &"
    yield from _misplaced(entry)
    # Read when a daemon starts, so that a workload's jobs can't have one of their own.
    of_daemons = tuple(prefix for service in services for prefix in service.read_by_daemons)
    if entry.keys[0] == "workloads" and hadoops_name.startswith(of_daemons):
        yield (
            f"{name} is read by the cluster's daemons, not by {entry.workloads[0]}'s jobs; give it under the "
            f"experiment's own `{key_of(hadoops_name)}`"
        )
    reserved = {reserved for service in services for reserved in service.reserved}
    if own_cluster and (hadoops_name in reserved or _ADDRESSES.fullmatch(hadoops_name)):
        yield (
            f"{name} can't be set on an embedded cluster: the media decide where bytes lie, and Assay how its daemons "
            "run and listen; leave it out"
        )
    if any(hadoops_name in service.history_properties for service in services):
        yield (
            f"{name} can't be set: Assay reads what tasks did from the history that {name.partition('.')[0]} writes "
            "without it; leave it out"
        )
    unverifiable = next(
        (service.unverifiable[hadoops_name] for service in services if hadoops_name in service.unverifiable), None
    )
    spellings: dict[str, str] = {}
    for value in entry.levels:
        text, size = value.strip().lower(), lettered_size(value.strip())
        if hadoops_name in bounds() and not bounds()[hadoops_name].hold(value.strip()):
            yield f"{name} is {value!r}, and must be {bounds()[hadoops_name]}"
        if least is not None and ((size or 0) < least.least_bytes or (size or 0) % least.step_bytes):
            yield f"{name} is {value!r}, and must be {least.text}"
        if verified and unverifiable is not None and text == unverifiable.value:
            yield f"{name} can't be {text} for {verified}, {unverifiable.why}"
        other = spellings.setdefault(text if size is None else str(float(size)), value)
        if entry.levels.count(value) > 1:
            yield f"{name} has {value!r} twice; leave one out"
        if other != value:
            yield f"{name} has one level twice, as {other} and {value}; leave one out"
    new = renamed().get(name) or renamed().get(hadoops_name)
    if new is not None and "options" not in entry.keys:  # in arguments, old names of old command lines work as ever
        yield f"{name} is deprecated; it is called {' and '.join(new.split(','))} now"


def _unplaced(entry: Property, placed: Collection[str]) -> Iterator[str]:
    """Say that a property is of a role that is on no medium."""
    for service in SERVICES.values():
        role = service.of_roles.get(entry.hadoops_name, "")
        if role and role not in placed:
            yield (
                f"{entry.name} means nothing without media of the role {role}; name some in a `placement`, such as "
                f"{role}: ssd, or leave the property out"
            )


def _misplaced(entry: Property) -> Iterator[str]:
    """Say what is wrong with a property that does not belong under its key."""
    name = entry.name
    if name in property_keys():
        yield f"{name} is the key of properties, and none itself; write a whole name, such as {name}.NAME"
    if entry.key and entry.key != (key := key_of(name)):
        cure = f"give it under `{key}`"
        if (full := spelt_out(entry.key, name)) != name:
            cure = f"did you mean {full}? A property of a job's own stands under `{key}`"
        yield f"{name} is no property of {entry.key}; {cure}"


def _arguments(experiment: ExperimentFile) -> Iterator[Property]:
    """The `-D` options in what workloads give their programs."""
    for workload, place in _workloads(experiment):
        for option, text in workload.options.items():
            for name, value in _OPTION.findall(text):
                if "{" not in value:  # filled in later
                    yield Property(name, [value.strip("\"'")], [*place, "options", option], [workload.name])


def _workloads(experiment: ExperimentFile) -> Iterator[tuple[WorkloadEntry, Place]]:
    """Each workload, those of mixes too, with its place in the file."""
    for at, workload in enumerate(experiment.workloads):
        yield workload, ["workloads", at]
        yield from ((part, ["workloads", at, "together", place]) for place, part in enumerate(workload.together))


def form_of(name: str, known: Mapping[str, str]) -> ValueForm | None:
    """How Hadoop reads a property: as its code says, else as its default (of the `known` ones) tells."""
    by_default = FORMS["truth"] if FORMS["truth"].form.fullmatch(known.get(name, "")) else None
    return FORMS[_kinds()[name]] if name in _kinds() else by_default


def _misread(entry: Property, known: Mapping[str, str]) -> str | None:
    """What is wrong with the first value that Hadoop would not read as the property's kind."""
    form = form_of(entry.hadoops_name, known)
    if form is None or entry.hadoops_name in bounds():
        return None
    for value in entry.levels:
        if not form.takes(value.strip()):
            mistake = f"{entry.name} is {value!r}, and must be {form.meaning}"
            default = known.get(entry.hadoops_name)
            at_most = f"; Hadoop would take its default, {default}, instead" if default else ""
            return mistake + (at_most if form is FORMS["truth"] else "")
    return None


def _yamls_truth(entry: Property, known: Mapping[str, str], source: ExperimentSource) -> Iterator[Doubt]:
    """A doubt for each word that other files' readers take for a truth value, where nobody knows what reads it."""
    for value in entry.levels if form_of(entry.hadoops_name, known) is None else ():
        if value.strip().lower() in _YAMLS_TRUTH:
            problem = f"{entry.name} is the text {value!r} (line {source.line(entry.keys)})"
            yield YES_OR_NO.doubt(problem, entry.name)


@cache
def _kinds() -> Mapping[str, str]:
    lines = files("assay.plan").joinpath("kinds.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


NOT_A_NUMBER = doubt_kind(
    "not-a-number",
    "property",
    when="a level is a word, and Hadoop's default of the property is a number",
    why="a program that reads it as a number fails, and only after it has started",
    cure="write a number, unless Hadoop's documentation has words for it",
)
YES_OR_NO = doubt_kind(
    "yes-or-no",
    "property",
    when="a property that is not Hadoop's own is yes, no, on or off",
    why="Hadoop's Configuration knows true and false only: a program that asks it gets its default instead",
    cure="write true or false, unless the program reads the word itself",
)
UNKNOWN_PROPERTY = doubt_kind(
    "unknown-property",
    "property",
    when="Hadoop has no property of this name, or no trial has the service that it belongs to",
    why="a property that nothing reads has no effect: all of its levels would be the same",
    cure="correct the name or leave it out, unless the jobs' own code reads it",
)
REPLICATION_UNMET = doubt_kind(
    "replication-unmet",
    "run",
    when="more copies of each block were asked for than the cluster has workers",
    why="a worker keeps at most one copy of a block, so such levels of replication are the same",
    cure="give the cluster as many `nodes` as there are copies, or ask for fewer copies",
)


def single_copy(experiment: ExperimentFile) -> list[Doubt]:
    """A doubt where more copies of a block are asked for than Assay's own cluster has workers."""
    names = {STORES[spec.kind].copies_property for spec in experiment.store if spec.kind in STORES}
    requested = [
        int(value) for entry in properties_of(experiment) if entry.hadoops_name in names for value in entry.levels
    ]
    most = max([*experiment.replication, *requested], default=1)
    least = min(experiment.cluster.get("nodes"), default=1)
    if most <= least or not experiment.platform.is_managed:
        return []
    problem = f"{most} copies of each block were asked for, and Assay's own cluster has {least} worker"
    problem += "s" * (least > 1)
    return [REPLICATION_UNMET.doubt(problem)]
