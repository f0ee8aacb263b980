"""Proves that a user's jar is called as asked, is judged by the user's own command, and that mistakes are one sentence."""

import gzip
import sys
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from assay.input.catalogue import open_dataset
from assay.model.dataset import DatasetSpec
from assay.model.doubt import Outcome
from assay.model.engine import History, JobReference, LaunchReport
from assay.model.errors import AssayError, BadInputError
from assay.model.progress import Silent
from assay.model.trial import WorkloadSpec
from assay.workload.command import CommandWorkload
from assay_extras.testing.fake_hadoop import FakeEngine, FakeStore, Script
from tests.builders import a_trial

OUTPUT = "/base/output"


def make_jar(path: Path, *, manifest: str | None = None, classes: tuple[str, ...] = ()) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        if manifest is not None:
            archive.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\r\nMain-Class: {manifest}\r\n")
        for name in classes:
            archive.writestr(f"{name.replace('.', '/')}.class", b"")
    return path


class Recorder(FakeEngine):
    """Remembers the programs, each of which is one job; `state` is that of every job."""

    def __init__(self, store, state="SUCCEEDED"):
        super().__init__(Script(), a_trial(), store)
        self.programs = []
        self.state = state

    def run_program(self, program, progress):
        self.programs.append(program)
        return LaunchReport(jobs=(JobReference(name="x 1", id="job_1_0001"),), result={})

    def history(self, job):
        found = super().history(job)
        return History(job=found.job.model_copy(update={"state": self.state}), attempts=())


class Puts(FakeStore):
    """Remembers what was put where; only `there` exists beside that."""

    def __init__(self, there=()):
        super().__init__(Script())
        self.put_files, self.there = {}, set(there)

    def put(self, source, path):
        self.put_files[path] = source

    def size_bytes(self, path):
        return int(path in self.there)


@pytest.fixture
def options(tmp_path):
    """A jar with a main class in its manifest, an input of two lines, and the folder of both."""
    (tmp_path / "words.txt").write_text("one\ntwo\n")
    jar = make_jar(tmp_path / "job.jar", manifest="org.example.Main", classes=("org.example.Main", "Other"))
    return {"jar": str(jar), "input": str(tmp_path / "words.txt"), "folder": str(tmp_path)}


def a_command(options, hadoop=None, dataset=None, variant="own", **more):
    spec = WorkloadSpec(name="command", variant=variant, options={**options, **more}, hadoop=hadoop or {})
    return CommandWorkload(spec, "/base", dataset)


def program_of(command):
    engine = Recorder(Puts())
    command.run(engine, Silent())
    (program,) = engine.programs
    return program


def verdicts_of(command, contents=None):
    store = FakeStore(Script())
    store.contents = {f"{OUTPUT}/part-r-00000": b"2 lines\n"} if contents is None else contents
    return command.verify(store, LaunchReport(jobs=(), result={}))


def test_a_file_is_staged_and_the_jar_is_called_with_it(options, tmp_path):
    command, store = a_command(options), Puts()
    command.stage(store, Recorder(store), Silent())
    assert store.put_files == {"/base/input/words.txt": tmp_path / "words.txt"}
    program = program_of(command)
    assert program.arguments == ("/base/input/words.txt", OUTPUT)
    assert (program.jar, program.main_class, program.folder) == (options["jar"], None, tmp_path)


def test_a_folder_is_staged_without_hidden_files(options, tmp_path):
    folder = tmp_path / "many"
    (folder / "deep").mkdir(parents=True)
    for name in ("a", "deep/b", ".hidden", "_SUCCESS"):
        (folder / name).write_text("x")
    (folder / "linked").symlink_to("deep")
    command, store = a_command(options, input=str(folder)), Puts()
    command.stage(store, Recorder(store), Silent())
    assert set(store.put_files) == {"/base/input/a", "/base/input/deep/b", "/base/input/linked/b"}
    assert program_of(command).arguments == ("/base/input", OUTPUT)


def test_a_place_in_the_store_must_be_there(options):
    command = a_command(options, input="hdfs:/logs")
    command.stage(Puts(there=["hdfs:/logs"]), Recorder(Puts()), Silent())
    assert program_of(command).arguments == ("hdfs:/logs", OUTPUT)
    with pytest.raises(AssayError, match="the input hdfs:/logs is not there, or empty"):
        command.stage(Puts(), Recorder(Puts()), Silent())


def test_arguments_are_split_as_a_shell_does_and_properties_go_where_asked(options):
    command = a_command(
        options, hadoop={"a.b": "c d"}, arguments="grep {hadoop} {input} {output}/deep 'x y' {scratch}/log a{2}"
    )
    assert program_of(command).arguments == (
        "grep", "-Da.b=c d", "/base/input/words.txt", f"{OUTPUT}/deep", "x y", "{scratch}/log", "a{2}",
    )  # fmt: skip


def test_a_class_is_named_as_the_jar_needs_it(options, tmp_path):
    assert program_of(a_command(options, **{"class": "org.example.Main"})).main_class is None
    assert program_of(a_command(options, **{"class": "Other"})).main_class == "Other"
    bare = str(make_jar(tmp_path / "bare.jar", classes=("Other",)))
    program = program_of(a_command(options, jar=bare, **{"class": "Other"}))
    assert (program.main_class, program.arguments[0]) == (None, "Other")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"jar": ""}, "jar is '', and must be the jar's file"),
        ({"jar": "/nowhere/job.jar"}, "jar is '/nowhere/job.jar', and must be a file that is there"),
        ({"jar": sys.executable}, "must be a jar, and it is a file of another kind"),
        ({"class": "org.example.Mian"}, r"class is 'org.example.Mian', and must be a class in job\.jar"),
        (
            {"arguments": "org.example.Mian {input} {output}"},
            r"arguments is .*begin with a class in job\.jar; did you mean 'org\.example\.Main'\?",
        ),
        ({"input": "/nowhere"}, "input is '/nowhere', and must be a file or folder that is there"),
        ({"input": ""}, r"arguments is .* must be without \{input\}, since there is none"),
        ({"arguments": "{input}"}, r"arguments is '\{input\}', and must be a text with \{output\}"),
        ({"arguments": "{input} {outptu}"}, r"without \{outptu\}, which stands for nothing; did you mean '\{output\}'"),
        ({"arguments": "'{input} {output}"}, r"words as a shell would split them \(no closing quotation\)"),
        ({"verify": "nosuchprogram {output}"}, r"verify is .* on the PATH, and nosuchprogram is not"),
        ({"verify": "./check {output}"}, r"verify is .* and /.*/check is not"),
        ({"verify": "cat"}, r"verify is 'cat', and must be a command with \{output\}"),
        ({"verify": "cat {output} {scratch}"}, r"without \{scratch\}, which stands for nothing"),
        ({"verify_seconds": "soon"}, "verify_seconds is 'soon', and must be a number above 0"),
        ({"verfy": "x"}, "no option 'verfy'; did you mean 'verify'"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(options, changed, message):
    with pytest.raises(BadInputError, match=message) as caught:
        a_command(options, **changed)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("first", ["org.example.Main", "org.elsewhere.Main", "wordcount", "org.example.conf", "Othre"])
def test_a_first_argument_that_may_be_right_is_left_to_the_jar(options, first):
    assert program_of(a_command(options, arguments=f"{first} {{input}} {{output}}")).arguments[0] == first


def test_a_jar_without_any_main_class_is_refused(options, tmp_path):
    with pytest.raises(BadInputError, match="names no main class in its manifest; name one in the option class"):
        a_command(options, jar=str(make_jar(tmp_path / "bare.jar", classes=("Other",))))


@pytest.mark.parametrize("at", [0, 60, -5, -60])
def test_a_damaged_jar_is_refused_or_read_whole(options, tmp_path, at):
    content = bytearray(Path(options["jar"]).read_bytes())
    content[at] ^= 0xFF
    (tmp_path / "damaged.jar").write_bytes(content)
    with suppress(BadInputError):  # anything else fails the test
        a_command(options, jar=str(tmp_path / "damaged.jar"))


@pytest.mark.slow
def test_of_a_manifest_without_end_the_beginning_is_read(options, tmp_path):
    jar = tmp_path / "endless.jar"
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/MANIFEST.MF", b"Main-Class: Other\n" + bytes(64 << 20))
    tracemalloc.start()
    a_command(options, jar=str(jar))
    assert tracemalloc.get_traced_memory()[1] < 32 << 20
    tracemalloc.stop()


def test_an_application_of_spark_is_submitted_with_its_class_and_properties(options, tmp_path):
    own = {"spark.executor.memory": "2g"}
    program = program_of(a_command(options, own, variant="submitted", arguments="{input} {output} {hadoop}"))
    assert program.arguments == ("/base/input/words.txt", OUTPUT)
    assert (program.main_class, program.properties) == (None, own)
    bare = make_jar(tmp_path / "bare.jar", classes=("org.example.Count",))
    named = {"jar": str(bare), "class": "org.example.Count"}
    program = program_of(a_command(options, own, variant="submitted", **named))
    assert (program.main_class, program.arguments) == ("org.example.Count", ("/base/input/words.txt", OUTPUT))
    with pytest.raises(BadInputError, match="names no main class in its manifest"):
        a_command(options, variant="submitted", jar=str(bare))


@pytest.mark.parametrize("word", ["--deploy-mode", "--master=yarn", "--executor-memory"])
def test_options_of_spark_submit_are_no_arguments(options, word):
    arguments = f"{{input}} {{output}} {word} cluster"
    with pytest.raises(BadInputError, match=rf"and {word.partition('=')[0]} is an option of what submits it: \w+"):
        a_command(options, variant="submitted", arguments=arguments)
    assert word in program_of(a_command(options, arguments=arguments)).arguments


@pytest.fixture
def spark_home(tmp_path, monkeypatch):
    """Makes a distribution with PySpark of a version, whose folder SPARK_HOME names."""

    def make(version="3.5.1", py4j="py4j-0.10.9.7-src.zip"):
        lib = tmp_path / "spark" / "python" / "lib"
        lib.mkdir(parents=True)
        (lib / py4j).touch()
        with zipfile.ZipFile(lib / "pyspark.zip", "w") as archive:
            archive.writestr("pyspark/version.py", f'# of {version}\n\n__version__: str = "{version}"\n')
        monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
        return lib

    return make


@pytest.fixture
def python_options(options, tmp_path):
    """Those of a Python file, in a folder whose name no jar could have."""
    (tmp_path / "my+apps").mkdir()
    (tmp_path / "my+apps" / "count.py").write_text("import pyspark\n")
    return {**options, "jar": str(tmp_path / "my+apps" / "count.py")}


def test_a_python_file_is_submitted_with_the_pyspark_of_the_users_spark(python_options, spark_home):
    lib, own = spark_home(), {"spark.submit.pyFiles": "more.py"}
    program = program_of(a_command(python_options, own, variant="submitted", arguments="org.example.x {output}"))
    assert (program.name, program.jar, program.main_class) == ("count.py", python_options["jar"], None)
    assert (program.arguments, program.properties) == (("org.example.x", OUTPUT), own)
    archives = [str(lib / "pyspark.zip"), str(lib / "py4j-0.10.9.7-src.zip")]
    assert program.variables == {"PYTHONPATH": ":".join(archives), "PYSPARK_ARCHIVES_PATH": ",".join(archives)}


def test_a_jar_needs_no_pyspark(options, monkeypatch):
    monkeypatch.delenv("SPARK_HOME", raising=False)
    assert program_of(a_command(options, variant="submitted")).variables == {}


def test_a_python_file_that_cant_be_run_is_refused(python_options, spark_home, tmp_path, monkeypatch):
    spark_home()
    with pytest.raises(
        BadInputError, match=r"must be a jar, since only variant submitted \(engine: spark\) runs \.py files"
    ):
        a_command(python_options)
    with pytest.raises(
        BadInputError, match=r"class is 'Count', and must be left out: count\.py is no jar and has no class"
    ):
        a_command(python_options, variant="submitted", **{"class": "Count"})
    with pytest.raises(BadInputError, match=r"none\.py', and must be a file that is there"):
        a_command(python_options, variant="submitted", jar=str(tmp_path / "none.py"))
    (tmp_path / "a#b.py").touch()
    with pytest.raises(BadInputError, match="at a path without '#', which URLs read otherwise"):
        a_command(python_options, variant="submitted", jar=str(tmp_path / "a#b.py"))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BadInputError, match="needs python3, and there is none on the PATH"):
        a_command(python_options, variant="submitted")


CURE = "; let SPARK_HOME name the folder of a Spark 3.5 distribution, or of the Python package pyspark 3.5 "


@pytest.mark.parametrize(
    ("version", "told"),
    [("3.4.9", "is of version 3.4.9"), ("4.0.0", "is of version 4.0.0"), ("3.50.0", "is of version 3.50.0"),
     ("", "tells no version")],
)  # fmt: skip
def test_pyspark_of_another_version_is_refused(python_options, spark_home, version, told):
    spark_home(version)
    with pytest.raises(BadInputError, match=f"whose PySpark {told}, and Assay runs Spark 3.5{CURE}"):
        a_command(python_options, variant="submitted")


def test_without_a_whole_pyspark_a_python_file_is_refused(python_options, spark_home, tmp_path, monkeypatch):
    lib = spark_home()
    (lib / "pyspark.zip").write_bytes(b"no archive")
    with pytest.raises(BadInputError, match="tells no version"):
        a_command(python_options, variant="submitted")
    (lib / "py4j-0.10.9.7-src.zip").unlink()
    with pytest.raises(BadInputError, match=f"there is no pyspark.zip or no py4j-.*-src.zip in its python/lib{CURE}"):
        a_command(python_options, variant="submitted")
    monkeypatch.setenv("SPARK_HOME", f"{tmp_path}/my spark")
    with pytest.raises(BadInputError, match="can't take a path with a blank"):
        a_command(python_options, variant="submitted")
    for value in ("", None):
        monkeypatch.setenv("SPARK_HOME", value) if value is not None else monkeypatch.delenv("SPARK_HOME")
        with pytest.raises(BadInputError, match=f"needs PySpark, and SPARK_HOME is not set{CURE}"):
            a_command(python_options, variant="submitted")


def test_a_query_gets_the_folder_of_its_input_and_its_variant_runs_no_jar(options, tmp_path, monkeypatch):
    for folder, file in (("bin", "beeline"), ("lib", "hive-exec-4.1.0.jar")):
        (tmp_path / "hive" / folder).mkdir(parents=True)
        (tmp_path / "hive" / folder / file).touch()
    monkeypatch.setenv("HIVE_HOME", str(tmp_path / "hive"))
    (tmp_path / "lines.sql").touch()
    query = {**options, "jar": str(tmp_path / "lines.sql")}
    program = program_of(a_command(query, {"a": "b"}, variant="query"))
    assert program.arguments == ("--hivevar", "input=/base/input", "--hivevar", f"output={OUTPUT}")
    assert (program.properties, program.variables) == ({"a": "b"}, {"HIVE_HOME": str(tmp_path / "hive")})
    program = program_of(a_command(query, variant="query", arguments="--hivevar to={output}"))
    assert program.arguments == ("--hivevar", f"to={OUTPUT}")
    with pytest.raises(BadInputError, match=r"must be a file ending in \.sql or \.hql for variant query"):
        a_command(options, variant="query")


def test_properties_need_their_place(options):
    with pytest.raises(BadInputError, match=r"with \{hadoop\} as a word"):
        a_command(options, hadoop={"a": "b"})


@pytest.mark.parametrize("name", ["a#b", "a:b", "a%b", "a?b"])
def test_names_that_hdfs_cant_take_are_refused(options, tmp_path, name):
    (tmp_path / name).write_text("x")
    with pytest.raises(BadInputError, match="can't be staged; rename it"):
        a_command(options, input=str(tmp_path / name))


def test_an_empty_input_is_refused(options, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInputError, match="a file or folder with something in it"):
        a_command(options, input=str(tmp_path / "empty"))


def test_without_a_command_the_verdict_is_unknown_and_says_what_to_add(options):
    (verdict,) = verdicts_of(a_command(options))
    assert verdict.outcome is Outcome.UNKNOWN
    assert 'verify: "python3 check.py {output}"' in verdict.detail


def test_the_command_gets_the_output_and_the_input_and_runs_in_the_folder(options, tmp_path):
    (tmp_path / "check.py").write_text(
        "import pathlib, sys\n"
        "output, given = map(pathlib.Path, sys.argv[1:])\n"
        "assert (output / 'part-r-00000').read_text() == f'{len(given.read_text().splitlines())} lines\\n'\n"
        "print('both agree')\n"
    )
    command = a_command(options, verify=f"{sys.executable} check.py {{output}} {{input}}")
    (verdict,) = verdicts_of(command)
    assert (verdict.outcome, verdict.detail) == (Outcome.PASS, "exit code 0: both agree")
    for wrong in ({}, {f"{OUTPUT}/part-r-00000": b"3 lines\n"}):
        (verdict,) = verdicts_of(command, wrong)
        assert verdict.outcome is Outcome.FAIL


CHECK = """\
import pathlib, sys
output, given = map(pathlib.Path, sys.argv[1:])
assert (output / 'part-r-00000').read_text() == '4 lines\\n'
print(given.read_text().split('\\n'))
"""


@pytest.mark.parametrize("packed", [True, False])
def test_the_command_gets_a_dataset_as_the_job_read_it(options, tmp_path, packed):
    """The file has comments, repeats, loops and both directions, and may be packed; the job reads its normal form."""
    raw = b"# a comment\n3 1\n1 3\n2 3\n2 3\n9 9\n4 4611686018427387904\n"
    file = tmp_path / "raw.txt.gz"
    file.write_bytes(gzip.compress(raw) if packed else raw)
    file = file if packed else file.rename(tmp_path / "raw.txt")
    dataset = open_dataset(DatasetSpec(name="raw", file=file), tmp_path / "cache")
    (tmp_path / "check.py").write_text(CHECK)
    command = a_command(
        options, dataset=dataset, input="dataset", verify=f"{sys.executable} check.py {{output}} {{input}}"
    )
    store = Puts()
    command.stage(store, Recorder(store), Silent())
    assert program_of(command).arguments == ("/base/input", OUTPUT)
    store.contents = {f"{OUTPUT}/part-r-00000": b"4 lines\n"}
    (verdict,) = command.verify(store, LaunchReport(jobs=(), result={}))
    assert verdict.outcome is Outcome.PASS, verdict.detail
    seen = ["1\\t3", "2\\t3", "4\\t4611686018427387904", "9", ""]
    assert verdict.detail == "exit code 0: [" + ", ".join(f"'{line}'" for line in seen) + "]"


def test_a_failing_command_is_told_with_its_last_lines(options):
    said = "for i in range(9): print('line', i)"
    (verdict,) = verdicts_of(
        a_command(
            options,
            verify=f'{sys.executable} -c "{said}; raise SystemExit(3)" {{output}}'.replace("; raise", "\nraise"),
        )
    )
    assert verdict.outcome is Outcome.FAIL
    assert verdict.detail.split("\n  ") == ["exit code 3: line 4", "line 5", "line 6", "line 7", "line 8"]


def test_a_command_that_takes_too_long_is_unknown(options):
    (verdict,) = verdicts_of(a_command(options, verify="sh -c 'sleep 60 & sleep 60' {output}", verify_seconds="0.2"))
    assert verdict.outcome is Outcome.UNKNOWN
    assert "did not end within 0.2 s; the option verify_seconds" in verdict.detail


def test_a_command_that_cant_be_run_is_unknown(options, tmp_path):
    (tmp_path / "check").write_text("no program\n")
    (verdict,) = verdicts_of(a_command(options, verify="./check {output}"))
    assert verdict.outcome is Outcome.UNKNOWN


def test_an_output_that_is_not_there_is_an_error_of_the_store(options):
    class Bare(FakeStore):
        def list_files(self, path):
            raise AssayError(f"{path} is not there")

    for more in ({}, {"verify": "true {output}"}):
        with pytest.raises(AssayError, match="is not there"):
            a_command(options, **more).verify(Bare(Script()), LaunchReport(jobs=(), result={}))


def test_a_jar_that_hides_a_failed_job_is_not_believed(options):
    with pytest.raises(AssayError, match=r"job\.jar ended with exit code 0, but its job job_1_0001 is failed"):
        a_command(options).run(Recorder(Puts(), state="FAILED"), Silent())
