"""Proves what is known of the programs that services bring: whether they are here, and which they are."""

import os
import shutil
import subprocess

import pytest

from assay.model.engine import EngineKind
from assay.model.errors import AssayError, BadInputError
from assay.model.installed import stack_of
from assay.model.registry import ENGINES, SERVICES
from assay.model.running_cluster import RunningCluster
from assay.model.service import DaemonKind, Discovery, Programs, Service, Stack
from assay.platform.programs import (
    check_programs,
    jars_stored,
    job_jars,
    lacking,
    needed_here,
    program_facts,
    sent_jars,
)
from tests.toys import plugged_in


@pytest.fixture
def engine():
    """Adds an engine of this name that needs these services."""
    with plugged_in("store"):
        yield lambda name, *services: ENGINES.add(name, EngineKind(open=None, services=services))


def test_a_service_whose_programs_are_not_there_is_named_with_what_works_without(engine, tmp_path):
    SERVICES.add("brain", Service("brain", programs=Programs("brain-*.jar")))
    engine("thinker", "brain")
    stack = stack_of("hdfs", "thinker")
    with pytest.raises(BadInputError) as caught:
        check_programs(stack.services, tmp_path, "hdfs")
    assert str(caught.value) == (
        "brain needs programs that are not here: run `setup/prepare brain`, which fetches them; engine: mapreduce or "
        "engine: tez or engine: spark or engine: mapreduce-levitated works without"
    )
    (tmp_path / "brain" / "lib").mkdir(parents=True)
    (tmp_path / "brain" / "lib" / "brain-1.5.jar").touch()
    check_programs(stack.services, tmp_path, "hdfs")


def test_records_have_the_version_and_the_digest_of_programs(engine, tmp_path):
    SERVICES.add("brain", Service("brain", programs=Programs("brain-*.jar")))
    engine("thinker", "brain")
    stack = stack_of("hdfs", "thinker")
    jars = tmp_path / "brain" / "lib"
    jars.mkdir(parents=True)
    (jars / "brain-1.5.jar").write_text("thinks")
    (jars / "nerves-3.jar").write_text("feels")
    first = program_facts(stack, tmp_path)
    assert first.keys() == {"programs.brain.version", "programs.brain.sha256"}
    assert first["programs.brain.version"] == "1.5"
    assert program_facts(stack, tmp_path) == first
    (jars / "nerves-3.jar").write_text("feels more")
    assert program_facts(stack, tmp_path)["programs.brain.sha256"] != first["programs.brain.sha256"]
    assert program_facts(stack_of(), tmp_path) == {}


def test_a_python_package_is_known_by_its_metadata_and_by_all_its_files_but_compiled_ones(tmp_path):
    stack = Stack((Service("brain", programs=Programs("thinking-*.dist-info")),))
    package = tmp_path / "brain" / "lib" / "thinking"
    package.mkdir(parents=True)
    assert lacking(stack.services, tmp_path / "other") == [*stack.services]
    (package / "idea.py").write_text("idea = 1")
    (package.parent / "thinking-3.5.dist-info").mkdir()
    assert lacking(stack.services, tmp_path) == []
    first = program_facts(stack, tmp_path)
    assert first["programs.brain.version"] == "3.5"
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "idea.cpython-311.pyc").touch()
    assert program_facts(stack, tmp_path) == first
    (package / "idea.py").rename(package / "thought.py")
    assert program_facts(stack, tmp_path)["programs.brain.sha256"] != first["programs.brain.sha256"]


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="this is no Debian")
def test_of_a_package_the_system_tells_version_and_digest(tmp_path):
    version = subprocess.check_output(["dpkg-query", "-W", "-f=${Version}", "coreutils"], text=True)
    stack = Stack((Service("brain", programs=Programs(packages=("coreutils",))),))
    assert lacking(stack.services, tmp_path) == []
    facts = program_facts(stack, tmp_path)
    assert facts["programs.brain.version"] == f"coreutils {version}"
    other = Stack((Service("brain", programs=Programs(packages=("coreutils", "dpkg"))),))
    assert program_facts(other, tmp_path)["programs.brain.sha256"] != facts["programs.brain.sha256"]
    absent = Stack((Service("brain", programs=Programs(packages=("coreutils", "no-such-package"))),))
    assert lacking(absent.services, tmp_path) == [*absent.services]


def test_jobs_need_some_of_a_services_jars(tmp_path):
    lib = tmp_path / "brain" / "lib"
    lib.mkdir(parents=True)
    for name in ("formats-2.jar", "formats-1.jar", "server.jar"):
        (lib / name).touch()
    stack = Stack((Service("body"), Service("brain", job_jars=("lib/formats-*.jar",))))
    assert job_jars(stack, tmp_path) == (lib / "formats-1.jar", lib / "formats-2.jar")


@pytest.fixture
def cluster_with(tmp_path):
    """A cluster whose client keeps files in a folder, and ends with `code` when they are put."""

    def make(jars, code=0):
        hadoop = tmp_path / "hadoop"
        hadoop.write_text(f"""#!/bin/bash
shift
case "$1" in
  -mkdir) mkdir -p "{tmp_path}/store$3" ;;
  -put) shift; cp "${{@:1:$#-1}}" "{tmp_path}/store${{@: -1}}"; [[ {code} == 0 ]] || echo "put: no room" >&2; exit {code} ;;
  -rm) rm -r "{tmp_path}/store$5" ;;
esac
""")
        hadoop.chmod(0o755)
        return RunningCluster(
            hadoop=hadoop, conf_dir=tmp_path, version="3", addresses={}, environment=os.environ, job_jars=jars
        )

    return make


def some_jars(tmp_path):
    jars = (tmp_path / "a.jar", tmp_path / "b.jar")
    for jar in jars:
        jar.write_bytes(b"jar")
    return jars


def test_jars_of_jobs_are_on_the_clusters_file_system_for_the_time_of_a_scope(cluster_with, tmp_path):
    folder = tmp_path / "store" / "user" / "me" / "jars"
    jars = some_jars(tmp_path)
    with jars_stored(cluster_with(jars), jars, "/user/me/jars") as stored:
        assert stored == ("/user/me/jars/a.jar", "/user/me/jars/b.jar")
        assert sorted(path.name for path in folder.iterdir()) == ["a.jar", "b.jar"]
    assert not folder.exists()
    with jars_stored(cluster_with(()), (), "/user/me/jars") as stored:
        assert stored == ()
        assert not folder.exists()


def test_jars_go_too_when_a_trial_fails_and_when_they_could_not_all_be_put(cluster_with, tmp_path):
    jars, folder = some_jars(tmp_path), tmp_path / "store" / "user" / "me" / "jars"
    with pytest.raises(KeyError), jars_stored(cluster_with(jars), jars, "/user/me/jars"):
        raise KeyError
    assert not folder.exists()
    with (
        pytest.raises(AssayError, match=r"hadoop fs -put \S+ \S+ /user/me/jars failed: put: no room"),
        jars_stored(cluster_with(jars, code=1), jars, "/user/me/jars"),
    ):
        pass
    assert not folder.exists()


def test_beside_a_cluster_that_is_there_already_programs_for_jobs_are_taken_from_here(tmp_path):
    services = (
        Service("formats", programs=Programs("f-*.jar"), job_jars=("lib/f-*.jar",), daemons=(DaemonKind("f"),)),
        Service("brain", programs=Programs("b-*.jar"), daemons=(DaemonKind("b"),), discovery=Discovery()),
        Service("client", programs=Programs("c-*.jar"), discovery=Discovery(), client_jars=("lib/*.jar",)),
        Service("engine", programs=Programs("e-*.jar")),
    )
    assert [service.name for service in needed_here(Stack(services), is_managed=False)] == ["formats", "client"]
    assert needed_here(Stack(services), is_managed=True) == [*services]
    for name in ("lib/c-1.jar", "lib/b.jar", "lib/jobs/j.jar"):
        (tmp_path / "client" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "client" / name).touch()
    lib = tmp_path / "client" / "lib"
    assert sent_jars(Stack(services), tmp_path) == {"client": (lib / "b.jar", lib / "c-1.jar")}
