"""Where the bytes of a Spark application lie: on the nodes' drives, in object stores and memory, or nobody knows."""

import re
from collections.abc import Callable, Iterator

from assay.engine.past.job import Work, is_remote, is_unplaced
from assay.engine.spark_log import Application

_OF_S3, _TMPFS = "s3shuffle", "spark.kubernetes.local.dirs.tmpfs"
_SHUFFLE_SERVICE = re.compile(rf"celeborn|uniffle|rss(?=shuffle|\b)|{_OF_S3}", re.IGNORECASE)
"""In the names of classes that keep a shuffle elsewhere. A service's workers may run on the nodes, too."""


def placed_by(seen: Application) -> Callable[[Work], Work]:
    """What moves input from the store's bytes to others', if all of it is known to be read from elsewhere."""
    schemes = seen.sources.schemes
    of_shuffle = _shuffle_placed(seen)
    if not schemes or not seen.sources.all or not all(is_remote(name) or is_unplaced(name) for name in schemes):
        return of_shuffle
    field = "unplaced_read" if any(map(is_unplaced, schemes)) else "remote_read"

    def placed(work: Work) -> Work:
        elsewhere = of_shuffle(work)
        return elsewhere._replace(store_read=0, **{field: getattr(elsewhere, field) + work.store_read})

    return placed


def _shuffle_service(seen: Application) -> str:
    """What keeps its shuffle in place of local directories, in lower case; empty where nothing is known to."""
    classes = (seen.settings.get(name, "") for name in ("spark.shuffle.manager", "spark.shuffle.sort.io.plugin.class"))
    return next((match[0].lower() for name in classes if (match := _SHUFFLE_SERVICE.search(name))), "")


def unplaced_shuffle(seen: Application) -> Iterator[str]:
    """The service that keeps its shuffle, perhaps on the nodes' drives, if any."""
    if (service := _shuffle_service(seen)) and service != _OF_S3:
        yield service


def _is_in_memory(seen: Application) -> bool:
    return seen.settings.get(_TMPFS, "").lower() == "true"


def shuffle_doubts(seen: Application) -> Iterator[str]:
    """What is unusual about where its shuffle lies, each a clause."""
    if _is_in_memory(seen):
        yield f"its local directories are in memory ({_TMPFS}): what it shuffles and spills is on no drive"
    elif _shuffle_service(seen) == _OF_S3:
        yield "its shuffle is in an object store: of that only the buffers of what is sent are on the nodes' drives"


def _shuffle_placed(seen: Application) -> Callable[[Work], Work]:
    """What moves the bytes of its shuffle from local directories to where they are."""
    if _is_in_memory(seen):
        return lambda work: work._replace(local_read=0, local_written=0, map_output_on_disk=0, fetched=0, fetches=0)
    service = _shuffle_service(seen)
    if not service:
        return lambda work: work
    side = "remote" if service == _OF_S3 else "unplaced"

    def placed(work: Work) -> Work:
        return work._replace(
            local_written=work.local_written - work.map_output_on_disk, map_output_on_disk=0, fetched=0, fetches=0,
            **{f"{side}_read": work.fetched, f"{side}_written": work.map_output_on_disk},
        )  # fmt: skip

    return placed
