"""Proves that the bundled Hadoop has the codecs that experiments take over, and lacks those that they replace."""

import os
import subprocess
from pathlib import Path

import pytest

from assay.engine.past.taken_over import BUNDLED_CODECS
from tests.it.driving import HADOOP

pytestmark = pytest.mark.it

PROGRAM = """
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.util.ReflectionUtils;

public class Codecs {
  public static void main(String[] names) {
    for (String name : names) {
      try {
        var made = ReflectionUtils.newInstance(Class.forName(name), new Configuration());
        var codec = (CompressionCodec) made;
        var bytes = new ByteArrayOutputStream();
        try (var out = codec.createOutputStream(bytes)) {
          out.write("as it was".getBytes());
        }
        var in = codec.createInputStream(new ByteArrayInputStream(bytes.toByteArray()));
        System.out.println(name + " " + new String(in.readAllBytes()));
      } catch (Throwable lacking) {
        System.out.println(name + " lacks " + lacking.getClass().getSimpleName());
      }
    }
  }
}
"""
LACKING = ("org.apache.hadoop.io.compress.Lz4Codec", "org.apache.hadoop.io.compress.ZStandardCodec")


def test_the_bundled_hadoop_has_these_codecs_and_lacks_the_others(tmp_path):
    (tmp_path / "Codecs.java").write_text(PROGRAM)
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    names = [*sorted(BUNDLED_CODECS), *LACKING]
    done = subprocess.run(
        [java, "-cp", f"{HADOOP}/lib/*", "Codecs.java", *names],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line.startswith("org."))
    assert {name for name, outcome in said.items() if outcome == "as it was"} == BUNDLED_CODECS
    assert {name for name, outcome in said.items() if outcome.startswith("lacks")} == {*LACKING}
