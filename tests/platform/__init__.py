"""Tests of the clusters: without Hadoop, and (`it`) on a real one."""
