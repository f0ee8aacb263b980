"""Any file system that Hadoop's client knows, through `hadoop fs`: slower, but works wherever a user's client does."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from assay.model.errors import AssayError


class HadoopFs:
    """A Store behind the `hadoop fs` command."""

    def __init__(self, hadoop: Path, environment: Mapping[str, str] | None = None) -> None:
        self._hadoop = hadoop
        self._environment = dict(os.environ if environment is None else environment)

    def put(self, source: Path, path: str) -> None:
        """`mkdir -p` of the parent, then `-put`; an existing file is refused."""
        self._run("-mkdir", "-p", str(Path(path).parent))
        self._run("-put", str(source), path)

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of `-cat path/[^_.]*` (all files but hidden ones)."""
        command = [str(self._hadoop), "fs", "-cat", f"{path}/[^_.]*"]
        with (
            tempfile.TemporaryFile() as errors,  # not a pipe: a client that warns a lot would fill it and wait for ever
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=self._environment) as process,
        ):
            assert process.stdout is not None  # noqa: S101 - for the type checker: it is a pipe
            for line in process.stdout:
                yield line.rstrip(b"\n")
            if process.wait() != 0:
                errors.seek(0)
                raise AssayError(f"hadoop fs -cat {path} failed: {_last_line(errors.read().decode(errors='replace'))}")

    def size_bytes(self, path: str) -> int:
        """The first column of `-du -s`; 0 when the path is not there."""
        if self._call("-test", "-e", path).returncode != 0:
            return 0
        return int(self._run("-du", "-s", path).split()[0])

    def delete(self, path: str) -> None:
        """`-rm -r -f -skipTrash`."""
        self._run("-rm", "-r", "-f", "-skipTrash", path)

    def _call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self._hadoop), "fs", *arguments], capture_output=True, text=True, check=False, env=self._environment
        )

    def _run(self, *arguments: str) -> str:
        done = self._call(*arguments)
        if done.returncode != 0:
            raise AssayError(f"hadoop fs {' '.join(arguments)} failed: {_last_line(done.stderr)}")
        return done.stdout


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it printed no reason"
