"""Which properties Hadoop has: the names in its own tables of defaults, read from its jars."""

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from assay.model.installation import Installation

_TABLES = {
    "hadoop-common-*.jar": "core-default.xml",
    "hadoop-hdfs-[0-9]*.jar": "hdfs-default.xml",
    "hadoop-mapreduce-client-core-*.jar": "mapred-default.xml",
    "hadoop-yarn-common-*.jar": "yarn-default.xml",
}
_NAME = re.compile(rb"<name>\s*([^<\s]+)\s*</name>")


def known_properties(installation: Installation) -> frozenset[str]:
    """The names in all four tables; none at all where one of them can't be read."""
    home = installation.hadoop_home
    folder = home / "share" / "hadoop" if home is not None else installation.parts / "hadoop" / "lib"
    found: set[str] = set()
    for jar, table in _TABLES.items():
        names = next((own for file in sorted(folder.rglob(jar)) if (own := set(_names(file, table)))), None)
        if names is None:
            return frozenset()
        found |= names
    return frozenset(found)


def _names(jar: Path, table: str) -> Iterator[str]:
    try:
        with ZipFile(jar) as archive:
            text = archive.read(table)
    except (OSError, KeyError, BadZipFile):
        return
    yield from (name.decode() for name in _NAME.findall(text))
