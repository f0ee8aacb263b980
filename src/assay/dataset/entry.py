"""A dataset's folder in the cache: files that appear whole, and the counts beside them."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.dataset.reading import ReadCounts
from assay.model.base import Frozen
from assay.model.graph import GraphFacts


class Known(Frozen):
    """What is known of a content, by its checksum: the graph's counts, and what the file was made of."""

    sha256: str
    facts: GraphFacts
    counts: ReadCounts


def checksum(path: Path) -> str:
    """SHA-256 of the file as it is on disk, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` by one rename if the block ends well, and goes away otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def save(path: Path, known: Known) -> None:
    """Writes `known` as JSON, whole or not at all."""
    with whole(path) as part:
        part.write_text(json.dumps(known.model_dump(mode="json"), indent=1) + "\n")


def load(path: Path, sha256: str | None = None) -> Known | None:
    """What was saved; None if nothing was, or for another content than `sha256`, or by another version of Assay."""
    try:
        known = Known.model_validate_json(path.read_text())
    except (OSError, ValueError):
        return None
    whole_facts = known.facts.wedges_by_degree is not None
    return known if whole_facts and sha256 in (None, known.sha256) else None
