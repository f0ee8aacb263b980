"""The summaries of a run's trials, kept in one file beside the records that they are made from.

RUN/summaries.jsonl   one JSON object in a line for each trial, in any order; of several of one trial the last counts

A line has a checksum of the rest of it (`crc`), the name of its `trial`, the `summary` without what was planned, which
the plan has, and a list of what it was made by and from (`of`): the code (the version of Assay and of plug-ins, and the
names of all figures that plug-ins add), the record's size in bytes and the time of its last change (nanoseconds since
the epoch), and a checksum of the planned trial. A summary is made again where its line is missing or altered, or is of
other code, of another record or of another plan. So the file may be deleted; where it can't be written, as in a folder
that may only be read, nothing is kept.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from zlib import crc32

from pydantic import TypeAdapter
from pydantic_core import from_json

from assay.host.files import UnreadableFileError, opened, refuse_irregular, replace_text
from assay.model.record import Record
from assay.model.registry import SUMMARY_FIGURES
from assay.model.trial import Plan, Trial
from assay.model.trial_summary import TrialSummary
from assay.record.folder import Damaged, RunFolder
from assay.version import loaded_code

FILE = "summaries.jsonl"
_SUMMARY = TypeAdapter(TrialSummary)
_Source = list[str | int]


def read_summaries(
    folder: RunFolder, plan: Plan, summarise: Callable[[Record], TrialSummary]
) -> tuple[list[TrialSummary], list[Damaged]]:
    """The summaries of all readable trials in the order of the plan, and what could not be read.

    Those that are not kept are made, one record at a time, and kept. Damage of a record whose summary is kept shows
    when that record is read.
    """
    planned = {trial.id: trial for trial in plan.trials}
    code = _code()
    places = {name: place for place, name in enumerate(planned)}
    names = sorted(folder.trials(), key=lambda name: places.get(name, len(places)))
    sources = {name: _source(folder, name, planned, code) for name in names}
    kept, others = _kept(folder, planned, sources)
    summaries: dict[str, TrialSummary] = {}
    damaged: list[Damaged] = []
    made: dict[str, str] = {}
    for name in names:
        if name in kept:
            summaries[name] = kept[name]
            continue
        record = folder.read(name, planned)
        if isinstance(record, Damaged):
            damaged.append(record)
            continue
        made[name] = _line(sources[name], summarise(record))
        summaries[name] = _summary(_content(made[name].encode()), record.trial)  # the same whether it was kept or not
    with suppress(OSError):
        if made and others:
            every = (_line(sources[name], summary) for name, summary in summaries.items())
            replace_text(folder.path / FILE, every)
        elif made:
            _append(folder, "".join(made.values()))
    return list(summaries.values()), damaged


def keep_summary(folder: RunFolder, summary: TrialSummary) -> None:
    """Keep the summary of a trial that has just been recorded, where that is possible."""
    with suppress(OSError):
        _append(folder, _line(_source(folder, summary.id, {summary.id: summary.trial}, _code()), summary))


def _kept(
    folder: RunFolder, planned: Mapping[str, Trial], sources: Mapping[str, _Source]
) -> tuple[dict[str, TrialSummary], bool]:
    """The summaries that are of these sources, by trial, and whether there are lines besides."""
    summaries: dict[str, TrialSummary] = {}
    lines = 0
    for line in _lines(folder):
        lines += 1
        with suppress(ValueError, LookupError, TypeError):  # whatever a damaged line holds
            content = _content(line)
            name, source = content["trial"], content["of"]
            summaries.pop(name, None)
            if source and source == sources[name]:
                summaries[name] = _summary(content, planned[name])
    return summaries, lines > len(summaries)


def _lines(folder: RunFolder) -> Iterator[bytes]:
    """The lines of the file; none where there is no regular one that can be read."""
    file = folder.path / FILE
    with suppress(OSError, UnreadableFileError):
        refuse_irregular(file)
        with file.open("rb") as stream:
            yield from stream


_BEGIN = b'{"crc":'


def _content(line: bytes) -> dict[str, Any]:
    """What a line holds. Raises ValueError for one that was altered."""
    head, _, rest = line.rstrip(b"\n").partition(b",")
    if not head.startswith(_BEGIN) or int(head[len(_BEGIN) :]) != crc32(rest):
        raise ValueError("the line was altered")
    return dict(from_json(line))


def _summary(content: Mapping[str, object], trial: Trial) -> TrialSummary:
    """The summary in a line. Raises ValueError or TypeError where it holds none."""
    return _SUMMARY.validate_python({**content["summary"], "trial": trial})  # type: ignore[dict-item]


def _line(source: _Source, summary: TrialSummary) -> str:
    text = _SUMMARY.dump_json(summary, exclude={"trial"}, exclude_defaults=True).decode()
    rest = f'"trial":{json.dumps(summary.id)},"of":{json.dumps(source)},"summary":{text}}}'
    return f"{_BEGIN.decode()}{crc32(rest.encode())},{rest}\n"


def _code() -> str:
    return " ".join((loaded_code(), *SUMMARY_FIGURES))


def _source(folder: RunFolder, name: str, planned: Mapping[str, Trial], code: str) -> _Source:
    """What a trial's summary is made by and from; empty of one that is not planned, or without a record."""
    try:
        return [code, *folder.record_state(name), crc32(planned[name].model_dump_json().encode())]
    except (LookupError, OSError):
        return []


def _append(folder: RunFolder, lines: str) -> None:
    """Add lines in one piece, as another process may add some, too."""
    with opened(folder.path / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK) as descriptor:
        os.write(descriptor, lines.encode())
