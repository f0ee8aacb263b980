"""Hadoop and Java are found, or missed with a sentence that says how to mend it."""

import os
import shutil
from pathlib import Path

import pytest

from assay.model.errors import BadInputError
from assay.platform.distribution import (
    archive_stamp,
    bundled,
    check_codecs,
    check_jvm_options,
    find_distribution,
    find_java,
)
from tests.builders import an_installation


def make_java(home, version="17.0.15"):
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\n")
    (home / "bin" / "java").chmod(0o755)
    (home / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="java.base"\n')
    return home


def make_jars(folder):
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "hadoop-common-3.4.2.jar").touch()
    (folder / "hadoop.jar").touch()
    return folder


@pytest.fixture
def java(tmp_path):
    return find_java({"JAVA_HOME": str(make_java(tmp_path / "jdk"))})


def test_java_home_comes_before_the_path(tmp_path):
    other = make_java(tmp_path / "other", "11.0.1")
    found = find_java({"JAVA_HOME": str(other), "PATH": str(make_java(tmp_path / "jdk") / "bin")})
    assert (found.home, found.feature) == (other, 11)


def test_java_on_the_path_is_followed_to_its_home(tmp_path):
    home = make_java(tmp_path / "jdk", "17.0.9")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    found = find_java({"PATH": str(tmp_path / "bin")})
    assert (found.home, found.feature, found.version) == (home, 17, "17.0.9")


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"PATH": "/nowhere"}, "no Java found"),
        ({"JAVA_HOME": "/nowhere"}, "JAVA_HOME is /nowhere, but there is no bin/java in it"),
    ],
)
def test_no_java_is_said_with_the_cure(environment, says):
    with pytest.raises(BadInputError, match=says):
        find_java(environment)


def test_an_old_java_is_refused(tmp_path):
    with pytest.raises(BadInputError, match=r"Java 1\.8\.0 .* is too old"):
        find_java({"JAVA_HOME": str(make_java(tmp_path / "jdk", "1.8.0"))})


def test_missing_jars_are_said_with_the_cure(tmp_path, java):
    with pytest.raises(BadInputError, match="run `hadoop/prepare`"):
        bundled(tmp_path, java)


def test_bundled_jars_know_their_version(tmp_path, java):
    found = bundled(make_jars(tmp_path / "hadoop"), java)
    assert found.version == "3.4.2"
    assert found.archive is None
    assert "no class-data archive" in found.archive_note


def test_an_archive_of_another_java_or_a_copied_checkout_is_not_used(tmp_path, java):
    folder = make_jars(tmp_path / "hadoop")
    (folder / "classes.jsa").touch()
    (folder / "classes.java").write_text("somebody else's\n")
    assert "another Java" in bundled(folder, java).archive_note
    (folder / "classes.java").write_text(archive_stamp(java, folder))
    assert bundled(folder, java).archive == folder / "classes.jsa"
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    assert "another folder" in bundled(copied, java).archive_note
    assert bundled(copied, java).archive is None


def test_hadoop_home_is_used_instead(tmp_path):
    environment = {"JAVA_HOME": str(make_java(tmp_path / "jdk"))}
    home = tmp_path / "installed"
    with pytest.raises(BadInputError, match=r"HADOOP_HOME is .*installed"):
        find_distribution(an_installation(tmp_path, hadoop_home=home), environment)
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "hadoop").touch()
    (home / "share" / "hadoop" / "common").mkdir(parents=True)
    (home / "share" / "hadoop" / "common" / "hadoop-common-3.3.6.jar").touch()
    found = find_distribution(an_installation(tmp_path, hadoop_home=home), environment)
    assert (found.version, found.home, found.archive) == ("3.3.6", home, None)
    assert f"{home}/share/hadoop/hdfs/*" in found.classpath


REFUSING = """#!/bin/sh
echo "$PWD|$*|$JAVA_TOOL_OPTIONS$_JAVA_OPTIONS$JDK_JAVA_OPTIONS" >> "$(dirname "$0")/asked"
case "$*" in *-XX:+UseConcMarkSweepGC*)
  echo "Picked up JAVA_TOOL_OPTIONS: -Da=b"; echo "OpenJDK 64-Bit Server VM warning: Option UseX was deprecated" >&2
  echo "[0.003s][warning][gc] -Xfoo is deprecated"; echo "Error occurred during initialization of VM"
  echo "Unrecognized VM option 'UseConcMarkSweepGC'" >&2; echo "Error: Could not create the Java Virtual Machine." >&2
  exit 1;;
esac
"""
MAPS = "mapreduce.map.java.opts"


@pytest.fixture
def refusing(tmp_path, java):
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "java"
    command.write_text(REFUSING)
    command.chmod(0o755)
    return java.model_copy(update={"home": tmp_path})


def test_options_that_java_refuses_are_refused_before_anything_starts(refusing):
    check_jvm_options(refusing, {MAPS: "-Xmx200m -Dx=@taskid@", "mapreduce.job.name": "-XX:+UseConcMarkSweepGC"})
    for name in (MAPS, "spark.executor.extraJavaOptions", "tez.am.launch.cmd-opts"):
        with pytest.raises(BadInputError, match=f"{name} is .* refuses: Unrecognized VM option 'UseConcMarkSweepGC'"):
            check_jvm_options(refusing, {name: "-Xmx200m -XX:+UseConcMarkSweepGC"})
    with pytest.raises(BadInputError, match="No closing quotation"):
        check_jvm_options(refusing, {MAPS: "-Dx='y"})


@pytest.mark.parametrize(
    "option",
    [
        "-Xlog:gc:<LOG_DIR>/gc.log", "-Xlog:gc:gc.log", "-Xloggc:gc.log", "-XX:HeapDumpPath=<LOG_DIR>",
        "-XX:ErrorFile=/var/e.log", "-XX:Flags=flags", "-XX:VMOptionsFile=more", "-XX:OnOutOfMemoryError=x",
        "-javaagent:jmx.jar=8080", "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y",
        "-Xrunjdwp:transport=dt_socket,server=y", "-Xbootclasspath/a:{{PWD}}/a.jar", "-Xmx{{MB}}m", "-Xmx${MB}m",
        "-XX:+AlwaysPreTouch", "-cp", "job.jar", "@options", "-Djava.io.tmpdir=./tmp",
    ],
)  # fmt: skip
def test_what_may_be_right_in_a_container_alone_or_has_effects_is_not_tried_here(refusing, monkeypatch, option):
    for name in ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"):
        monkeypatch.setenv(name, "-Xmx1g")
    check_jvm_options(refusing, {MAPS: f"-Xmx201m {option} -XX:+UseSerialGC -XX:MaxRAMPercentage=5{len(option)}.0"})
    folder, asked, variables = (refusing.home / "bin" / "asked").read_text().strip().split("|")
    assert asked == f"-Xmx201m -XX:+UseSerialGC -XX:MaxRAMPercentage=5{len(option)}.0 -version"
    assert not variables
    assert folder != str(Path.cwd())
    assert not Path(folder).exists()


def test_the_java_of_this_machine_gives_its_reason():
    java = find_java(os.environ)
    for options, reason in {
        "-Xmx10foo": "Invalid maximum heap size: -Xmx10foo", "-XX:+UseSerialGC -XX:+UseParallelGC": "Conflicting|Multiple",
        "-Xnothing": "Unrecognized option: -Xnothing", "-Xms90m -Xmx40m": "Initial heap size",
    }.items():  # fmt: skip
        with pytest.raises(BadInputError, match=f"refuses: ({reason})"):
            check_jvm_options(java, {MAPS: options})


def test_a_codec_that_the_bundled_jars_can_not_run_is_refused(tmp_path, java):
    name, package = "mapreduce.map.output.compress.codec", "org.apache.hadoop.io.compress"
    distribution = bundled(make_jars(tmp_path / "hadoop"), java)
    for codec in ("ZStandardCodec", "SnappyCodec", "LzoCodec"):
        with pytest.raises(BadInputError, match=f"{name} is .*{codec}.* can't run"):
            check_codecs(distribution, {name: f"{package}.{codec}"})
    (distribution.jars / "snappy-java-1.1.jar").touch()
    for codec in (f"{package}.SnappyCodec", f"{package}.GzipCodec", "org.site.OwnCodec"):
        check_codecs(distribution, {name: codec, "spark.io.compression.codec": "zstd"})
