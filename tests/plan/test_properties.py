"""Proves that deprecated Hadoop properties are refused with their new names, and unknown ones doubted."""

import re
from pathlib import Path

import pytest

from assay.model.errors import BadInputError
from assay.model.installed import stack_of
from assay.model.registry import ENGINES, SERVICES
from assay.model.renamed import renamed
from assay.model.service import LeastSize, Service, Unverifiable
from assay.plan.make import plan_and_more
from assay.plan.properties import form_of, located
from assay.plan.settings import resolve, shipped_profiles
from assay.plan.source import ExperimentSource
from assay.platform.distribution import known_properties
from tests.builders import an_installation, make_plan
from tests.plan.test_make import GOOD, WORDS, plan_of
from tests.toys import plugged_in

ROOT = Path(__file__).parents[2]
KNOWN = WORDS._replace(
    properties={
        "mapreduce.task.io.sort.mb": "100",
        "dfs.datanode.du.reserved": "0",
        "dfs.blocksize": "134217728",
        "dfs.client.read.shortcircuit": "false",
        "mapreduce.map.speculative": "true",
    }
)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "spark: {spark.yarn.executor.memoryOverhead: 512m}",
            "deprecated; it is called spark.executor.memoryOverhead now",
        ),
        ("hadoop: {dfs.block.size: 8m}", "line 10: dfs.block.size is deprecated; it is called dfs.blocksize now"),
        (
            "hadoop: {io.sort.mb: [5, 10]}",
            "line 10: io.sort.mb is deprecated; it is called mapreduce.task.io.sort.mb",
        ),
        ("profiles: {mine: {properties: {mapred.reduce.tasks: 2}}}", "line 10: mapred.reduce.tasks is deprecated"),
        ("hadoop: {mapred.child.java.opts: -Xmx1g}", None),
    ],
)
def test_a_deprecated_name_is_refused_with_the_new_one(tmp_path, line, words):
    if words is None:
        plan_of(tmp_path, GOOD + line + "\n")
        return
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, GOOD + line + "\n")


def test_hadoops_own_list_is_whole():
    assert len(renamed()) > 200
    assert all(name not in now.split(",") for name, now in renamed().items())
    assert not {
        name for profile in shipped_profiles() for name in resolve(profile, shipped_profiles()).properties
    } & set(renamed())


def test_an_unknown_property_is_doubted_with_the_nearest(tmp_path):
    file = tmp_path / "demo.yaml"
    file.write_text(GOOD + "hadoop:\n  mapreduce.task.io.sort.mbs: [5, 6]\n  dfs.blocksize: 8m\n  my.jobs.own: 3\n")
    (doubt,) = make_plan(file, KNOWN).doubts
    assert doubt.kind == "unknown-property"
    assert doubt.what == (
        "Hadoop has no property mapreduce.task.io.sort.mbs (line 11); did you mean 'mapreduce.task.io.sort.mb'?"
    )
    assert not make_plan(file, WORDS).doubts


def test_known_names_are_those_of_hadoops_jars():
    known = known_properties(an_installation(ROOT, ROOT / ".assay"))
    if not known:
        pytest.skip("Hadoop's jars are not here")
    profiles = [resolve(name, shipped_profiles()).properties for name in shipped_profiles()]
    names = {name for properties in profiles for name in properties}
    of_services = [form for service in SERVICES.values() if service.programs for form in service.open_names]
    assert {name for name in names if not re.fullmatch("|".join(of_services), name)} <= set(known)
    assert {"dfs.replication", "mapreduce.job.jvm.numtasks", "yarn.nodemanager.resource.memory-mb"} <= set(known)
    assert (known["dfs.replication"], known["mapreduce.task.io.sort.mb"]) == ("3", "100")
    assert "mapreduce.task.io.sort.mbs" not in known


def test_nothing_is_known_without_jars(tmp_path):
    assert known_properties(an_installation(tmp_path)) == {}


@pytest.mark.parametrize("levels", ["[4m, 4194304]", "[4M, 4096k]", "[2, 2.0]", "[true, 'True ']"])
@pytest.mark.parametrize("place", ["hadoop: {{my.jobs.own: {levels}}}\n", None])
def test_two_spellings_of_one_level_are_refused(tmp_path, levels, place):
    text = GOOD + place.format(levels=levels) if place else OWN.replace("LEVELS", levels)
    with pytest.raises(BadInputError, match=r"line \d+: my.jobs.own has one level twice, as .* and .*; leave one out"):
        plan_of(tmp_path, text)


OWN = """\
experiment: demo
workloads: {name: triangles, hadoop: {my.jobs.own: LEVELS}}
datasets: {make: brightkite}
media: {disk: directory}
"""


CACHED = "placement: [{name: cached, input: disk, intermediate: disk, output: disk, cache: memory}, disk]\n"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (CACHED + "hbase: {hbase.bucketcache.size: [512, 1024]}\n", None),
        ("hbase: {hbase.bucketcache.size: 512}\n", "line 10: .*size means nothing without media of the role cache; name"),
        (CACHED + "hbase: {hbase.bucketcache.size: 31}\n", "line 11: .* and must be a whole number from 32 to 8192"),
        (CACHED + "hbase: {hbase.bucketcache.ioengine: offheap}\n", "line 11: .*ioengine can't be set on an embedded"),
    ],
)  # fmt: skip
def test_a_size_of_a_cache_needs_a_place_for_it(tmp_path, more, words):
    text = GOOD + more + "store: hbase\n"
    known = WORDS._replace(levels={**WORDS.levels, "store": ["hbase"]})
    if words is None:
        placements = {trial.placement.name: trial.placement for trial in plan_of(tmp_path, text, known).trials}
        assert [placements[name].of("cache") for name in ("cached", "disk")] == [{"memory": 1.0}, {}]
        return
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, text, known)


@pytest.mark.parametrize("levels", ["[4m, 4g]", "[a, b]", "[0.05, 1]", "['1,2', '1,3']"])
def test_levels_that_differ_are_levels(tmp_path, levels):
    assert len(plan_of(tmp_path, OWN.replace("LEVELS", levels)).trials) == 2


def test_a_word_where_hadoop_has_a_number_is_doubted(tmp_path):
    file = tmp_path / "demo.yaml"
    file.write_text(GOOD + "hadoop:\n  dfs.datanode.du.reserved: [20, forty]\n  dfs.blocksize: [8m, 16M]\n")
    (doubt,) = make_plan(file, KNOWN).doubts
    assert doubt.kind == "not-a-number"
    assert doubt.what == ("dfs.datanode.du.reserved is 'forty' (line 11), and Hadoop's default, 0, is a number")


IN_PLACES = (
    "hadoop: {{{name}: {value}}}\n",
    "hadoop: {{{name}: [{value}]}}\n",
    "profiles: {{mine: {{properties: {{{name}: {value}}}}}}}\n",
    None,
)


def stated(place, name, value):
    """An experiment that sets a property in a place: the whole's, a profile's or (None) a workload's own."""
    if place is not None:
        return GOOD + place.format(name=name, value=value)
    return OWN.replace("my.jobs.own: LEVELS", f"{name}: {value}")


@pytest.mark.parametrize("place", IN_PLACES)
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("mapreduce.map.speculative", "no", "is 'no', and must be true or false; Hadoop would take its default, true"),
        ("mapreduce.map.output.compress", "yes", "is 'yes', and must be true or false"),
        ("mapreduce.reduce.speculative", "off", "is 'off', and must be true or false"),
        ("mapreduce.job.ubertask.enable", "1", "is '1', and must be true or false"),
        (
            "dfs.client.read.shortcircuit",
            "On",
            "is 'On', and must be true or false; Hadoop would take its default, fal",
        ),
        ("mapreduce.task.timeout", "1e3", "is '1000.0', and must be a whole number without a unit"),
        ("mapreduce.task.timeout", "10s", "is '10s', and must be a whole number without a unit"),
        ("mapreduce.job.jvm.numtasks", "1:30", "is '1:30', and must be a whole number without a unit"),
        ("mapreduce.job.jvm.numtasks", "2147483648", "is '2147483648', and must be .* 2147483647 at most"),
        ("mapreduce.job.jvm.numtasks", "true", "is 'true', and must be a whole number without a unit"),
        ("mapreduce.input.fileinputformat.split.minsize", "64m", "is '64m', and must be a whole number without a unit"),
        ("mapreduce.input.fileinputformat.split.minsize", "2001-01-01", "is '2001-01-01', and must be a whole number"),
        ("dfs.client.cache.readahead", "4 MB", "is '4 MB', and must be a whole number of bytes, or one with a let"),
        ("dfs.client.cache.readahead", "1.5m", "is '1.5m', and must be a whole number of bytes, or one with a let"),
        ("dfs.client.cache.readahead", "9223372036854775807k", "is .*, and must be a whole number of bytes"),
        ("dfs.heartbeat.interval", "1.5s", "is '1.5s', and must be a whole number, or one with a unit of time"),
        ("dfs.heartbeat.interval", "3 sec", "is '3 sec', and must be a whole number, or one with a unit of time"),
        ("mapreduce.reduce.markreset.buffer.percent", "5%", "is '5%', and must be a number without a unit or %"),
        ("mapreduce.task.timeout", "~", "is empty|and must be a single text or number"),
    ],
)
def test_what_hadoop_would_misread_is_refused_with_the_line(tmp_path, place, name, value, words):
    file = tmp_path / "demo.yaml"
    file.write_text(stated(place, name, value))
    with pytest.raises(BadInputError, match=rf"line \d+: (.*{name.replace('.', '[.]')} )?({words})"):
        make_plan(file, KNOWN)


@pytest.mark.parametrize("place", IN_PLACES)
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("mapreduce.map.speculative", "False", "false"),
        ("mapreduce.map.speculative", "'TRUE'", "TRUE"),
        ("mapreduce.task.timeout", "1_000", "1000"),
        ("mapreduce.task.timeout", "010", "10"),
        ("mapreduce.task.timeout", "0x10", "16"),
        ("mapreduce.task.timeout", "0o10", "8"),
        ("mapreduce.job.jvm.numtasks", "-1", "-1"),
        ("dfs.client.cache.readahead", "4M", "4M"),
        ("dfs.heartbeat.interval", "500ms", "500ms"),
        ("mapreduce.reduce.markreset.buffer.percent", "5e-2", "0.05"),
        ("mapreduce.task.timeout", "${my.own.timeout}", "${my.own.timeout}"),
    ],
)
def test_what_hadoop_reads_reaches_it(tmp_path, place, name, value, text):
    if place is not None and "$" in value:
        value = f"'{value}'"
    file = tmp_path / "demo.yaml"
    file.write_text(stated(place, name, value if "$" not in value else f"'{value.strip(chr(39))}'"))
    plan = make_plan(file, KNOWN)
    if place is None or "profiles" not in place:
        trial = plan.trials[0]
        assert {**trial.settings.properties, **trial.workload.hadoop}[name] == text


@pytest.mark.parametrize("option", ["-Dmapreduce.map.speculative=no", "x -D mapreduce.map.speculative=off {output}"])
def test_what_a_programs_arguments_set_is_read_likewise(tmp_path, option):
    text = OWN.replace("hadoop: {my.jobs.own: LEVELS}", f"options: {{arguments: '{option}'}}")
    file = tmp_path / "demo.yaml"
    file.write_text(text)
    with pytest.raises(BadInputError, match=r"line 2: mapreduce.map.speculative is '(no|off)', and must be true or fa"):
        make_plan(file, KNOWN)


@pytest.mark.parametrize("place", IN_PLACES)
def test_yes_and_no_are_doubted_where_nobody_knows_what_reads_them(tmp_path, place):
    file = tmp_path / "demo.yaml"
    file.write_text(stated(place, "my.jobs.own", "Yes"))
    (doubt,) = make_plan(file, KNOWN).doubts
    assert (doubt.kind, "my.jobs.own is the text 'Yes' (line" in doubt.what) == ("yes-or-no", True)


def test_hadoops_own_values_are_of_their_kinds():
    """As the tables of its jars have them: a kind that refused a default would be wrong."""
    known = known_properties(an_installation(ROOT, ROOT / ".assay"))
    if not known:
        pytest.skip("Hadoop's jars are not here")
    kinds = {name: kind for name in known if known[name] and (kind := form_of(name, known)) is not None}
    assert len(kinds) > 700
    assert not {name: known[name] for name, kind in kinds.items() if not kind.takes(known[name])}
    profiles = [resolve(name, shipped_profiles()).properties for name in shipped_profiles()]
    given = [(name, value) for properties in profiles for name, value in properties.items()]
    assert not [(name, value) for name, value in given if name in kinds and not kinds[name].takes(value)]


@pytest.mark.parametrize(
    ("more", "line", "words"),
    [
        ("hadoop: {yarn.scheduler.maximum-allocation-mb: 512}", 10, "yarn.scheduler.minimum-allocation-mb is 1024 MiB"),
        ("hadoop:\n  mapreduce.job.reduces: 2\n  mapreduce.map.cpu.vcores: 9", 12, "mapreduce.map.cpu.vcores is 9"),
        ("profiles:\n  defaults:\n    properties:\n      mapreduce.map.memory.mb: 90000", 13, "the NodeManager offers"),
        ("memory: 1GiB", 10, "a memory limit of 1GiB is too small: the 5 daemons take about 640 MiB"),
    ],
)
def test_a_container_without_room_is_refused_with_the_line_of_what_asks_for_it(tmp_path, more, line, words):
    (tmp_path / "demo.yaml").write_text(GOOD + more + "\n")
    source = ExperimentSource(tmp_path / "demo.yaml")
    trials = plan_and_more(source, WORDS)[0].trials
    trial = next(one for one in trials if one.settings.name == "defaults")
    with pytest.raises(BadInputError, match=rf"demo.yaml, line {line}: {words}"), located(source):
        stack_of().check(trial.cluster, trial.settings.properties)


TABLES = Service(
    "tables",
    least_sizes={"tables.split": LeastSize(1024, 2, "tables.least-split", "1k or more, an even number")},
    unverifiable={"tables.encrypt": Unverifiable("true", "which reads plain text; leave it out")},
    first_words=frozenset({"tables"}),
    open_names=(r"tables\.of\..+",),
)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("tables.split: 100", "tables.split is '100', and must be 1k or more, an even number"),
        ("tables.split: 2k", None),
        ("tables.split: 100\n  tables.least-split: 10", None),
        ("tables.encrypt: true", "tables.encrypt can't be true for .*, which reads plain text; leave it out"),
        ("tables.encrypt: false", None),
    ],
)
def test_what_a_service_says_of_its_properties_holds(tmp_path, given, problem):
    text = GOOD + f"hadoop:\n  {given}\n"
    with plugged_in():
        SERVICES.add("tables", TABLES)
        if problem is None:
            assert plan_of(tmp_path, text).trials
            return
        with pytest.raises(BadInputError, match=problem):
            plan_of(tmp_path, text)


def test_a_name_that_begins_as_a_services_own_do_is_doubted_unless_it_is_known_by_its_form(tmp_path):
    file = tmp_path / "demo.yaml"
    file.write_text(GOOD + "hadoop:\n  tables.spilt: 5\n  tables.of.mine: 6\n")
    assert not make_plan(file, KNOWN).doubts
    with plugged_in():
        SERVICES.add("tables", TABLES)
        mapreduce = ENGINES["mapreduce"]
        ENGINES._kinds["mapreduce"] = mapreduce._replace(services=(*mapreduce.services, "tables"))
        (doubt,) = make_plan(file, KNOWN).doubts
    assert doubt.what == "Hadoop has no property tables.spilt (line 11)"


@pytest.mark.parametrize(
    ("place", "name", "value", "words"),
    [
        ("spark", "fs.defaultFS", "file:///", "fs.defaultFS can't be set on an embedded cluster"),
        ("spark", "dfs.replication", "x", "dfs.replication is 'x', and must be a whole number"),
        ("spark", "mapreduce.map.speculative", "no", "mapreduce.map.speculative is 'no', and must be true or false"),
        ("spark", "io.sort.mb", "5", "io.sort.mb is deprecated; it is called mapreduce.task.io.sort.mb now"),
        ("arguments", "fs.defaultFS", "file:///", "fs.defaultFS can't be set on an embedded cluster"),
        ("arguments", "dfs.replication", "x", "dfs.replication is 'x', and must be a whole number"),
        ("arguments", "dfs.namenode.handler.count", "5", "is read by the cluster's daemons.*own `hadoop`"),
    ],
)
def test_what_reaches_hadoop_another_way_is_held_to_the_same(tmp_path, place, name, value, words):
    text = GOOD + f"spark: {{'spark.hadoop.{name}': '{value}'}}\n"
    if place == "arguments":
        text = OWN.replace("hadoop: {my.jobs.own: LEVELS}", f"options: {{arguments: '-D{name}={value} {{output}}'}}")
    (tmp_path / "demo.yaml").write_text(text)
    with pytest.raises(BadInputError, match=rf"line \d+: .*{words}"):
        make_plan(tmp_path / "demo.yaml", KNOWN)


def test_old_names_in_a_programs_arguments_work_as_ever(tmp_path):
    option = "options: {arguments: '-Dmapred.reduce.tasks=2 {output}'}"
    (tmp_path / "demo.yaml").write_text(OWN.replace("hadoop: {my.jobs.own: LEVELS}", option))
    make_plan(tmp_path / "demo.yaml", KNOWN)
