"""Proves on a real Hive on Tez that triage reads what both write of a join, a sum by groups and a sort.

And that trials run a query on Tez and on MapReduce. What the queries select is held against Python, and what triage reads against the counters that Hive got from Tez.
"""

import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.engine.past.hive_queries import is_query_data, texts_in
from assay.engine.past.query_names import is_query_id, without_literals
from assay.engine.past.tez import read_tez_history
from assay.engine.tez_tasks import FILE_SYSTEM_COUNTERS, TASK_COUNTERS
from assay.model.installed import counted_by_tasks
from assay.platform.distribution import find_java
from assay.triage.bounds import bound_of
from tests.it.driving import ROOT, a_place, wait_for
from tests.triage.test_bounds import drives

pytestmark = [pytest.mark.it, pytest.mark.long]

CITIES = {customer: f"city-{customer % 7}" for customer in range(50)}
_chance = random.Random(1)
ORDERS = {order: (_chance.randrange(55), _chance.randrange(1000)) for order in range(20_000)}
"""Of each order its customer, who may be unknown, and its price."""
TABLES = {
    "customers": ("id INT, city STRING", [f"{customer},{city}" for customer, city in CITIES.items()]),
    "orders": (
        "id INT, customer INT, price INT",
        [f"{order},{customer},{price}" for order, (customer, price) in ORDERS.items()],
    ),
}

TO_FOLDER = "INSERT OVERWRITE DIRECTORY {} ROW FORMAT DELIMITED FIELDS TERMINATED BY {} "
SELECTS = {
    "join": "SELECT orders.id, customers.city FROM orders JOIN customers ON orders.customer = customers.id "
    "WHERE orders.price > 899",
    "group": "SELECT customer, count(*), sum(price) FROM orders WHERE price <> 17 GROUP BY customer",
    "sort": "SELECT price, id FROM orders WHERE id < 5000 ORDER BY price, id",
}
NAMES = {query: TO_FOLDER.format("?", "?") + re.sub(r"\b\d+\b", "?", text) for query, text in SELECTS.items()}

OPENED = (
    "io", "lang", "lang.reflect", "net", "nio", "time", "util", "util.concurrent", "util.concurrent.atomic", "util.regex",
)  # fmt: skip
OPENS = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in OPENED]
"""What Hive's own scripts open of Java, and `time` for Kryo."""
HOOK = "org.apache.hadoop.hive.ql.hooks.HiveProtoLoggingHook"


class Ran(NamedTuple):
    """What is left of the queries: their rows, Tez' own counters of each DAG in their order, and the files."""

    rows: dict[str, list[str]]
    counters: dict[str, dict[str, int]]
    histories: Path
    triaged: dict[str, dict]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    if not shutil.which("mvn"):
        pytest.skip("there is no Maven here")
    programs = tmp_path_factory.mktemp("programs")
    pom = Path(__file__).parent / "hive" / "pom.xml"
    subprocess.run([ROOT / "programs" / "tez" / "prepare", programs / "tez"], check=True)
    subprocess.run(["mvn", "-q", "-B", "-f", pom, f"-Dassay.programs={programs}", "package"], check=True)
    binaries, source = find_java(os.environ).command.parent, ROOT / "tests" / "it" / "java" / "RunQueries.java"
    classpath = f"{programs}/lib/*:{programs}/tez/lib/*:{ROOT}/.assay/hadoop/lib/*"
    subprocess.run([binaries / "javac", "-cp", classpath, "-d", programs / "classes", source], check=True)
    jar = programs / "lib" / "run-queries.jar"
    subprocess.run([binaries / "jar", "cf", jar, "-C", programs / "classes", "RunQueries.class"], check=True)
    return programs


@pytest.fixture(scope="module")
def ran(tmp_path_factory, programs):
    with a_place(tmp_path_factory.mktemp("hive")) as place:
        said = place.assay("cluster", "up", "--settings", "small")
        try:
            yield run_queries(place, said, programs)
        finally:
            place.assay("cluster", "down")


def run_queries(place, said, programs):
    hadoop = re.search(r"`hadoop` command: (.+)$", said, re.MULTILINE)[1]
    classpath = place.command(hadoop, "classpath").stdout.strip()
    for table, (_, lines) in TABLES.items():
        (place.home / f"{table}.csv").write_text("".join(f"{line}\n" for line in lines))
        place.command(hadoop, "fs", "-mkdir", "-p", f"/data/{table}")
        place.command(hadoop, "fs", "-put", f"{table}.csv", f"/data/{table}/")
    configure(place.home / "conf", place.home, f"{classpath}:{programs}/tez/lib/*:{programs}/plugin/*")
    (place.home / "queries.sql").write_text("".join(f"{statement};\n" for statement in statements()))
    done = place.command(
        str(find_java(os.environ).command), *OPENS, "-Xmx700m", f"-Djava.io.tmpdir={place.home}",
        f"-Dderby.system.home={place.home}", "-cp",
        f"{place.home}/conf:{programs}/lib/*:{programs}/tez/lib/*:{programs}/plugin/*:{classpath}",
        "RunQueries", "-f", "queries.sql",
    )  # fmt: skip
    wait_for(lambda: not place.processes("DAGAppMaster"))
    place.command(hadoop, "fs", "-get", "/sys.db", "sys.db")
    rows = {query: place.command(hadoop, "fs", "-cat", f"/results/{query}/*").stdout.splitlines() for query in SELECTS}
    triaged = json.loads(place.assay("triage", "--history", "sys.db", "--json", "--quiet"))
    counters = dict(zip(SELECTS, counted(done.stdout).values(), strict=True))
    return Ran(rows, counters, place.home / "sys.db", triaged)


def statements():
    for table, (columns, _) in TABLES.items():
        yield (
            f"CREATE EXTERNAL TABLE {table} ({columns}) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' "
            f"LOCATION '/data/{table}'"
        )
    for query, select in SELECTS.items():
        yield TO_FOLDER.format(f"'/results/{query}'", "','") + select


def configure(folder, home, on_cluster):
    """Hive with a metastore of its own, and Tez on this class path of the nodes."""
    properties = {
        "hive.execution.engine": "tez",
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={home}/metastore;create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": "/warehouse",
        "hive.exec.scratchdir": "/tmp/hive",
        "hive.exec.local.scratchdir": f"{home}/scratch",
        "hive.downloaded.resources.dir": f"{home}/resources",
        # Both sides of a join are shuffled, as those of large tables are.
        "hive.auto.convert.join": "false",
        "hive.tez.container.size": "640",
        "hive.tez.java.opts": f"-Xmx400m {' '.join(OPENS)}",
        "hive.hook.proto.base-directory": "/sys.db/query_data",
        **{f"hive.exec.{when}.hooks": HOOK for when in ("pre", "post", "failure")},
        "tez.am.resource.memory.mb": "640",
        "tez.am.launch.cmd-opts": f"-Xmx400m {' '.join(OPENS)}",
        "tez.runtime.io.sort.mb": "32",
        "tez.ignore.lib.uris": "true",
        "tez.use.cluster.hadoop-libs": "false",
        "tez.cluster.additional.classpath.prefix": on_cluster,
        "tez.history.logging.service.class": "org.apache.tez.dag.history.logging.proto.ProtoHistoryLoggingService",
        "tez.history.logging.proto-base-dir": "/sys.db",
    }
    lines = [f"<property><name>{name}</name><value>{value}</value></property>" for name, value in properties.items()]
    folder.mkdir()
    (folder / "hive-site.xml").write_text(f"<configuration>{''.join(lines)}</configuration>")


def counted(said):
    """By query, in their order, what Tez told Hive of its counters."""
    queries = {}
    for query, group, name, value in re.findall(r"^counted\t(.+)\t(.+)\t(.+)\t(\d+)$", said, re.MULTILINE):
        if group in {FILE_SYSTEM_COUNTERS, TASK_COUNTERS}:
            queries.setdefault(query, {})[name] = int(value)
    return queries


def test_the_queries_select_what_python_selects(ran):
    expensive = {order: customer for order, (customer, price) in ORDERS.items() if price > 899}
    joined = [f"{order},{CITIES[customer]}" for order, customer in expensive.items() if customer in CITIES]
    assert sorted(ran.rows["join"]) == sorted(joined)
    groups = {}
    for customer, price in ORDERS.values():
        if price != 17:
            groups.setdefault(customer, []).append(price)
    summed = [f"{customer},{len(prices)},{sum(prices)}" for customer, prices in groups.items()]
    assert sorted(ran.rows["group"]) == sorted(summed)
    in_order = sorted((price, order) for order, (_, price) in ORDERS.items() if order < 5000)
    assert ran.rows["sort"] == [f"{price},{order}" for price, order in in_order]


def rows_of(ran):
    """Triage's rows by the queries' names here."""
    rows = {row["job"]: row for row in ran.triaged["rows"]}
    return {query: rows[name] for query, name in NAMES.items()}


def test_three_queries_are_listed_by_their_texts_without_literals(ran):
    assert {row["job"] for row in ran.triaged["rows"]} == set(NAMES.values())
    for row in ran.triaged["rows"]:
        assert (row["engine"], row["runs"], row["counted"], row["nodes"], row["doubts"]) == ("tez", 1, 1, 1, [])


def test_bytes_are_those_that_tez_counted(ran):
    for query, row in rows_of(ran).items():
        counters = ran.counters[query]
        for amount, counter in (
            ("read_bytes", "HDFS_BYTES_READ"), ("written_bytes", "HDFS_BYTES_WRITTEN"),
            ("spilled_bytes", "FILE_BYTES_WRITTEN"), ("map_output_bytes", "OUTPUT_BYTES"),
            ("shuffled_bytes", "SHUFFLE_BYTES"), ("spilled_records", "SPILLED_RECORDS"),
        ):  # fmt: skip
            assert row[amount] == counters[counter] > 0, (query, counter)


def test_bytes_are_of_their_roles_and_bounds_within_those_by_time_and_by_bytes(ran):
    moved = {("input", "read"): "HDFS_BYTES_READ", ("output", "write"): "HDFS_BYTES_WRITTEN",
             ("intermediate", "write"): "FILE_BYTES_WRITTEN"}  # fmt: skip
    for job in dags_of(ran):
        (query,) = [query for query, name in NAMES.items() if name == job.name]
        uses = [use for stage in job.stages for use in job.uses(stage)]
        for (role, direction), counter in moved.items():
            of_role = sum(use.moved for use in uses if (use.role, use.direction) == (role, direction))
            assert of_role == ran.counters[query][counter], (query, role)
        assert len(job.stages) == 2, "its reducers wait for all maps"
        row = rows_of(ran)[query]
        least_s = min(row["by_time_s"], row["by_bytes_s"])
        assert 0 <= bound_of(job, drives()).seconds <= least_s + 1e-9 < row["elapsed_s"] == row["ran_s"]


def dags_of(ran):
    files = sorted(ran.histories.glob("dag_data/date=*/dag_*"))
    assert len(files) == len(SELECTS)
    return [job for file in files for job in read_tez_history(file)]


def test_hives_own_file_tells_texts_by_the_ids_of_queries(ran):
    """Its hook loses the texts of queries with a plan of operators (`ExplainTask` lacks settings), and keeps the others'."""
    (file,) = ran.histories.glob("query_data/date=*/*")
    assert is_query_data(file.name)
    texts = texts_in(file)
    assert all(map(is_query_id, texts))
    created = {without_literals(statement) for statement in statements() if statement.startswith("CREATE")}
    assert len(created) == len(TABLES)
    assert created <= set(texts.values()) <= created | set(NAMES.values())


BEELINE = """\
#!/bin/bash
# What Hive's own script does, with another class: Hive's configuration and all of its jars, by the `hadoop` that is first
# on the path. Hive's own client and server can't be had as artifacts.
# Hive 4.1 loads classes of Tez for MapReduce, too.
jars=("$HIVE_HOME"/lib/*.jar "$HIVE_HOME"/tez/lib/*.jar)
export HADOOP_CLASSPATH="$TEZ_CONF_DIR:$HIVE_CONF_DIR:$(IFS=:; echo "${jars[*]}"):$HADOOP_CLASSPATH"
exec hadoop jar "$HIVE_HOME"/lib/run-queries.jar RunQueries "$@"
"""
QUERY = f"""\
CREATE EXTERNAL TABLE orders ({TABLES["orders"][0]}) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' LOCATION '${{input}}';
CREATE EXTERNAL TABLE sums (customer INT, orders BIGINT, price BIGINT) ROW FORMAT DELIMITED FIELDS TERMINATED BY ','
    LOCATION '/tmp/sums';
INSERT OVERWRITE TABLE sums {SELECTS["group"]};
INSERT OVERWRITE DIRECTORY '${{output}}' ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' SELECT * FROM sums ORDER BY customer;
"""
CHECK = """\
import collections, pathlib, sys
prices = collections.defaultdict(list)
for line in pathlib.Path(sys.argv[2], "orders.csv").read_text().splitlines():
    _, customer, price = map(int, line.split(","))
    if price != 17:
        prices[customer].append(price)
expected = [f"{customer},{len(of)},{sum(of)}" for customer, of in sorted(prices.items())]
found = [line for part in sorted(pathlib.Path(sys.argv[1]).iterdir()) for line in part.read_text().splitlines()]
sys.exit(found != expected and f"found {found[:3]}, expected {expected[:3]}")
"""
EXPERIMENT = """\
experiment: query
engine: tez
settings: small
workloads:
  - name: command
    variant: query
    options: {{jar: sums.sql, input: orders, verify: "python3 check.py {{output}} {{input}}"}}
media: {media}
"""


def test_a_trial_runs_a_query_of_two_statements(tmp_path, programs):
    with a_place(tmp_path) as place:
        home = place.home / "hive"
        (home / "bin").mkdir(parents=True)
        for folder in ("lib", "tez"):
            (home / folder).symlink_to(programs / folder)
        (home / "bin" / "beeline").write_text(BEELINE)
        (home / "bin" / "beeline").chmod(0o755)
        place.environment["HIVE_HOME"] = str(home)
        (place.home / "orders").mkdir()
        (place.home / "orders" / "orders.csv").write_text("".join(f"{line}\n" for line in TABLES["orders"][1]))
        (place.home / "sums.sql").write_text(QUERY)
        (place.home / "check.py").write_text(CHECK)
        (record,) = place.verified(EXPERIMENT.format(media=place.media))
    size = sum(len(line) + 1 for line in TABLES["orders"][1])
    (job,) = record.jobs
    assert job.state == "SUCCEEDED"
    assert [stage.name for stage in job.stages] == ["initialmap", "finalreduce"]
    assert counted_by_tasks("tez", job.counters)["store_read_bytes"] >= size
