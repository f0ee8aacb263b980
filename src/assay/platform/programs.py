"""The programs that services bring beside Hadoop's: whether they are here, and which they are.

Files lie in `NAME/lib` below Assay's parts: jars, or a Python package. Packages of Debian are the system's.
"""

import hashlib
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from assay.host.processes import last_telling
from assay.model.errors import AssayError, BadInputError
from assay.model.installed import engines_without
from assay.model.running_cluster import RunningCluster
from assay.model.service import Programs, Service, Stack

_REMOVE = ("-rm", "-r", "-f", "-skipTrash")
_FILES_S = 300
_COMPILED = {".pyc"}
"""What Python makes of the files when it runs them."""


def files_of(service: Service, parts: Path) -> list[Path]:
    """The files that were fetched for a service, by name."""
    files = (parts / service.name / "lib").rglob("*")
    return sorted(file for file in files if file.is_file() and file.suffix not in _COMPILED)


def job_jars(stack: Stack, parts: Path) -> tuple[Path, ...]:
    """The jars that the services of a stack bring for jobs, service by service."""
    patterns = [(service, pattern) for service in stack.services for pattern in service.job_jars]
    return tuple(jar for service, pattern in patterns for jar in sorted((parts / service.name).glob(pattern)))


def sent_jars(stack: Stack, parts: Path) -> dict[str, tuple[Path, ...]]:
    """Jars that clients bring to nodes of a cluster which is there already, by their service's name."""
    return {
        service.name: tuple(
            jar for pattern in service.client_jars for jar in sorted((parts / service.name).glob(pattern))
        )
        for service in stack.services
        if service.client_jars
    }


@contextmanager
def jars_stored(cluster: RunningCluster, jars: Sequence[Path], folder: str) -> Iterator[tuple[str, ...]]:
    """Have jars in a folder of the cluster's own file system for the time of a scope; their paths there.

    Raises AssayError where they can't be put there.
    """
    if not jars:
        yield ()
        return
    try:
        _hadoop_fs(cluster, "-mkdir", "-p", folder)
        _hadoop_fs(cluster, "-put", *map(str, jars), folder)
        yield tuple(f"{folder}/{jar.name}" for jar in jars)
    except BaseException:
        with suppress(AssayError):
            _hadoop_fs(cluster, *_REMOVE, folder)
        raise
    _hadoop_fs(cluster, *_REMOVE, folder)


def _hadoop_fs(cluster: RunningCluster, *arguments: str) -> None:
    try:
        done = subprocess.run(
            [str(cluster.hadoop), "fs", *arguments], env=dict(cluster.environment), stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", errors="replace", check=False, timeout=_FILES_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise AssayError(f"hadoop fs {' '.join(arguments)} did not end within {_FILES_S} s") from None
    if done.returncode != 0:
        reason = last_telling(done.stderr, silent="it printed no reason")
        raise AssayError(f"hadoop fs {' '.join(arguments)} failed: {reason}")


def lacking(services: Iterable[Service], parts: Path) -> list[Service]:
    """Those services whose programs are not all here."""
    with_programs = [(service, service.programs) for service in services if service.programs is not None]
    return [service for service, programs in with_programs if not _is_here(service, programs, parts)]


def needed_here(stack: Stack, *, is_managed: bool) -> list[Service]:
    """The services whose programs a trial takes from here: all of a cluster of Assay's own, else those for jobs.

    Those are job jars, and jars that a client brings there.
    """
    return [service for service in stack.services if is_managed or service.job_jars or service.client_jars]


def _is_here(service: Service, programs: Programs, parts: Path) -> bool:
    has_files = not programs.version or bool(files_of(service, parts))
    return has_files and None not in map(_package, programs.packages)


def without(service: str, store: str) -> str:
    """What can be used where a service's programs can't be had, as the end of a sentence."""
    engines = engines_without(service, store)
    return f"engine: {' or engine: '.join(engines)} works without" if engines else "another store works without"


def check_programs(services: Iterable[Service], parts: Path, store: str) -> None:
    """Raises BadInputError where the programs of a service are not here, with the engines that need none."""
    for service in lacking(services, parts):
        raise BadInputError(
            f"{service.name} needs programs that are not here: run `setup/prepare {service.name}`, which fetches them; "
            f"{without(service.name, store)}", "engine", "store",
        )  # fmt: skip


def program_facts(stack: Stack, parts: Path) -> Mapping[str, str]:
    """The version of each service's programs, and a SHA-256 of all their files."""
    facts: dict[str, str] = {}
    for service in stack.services:
        if (programs := service.programs) is not None:
            packages = [package for package in map(_package, programs.packages) if package is not None]
            versions = [*_versions(programs.version, parts / service.name / "lib"), *(of for of, _ in packages)]
            facts[f"programs.{service.name}.version"] = ", ".join(versions) or "unknown"
            facts[f"programs.{service.name}.sha256"] = _digest(service, parts, [sums for _, sums in packages])
    return facts


def _versions(pattern: str, folder: Path) -> list[str]:
    before, _, after = pattern.partition("*")
    names = sorted(path.name for path in folder.glob(pattern)) if pattern else []
    return [name.removeprefix(before).removesuffix(after) for name in names]


def _digest(service: Service, parts: Path, sums: Sequence[bytes]) -> str:
    """Of all files with their names below `lib`, and of the sums of all files of packages."""
    folder = parts / service.name / "lib"
    states = [(file, file.stat()) for file in files_of(service, parts)]
    named = tuple((file, str(file.relative_to(folder)), state.st_size, state.st_mtime_ns) for file, state in states)
    return _sha256(named, tuple(sums))


@cache
def _sha256(files: tuple[tuple[Path, str, int, int], ...], sums: tuple[bytes, ...]) -> str:
    """A digest that is made again only when a file's size or time of change, or a package, is another."""
    digest = hashlib.sha256()
    for file, name, _size, _changed in files:
        digest.update(name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    for of_package in sums:
        digest.update(of_package)
    return digest.hexdigest()


def _package(name: str) -> tuple[str, bytes] | None:
    """A package's name and version, and the sums of its files as the system keeps them; None where it is not there."""
    try:
        shown = _dpkg("--show", "--showformat=${db:Status-Status} ${Package} ${Version}", name).decode()
        sums = _dpkg("--control-show", name, "md5sums")
    except (OSError, subprocess.CalledProcessError):
        return None
    match = re.fullmatch(r"installed (\S+ \S+)", shown.strip())
    return None if match is None else (match[1], sums)


def _dpkg(*arguments: str) -> bytes:
    return subprocess.run(["dpkg-query", *arguments], check=True, capture_output=True).stdout
