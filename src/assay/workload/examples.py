"""The programs of hadoop-mapreduce-examples, the jar that Hadoop is published with."""

from collections.abc import Mapping

from assay.model.engine import Program

PACKAGE = "org.apache.hadoop.examples"


def example(tool: str, arguments: tuple[str, ...], properties: Mapping[str, str], *jobs: str) -> Program:
    """A call of one of them by its class, which may have a package below theirs; `jobs` are its jobs' names."""
    return Program(
        name=tool.rpartition(".")[2], jar="hadoop-mapreduce-examples-*.jar", main_class=f"{PACKAGE}.{tool}",
        arguments=arguments, properties=properties, jobs=jobs,
    )  # fmt: skip
