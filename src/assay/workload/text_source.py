"""Where text comes from: Hadoop's RandomTextWriter, or a directory of the user's own files."""

import codecs
import re
from collections.abc import Mapping
from pathlib import Path

from assay.model.engine import Engine, LaunchReport
from assay.model.errors import BadInputError
from assay.model.progress import Progress
from assay.model.store import Store
from assay.model.trial import WorkloadSpec
from assay.workload.examples import example
from assay.workload.options import Options

_PREFIX = "mapreduce.randomtextwriter"
_TEXT_FORMAT = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"
# Hadoop unpacks files with such names; the verification reads what lies there.
_PACKED = re.compile(r"\.(gz|bz2|zst|deflate|lz4|snappy|zip|xz)$", re.IGNORECASE)
_BLOCK_BYTES = 1 << 22


class RandomText:
    """Lines of words drawn evenly from a list of 1000, one file per map task; by the options `size` and `files`.

    Without a bound RandomTextWriter writes 10 GB per node: both its bounds are always set.
    """

    def __init__(self, options: Options) -> None:
        """Raises BadInputError for an impossible size or number."""
        files = options.count("files")
        self._file_bytes = options.size_bytes("size") // files
        if not self._file_bytes:
            raise options.refusal("files", "at most the bytes of size")
        self.bytes = files * self._file_bytes

    @property
    def properties(self) -> dict[str, str]:
        """RandomTextWriter's own, and that files aren't packed."""
        return {
            f"{_PREFIX}.totalbytes": str(self.bytes),
            f"{_PREFIX}.bytespermap": str(self._file_bytes),
            "mapreduce.output.fileoutputformat.compress": "false",
        }

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """One job; a line is 5 to 9 words, a tab, and 10 to 99 words."""
        program = example("RandomTextWriter", ("-outFormat", _TEXT_FORMAT, path), self.properties, "generate")
        return engine.run_program(program, progress)


class OwnText:
    """The files directly in a directory that are not hidden; by the option `directory`."""

    properties: Mapping[str, str] = {}
    # How many different ones white space separates isn't known.
    pieces: int | None = None

    def __init__(self, options: Options, spec: WorkloadSpec, *, strict: bool) -> None:
        """Raises BadInputError when there is no such directory, nothing usable in it, or options that make text.

        `strict` refuses, when the files are staged, bytes that are not UTF-8.
        """
        surplus = next((name for name in ("size", "files", "seed") if name in spec.options), None)
        if surplus:
            raise BadInputError(
                f"workload {spec.name}: {surplus} has no use where directory is given; leave one of them out"
            )
        directory = Path(options.text("directory")).expanduser()
        if not directory.is_absolute():
            raise options.refusal("directory", "an absolute path, or one that begins with ~")
        if not directory.is_dir():
            raise options.refusal("directory", "a directory that exists")
        self._strict = strict
        self._files = [file for file in sorted(directory.iterdir()) if file.is_file() and file.name[0] not in "._"]
        packed = next((file.name for file in self._files if _PACKED.search(file.name)), None)
        if packed:
            raise options.refusal("directory", f"one of plain text files; unpack {packed} first")
        self.bytes = sum(file.stat().st_size for file in self._files)
        if not self.bytes:
            raise options.refusal("directory", "one with text files in it; this one has none, or empty ones only")

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Put the files under names of our own, in the order of theirs: HDFS takes fewer characters than others."""
        for at, file in enumerate(self._files):
            progress.detail(f"{file.name} ({at + 1} of {len(self._files)})")
            if self._strict:
                _require_utf8(file)
            store.put(file, f"{path}/text-{at:05d}")
        return LaunchReport(jobs=(), result={})


def _require_utf8(file: Path) -> None:
    decoder, read = codecs.getincrementaldecoder("utf-8")(), 0
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK_BYTES):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                at = read - pending + error.start
                raise BadInputError(
                    f"{file} is no UTF-8 text at byte {at}; recode it, for example with iconv"
                ) from None
            read += len(block)
    if decoder.getstate()[0]:
        raise BadInputError(f"{file} ends within a character of UTF-8; recode it, for example with iconv")
