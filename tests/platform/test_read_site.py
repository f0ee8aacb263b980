"""A client's configuration is read as Hadoop's own classes read it, which are asked where they are there."""

import os
import subprocess
from pathlib import Path

import pytest

from assay.model.errors import BadInputError
from assay.platform.configuration import derive_site, read_site

PARTS = Path(__file__).parents[2] / ".assay"
CORE = """\
<?xml version="1.0"?>
<configuration xmlns:xi="http://www.w3.org/2001/XInclude">
  <xi:include href="absent.xml"><xi:fallback>
    <property><name>my.fallback</name><value>taken</value></property>
  </xi:fallback></xi:include>
  <xi:include href="there.xml"><xi:fallback>
    <property><name>my.other.fallback</name><value>taken</value></property>
  </xi:fallback></xi:include>
  <property name="my.short" value="short" final="true"/>
  <property><name> fs.default.name </name><value> hdfs://ProdNS </value></property>
  <property><name>my.unset</name><value>${env.NOBODYS:-a b} ${env.NOBODYS-c} ${env.EMPTY:-d} [${env.EMPTY-e}]</value></property>
  <property><name>my.set</name><value>${env.GIVEN:-a} ${env.GIVEN-b} ${env.GIVEN}</value></property>
  <property><name>my.absent</name><value>${env.NOBODYS}/${my.short}</value></property>
  <property><name>my.first.unknown</name><value>${nobody.knows}/${my.short}</value></property>
  <property><name>my.last.unknown</name><value>${my.short}/${nobody.knows}</value></property>
  <property><name>my.inner</name><value>${my.${my.choice}}</value></property>
  <property><name>my.choice</name><value>short</value></property>
  <property><name>my.circle</name><value>${my.circle}</value></property>
  <property><name>my.blanks</name><value>${a b} ${my.short}</value></property>
  <property><name>my.emptied</name><value>kept</value></property>
  <property><name>my.emptied</name><value></value></property>
  <property><name>my.final</name><value>first</value><final>true</final></property>
  <property><name>my.final</name><value>second</value></property>
  <property><name>my.not.final</name><value>first</value><final> true </final></property>
  <property><name>my.not.final</name><value>second</value></property>
  <property><name>mapreduce.job.maps</name><value>7</value><final>true</final></property>
  <property><name>my.user</name><value>${user.name}</value></property>
  <!-- <property><name>my.comment</name><value>no</value></property> -->
</configuration>
"""
THERE = """<configuration><property><name>my.included</name><value>yes</value></property></configuration>"""
MAPRED = """\
<configuration>
  <property><name>mapred.map.tasks</name><value>8</value></property>
  <property><name>my.short</name><value>long</value></property>
</configuration>
"""
EXPECTED = {
    "my.fallback": "taken", "my.short": "short", "fs.defaultFS": "hdfs://ProdNS", "my.unset": "${env.NOBODYS:-a b} c d []", "my.choice": "short",
    "my.set": "given given given", "my.absent": "${env.NOBODYS}/${my.short}",
    "my.first.unknown": "${nobody.knows}/${my.short}", "my.last.unknown": "short/${nobody.knows}", "my.inner": "short",
    "my.circle": "${my.circle}", "my.blanks": "${a b} short", "my.emptied": "kept", "my.final": "first",
    "my.not.final": "second", "my.included": "yes", "mapreduce.job.maps": "7",
}  # fmt: skip
ENVIRONMENT = {"GIVEN": "given", "EMPTY": ""}
ASKING = """\
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

public class Asking {
    public static void main(String[] names) {
        HdfsConfiguration.init();
        JobConf configuration = new JobConf(new YarnConfiguration());
        for (String name : names) System.out.println(name + "=" + configuration.getTrimmed(name));
    }
}
"""


@pytest.fixture
def conf_dir(tmp_path):
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "core-site.xml").write_text(CORE)
    (folder / "there.xml").write_text(THERE)
    (folder / "mapred-site.xml").write_text(MAPRED)
    return folder


def test_it_reads_what_is_written_so(conf_dir):
    assert {name: value for name, value in read_site(conf_dir, ENVIRONMENT).items() if name != "my.user"} == EXPECTED


@pytest.mark.slow
def test_hadoop_reads_the_same(conf_dir, tmp_path):
    jar, java_home = PARTS / "hadoop" / "hadoop.jar", PARTS / "java-home"
    if not jar.is_file() or not java_home.is_file():
        pytest.skip("Hadoop's jars are not here")
    (tmp_path / "Asking.java").write_text(ASKING)
    java = Path(java_home.read_text().strip()) / "bin" / "java"
    read = read_site(conf_dir, ENVIRONMENT)
    absent = ("my.other.fallback", "my.comment")
    answer = subprocess.run(
        [java, "-cp", f"{jar}:{conf_dir}", tmp_path / "Asking.java", *read, *absent],
        env={"PATH": os.environ["PATH"], **ENVIRONMENT}, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert dict(line.split("=", 1) for line in answer.stdout.splitlines() if line.startswith(("my.", "fs.", "mapred"))) == {
        **read, **dict.fromkeys(absent, "null"),
    }  # fmt: skip


def test_what_is_derived_of_it_is_read_alike(conf_dir, tmp_path):
    """Included files are part of it, and no final property, in whatever file, is in the way of a changed one."""
    changed = {"mapreduce.job.maps": "3", "my.final": "third"}
    derive_site(conf_dir, tmp_path / "derived", changed)
    assert read_site(tmp_path / "derived", ENVIRONMENT) == {**read_site(conf_dir, ENVIRONMENT), **changed}


@pytest.mark.parametrize(
    ("href", "why"),
    [
        ("nowhere.xml", "core-site.xml includes nowhere.xml, which is not there, and has no fallback for that"),
        ("http://example.com/core.xml", "Assay reads files only: save it beside it, and include that"),
        ("core-site.xml", "files include one another more than 20 deep"),
    ],
)
def test_what_can_not_be_included_is_refused(conf_dir, href, why):
    (conf_dir / "core-site.xml").write_text(f"<configuration><include href='{href}'/></configuration>")
    with pytest.raises(BadInputError, match=why):
        read_site(conf_dir)


@pytest.mark.parametrize("href", ["../elsewhere/more 1.xml", "file:{folder}/elsewhere/more%201.xml"])
def test_what_is_included_may_lie_elsewhere(conf_dir, href, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "more 1.xml").write_text(THERE)
    href = href.format(folder=tmp_path)
    (conf_dir / "core-site.xml").write_text(f"<configuration><include href='{href}'/></configuration>")
    assert read_site(conf_dir)["my.included"] == "yes"
