"""Proves that the application in YARN reads the same files as the shell over SSH, and leaves out the same lines."""

from pathlib import Path

from assay.node.readings import FILES, LISTED, SCRIPT

ROOT = Path(__file__).parents[3]
READINGS = ROOT / "extras/java/yarn-sampler/src/main/java/org/assay/sampler/Readings.java"


def test_the_sampler_in_yarn_reads_the_same_files_and_leaves_out_the_same_lines():
    java = READINGS.read_text()
    assert all(f'"{name}"' in java for name in FILES)
    assert java.count('"/proc/') == len(FILES)
    assert '"^(intr|softirq|cpu[0-9])"' in java
    assert "^(intr|softirq|cpu[0-9])" in SCRIPT
    assert '"device|lower_.*|bridge|tun_flags"' in java
    assert {Path(pattern).name for pattern in LISTED} == {"*", "device", "lower_*", "bridge", "tun_flags"}
