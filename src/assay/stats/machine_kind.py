"""Which machines trials ran on, by the facts that must be the same before two times may be pooled.

A medium is part of the machine, as are the programs that a service brings beside Hadoop's: of their facts those must be
the same that are not others with each trial. A trial knows those of its own media and services only, so that trials on
different media of one machine, or on different engines, are of one kind.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from assay.model.fact import Fact, fact_text
from assay.model.installed import kind_of
from assay.model.record import Status
from assay.model.trial_summary import TrialSummary

MACHINE_FACTS = (
    "cpu", "cores", "cpu_quota", "memory_bytes", "free_memory", "kernel", "java", "hadoop", "jobs_jar_sha256",
    "code_sha256", "host",
)  # fmt: skip
"""Trials that differ in one of these, or in the control groups' version, are not of one kind."""
MEDIUM_FACTS = (
    "kind", "drive", "device", "profile_digest", "emulator_digest", "file_system", "mount_options", "size_bytes",
    "scheduler", "read_ahead_kb",
)  # fmt: skip
"""Nor those in which one of these differs, of a medium of the same name; an emulated drive's device always does."""
PROGRAM_FACTS = ("version", "sha256")
"""Nor those in which one of these differs, of a service's programs (`programs.SERVICE.version`)."""
FIELDS = (*MACHINE_FACTS, "control groups")
MOST_LETTERS = 24

MachineFacts = tuple[str | None, ...]
Facts = tuple[str | None, ...]


def machine_of(summary: TrialSummary) -> MachineFacts:
    """The values of `FIELDS`; version 1 and 2 of control groups bound a trial's memory differently."""
    return (*_known(summary.facts, MACHINE_FACTS), summary.control_groups)


def machines_of(summaries: Sequence[TrialSummary]) -> list[MachineFacts]:
    """Find each trial's machine; a trial that failed before its facts were known is on any that fits what is known."""
    machines = list(map(machine_of, summaries))
    trials = zip(machines, summaries, strict=True)
    known = dict.fromkeys(machine for machine, summary in trials if summary.status is Status.FINISHED)
    return [
        machine if machine in known else next((other for other in known if _fits(machine, other)), machine)
        for machine in machines
    ]


def _fits(facts: Facts, known: Facts) -> bool:
    """Whether facts of which some are missing may be those of another trial."""
    return all(fact in (None, of_known) for fact, of_known in zip(facts, known, strict=True))


def machine_names(machines: Iterable[MachineFacts]) -> dict[MachineFacts, str]:
    """A short name for each kind of machine but for its media, in the order in which they come.

    A letter, and the first fact that tells it apart from all others, or as many facts as that takes: `A (kernel 6.1)`.
    One kind alone is `A`.
    """
    kinds = list(dict.fromkeys(machines))
    names = {}
    for number, kind in enumerate(kinds):
        facts = []
        left = [other for other in kinds if other != kind]
        for index, name in enumerate(FIELDS):
            alike = [other for other in left if other[index] == kind[index]]
            if len(alike) < len(left):
                facts.append(f"{_word(name)} {_value(name, kind[index])}")
            left = alike
        names[kind] = _letters(number) + (f" ({', '.join(facts)})" if facts else "")
    return names


class Part(NamedTuple):
    """A medium of a trial, by its run where several are distinguished; or, without a run, a service with programs."""

    run: str | None
    name: str

    @property
    def facts(self) -> tuple[str, ...]:
        """The names of the facts that must be the same."""
        return PROGRAM_FACTS if self.run is None else MEDIUM_FACTS


class Changed(NamedTuple):
    """A part of the machine whose `fact` was `before` and `after` in trials of the same machine."""

    part: Part
    fact: str
    before: str
    after: str

    @property
    def words(self) -> str:
        """The change in one clause."""
        return f"the {self.fact} of {self.part.name} is {self.before} in some trials and {self.after} in others"


Parts = dict[Part, Facts]


def medium_facts(summary: TrialSummary) -> dict[str, Facts]:
    """The values of `MEDIUM_FACTS` of each of the trial's media, by its name."""
    known = {}
    for medium in summary.trial.media:
        passing = kind_of(medium).passing_facts
        names = ["" if name in passing else name for name in MEDIUM_FACTS] if passing else MEDIUM_FACTS
        known[medium.name] = _known(summary.facts_of(medium.name), names)
    return known


_OF_PROGRAMS = re.compile(rf"programs\.(?P<service>.+)\.(?:{'|'.join(PROGRAM_FACTS)})")


def _parts(summary: TrialSummary, run: str) -> tuple[tuple[Part, Facts], ...]:
    """The trial's media, and the services that bring programs, each with its facts."""
    media = ((Part(run, name), facts) for name, facts in medium_facts(summary).items())
    programs = (
        (Part(None, name), _known(summary.facts, [f"programs.{name}.{fact}" for fact in PROGRAM_FACTS]))
        for name in _services(tuple(summary.facts))
    )
    return (*media, *programs)


@lru_cache(maxsize=256)
def _services(facts: tuple[str, ...]) -> tuple[str, ...]:
    """The services whose programs are among the names of a trial's facts; most trials have the same names."""
    matches = map(_OF_PROGRAMS.fullmatch, facts)
    return tuple(dict.fromkeys(match["service"] for match in matches if match))


def _known(facts: Mapping[str, Fact], names: Iterable[str]) -> Facts:
    """Facts as texts, in the order of their names; None for those that a trial lacks, and for no name."""
    return tuple([None if (fact := facts.get(name)) is None else fact_text(fact) for name in names])


def sets_of_parts(
    summaries: Sequence[TrialSummary], machines: Sequence[MachineFacts], runs: Sequence[str]
) -> tuple[dict[MachineFacts, list[Parts]], list[tuple[MachineFacts, int]]]:
    """Each machine's sets of parts that go together, and for each trial its machine and the first set that it fits.

    A trial that failed before its facts were known fits any, and tells nothing of a part. `machines` are the trials'
    (`machines_of`).

    Where `runs` names each trial's run, media are distinguished within a run only. Raises ValueError where their
    numbers differ.
    """
    known: dict[MachineFacts, list[Parts]] = {}
    known_sets: dict[tuple[MachineFacts, tuple[tuple[Part, Facts], ...]], int] = {}
    places = []
    for summary, machine, run in zip(summaries, machines, runs or [""] * len(summaries), strict=True):
        whole = summary.status is Status.FINISHED
        parts = tuple((part, facts) for part, facts in _parts(summary, run) if whole or None not in facts)
        index = known_sets.get((machine, parts))
        if index is None:  # sets only grow: what did not fit one never will, and what is in one stays there
            sets = known.setdefault(machine, [])
            fitting = (all(known_parts.get(part, facts) == facts for part, facts in parts) for known_parts in sets)
            index = next((index for index, fits in enumerate(fitting) if fits), len(sets))
            if index == len(sets):
                sets.append({})
            sets[index].update(parts)
            known_sets[machine, parts] = index
        places.append((machine, index))
    return known, places


def differences(first: Parts, other: Parts) -> tuple[Changed, ...]:
    """Of each part that differs in two sets that don't go together, the first fact that does."""
    changes = (
        next(
            (
                Changed(part, _word(name), _value(name, before), _value(name, after))
                for name, before, after in zip(part.facts, first.get(part, facts), facts, strict=True)
                if before != after
            ),
            None,
        )
        for part, facts in other.items()
    )
    return tuple(change for change in changes if change is not None)


def _letters(index: int) -> str:
    """A to Z, then AA and so on."""
    before, last = divmod(index, 26)
    return (_letters(before - 1) if before else "") + chr(ord("A") + last)


def _word(name: str) -> str:
    """A fact's name without its unit or the kind of its digest."""
    if name == "sha256":
        return "digest"
    return re.sub("_(bytes|kb|sha256|digest)$", "", name).removesuffix("_jar").replace("_", " ")


def _value(name: str, value: str | None) -> str:
    if value is None:
        return "unknown"
    if name in {"memory_bytes", "size_bytes"} and value.isdigit():
        return f"{int(value) / (1 << 30):.1f} GiB"
    if name.endswith(("sha256", "_digest")):
        return value[:7]
    return value if len(value) <= MOST_LETTERS else f"{value[: MOST_LETTERS - 1]}…"
