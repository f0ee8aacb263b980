"""Which properties Hadoop has: those in its own tables of defaults, and those that its code names.

The tables are the `*-default.xml` in its jars. They lack some that are read all the same, as
`mapreduce.job.jvm.numtasks`: these are texts in the classes that hold Hadoop's names of properties (`MRJobConfig`,
`DFSConfigKeys`, ...).
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from assay.model.installation import Installation

_JARS = (
    "hadoop-common-[0-9]*.jar",
    "hadoop-hdfs-[0-9]*.jar",
    "hadoop-hdfs-client-[0-9]*.jar",
    "hadoop-mapreduce-client-core-[0-9]*.jar",
    "hadoop-yarn-api-[0-9]*.jar",
)
_TABLE = re.compile(r"[a-z]+-default\.xml")
_NAMES = re.compile(
    r"org/apache/hadoop/.*(Config|ConfigKeys|Configuration|ConfigurationKeys(Public)?|File(In|Out)putFormat"
    r"|TotalOrderPartitioner)(\$\w+)?\.class"
)
_IN_TABLE = re.compile(rb"<name>\s*([^<\s]+)\s*</name>(?:\s*<value>\s*([^<]*?)\s*</value>)?")
# A text in a class: a mark, its length in two bytes, and itself (Java's class file format, CONSTANT_Utf8).
_IN_CLASS = re.compile(rb"\x01\x00(.)([a-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+)", re.DOTALL)


def known_properties(installation: Installation) -> Mapping[str, str]:
    """The names, each with its value in the tables, empty where it has none there.

    None at all where one of the jars is not there or can't be read.
    """
    home = installation.hadoop_home
    folder = home / "share" / "hadoop" if home is not None else installation.parts / "hadoop" / "lib"
    found: dict[str, str] = {}
    for pattern in _JARS:
        jar = next((file for file in sorted(folder.rglob(pattern)) if "tests" not in file.name), None)
        if jar is None:
            return {}
        try:
            for name, value in _names(jar):
                found[name] = value or found.get(name, "")
        except (OSError, BadZipFile):
            return {}
    return found


def _names(jar: Path) -> Iterator[tuple[str, str]]:
    with ZipFile(jar) as archive:
        for entry in archive.namelist():
            if _TABLE.fullmatch(entry):
                yield from ((name.decode(), value.decode()) for name, value in _IN_TABLE.findall(archive.read(entry)))
            elif _NAMES.fullmatch(entry):
                for length, name in _IN_CLASS.findall(archive.read(entry)):
                    # A longer match goes on into what follows the text.
                    yield name[: length[0]].decode(), ""
