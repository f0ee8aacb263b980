"""How long a trial will take, from how long earlier ones like it took."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from assay.model.trial import Trial

Key = tuple[str, ...]


class Expectation(NamedTuple):
    """Seconds: the median over so many earlier trials."""

    seconds: float
    records: int


class Expected:
    """Medians over earlier trials: of all the same levels where there are any, else of workload, data and media."""

    def __init__(self, took: Iterable[tuple[Trial, float]]) -> None:
        """Trials with the seconds that each took."""
        self._seconds: dict[Key, list[float]] = {}
        for trial, seconds in took:
            self.add(trial, seconds)

    def add(self, trial: Trial, seconds: float) -> None:
        """One more."""
        for key in _keys(trial):
            self._seconds.setdefault(key, []).append(seconds)

    def of(self, trial: Trial) -> Expectation | None:
        """None where no earlier trial is like it."""
        for key in _keys(trial):
            if found := self._seconds.get(key):
                return Expectation(median(found), len(found))
        return None


def _keys(trial: Trial) -> Sequence[Key]:
    """The closest kind of likeness first. A medium of the same name may have been another drive then."""
    media = sorted(one.model_dump_json() for one in trial.media)
    about = (
        trial.workload.name, trial.workload.variant, str(sorted(trial.workload.options.items())),
        trial.dataset.model_dump_json(), trial.placement.model_dump_json(), *media,
    )  # fmt: skip
    closer = (
        *about,
        str(sorted(trial.settings.properties.items())),
        str(trial.factors),
        trial.cluster.model_dump_json(),
    )
    return ("all", *closer), ("some", *about)
