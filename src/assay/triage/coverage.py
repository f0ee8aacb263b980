"""How much of the time for which a cluster's containers held processors the histories tell of."""

from collections.abc import Iterable, Iterator, Mapping

from assay.engine.past.applications import Application, application_id, number_in_application
from assay.engine.past.job import PastJob
from assay.model.base import Frozen
from assay.model.naming import first_few
from assay.report.words import duration_text


class Coverage(Frozen):
    """Core seconds of the containers of all applications that ran between the first start and the last end.

    A session's are spread evenly over its DAGs, as far as the numbers of those in histories tell how many it ran.
    """

    core_s: float
    """Of all that the cluster's list names."""
    read_s: float
    """Of those by whose histories jobs can be judged."""
    read_by_kind_s: Mapping[str, float]
    """The same by kind of application, the largest first."""
    lacking_s: float
    """Of those whose histories lack something, as where jobs did not end well."""
    not_read_s: Mapping[str, float]
    """Of the others by their kind, the largest first."""
    not_listed: int
    """How many applications histories tell of that the list does not name."""


def coverage(applications: Iterable[Application], jobs: Iterable[PastJob], began_ms: int, ended_ms: int) -> Coverage:
    """How much of what applications held between two times is in histories."""
    judged: dict[str, dict[int, bool]] = {}
    for job in jobs:
        numbers = judged.setdefault(application_id(job), {})
        number = number_in_application(job)
        numbers[number] = numbers.get(number, False) or job.counts
    not_listed = {name for name in judged if name.startswith("application_")}
    lacking_s = 0.0
    read_s, not_read_s = dict[str, float](), dict[str, float]()
    for application in applications:
        not_listed.discard(application.id)
        core_s = application.core_s_between(began_ms, ended_ms)
        numbers = judged.get(application.id, {})
        # What a session ran before these times is in no history of them.
        first = 1 if application.began_ms >= began_ms else min(numbers, default=1)
        ran, whole = max(numbers, default=1) - first + 1, sum(numbers.values())
        lacking_s += core_s * (len(numbers) - whole) / ran
        for kinds, share in ((read_s, whole / ran), (not_read_s, 1 - len(numbers) / ran)):
            if core_s * share:
                kinds[application.kind] = kinds.get(application.kind, 0.0) + core_s * share
    read = sum(read_s.values())
    return Coverage(
        core_s=read + lacking_s + sum(not_read_s.values()), read_s=read, read_by_kind_s=_largest_first(read_s),
        lacking_s=lacking_s, not_read_s=_largest_first(not_read_s), not_listed=len(not_listed),
    )  # fmt: skip


def _largest_first(kinds: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(kinds.items(), key=lambda item: -item[1]))


def coverage_words(known: Coverage) -> str:
    """How much was read, in a clause."""
    forgotten = ""
    if known.not_listed:
        count = "1 application" if known.not_listed == 1 else f"{known.not_listed:,} applications"
        forgotten = (
            f". {count} of the histories {'is' if known.not_listed == 1 else 'are'} not in the list: a cluster may "
            "have forgotten its oldest applications; these times do not count them"
        )
    if not known.core_s:
        return f"the cluster's list names no application of these days{forgotten}"
    read = f" ({_kinds_text(known.read_by_kind_s)})" if known.read_by_kind_s else ""
    lacking = (
        f"; {duration_text(known.lacking_s)} in histories that lack something or whose jobs did not end well"
        if known.lacking_s
        else ""
    )
    rest = f"; not read: {_kinds_text(known.not_read_s)}" if known.not_read_s else ""
    return (
        f"containers held a core for {duration_text(known.core_s)}, of which {duration_text(known.read_s)} are in "
        f"histories{read}{lacking}{rest}{forgotten}"
    )


def gains_nothing(known: Coverage | None) -> Iterator[str]:
    """What advice leaves out, in a clause, if that is known."""
    if known is not None:
        yield f"what no history tells of gains nothing: {coverage_words(known)}"


def _kinds_text(kinds: Mapping[str, float]) -> str:
    return first_few([f"{duration_text(core_s)} of {kind}" for kind, core_s in kinds.items()])
