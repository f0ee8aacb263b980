"""A path that Hadoop would read as another one is refused before anything starts, with the character; others work."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.host.files import plain
from assay.model.errors import BadInputError
from assay.model.installed import kind_of, variants_of
from assay.model.trial import MediumSpec
from assay.platform.distribution import Distribution, Java, check_paths
from assay.workload.command import the_jar
from tests.builders import an_installation
from tests.plan.test_make import GOOD, plan_of

ODD = {
    "a b": "a blank", "a#b": "'#'", "a%20b": "'%'", "[x]": r"'\['", "a,b": "','", "a:b": "':'", "$HOME": "'[$]'",
    "a;b": "';'", "it's": '"\'"', "a\\b": r"'\\\\'", "a^b": r"'\^'", "a*": "'[*]'", "{a}": "'{'", "a\u00a0b": "U.00A0",
    "a\tb": "U.0009",
}  # fmt: skip
GOOD_NAMES = ["ä", "日本", "a-b_c.d", "a+b", "a=b@c~d", "a\u0308"]


@pytest.mark.parametrize("kind", ["directory", "emulated"])
@pytest.mark.parametrize("name", ODD)
def test_a_medium_at_an_odd_path_is_refused_with_the_line_and_the_character(tmp_path, kind, name):
    (tmp_path / name).mkdir()
    drive = "profile: wd10ezex, " if kind == "emulated" else ""
    text = GOOD.partition("media:")[0] + f"media:\n  disk: {{kind: {kind}, {drive}path: {str(tmp_path / name)!r}}}\n"
    if name in {"it's", "a\tb", "a\u00a0b"}:  # not easily written so in YAML
        text = text.replace(repr(str(tmp_path / name)), f'"{tmp_path}/' + name.replace("\t", "\\t") + '"')
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BadInputError, match=rf"line \d+: medium 'disk': .*can't take a path with {ODD[name]}"):
        plan_of(tmp_path, text.replace("\\\\", "\\"))
    assert {path.name for path in tmp_path.iterdir()} - {path.name for path in before} <= {"demo.yaml"}


@pytest.mark.parametrize("name", [*ODD, *GOOD_NAMES])
def test_the_working_directory_as_a_medium_works_or_is_refused(tmp_path, monkeypatch, name):
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)
    spec = MediumSpec(name="disk", kind="directory")
    medium = kind_of(spec).open(spec, SimpleNamespace(id="x"), None)
    if name in GOOD_NAMES:
        assert medium.space().free_bytes > 0
        return
    with pytest.raises(BadInputError, match=f"medium 'disk': .*can't take a path with {ODD[name]}"):
        medium.space()
    assert list((tmp_path / name).iterdir()) == []


def test_a_linked_medium_is_judged_by_where_it_leads(tmp_path):
    (tmp_path / "a b").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a b")
    with pytest.raises(BadInputError, match="can't take a path with a blank"):
        plan_of(tmp_path, GOOD.partition("media:")[0] + "media: {disk: {kind: directory, path: link}}\n")


def installed(folder, *, java="/java", home=None):
    parts = Path(folder) / ".assay"
    installation = an_installation(Path(folder), parts, jobs_jar=Path(folder) / "jobs.jar")
    runtime = Java(home=Path(java), feature=17, version="17", fingerprint="x")
    own = {"home": Path(home)} if home else {"jars": parts / "hadoop" / "lib"}
    return installation, Distribution(version="3.4.2", java=runtime, classpath=(), **own)


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ({"folder": "/my work/assay"}, "this copy of Assay, with /my work/assay/.* a blank"),
        ({"folder": "/a+b"}, "this copy of Assay, with /a.b/.* '[+]'"),
        ({"folder": "/a!b"}, "this copy of Assay, with /a!b/.* '!'"),
        ({"folder": "/a:b"}, "this copy of Assay, with /a:b/.* ':'"),
        ({"folder": "/assay", "java": "/opt/My JDK"}, "the Java of JAVA_HOME or PATH in /opt/My JDK .* a blank"),
        ({"folder": "/assay", "home": "/opt/hadoop (3)"}, "HADOOP_HOME /opt/hadoop .3. .* a blank"),
        ({"folder": "/assay", "home": "/opt/hadoop*"}, "HADOOP_HOME /opt/hadoop[*] .* '[*]'"),
    ],
)
def test_assay_java_and_hadoop_at_odd_paths_are_refused(places, words):
    with pytest.raises(BadInputError, match=words):
        check_paths(*installed(**places))


@pytest.mark.parametrize("places", [{"folder": "/ä/assay"}, {"folder": "/a", "java": "/opt/jdk-17.0.9+9"}])
def test_they_work_at_others(places):
    check_paths(*installed(**places))


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_plain_paths_are_themselves(name):
    assert plain(Path("/data") / name, "medium 'x':") == Path("/data") / name


@pytest.mark.parametrize(("name", "sign"), [("a+b.jar", "+"), ("a!b.jar", "!"), ("a:b.jar", ":")])
def test_a_jar_that_java_would_look_for_elsewhere_is_refused(tmp_path, name, sign):
    (tmp_path / name).write_bytes(b"")
    options = SimpleNamespace(
        text=lambda _: str(tmp_path / name), refusal=lambda key, wanted: BadInputError(f"{key} must be {wanted}")
    )
    with pytest.raises(BadInputError, match=f"a file at a path without '[{sign}]'"):
        the_jar(options, "own", variants_of("command"))
