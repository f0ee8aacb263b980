"""How much of the time for which a cluster's containers held processors the histories tell of."""

from collections.abc import Iterable, Mapping

from assay.engine.past.applications import Application, application_id
from assay.engine.past.job import PastJob
from assay.model.base import Frozen
from assay.model.naming import first_few
from assay.report.words import duration_text


class Coverage(Frozen):
    """Core seconds of the containers of all applications that ran between the first start and the last end."""

    core_s: float
    """Of all that the cluster's list names."""
    read_s: float
    """Of those that histories tell of."""
    not_read_s: Mapping[str, float]
    """Of the others by their kind, the largest first."""
    not_listed: int
    """How many applications histories tell of that the list does not name."""


def coverage(applications: Iterable[Application], jobs: Iterable[PastJob], began_ms: int, ended_ms: int) -> Coverage:
    """How much of what applications held between two times is in histories."""
    read = {application_id(job) for job in jobs}
    not_listed = {name for name in read if name.startswith("application_")}
    read_s, not_read_s = 0.0, dict[str, float]()
    for application in applications:
        not_listed.discard(application.id)
        core_s = application.core_s_between(began_ms, ended_ms)
        if application.id in read:
            read_s += core_s
        elif core_s:
            not_read_s[application.kind] = not_read_s.get(application.kind, 0.0) + core_s
    largest_first = dict(sorted(not_read_s.items(), key=lambda item: -item[1]))
    return Coverage(
        core_s=read_s + sum(not_read_s.values()), read_s=read_s, not_read_s=largest_first, not_listed=len(not_listed),
    )  # fmt: skip


def coverage_words(known: Coverage) -> str:
    """How much was read, in a sentence."""
    forgotten = ""
    if known.not_listed:
        count = "1 application" if known.not_listed == 1 else f"{known.not_listed:,} applications"
        forgotten = (
            f". {count} of the histories {'is' if known.not_listed == 1 else 'are'} not in the list: a cluster may "
            "have forgotten its oldest applications; these times do not count them"
        )
    if not known.core_s:
        return f"The cluster's list names no application of these days{forgotten}"
    kinds = [f"{duration_text(core_s)} of {kind}" for kind, core_s in known.not_read_s.items()]
    rest = f"; not read: {first_few(kinds)}" if kinds else ""
    held, read = duration_text(known.core_s), duration_text(known.read_s)
    return f"Containers held a core for {held}, of which {read} are in histories{rest}{forgotten}"
