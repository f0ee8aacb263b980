"""Proves that tables keep a store's contract against a client that keeps lines in files, and what HBase is started with."""

import bz2
import gzip
import re
import stat
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.errors import AssayError, BadInputError
from assay.model.fault import Kept
from assay.model.installed import stack_of
from assay.model.layout import Directory, Layout
from assay.model.registry import STORES
from assay.model.running_cluster import RunningCluster
from assay.model.service import NodeContext
from assay.model.store import Files
from assay.node.local import LocalNode
from assay.platform.daemon import last_words
from assay.store.divided import DividedPlacer
from assay.store.hbase import HbasePlacer
from assay.store.hbase_service import LOGS_FOLDER
from assay.store.hbase_tables import POLICY, HbaseTables
from assay.store.hdfs import HdfsPlacer

LOGS = Path(__file__).parents[1] / "fixtures" / "cluster"

# What `hadoop fs` does with tables, as far as it is used: a table is a folder, and a region a file in it.
CLIENT = """\
#!/bin/bash
home={home}
shift
while [[ $1 == -D* ]]; do echo "$1" >>$home/properties; shift; done
case $1 in
  -put)
    [[ "$2 $3" == "-d -" ]] || exit 9
    echo put >>$home/clients
    path=$home/${{4#hbase:/}}
    if [[ $path == *refused* ]]; then echo "put: table is read only" >&2; exit 1; fi
    mkdir -p "${{path%/*}}"; cat >>"${{path%/*}}/region-00000" ;;
  -cat) (cd $home && eval cat "$(sed 's|hbase:/||' <<<"$2")" 2>/dev/null); exit 0 ;;
  -test) [[ -e $home/${{3#hbase:/}} ]] ;;
  -du) echo "$(cat $home/${{3#hbase:/}}/region-* | wc -c) $3" ;;
  -rm) rm -rf $home/${{5#hbase:/}} ;;
  *) exit 9 ;;
esac
"""


@pytest.fixture
def tables(tmp_path):
    home = tmp_path / "tables"
    home.mkdir()
    hadoop = tmp_path / "hadoop"
    hadoop.write_text(CLIENT.format(home=home))
    hadoop.chmod(hadoop.stat().st_mode | stat.S_IXUSR)
    store = HbaseTables(hadoop, {"PATH": "/usr/bin:/bin"})
    store.home = home
    return store


def test_what_is_put_below_a_path_is_read_there(tables, tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n\n")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"three"))
    tables.put(tmp_path / "a.txt", "/run/input/a.txt")
    tables.put(tmp_path / "b.gz", "/run/input/b.gz")
    assert list(tables.lines("/run/input")) == [b"one", b"two", b"", b"three"]
    assert tables.location("/run/input") == "hbase:/run/input"
    assert tables.size_bytes("/run/input") == 15
    assert tables.size_bytes("/run/output") == 0
    assert not isinstance(tables, Files)


def test_every_path_has_a_table_of_its_own(tables):
    paths = ["/user/john.doe", "/user/john_doe", "/user/john_2edoe", "/user/john/doe", "/user/-j", "/user/j", "/user/ü"]
    located = [tables.location(path) for path in paths]
    assert located[0] == "hbase:/user/john_2edoe"
    assert len(set(located)) == len(paths)
    name = re.compile(r"hbase:/\w[\w-]*(/\w[\w-]*)*", re.ASCII)  # that of a table, by `Tables.at` in jobs/hbase
    assert all(name.fullmatch(place) for place in located)
    for number, path in enumerate(paths):
        tables.write(f"{path}/input/a.txt", [b"%d\n" % number])
    for number, path in enumerate(paths):
        assert list(tables.lines(f"{path}/input")) == [b"%d" % number]


def test_tables_below_a_path_are_read_with_it(tables):
    tables.write("/run/input/points/points.txt", [b"1\n2", b"\n3\n"])
    tables.write("/run/input/centres/centres.txt", [b"4\n"])
    assert sorted(tables.lines("/run/input")) == [b"1", b"2", b"3", b"4"]
    assert list(tables.lines("/run/input/centres")) == [b"4"]


def test_files_of_a_table_are_put_by_one_client(tables, tmp_path):
    (tmp_path / "packed.bz2").write_bytes(bz2.compress(b"three\nfour"))

    def made(file=tmp_path / "made"):
        for text in ("one\ntwo", ""):
            file.write_text(text)
            yield file, f"/run/input/{text[:3] or 'empty'}"
        yield tmp_path / "packed.bz2", "/run/input/packed"
        file.write_text("1\n")
        yield file, "/run/centres/c"

    tables.put_all(made())
    assert list(tables.lines("/run/input")) == [b"one", b"two", b"three", b"four"]
    assert list(tables.lines("/run/centres")) == [b"1"]
    assert (tables.home / "clients").read_text().split() == ["put", "put"]


def test_of_compressed_files_the_bytes_that_they_have_here_are_told(tables, tmp_path):
    packed = {"a.gz": gzip.compress(b"one\n" * 5000), "b.bz2": bz2.compress(b"two\n" * 5000), "c.txt": b"three"}
    told = []
    tables._took = told.append
    for name, content in packed.items():
        (tmp_path / name).write_bytes(content)
    tables.put_all((tmp_path / name, f"/run/input/{name}") for name in packed)
    assert sum(told) == sum(map(len, packed.values()))


@pytest.mark.parametrize("rows", ["1\n", "1\n2\n2\n"])
def test_other_rows_than_were_put_are_an_error(tables, rows):
    tables.write("/run/input/points.txt", [b"1\n", b"2\n"])
    (tables.home / "run" / "input" / "region-00000").write_text(rows)
    with pytest.raises(AssayError, match="hbase:/run/input has . rows, and 2 lines were put there"):
        list(tables.lines("/run/input"))


def test_missing_lines_are_counted(tables):
    assert (tables.kept("/run/input"), tables.taken("/run/input")) == (None, None)
    tables.write("/run/input/points.txt", [b"1\n", b"2\n"])
    assert tables.kept("/run/input") == Kept(taken=2, missing=0)
    (tables.home / "run" / "input" / "region-00000").write_text("1\n")
    assert tables.kept("/run/input") == Kept(taken=2, missing=1)
    assert tables.taken("/run/input") == 2


@pytest.mark.parametrize(
    "use",
    [
        lambda tables: tables.write("/run/input/a.txt", [b"1\n"] * 100_000),
        lambda tables: list(tables.lines("/run/input")),
        lambda tables: tables.size_bytes("/run/input"),
        lambda tables: tables.delete("/run/input"),
    ],
    ids=["write", "lines", "size", "delete"],
)
def test_a_client_does_not_wait_for_a_daemon_that_has_died(tmp_path, use, monkeypatch):
    monkeypatch.setattr("assay.store.hadoop_fs._WATCH_S", 0.1)
    hadoop = tmp_path / "hadoop"
    hadoop.write_text("#!/bin/sh\nexec sleep 60\n")
    hadoop.chmod(0o700)
    died = iter([None])
    tables = HbaseTables(
        hadoop, {"PATH": "/usr/bin:/bin"}, failure=lambda: next(died, "the HMaster was killed by signal 9")
    )
    began_s = time.monotonic()
    with pytest.raises(AssayError, match="^the HMaster was killed by signal 9$"):
        use(tables)
    assert time.monotonic() - began_s < 30


def test_a_table_that_was_deleted_is_forgotten(tables):
    tables.write("/run/input/points.txt", [b"1\n"])
    tables.delete("/run")
    assert not (tables.home / "run").exists()
    tables.write("/run/input/points.txt", [b"2\n"])
    assert list(tables.lines("/run/input")) == [b"2"]


def test_clients_are_told_which_columns_jobs_will_read(tables):
    tables.expect("/run/input/points", 3)
    tables.write("/run/input/points/points.txt", [b"1,2,3,4\n"])
    tables.write("/run/input/centres/centres.txt", [b"1,2,3\n"])
    told = [line for line in (tables.home / "properties").read_text().split() if "used" in line]
    assert told == ["-Dhbase.assay.used=3"]


def test_a_client_that_fails_says_why(tables):
    with pytest.raises(AssayError, match="could not be put into hbase:/refused/a.txt: put: table is read only"):
        tables.write("/refused/a.txt", [b"1\n" * 100_000] * 10)


STACK = stack_of("hbase", "mapreduce")


def properties_of(*directories):
    addresses = {name: f"127.0.0.1:{20000 + at}" for at, name in enumerate(sorted(STACK_PORTS))}
    node = NodeContext(
        EmbeddedSpec(), Layout(neutral=Path("/n"), directories=directories), "127.0.0.1", "127.0.0.1", addresses
    )
    return {**addresses, **STACK.properties(node)}, node


STACK_PORTS = {name for kind in STACK.daemons for name in kind.ports}


def a_directory(place, *roles):
    return Directory(path=Path(place), medium=place, roles=roles)


def test_the_servers_log_has_directories_of_its_own():
    together, _ = properties_of(a_directory("/d", "input", "output"), a_directory("/log", "log"))
    assert together["dfs.datanode.data.dir"] == "[DISK]/d,[NVDIMM]/log"
    assert together["hbase.wal.storage.policy"] == "ALL_NVDIMM"
    apart, _ = properties_of(a_directory("/d", "input"), a_directory("/o", "output"), a_directory("/log", "log"))
    assert apart["dfs.datanode.data.dir"] == "[DISK]/d,[SSD]/o,[NVDIMM]/log"


def caching(*paths, medium="ssd"):
    for path in paths:
        path.parent.mkdir(exist_ok=True)
    of_caches = [Directory(path=path, medium=medium, roles=("cache",)) for path in paths]
    return properties_of(a_directory("/d", "input", "output"), a_directory("/log", "log"), *of_caches)[0]


def test_a_server_caches_blocks_in_files_where_their_role_has_media(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=3000 << 20))
    place, other = tmp_path / "ssd" / "cache-0", tmp_path / "ssd" / "cache-1"
    properties = caching(place)
    assert place.is_dir()
    assert properties["hbase.bucketcache.ioengine"] == f"file:{place}/blocks"
    assert properties["hbase.bucketcache.size"] == "1500"
    assert caching(place, other)["hbase.bucketcache.ioengine"] == f"file:{place}/blocks,{other}/blocks"
    assert caching(place, other)["hbase.bucketcache.size"] == "1500"
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1 << 42))
    assert caching(place)["hbase.bucketcache.size"] == "8192"
    assert not [name for name in caching(tmp_path / "n", medium="neutral") if "bucketcache" in name]
    assert not (tmp_path / "n").exists()


def test_of_a_cache_what_was_written_counts(tmp_path):
    folder = tmp_path / "cache-0"
    folder.mkdir()
    with (folder / "blocks").open("wb") as file:
        file.write(bytes(range(256)) * 4096)
        file.truncate(1 << 30)
    of_caches = [Directory(path=folder, medium="ssd", roles=("cache",))]
    placer = HbasePlacer(Folders(), [a_directory("/d", "input", "output")], of_caches)
    landed = placer.landed("cache", "staged", placer.own_paths["cache"])
    assert (landed.role, landed.shares, landed.of_bytes) == ("cache", {"ssd": 1.0}, None)
    assert 1 << 20 <= landed.bytes < 2 << 20


@pytest.mark.parametrize(("nodes", "vcores", "regions"), [(1, 8, "8"), (1, 2, "2"), (4, 8, "32")])
def test_a_table_has_as_many_regions_as_tasks_may_run_at_once(nodes, vcores, regions):
    _, node = properties_of(a_directory("/d", "input", "output"), a_directory("/log", "log"))
    spec = EmbeddedSpec(nodes=nodes, vcores=vcores)
    assert STACK.properties(node._replace(spec=spec))["hbase.assay.regions"] == regions


def test_jobs_and_clients_may_reach_into_what_hbase_reaches_into():
    opened = "--add-opens=java.base/java.nio=ALL-UNNAMED"
    properties, _ = properties_of(a_directory("/d", "input", "output"), a_directory("/log", "log"))
    variables = dict(entry.split("=", 1) for entry in properties["yarn.nodemanager.admin-env"].split(","))
    assert opened in variables["JDK_JAVA_OPTIONS"].split()
    (hbase,) = (service for service in STACK.services if service.name == "hbase")
    cluster = RunningCluster(Path("/hadoop"), Path("/conf"), "3", {}, environment={"HADOOP_CLIENT_OPTS": "-Dlogin=x"})
    environment = hbase.client(cluster)._environment
    assert {opened, "-Dlogin=x"} < set(environment["HADOOP_CLIENT_OPTS"].split())


LISTENING = {"hbase.master.ipc.address", "hbase.regionserver.ipc.address", "hbase.zookeeper.quorum"}


def test_nothing_listens_elsewhere():
    properties, node = properties_of(a_directory("/d", "input", "output"), a_directory("/log", "log"))
    ports = {name: value for name, value in properties.items() if name.startswith("hbase.") and name.endswith(".port")}
    assert {name for name, value in ports.items() if value == "-1"} == {
        "hbase.master.info.port", "hbase.regionserver.info.port",
    }  # fmt: skip
    assert ports["hbase.regionserver.port"] == "0"
    assert properties["hbase.master.port"] == properties["hbase.master.port"].rpartition(":")[2]
    listening = [value for name, value in properties.items() if name in LISTENING]
    assert listening == ["127.0.0.1"] * 3
    (zookeeper,) = (service for service in STACK.services if service.name == "zookeeper")
    assert "clientPortAddress=127.0.0.1\n" in zookeeper.files(node, properties)["zoo.cfg"]


class Folders:
    """What HDFS has of tables: the ids of blocks and their bytes."""

    blocks_of = {
        "/hbase/data/default/run.input": {1: 5}, "/hbase/data/default/run.input.more": {2: 7},
        "/hbase/data/default/run.in__put_2e1": {1: 5}, "/hbase/archive/data/default/run.input": {1: 5, 4: 9},
    }  # fmt: skip

    def folders(self, path):
        tables = (name.rpartition("/")[2] for name in self.blocks_of if "archive" not in name)
        return [*tables, "run.inputs", "run.output"] if path == "/hbase/data/default" else []

    def blocks(self, path):
        return self.blocks_of.get(path, {} if "archive" in path else {3: 1000})


def test_bytes_land_where_the_blocks_of_a_paths_tables_are(tmp_path):
    for place, block, size in (("a", 1, 5), ("b", 2, 7), ("b", 3, 1000), ("b", 4, 9)):
        folder = tmp_path / place / "current" / "BP-1" / "current" / "finalized" / "subdir0"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"blk_{block}").write_bytes(bytes(size))
    directories = [Directory(path=tmp_path / place, medium=place) for place in ("a", "b")]
    placer = HbasePlacer(Folders(), directories)
    landed = placer.landed("input", "staged", "/run/input")
    # With a file that a compaction has replaced; one that was moved while it was looked for counts once.
    assert (landed.bytes, landed.of_bytes) == (21, 21)
    assert landed.shares == {"a": 5 / 21, "b": 16 / 21}
    assert placer.landed("input", "staged", "/run/in_put.1").bytes == 5


def test_the_servers_logs_land_where_their_blocks_are(tmp_path):
    for place, block, size in (("a", 3, 1000), ("b", 4, 50)):
        folder = tmp_path / place / "current" / "BP-1" / "current" / "rbw"
        folder.mkdir(parents=True)
        (folder / f"blk_{block}").write_bytes(bytes(size))
    (tmp_path / "b" / "in_use.lock").write_bytes(bytes(500))
    directories = [Directory(path=tmp_path / place, medium=place) for place in ("a", "b")]
    files = Folders()
    files.blocks_of = {LOGS_FOLDER: {4: 0}}  # the length of an open file's block is not known yet
    placer = HbasePlacer(files, directories)
    assert placer.own_paths == {"log": LOGS_FOLDER}
    landed = placer.landed("log", "staged", placer.own_paths["log"])
    assert (landed.bytes, landed.shares, landed.trouble) == (50, {"b": 1.0}, None)
    files.blocks_of = {LOGS_FOLDER: {5: 0}}
    assert placer.landed("log", "run", LOGS_FOLDER).trouble == "none of its 1 blocks is in the folders of the media"


def test_jobs_write_where_output_belongs_if_that_has_directories_of_its_own():
    apart = [a_directory("/d", "input"), a_directory("/o", "output"), a_directory("/log", "log")]
    placer = HbasePlacer(Folders(), apart)
    assert placer.output_properties == {POLICY: "ALL_SSD"}
    files = HdfsPlacer(None, [])
    assert DividedPlacer(None, files, placer).output_properties == {POLICY: "ALL_SSD"}
    assert DividedPlacer(None, placer, files).output_properties == {}
    assert HbasePlacer(Folders(), [a_directory("/d", "input", "output")]).output_properties == {}
    assert DividedPlacer(None, files, placer).own_paths == placer.own_paths


PUT, LOADED = "hbase.assay.sync", "hbase.assay.load"
SERVERS = "hbase.wal.hsync"


@pytest.mark.parametrize(
    ("properties", "copies", "reach"),
    [
        ({}, 1, "memory"),
        ({PUT: "hsync", "dfs.replication": "3"}, 2, "drives"),
        ({PUT: "skipped"}, 1, "one server"),
        ({SERVERS: "true"}, 1, "drives"),
        ({SERVERS: "true", PUT: "hflush"}, 1, "memory"),
        ({SERVERS: "false"}, 1, "memory"),
        ({PUT: "hsync", LOADED: "bulk"}, 1, "memory"),
        ({LOADED: "bulk", "dfs.datanode.synconclose": "true"}, 1, "drives"),
    ],
)
def test_a_table_promises_what_its_log_does_and_then_what_its_files_do(properties, copies, reach):
    for name in ("hbase", "hbase-to-hdfs"):
        promise = STORES[name].promised_while_staging(properties, 2)
        assert (promise.copies, promise.reach) == (copies, reach)
        afterwards = STORES[name].promise(properties, 2)
        of_files = STORES["hdfs"]
        assert afterwards == of_files.promised_while_staging(properties, 2) == of_files.promise(properties, 2)
        assert afterwards.copies == copies


def test_a_table_needs_more_room_than_files_and_most_for_short_lines():
    puts, bulk = (STORES["hbase"].space_factor({LOADED: load}, 100) for load in ("puts", "bulk"))
    assert puts > bulk > STORES["hdfs"].space_factor({}, 100) == 1
    assert STORES["hdfs-to-hbase"].space_factor({}, 100) == puts
    cells = [STORES["hbase"].space_factor({LOADED: "bulk"}, line_bytes) / 2 for line_bytes in (100, 33, 12, None)]
    assert cells == pytest.approx([1.37, 2.12, 4.08, 4], abs=0.01)
    apart = {LOADED: "bulk", "hbase.assay.columns": "used-apart"}
    assert STORES["hbase"].space_factor(apart, 74) == 4


MIB = 1 << 20
LEFT_FREE = "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space"


@pytest.mark.parametrize(
    ("properties", "nodes", "files_mib", "log_mib"),
    [
        ({}, 1, 1024 + 128, 1024 + 3 * 256),
        ({"dfs.blocksize": "8m", LEFT_FREE: "0", "dfs.datanode.du.reserved": "16m"}, 1, 16 + 8, 16 + 3 * 16),
        ({"hbase.regionserver.hlog.blocksize": "33554432"}, 1, 1024 + 128, 1024 + 3 * 32),
        ({"dfs.replication": "2"}, 2, 1024 + 128, 1024 + 4 * 256),
        ({}, 4, 1024 + 128, 1024 + 2 * 256),
    ],
)
def test_a_store_wants_room_for_whole_blocks_of_files_and_of_open_logs(properties, nodes, files_mib, log_mib):
    (files,) = STORES["hdfs"].least_rooms(properties, nodes)
    assert (files.roles, files.bytes) == ({"input", "output"}, files_mib * MIB)
    assert [room.bytes // MIB for room in STORES["hbase"].least_rooms(properties, nodes)] == [files_mib, log_mib, 64]
    of_both = {room.bytes for room in STORES["hbase-to-hdfs"].least_rooms(properties, nodes)}
    assert of_both == {files_mib * MIB, log_mib * MIB, 64 * MIB}


COUNTED = """\
1795698001003 regionserver.Server: Context=regionserver, serverName=h, flushedOutputBytes=30, compactedInputBytes=20, \
compactedOutputBytes=10
1795698001001 regionserver.WAL: Context=regionserver, Hostname=h, writtenBytes=100
1795698002003 regionserver.Server: Context=regionserver, serverName=h, flushedOutputBytes=40, compactedInputBytes=20, \
compactedOutputBytes=10
1795698002007 regionserver.WAL: Context=regionserver, Hostname=h, writ"""


def test_the_newest_whole_counts_of_a_region_server_are_read(tmp_path):
    (counters,) = (kind.counters for kind in STACK.daemons if kind.counters)
    (tmp_path / "regionserver.counts").write_text(COUNTED[:100])
    assert counters.read(LocalNode(), tmp_path / "regionserver.log") is None
    (tmp_path / "regionserver.counts").write_text(COUNTED)
    assert counters.read(LocalNode(), tmp_path / "regionserver.log") == (
        1795698001001,
        {
            "log_written_bytes": 100.0, "flush_written_bytes": 40.0, "compaction_read_bytes": 20.0,
            "compaction_written_bytes": 10.0,
        },
    )  # fmt: skip


def test_bytes_that_were_put_are_counted_until_they_are_deleted(tables, tmp_path):
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"three\n" * 100))
    tables.put(tmp_path / "b.gz", "/run/input/b.gz")
    tables.write("/run/input/more.txt", [b"12345\n"])
    assert tables.put_bytes("/run/input") == 606
    tables.delete("/run")
    assert tables.put_bytes("/run/input") is None


def test_a_way_to_load_or_read_that_there_is_not_is_refused():
    (hbase,) = (service for service in STACK.services if service.name == "hbase")
    hbase.check(EmbeddedSpec(), {"hbase.assay.load": "bulk", "hbase.assay.sync": "skipped"}, ())
    with pytest.raises(BadInputError, match="hbase.assay.load is 'shovel', and must be puts or bulk"):
        hbase.check(EmbeddedSpec(), {"hbase.assay.load": "shovel"}, ())


def test_a_misspelt_property_of_tables_is_refused_with_the_nearest():
    (hbase,) = (service for service in STACK.services if service.name == "hbase")
    with pytest.raises(
        BadInputError, match=r"hbase\.assay\.laod is no property of tables; did you mean 'hbase\.assay\.load'"
    ):
        hbase.check(EmbeddedSpec(), {"hbase.assay.laod": "bulk"}, ())
    known = {"hbase.assay.regions": "8", "hbase.assay.read": "snapshot", "hbase.hstore.blockingStoreFiles": "9"}
    hbase.check(EmbeddedSpec(), known, ())
    regions = hbase.bounds["hbase.assay.regions"]
    assert [regions.hold(text) for text in ("1", "0", "1.5", "many")] == [True, False, False, False]


@pytest.mark.parametrize(("session", "most"), [(None, "90000"), ("360000", "360000"), ("3000", "40000")])
def test_zookeeper_grants_the_session_that_servers_ask_for(session, most):
    properties, node = properties_of(a_directory("/d", "input", "output"), a_directory("/log", "log"))
    given = {} if session is None else {"zookeeper.session.timeout": session}
    (zookeeper,) = (service for service in STACK.services if service.name == "zookeeper")
    assert f"maxSessionTimeout={most}\n" in zookeeper.files(node, {**properties, **given})["zoo.cfg"]


@pytest.mark.parametrize(
    ("role", "log", "reason"),
    [
        (
            "zookeeper",
            "zookeeper-no-folder",
            "DatadirException: Unable to create data directory /data/file/data/version-2",
        ),
        ("zookeeper", "zookeeper-port-taken", "java.net.BindException: Address already in use"),
        ("zookeeper", "zookeeper-broken-data", "No snapshot found, but there are log entries. Something is broken!"),
        ("regionserver", "regionserver-off-clock", "Reported time is too far out of sync with master"),
        ("hmaster", "hmaster-without-space", "hbase.version could only be written to 0 of the 1 minReplication nodes"),
        ("hmaster", "hmaster-without-zookeeper", "KeeperErrorCode = ConnectionLoss for /hbase"),
    ],
)
def test_a_kind_of_daemon_knows_how_its_logs_say_why(role, log, reason):
    """The logs are captures, the ends of them."""
    (kind,) = (daemon for daemon in stack_of("hbase").daemons if daemon.role == role)
    assert reason in last_words(LOGS / f"{log}.log", kind=kind)
