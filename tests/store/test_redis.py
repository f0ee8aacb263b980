"""Proves how Redis is started, what it promises, that its data fit into memory, and what is refused."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.dataset import Amounts
from assay.model.errors import BadInputError
from assay.model.installed import stack_of
from assay.model.layout import Directory, Layout
from assay.model.medium import Doubtful
from assay.model.progress import Silent
from assay.model.registry import STORES
from assay.model.service import NodeContext
from assay.model.store import Files
from assay.model.trial import ResourceEstimate, StoreSpec
from assay.platform.daemon import _PORT_TAKEN, last_words
from assay.run.needs import check_needs
from assay.store.redis import FSYNC, MEMORY, SERVERS, RedisTables
from assay_extras.testing.fakes import FakeInput, FakeWorkload, Script
from tests.builders import a_plan, a_trial
from tests.test_lifecycle import scripted

ROOT = Path(__file__).parents[2]
PREPARE = ROOT / "programs" / "redis" / "prepare"
STACK = stack_of("redis")
(SERVICE,) = (service for service in STACK.services if service.name == "redis")
(DAEMON,) = SERVICE.daemons
KIND = STORES["redis"]


def a_node(home):
    media = {"ssd": ("input", "output"), "a hdd": ("log",)}
    directories = tuple(Directory(path=home / medium, medium=medium, roles=roles) for medium, roles in media.items())
    programs = home / "programs"
    (programs / "redis" / "lib").mkdir(parents=True)
    (programs / "redis" / "lib" / "redis-server-7.0.15").touch()
    layout = Layout(neutral=home / "neutral", directories=directories)
    return NodeContext(
        EmbeddedSpec(), layout, "localhost", "localhost", {"redis.address": "localhost:1001"}, programs=programs
    )


def test_a_server_listens_at_a_port_that_was_free_and_keeps_its_log_on_the_medium_of_the_role(tmp_path):
    node = a_node(tmp_path)
    assert SERVICE.properties(node)[SERVERS] == "localhost:1001"
    shell, *_, server, config, folder = DAEMON.program(node)
    assert shell == "/bin/sh"
    assert server == f"{tmp_path}/programs/redis/lib/redis-server-7.0.15"
    assert config == f"{node.conf_dir}/redis/redis.conf"
    assert folder == f"{tmp_path}/a hdd/redis/appendonly"
    lines = SERVICE.files(node, {**SERVICE.properties(node), MEMORY: "300"})["redis/redis.conf"].splitlines()
    assert {"bind localhost", "port 1001", f'dir "{folder}"'} <= {*lines}
    assert {"appendonly yes", "appendfsync everysec", 'save ""'} <= {*lines}
    assert {"maxmemory 300mb", "maxmemory-policy noeviction"} <= {*lines}


def test_the_command_makes_the_folder_and_becomes_the_server(tmp_path):
    server = tmp_path / "server"
    server.write_text('#!/bin/sh\necho "$$ $*"\n')
    server.chmod(0o755)
    shell, option, script, *_ = DAEMON.program(a_node(tmp_path))
    command = [shell, option, script, str(server), "redis.conf", str(tmp_path / "a new" / "folder")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.read() == f"{process.pid} redis.conf\n"
    assert (tmp_path / "a new" / "folder").is_dir()


def test_what_is_promised_is_what_the_log_gives():
    usual, always = (KIND.promise(properties, 3) for properties in ({}, {FSYNC: "always"}))
    assert usual.words == "1 copy in memory, and in a log that is synced each second"
    assert always.words == "1 copy on drives"
    assert KIND.promised_while_staging({}, 3) == usual
    assert not KIND.copies_property


def test_short_lines_need_most_room_and_memory():
    for factor in (KIND.space_factor, KIND.memory_factor):
        factors = [factor({}, line_bytes) for line_bytes in (400, 100, 12, None)]
        assert factors == sorted(factors)
        assert factors[-1] == factors[-2]


def on_redis(nodes=1, **properties):
    trial = a_trial()
    settings = trial.settings.model_copy(update={"properties": properties})
    changes = {"store": StoreSpec(kind="redis"), "settings": settings, "cluster": EmbeddedSpec(nodes=nodes)}
    return a_plan(trial.model_copy(update=changes))


def test_data_that_do_not_fit_into_its_memory_are_refused_before_anything_starts(monkeypatch):
    """300 MiB of lines of 100 bytes, and an output of 50 MiB, take 1.25 bytes for each and 160 for each line."""
    monkeypatch.setattr(FakeInput, "size", lambda _: Amounts(bytes=300 << 20, lines=3 << 20))
    estimate = ResourceEstimate(disk_bytes=350 << 20, memory_bytes=1, seconds=1)
    monkeypatch.setattr(FakeWorkload, "estimate", lambda _: estimate)

    def needs_bytes(plan):
        return check_needs(plan, scripted(Script()), Silent()).memory_bytes

    with pytest.raises(BadInputError, match=(
        r"redis keeps all data in memory and has 900\.0 MiB for them on each worker \(redis\.assay\.maxmemory-mb\), and "
        r"input and output need about 997\.5 MiB there; take a smaller input, more nodes, or a higher redis\.assay\.max"
    )):  # fmt: skip
        needs_bytes(on_redis(**{MEMORY: "900"}))
    assert needs_bytes(on_redis(**{MEMORY: "998"})) == needs_bytes(on_redis())
    assert needs_bytes(on_redis(nodes=2, **{MEMORY: "900"})) > needs_bytes(on_redis())
    assert needs_bytes(on_redis()) - needs_bytes(a_plan()) > 997 << 20


def test_a_trial_says_that_its_data_were_in_memory():
    store = RedisTables(Path("hadoop"), {})
    assert isinstance(store, Doubtful)
    (doubt,) = store.doubts()
    assert "memory" in doubt.what
    assert doubt.severity > 0


def test_it_holds_tables_and_its_jobs_name_its_formats():
    assert not issubclass(RedisTables, Files)
    assert RedisTables(Path("hadoop"), {}).location("/run/input") == "redis:/run/input"
    assert STACK.trial_properties["mapreduce.job.inputformat.class"] == "org.assay.redis.LinesInputFormat"


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"redis.assay.maxmemory": "1"}, r"redis\.assay\.maxmemory is no property of tables; did you mean"),
        ({FSYNC: "no"}, r"redis\.assay\.appendfsync is 'no', and must be everysec or always"),
    ],
)
def test_a_property_that_is_none_or_has_another_value_is_refused(properties, sentence):
    SERVICE.check(EmbeddedSpec(), {"redis.assay.tasks": "3", FSYNC: "always", MEMORY: "64"}, ())
    with pytest.raises(BadInputError, match=sentence):
        SERVICE.check(EmbeddedSpec(), properties, ())


TAKEN = "Warning: Could not create server TCP listening socket localhost:1001: bind: Address already in use"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (f"1:M 30 Nov 2026 01:00:00.000 # {TAKEN}\n1:M 30 Nov # Failed listening on port 1001 (tcp), aborting.\n", TAKEN),
        ("*** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***\nat line 3\n>>> 'bind'\nwrong arguments\n", ">>> 'bind'"),
    ],
)  # fmt: skip
def test_a_server_that_ends_says_why(tmp_path, said, words):
    log = tmp_path / "redis.log"
    log.write_text(said)
    assert words in last_words(log, kind=DAEMON)
    assert bool(_PORT_TAKEN.search(said)) == bool(_PORT_TAKEN.search(last_words(log, kind=DAEMON)))


def tools(folder, **programs):
    """A PATH with what the script uses, and programs that say this of themselves."""
    folder.mkdir()
    for name in ("bash", "cp", "dirname", "flock", "head", "mkdir", "mktemp", "mv", "rm", "sed", "sort"):
        (folder / name).symlink_to(shutil.which(name))
    for name, says in programs.items():
        (folder / name.replace("_", "-")).write_text(f"#!/bin/bash\n{says}\n")
        (folder / name.replace("_", "-")).chmod(0o755)
    return str(folder)


SERVER = "echo Redis server v={} sha=00000000:0 malloc=jemalloc-5.3.0 bits=64"


@pytest.mark.parametrize(
    ("programs", "sentence"),
    [
        ({"id": "echo 1000"}, r"there is no Redis server: install Redis 6.2 or newer \(Debian, Ubuntu: sudo apt-get"),
        ({"id": "echo 0", "apt_get": "true"}, "the package redis-tools has no Redis server: install"),
        ({"redis_server": SERVER.format("6.0.16")}, r"\S+/redis-server is Redis 6.0.16: install Redis 6.2 or newer"),
        ({"redis_server": "echo Other server v=8.0 x"}, r"\S+/redis-server does not say that it is a Redis server: in"),
        ({"redis_check_rdb": SERVER.format("7.0.15") + "; exit", "mvn": "echo no network >&2; exit 1"}, "no network"),
    ],
)
def test_what_can_not_be_prepared_is_said_with_what_to_install_and_leaves_nothing(tmp_path, programs, sentence):
    path = tools(tmp_path / "bin", **{"mvn": "true", **programs})
    done = subprocess.run(
        [PREPARE, tmp_path / "target"], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert re.search(sentence, done.stderr)
    assert list((tmp_path / "target").iterdir()) == []


def test_one_version_of_the_client_is_compiled_against_and_fetched():
    versions = {
        re.search("<jedis.version>(.+)</jedis.version>", (ROOT / folder / "redis" / "pom.xml").read_text())[1]
        for folder in ("jobs", "programs")
    }
    assert len(versions) == 1
