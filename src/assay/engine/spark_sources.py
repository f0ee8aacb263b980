"""The file systems that a Spark application reads, by the schemes that its log names: Spark counts their bytes as one.

Plans of queries say where their scans read (`InMemoryFileIndex(1 paths)[s3a://bucket/table]`), and RDDs of files are
called by their path (Spark: SparkContext.hadoopFile). A table of Hive's, for example, does not say where it lies.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

_PLACES = b"FileIndex"
_PLACE = re.compile(rb"FileIndex(?:\((\d+) paths\))?[^\[\]]{0,40}\[([^\[\]]*)")
_PATHS = re.compile(rb"(?:^|,\s*)([A-Za-z][\w+.-]*):/")
_MORE = b", ..."
_PATH = re.compile(r"([A-Za-z][\w+.-]*):/")
_BY_PLAN = "FileScanRDD"
_NO_FILES = frozenset({"ParallelCollectionRDD", "EmptyRDD", "JDBCRDD"})


def schemes_of_plan(line: bytes) -> set[str]:
    """The schemes that a plan's scans read, in lower case, from the line of its event; an empty one if there are more.

    Spark names the first few paths of a scan that reads many.
    """
    schemes: set[str] = set()
    for count, paths in _PLACE.findall(line) if _PLACES in line else ():
        named = [scheme.decode().lower() for scheme in _PATHS.findall(paths)]
        schemes.update(named)
        if named and (len(named) < int(count or 1) or _MORE in paths):
            schemes.add("")
    return schemes


class Sources:
    """What the events of an application have told so far: `schemes` in lower case, and whether these are `all`."""

    def __init__(self) -> None:
        self.schemes: set[str] = set()
        self.all = True

    def of_plan(self, schemes: Iterable[str]) -> None:
        """A query begins, whose scans read these; an empty one stands for more."""
        self.schemes.update(filter(None, schemes))
        self.all &= "" not in schemes

    def of_stage(self, stage: Mapping[str, Any]) -> None:
        """A stage begins, by its `Stage Info`."""
        for rdd in stage.get("RDD Info") or []:
            name = str(rdd.get("Name", ""))
            if match := _PATH.match(name):
                self.schemes.add(match[1].lower())
            elif not rdd.get("Parent IDs") and name != _BY_PLAN and name not in _NO_FILES:
                self.all = False
