"""Which machines trials ran on, by the facts that must be the same before two times may be pooled."""

from collections.abc import Sequence

from assay.model.record import Record

MACHINE_FACTS = ("cpu", "cores", "memory_bytes", "kernel", "java", "hadoop", "jobs_jar_sha256", "assay")
"""Trials that differ in one of these, or in the control groups' version, are not of one kind."""
FIELDS = (*MACHINE_FACTS, "control groups")
MOST_LETTERS = 24

Machine = tuple[str | None, ...]


def machine_of(record: Record) -> Machine:
    """The values of `FIELDS`; version 1 and 2 of control groups bound a trial's memory differently."""
    limits = record.limits.interface if record.limits else None
    return (*(record.facts.get(key) for key in MACHINE_FACTS), limits)


def machine_names(records: Sequence[Record]) -> dict[Machine, str]:
    """A short name for each kind, in the order in which they come.

    A letter, and the first fact that tells it apart from all others, or as many facts as that takes: `A (kernel 6.1)`.
    One kind alone is `A`.
    """
    kinds = list(dict.fromkeys(machine_of(record) for record in records))
    names = {}
    for place, kind in enumerate(kinds):
        told = _telling(kind, [other for other in kinds if other != kind])
        names[kind] = _letters(place) + (f" ({', '.join(told)})" if told else "")
    return names


def _telling(kind: Machine, others: Sequence[Machine]) -> list[str]:
    """Facts of a kind until no other kind has the same."""
    told = []
    left = list(others)
    for place, name in enumerate(FIELDS):
        differing = [other for other in left if other[place] != kind[place]]
        if differing:
            told.append(f"{_word(name)} {_value(name, kind[place])}")
            left = [other for other in left if other[place] == kind[place]]
    return told


def _letters(place: int) -> str:
    """A to Z, then AA and so on."""
    before, last = divmod(place, 26)
    return (_letters(before - 1) if before else "") + chr(ord("A") + last)


def _word(name: str) -> str:
    return {"memory_bytes": "memory", "jobs_jar_sha256": "jobs"}.get(name, name)


def _value(name: str, value: str | None) -> str:
    if value is None:
        return "unknown"
    if name == "memory_bytes" and value.isdigit():
        return f"{int(value) / (1 << 30):.1f} GiB"
    if name == "jobs_jar_sha256":
        return value[:7]
    return value if len(value) <= MOST_LETTERS else f"{value[: MOST_LETTERS - 1]}…"
