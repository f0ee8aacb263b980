"""Runs a FerretDB server on SQLite: `documents_server.py PROGRAM ADDRESS STORAGE [DATABASE=FOLDER ...]`.

All that it keeps lies below STORAGE, but for these databases: they lie in folders of their own, to which it has links.
It imports nothing of Assay, and becomes the server.
"""

import os
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

HEAP_MB = 256
"""Beyond this the server collects its garbage all the time (`GOMEMLIMIT`)."""
PATIENCE_MS = 60_000
"""How long a transaction waits for others on its database: on slow drives they take long, and clients wait as long."""
_COLLECTIONS = (
    "CREATE TABLE IF NOT EXISTS _ferretdb_collections (name TEXT NOT NULL UNIQUE CHECK(name != ''), "
    "table_name TEXT NOT NULL UNIQUE CHECK(table_name != ''), settings TEXT NOT NULL CHECK(settings != ''))"
)
"""What FerretDB 1.24 reads of each database file that is there when it starts."""


def link(storage: Path, folders: Mapping[str, Path]) -> None:
    """Make databases without collections in these folders, and links to them in the storage. SQLite follows them."""
    storage.mkdir(parents=True, exist_ok=True)
    for name, folder in folders.items():
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name}.sqlite"
        with closing(sqlite3.connect(file)) as database:
            database.execute(_COLLECTIONS)
        (storage / file.name).symlink_to(file)


def command(program: str, address: str, storage: Path) -> list[str]:
    """The server's command line: it listens at one address, writes no state, and tells nobody about itself."""
    url = f"file:{quote(str(storage))}/?_pragma=busy_timeout({PATIENCE_MS})"
    return [
        program, "--handler=sqlite", f"--sqlite-url={url}", f"--listen-addr={address}", "--debug-addr=-",
        "--state-dir=-", "--telemetry=disable",
    ]  # fmt: skip


def main() -> None:
    """Become the server."""
    program, address, storage, *databases = sys.argv[1:]
    link(Path(storage), {name: Path(folder) for name, folder in (given.split("=", 1) for given in databases)})
    os.environ["GOMEMLIMIT"] = f"{HEAP_MB}MiB"
    os.execv(program, command(program, address, Path(storage)))  # noqa: S606 - a list of words is what it is


if __name__ == "__main__":
    main()
