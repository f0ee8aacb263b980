"""Proves that what was applied is taken back exactly, also after an interruption, and never over somebody else's change."""

import pytest

from assay.direct.applied import Clients, State, apply_steps, read_journal, states, steps_of, undo_steps
from assay.direct.plan_file import PlanFile
from assay.model.errors import AssayError, BadInputError

JAR = "/apps/assay/direct.jar"


class Files:
    """A file system in memory, as much of it as is asked for."""

    def __init__(self, paths=()):
        self.folders, self.contents, self.paths = {"/apps/assay"}, {}, paths

    def exists(self, path):
        return path in self.paths

    def list_files(self, path):
        if path not in self.folders:
            raise AssayError(f"{path}: No such file or directory")
        return []

    def size_bytes(self, path):
        return len(self.contents.get(path, b""))

    def pieces(self, path):
        yield self.contents[path]

    def put(self, source, path):
        assert path not in self.contents
        self.contents[path] = source.read_bytes()

    def let_all_read(self, path):
        self.readable = path

    def delete(self, path):
        del self.contents[path]


class Policies:
    """Policies in memory; the one at `breaks` can't be set."""

    def __init__(self, **of_paths):
        self.own = {f"/{path.replace('_', '/')}": policy for path, policy in of_paths.items()}
        self.paths, self.breaks = {"/", "/data", "/data/a", "/data/b"}, ""

    def of(self, path):
        if path not in self.paths:
            raise AssayError(f"{path}: does not exist")
        if path in self.own or path == "/":
            return self.own.get(path, "")
        return self.of_folder(path)

    def of_folder(self, path):
        return self.of(path.rpartition("/")[0] or "/")

    def set(self, path, policy):
        if path == self.breaks:
            raise AssayError("the client failed")
        self.own[path] = policy

    def unset(self, path):
        self.own.pop(path, None)

    def names(self):
        return ["HOT", "COLD", "ALL_SSD", "ONE_SSD"]


@pytest.fixture
def jar(tmp_path):
    file = tmp_path / "direct.jar"
    file.write_bytes(b"classes")
    return file


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "journal.json"


def a_plan(**policies):
    paths = {f"/{path.replace('_', '/')}": policy for path, policy in policies.items()}
    return PlanFile(tier="ssd", jar=JAR, jobs={}, policies=paths)


def both(**of_paths):
    policies = Policies(**of_paths)
    return Clients(Files(policies.paths), policies)


def test_undo_restores_policies_of_their_own_and_those_of_folders(jar, journal):
    clients = both(data="HOT", data_a="COLD")
    before = dict(clients.policies.own)
    steps = steps_of(a_plan(data_a="ALL_SSD", data_b="ONE_SSD"), jar, None, clients)
    assert [(step.before, step.inherited) for step in steps.policies] == [("COLD", False), ("HOT", True)]
    apply_steps(steps, journal, jar, clients)
    assert clients.files.readable == JAR
    assert clients.policies.own == {**before, "/data/a": "ALL_SSD", "/data/b": "ONE_SSD"}
    assert clients.files.contents == {JAR: b"classes"}
    assert read_journal(journal) == steps
    assert {state for _, state in states(steps, clients)} == {State.APPLIED}
    undo_steps(steps, journal, clients)
    assert clients.policies.own == before
    assert not clients.files.contents
    assert not journal.exists()


def test_what_is_in_place_already_is_no_step_and_is_not_taken_back(jar, journal):
    clients = both(data_a="ALL_SSD")
    clients.files.contents[JAR] = b"classes"
    steps = steps_of(a_plan(data_a="ALL_SSD"), jar, None, clients)
    assert (steps.jar, steps.policies) == (None, ())


def test_what_was_done_before_a_failure_is_written_down_and_can_be_taken_back(jar, journal):
    clients = both()
    clients.policies.breaks = "/data/b"
    steps = steps_of(a_plan(data_a="ALL_SSD", data_b="ALL_SSD"), jar, None, clients)
    with pytest.raises(AssayError, match="the client failed"):
        apply_steps(steps, journal, jar, clients)
    assert [state for _, state in states(read_journal(journal), clients)] == [
        State.APPLIED,
        State.APPLIED,
        State.BEFORE,
    ]
    undo_steps(read_journal(journal), journal, clients)
    assert not clients.policies.own
    assert not clients.files.contents


@pytest.mark.parametrize("whose", ["jar", "policy"])
def test_undo_after_somebody_elses_change_is_refused_before_anything_is_taken_back(jar, journal, whose):
    clients = both(data_a="HOT")
    steps = steps_of(a_plan(data_a="ALL_SSD"), jar, None, clients)
    apply_steps(steps, journal, jar, clients)
    if whose == "jar":
        clients.files.contents[JAR] = b"other classes"
    else:
        clients.policies.own["/data/a"] = "COLD"
    now = (dict(clients.files.contents), dict(clients.policies.own))
    with pytest.raises(BadInputError, match="changed by somebody else since"):
        undo_steps(steps, journal, clients)
    assert (clients.files.contents, clients.policies.own) == now
    assert journal.exists()


def test_a_folders_policy_that_was_changed_meanwhile_is_told(jar, journal):
    clients = both(data="HOT")
    steps = steps_of(a_plan(data_a="ALL_SSD"), jar, None, clients)
    apply_steps(steps, journal, jar, clients)
    clients.policies.own["/data"] = "COLD"
    with pytest.raises(AssayError, match="the policy of /data/a was HOT before and is COLD now"):
        undo_steps(steps, journal, clients)
    assert journal.exists()


def test_a_path_that_is_gone_is_told_and_the_rest_is_taken_back(jar, journal):
    clients = both(data_b="HOT")
    steps = steps_of(a_plan(data_a="ALL_SSD", data_b="ALL_SSD"), jar, None, clients)
    apply_steps(steps, journal, jar, clients)
    clients.policies.paths.remove("/data/a")
    standing = [
        (f"jar {JAR}", State.APPLIED), ("policy of /data/a", State.GONE), ("policy of /data/b", State.APPLIED),
    ]  # fmt: skip
    assert states(steps, clients) == standing
    assert undo_steps(steps, journal, clients) == standing
    assert clients.policies.of("/data/b") == "HOT"
    assert not clients.files.contents
    assert not journal.exists()


def test_a_path_that_is_there_and_tells_no_policy_is_not_gone(jar, journal):
    clients = both()
    steps = steps_of(a_plan(data_a="ALL_SSD"), jar, None, clients)
    clients.policies.paths = {"/"}
    with pytest.raises(AssayError, match="/data/a: does not exist"):
        states(steps, clients)


def test_a_policy_that_cannot_be_taken_back_keeps_the_journal_and_no_other_step(jar, journal):
    clients = both(data_a="HOT", data_b="HOT")
    steps = steps_of(a_plan(data_a="ALL_SSD", data_b="ALL_SSD"), jar, None, clients)
    apply_steps(steps, journal, jar, clients)
    clients.policies.breaks = "/data/a"
    with pytest.raises(AssayError, match=r"^the client failed; all else is taken back, and .*journal\.json stays$"):
        undo_steps(steps, journal, clients)
    assert clients.policies.own == {"/data/a": "ALL_SSD", "/data/b": "HOT"}
    assert not clients.files.contents
    clients.policies.breaks = ""
    undo_steps(read_journal(journal), journal, clients)
    assert clients.policies.own == {"/data/a": "HOT", "/data/b": "HOT"}
    assert not journal.exists()


def test_what_cannot_be_applied_is_refused_before_anything_is_changed(jar, tmp_path):
    clients = both()
    for plan, file, said in (
        (a_plan(data_c="ALL_SSD"), jar, "/data/c can't be used"),
        (a_plan(data_a="SSD_ALL"), jar, "/data/a is to be 'SSD_ALL'"),
        (a_plan(), tmp_path / "none.jar", "none.jar is not there"),
        (a_plan().model_copy(update={"jar": "/no/direct.jar"}), jar, "make it with `hadoop fs -mkdir -p /no`"),
    ):
        with pytest.raises(BadInputError) as refused:
            steps_of(plan, file, None, clients)
        assert said in str(refused.value)
    clients.files.contents[JAR] = b"other classes"
    with pytest.raises(BadInputError, match="is another file already"):
        steps_of(a_plan(), jar, None, clients)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 2}'])
def test_a_file_that_is_no_journal_is_refused(journal, text):
    journal.write_text(text)
    with pytest.raises(BadInputError, match="is no journal of"):
        read_journal(journal)


def test_without_a_journal_nothing_was_applied(journal):
    with pytest.raises(BadInputError, match="nothing was applied here"):
        read_journal(journal)
