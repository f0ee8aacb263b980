"""The programs that services bring beside Hadoop's: whether they are here, and which they are."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from assay.model.errors import BadInputError
from assay.model.installed import engines_without
from assay.model.service import Service, Stack


def jars_of(service: Service, parts: Path) -> list[Path]:
    """The jars that `setup/prepare` fetched for a service, by name."""
    return sorted((parts / service.name / "lib").glob("*.jar"))


def job_jars(stack: Stack, parts: Path) -> tuple[Path, ...]:
    """The jars that the services of a stack bring for jobs, service by service."""
    patterns = [(service, pattern) for service in stack.services for pattern in service.job_jars]
    return tuple(jar for service, pattern in patterns for jar in sorted((parts / service.name).glob(pattern)))


def check_programs(stack: Stack, parts: Path, store: str) -> None:
    """Raises BadInputError where the programs of a service of a stack are not here, with the engines that need none."""
    services = (service for service in stack.services if service.programs and not jars_of(service, parts))
    lacking = next((service.name for service in services), None)
    if lacking is None:
        return
    engines = engines_without(lacking, store)
    without = f"engine: {' or engine: '.join(engines)} works without" if engines else "another store works without"
    raise BadInputError(
        f"{lacking} needs programs that are not here: run `setup/prepare {lacking}`, which fetches them; {without}",
        "engine", "store",
    )  # fmt: skip


def program_facts(stack: Stack, parts: Path) -> Mapping[str, str]:
    """The version of each service's programs, and a SHA-256 of all their jars."""
    facts: dict[str, str] = {}
    for service in (service for service in stack.services if service.programs):
        jars = jars_of(service, parts)
        before, _, after = service.programs.partition("*")
        named = [jar.name.removeprefix(before).removesuffix(after) for jar in jars if jar.match(service.programs)]
        facts[f"programs.{service.name}.version"] = ", ".join(named) or "unknown"
        states = [(jar, jar.stat()) for jar in jars]
        digest = _sha256(tuple((jar, state.st_size, state.st_mtime_ns) for jar, state in states))
        facts[f"programs.{service.name}.sha256"] = digest
    return facts


@cache
def _sha256(jars: tuple[tuple[Path, int, int], ...]) -> str:
    """A digest of files and their names, read again only when a file's size or time of change is another."""
    digest = hashlib.sha256()
    for jar, _size, _changed in jars:
        digest.update(jar.name.encode() + b"\0" + hashlib.sha256(jar.read_bytes()).digest())
    return digest.hexdigest()
