"""Proves how Cassandra is configured, where its bytes are counted, what it promises, and what it refuses."""

import json
from pathlib import Path

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.installed import stack_of
from assay.model.layout import Directory, Layout
from assay.model.registry import STORES
from assay.model.service import NodeContext
from assay.model.store import Files
from assay.platform.daemon import last_words
from assay.store.cassandra import CONTACTS, FOLDERS, KEYSPACE, CassandraTables, tokens
from assay.store.on_workers import hosts

STACK = stack_of("cassandra")
(SERVICE,) = (service for service in STACK.services if service.name == "cassandra")
(DAEMON,) = SERVICE.daemons
ADDRESSES = {"cassandra.native.address": "master:1001", "cassandra.storage.address": "master:1002"}


def a_directory(path, *roles):
    return Directory(path=Path(path), medium=Path(path).name, roles=roles)


def a_layout(home, *directories):
    return Layout(neutral=Path(home), directories=directories or (
        a_directory(f"{home}/ssd", "input", "output"), a_directory(f"{home}/hdd", "log"),
    ))  # fmt: skip


class Workers(EmbeddedSpec):
    """Twelve of them."""

    @property
    def workers(self):
        return tuple(f"worker-{number}" for number in range(1, 13))


def a_node(layout, host="localhost", spec=None):
    return NodeContext(spec or EmbeddedSpec(), layout, host, "master", ADDRESSES)


def settings_of(node, properties=None):
    given = {**SERVICE.properties(node), **(properties or {})}
    return json.loads(SERVICE.files(node, given)["cassandra/cassandra.yaml"])


@pytest.mark.parametrize("nodes", [1, 2, 3, 12])
def test_the_tokens_of_all_nodes_divide_the_ring_evenly_and_take_turns(nodes):
    by_token = {token: number for number in range(nodes) for token in tokens(number, nodes)}
    ring = sorted(by_token)
    assert len(ring) == 16 * nodes
    assert ring[0] == -(2**63)
    gaps = {after - before for before, after in zip(ring, [*ring[1:], 2**63], strict=True)}
    assert max(gaps) - min(gaps) <= 1
    assert [by_token[token] for token in ring] == [*range(nodes)] * 16


def test_a_node_alone_listens_at_ports_that_were_free_and_keeps_roles_apart(tmp_path):
    node = a_node(a_layout(tmp_path))
    properties = SERVICE.properties(node)
    assert properties[CONTACTS] == "localhost:1001"
    settings = settings_of(node)
    assert (settings["native_transport_port"], settings["storage_port"]) == (1001, 1002)
    assert settings["listen_address"] == settings["rpc_address"] == "localhost"
    assert settings["seed_provider"][0]["parameters"] == [{"seeds": "localhost:1002"}]
    assert settings["commitlog_directory"] == f"{tmp_path}/hdd/cassandra/commitlog"
    assert settings["data_file_directories"] == [f"{tmp_path}/cassandra/data"]
    assert DAEMON.arguments(node) == (
        f"{tmp_path}/cassandra",
        f"assay_input={tmp_path}/ssd/cassandra/assay_input",
        f"assay_output={tmp_path}/ssd/cassandra/assay_output",
    )


def test_a_worker_knows_the_others_by_their_names_on_its_network(tmp_path):
    layout = a_layout(tmp_path)
    for suffix in ("", "-data"):
        node = a_node(layout, f"worker-12{suffix}", Workers())
        assert hosts(node) == hosts(a_node(layout, f"master{suffix}", Workers()))
        assert hosts(node)[0] == f"worker-1{suffix}"
        assert SERVICE.properties(node)[CONTACTS].endswith(f",worker-12{suffix}:1001")
        settings = settings_of(node)
        assert settings["initial_token"] == ",".join(map(str, tokens(11, 12)))
        assert len(settings["seed_provider"][0]["parameters"][0]["seeds"].split(",")) == 12


def test_a_request_waits_for_slow_drives_as_long_as_clients_do(tmp_path):
    settings = settings_of(a_node(a_layout(tmp_path)))
    assert [settings[f"{kind}_request_timeout"] for kind in ("read", "range", "write")] == ["60000ms"] * 3
    servers = Path(__file__).parents[2] / "jobs/cassandra/src/main/java/org/assay/cassandra/Servers.java"
    assert "PATIENCE = Duration.ofSeconds(60)" in servers.read_text()


def test_a_log_is_synced_as_the_trial_says(tmp_path):
    node = a_node(a_layout(tmp_path))
    assert settings_of(node)["commitlog_sync"] == "periodic"
    synced = settings_of(node, {"cassandra.assay.commitlog-sync": "batch"})
    assert synced["commitlog_sync"] == "batch"
    assert "commitlog_sync_period" not in synced  # Cassandra refuses both


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"cassandra.assay.copy": "1"}, "cassandra.assay.copy is no property of tables; did you mean"),
        ({"cassandra.assay.commitlog-sync": "group"}, "is 'group', and must be periodic or batch"),
        ({"cassandra.assay.copies": "2"}, "is 2, and 1 node has a daemon of cassandra; ask for 1 at most"),
    ],
)
def test_a_property_that_can_not_be_is_refused(properties, message):
    SERVICE.check(EmbeddedSpec(), {"cassandra.assay.copies": "1", KEYSPACE: "assay_output"}, ())
    with pytest.raises(BadInputError, match=message):
        SERVICE.check(EmbeddedSpec(), properties, ())


def test_each_role_has_a_folder_of_its_own(tmp_path):
    layout = a_layout(tmp_path)
    below = {role: str(FOLDERS.of(layout, role).relative_to(tmp_path)) for role in ("input", "output", "log")}
    assert below == {
        "input": "ssd/cassandra/assay_input", "output": "ssd/cassandra/assay_output", "log": "hdd/cassandra/commitlog",
    }  # fmt: skip


def test_a_put_is_in_memory_until_its_table_is_flushed():
    store = STORES["cassandra"]
    assert store.promised_while_staging({}, 2).words == "1 copy in memory, on drives later"
    assert store.promised_while_staging({"cassandra.assay.commitlog-sync": "batch"}, 2).reach == "drives"
    afterwards = store.promise({"cassandra.assay.copies": "3"}, 2)
    assert (afterwards.copies, afterwards.reach) == (2, "drives")
    assert store.copies_property == "cassandra.assay.copies"


def test_short_lines_need_most_room_and_the_log_whole_segments():
    factors = [STORES["cassandra"].space_factor({}, line_bytes) for line_bytes in (400, 40, 12, None)]
    assert factors == pytest.approx([3.3, 6, 13, 13.5])
    rooms = STORES["cassandra"].least_rooms({}, 1)
    assert [room.bytes for room in rooms if "log" in room.roles] == [128 << 20]


def test_it_holds_tables_and_its_jobs_name_its_formats():
    assert not issubclass(CassandraTables, Files)
    assert CassandraTables(Path("hadoop"), {}).location("/run/input") == "cassandra:/run/input"
    formats = STACK.trial_properties
    assert formats["mapreduce.job.inputformat.class"] == "org.assay.cassandra.LinesInputFormat"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            [
                "2026-11-30 01:00:00,000 ERROR [main] CassandraDaemon - Fatal configuration error",
                "org.apache.cassandra.exceptions.ConfigurationException: Invalid yaml",
                "\tat org.apache.cassandra.config.DatabaseDescriptor.loadConfig(DatabaseDescriptor.java:1)",
            ],
            "ConfigurationException: Invalid yaml",
        ),
        (
            [
                "Caused by: java.nio.file.FileSystemException: /d/commitlog: No space left on device",
                "2026-11-30 01:00:00,000 ERROR [x] StorageService - Stopping native transport",
            ],
            "No space left on device",
        ),
    ],
)
def test_a_daemon_that_ends_says_why(tmp_path, lines, reason):
    log = tmp_path / "cassandra.log"
    log.write_text("\n".join(lines))
    assert reason in last_words(log, kind=DAEMON)
