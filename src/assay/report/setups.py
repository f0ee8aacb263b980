"""What trials of several runs have under the same names: media, data, cluster and settings, and where they differ."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.model.doubt import Doubt
from assay.model.record import Record
from assay.stats.machine_kind import MEDIUM_FACTS, Changed, media_changes, medium_facts
from assay.stats.wording import first_few

Setup = tuple[tuple[str, str], ...]
PLACES = frozenset({"path", "file", "conf_dir"})
"""Where something lies on one machine says nothing of what it is, and is another on the next."""


def setups(records: Sequence[Record], of_run: Sequence[str]) -> list[Setup]:
    """Of each record: names such as `medium ssd: profile` with what its trial had; `of_run` names its run.

    What a real drive is counts among records of one machine only: elsewhere it is another in any case.
    """
    known: dict[tuple[object, ...], Setup] = {}
    found = []
    for record, run, change in zip(records, of_run, media_changes(records), strict=True):
        key = (run, change, *record.trial.factors.items())
        if key not in known:
            known[key] = tuple(sorted(_setup(record, change).items()))
        found.append(known[key])
    return found


def _setup(record: Record, change: Changed | None) -> dict[str, str]:
    trial = record.trial
    facts = medium_facts(record)
    properties = {name: value for name, value in trial.settings.properties.items() if name not in trial.levels}
    found = dict(_flat("dataset", trial.dataset.model_dump(exclude={"name"})))
    found |= _flat("cluster", trial.cluster.model_dump(exclude={"limit_memory_bytes", "limit_cpus"}))
    found |= _flat("settings", properties)
    for medium in trial.media:
        digest = facts[medium.name][MEDIUM_FACTS.index("profile_digest")]
        profile = medium.profile and Path(medium.profile).name
        own = {**medium.model_dump(exclude={"name"}), "profile": profile, "profile_digest": digest}
        found |= _flat(f"medium {medium.name}", own)
    if change is not None:
        found[f"the {change.fact} of {change.medium}"] = change.after
    return found


def _flat(name: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((f"{name}: {key}", str(value)) for key, value in values.items() if value is not None and key not in PLACES)


def unlike(found: Mapping[str, Sequence[Setup]]) -> list[Doubt]:
    """A doubt for each combination, by its name, whose trials had different things under the same names."""
    return [doubt for title, own in found.items() for doubt in _unlike(title, list(dict.fromkeys(own)))]


def _unlike(title: str, own: Sequence[Setup]) -> Iterator[Doubt]:
    if len(own) < 2:
        return
    every = [dict(one) for one in own]
    names = dict.fromkeys(name for one in every for name in one)
    differing = [
        f"{name} is {' or '.join(dict.fromkeys(one.get(name, _without(name)) for one in every))}"
        for name in names
        if len({one.get(name) for one in every}) > 1
    ]
    yield Doubt(
        kind="same-names-for-other-things",
        what=f"the runs have different things under the same names in {title}: {first_few(differing)}",
        why="a difference between such runs is one of those things, so they are not compared with one another",
        cure="give other things other names, or run both with the same ones",
    )


def _without(name: str) -> str:
    return "not given" if ":" in name else "what it was at first"
