"""Proves that set-up makes what a command uses and nothing else, and that the emulator is built of the pinned crates alone.

The checkout is a copy of the scripts; python3, mvn, cargo and the like are stubs that write down how they were called.
"""

import fcntl
import os
import re
import shutil
import subprocess
import threading
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = (
    "awk", "bash", "cat", "chmod", "cmp", "cut", "date", "dirname", "find", "flock", "getent", "grep", "head", "id", "mkdir",
    "mv", "printf", "readlink", "rm", "sed", "sort", "tail", "touch",
)  # fmt: skip
PYTHON = """\
[[ $1 != -c ]] || { [[ $2 != *print* ]] || echo somewhere; exit 0; }
[[ $2 != venv ]] || { mkdir -p "$4/bin"; cp_stub "$4/bin/python"; }
"""
LOCKED = """\
case $1 in
  --version) echo "cargo 1.90.0" ;;
  generate-lockfile) printf 'version = 4\\nsource = "registry+somewhere"\\n' >Cargo.lock ;;
esac
"""
EVERYTHING = "venv libraries hadoop jobs tools emulator"


class Checkout:
    """Scripts and stubs in a folder of their own; `calls` are those of the stubs, in their order."""

    def __init__(self, root: Path) -> None:
        self.root, self.bin, self._log = root, root / "bin", root / "calls"
        checkout = root / "checkout"
        for name in ("setup", "emulator", "hadoop"):
            shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("Cargo.lock", "target"))
        for name in ("requirements.txt", "requirements-read.txt", "requirements-kerberos.txt"):
            shutil.copyfile(ROOT / name, checkout / name)
        self.bin.mkdir()
        for name in TOOLS:
            (self.bin / name).symlink_to(shutil.which(name))
        self.stub("python3", PYTHON.replace("cp_stub", f"ln -s {self.bin}/python3"))
        (self.bin / "ln").symlink_to(shutil.which("ln"))
        self.calls()

    def stub(self, name: str, body: str = "") -> None:
        """A command that writes down its name and arguments, then does this."""
        (self.bin / name).write_text(f'#!/usr/bin/env bash\necho "{name} $*" >>{self._log}\n{body}')
        (self.bin / name).chmod(0o755)

    def __call__(self, script: str, *arguments: str, code: int = 0, **variables: str) -> str:
        """A script's output and errors."""
        changing = {"JAVA_HOME", "HADOOP_HOME", "ASSAY_TESTS_MUST_RUN"}
        kept = {name: value for name, value in os.environ.items() if name not in changing}
        done = subprocess.run(
            [self.root / "checkout" / "setup" / script, *arguments], check=False, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**kept, **variables, "PATH": str(self.bin)},
        )  # fmt: skip
        assert done.returncode == code, done.stdout
        return done.stdout

    def calls(self) -> list[str]:
        """Since the last time that they were asked for; without the places of this checkout."""
        said = self._log.read_text() if self._log.exists() else ""
        self._log.unlink(missing_ok=True)
        return said.replace(f"{self.root}/checkout/", "").splitlines()


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.mark.parametrize(
    ("command_line", "parts"),
    [
        ("", "venv"),
        ("--help", "venv"),
        ("--version", "venv"),
        ("report runs/mine --format csv", "venv"),
        ("compare a b", "venv"),
        ("schema", "venv"),
        ("data get brightkite", "venv"),
        ("workloads list", "venv"),
        ("memory hold", "venv"),
        ("no-such-command", "venv"),
        ("run experiment.yaml --help", "venv"),
        ("quickstart -h", "venv"),
        ("run report", EVERYTHING),
        ("quickstart", EVERYTHING),
        ("doctor --json", EVERYTHING),
        ("cluster up", "venv libraries hadoop jobs"),
        ("media attach wd10ezex", "venv libraries tools emulator"),
        ("predict runs/mine --media nvme", "venv emulator"),
        ("direct plan --example --ssd-size 400GB", "venv"),
        ("direct apply plan.yaml --yes", "venv direct"),
    ],
)
def test_each_command_has_the_parts_that_it_uses(checkout, command_line, parts):
    assert checkout("prepare", "parts", *command_line.split()).split() == parts.split()
    assert checkout.calls() == []


@pytest.mark.slow
def test_what_a_service_brings_is_fetched_when_asked_for_and_again_when_it_is_out_of_date(checkout):
    source = checkout.root / "checkout" / "programs" / "brain"
    source.mkdir(parents=True)
    (source / "prepare").write_text(
        '#!/usr/bin/env bash\n[[ $1 != --about ]] || { echo "Brain 1.5 (3 MB)"; exit; }\necho "fetched into $1"\n'
    )
    (source / "prepare").chmod(0o755)
    jobs = checkout.root / "checkout" / "jobs"
    for folder in ("src/main", "target", "brain/src", "brain/target"):
        (jobs / folder).mkdir(parents=True)
    for file in ("parent.xml", "pom.xml", "target/assay-jobs.jar", "brain/pom.xml"):
        (jobs / file).touch()
    checkout.stub("javac", "echo javac 17.0.1\n")
    checkout.stub("mvn")
    assert "brain" not in checkout("prepare", "parts", "run").split()
    said = checkout("prepare", "brain", HADOOP_HOME="/nowhere")
    assert "assay: preparing Brain 1.5 (3 MB) ...\n" in said
    parts = checkout.root / "checkout" / ".assay"
    assert (parts / "prepare-brain.log").read_text() == f"fetched into {parts}/brain\n"
    assert checkout("prepare", "parts", "run").split() == EVERYTHING.split()
    assert checkout("prepare", "brain", HADOOP_HOME="/nowhere") == ""
    (jobs / "brain" / "target" / "made.jar").touch()
    assert checkout("prepare", "brain", HADOOP_HOME="/nowhere") == ""
    (jobs / "brain" / "src" / "Formats.java").touch()
    assert "preparing Brain" in checkout("prepare", "brain", HADOOP_HOME="/nowhere")
    assert checkout("prepare", "brain", HADOOP_HOME="/nowhere") == ""
    (jobs / "parent.xml").touch()
    assert "preparing Brain" in checkout("prepare", "brain", HADOOP_HOME="/nowhere")
    (jobs / "src" / "main" / "Jobs.java").touch()
    assert "Brain" not in checkout("prepare", "brain", HADOOP_HOME="/nowhere")
    (jobs / "brain" / "pom.xml").write_text("<root>${project.basedir}/../src/main/java</root>")
    assert "preparing Brain" in checkout("prepare", "brain", HADOOP_HOME="/nowhere")
    assert checkout("prepare", "brain", HADOOP_HOME="/nowhere") == ""
    (jobs / "src" / "main" / "Jobs.java").touch()
    assert "preparing Brain" in checkout("prepare", "brain", HADOOP_HOME="/nowhere")


def test_what_no_service_and_no_part_is_called_is_refused_with_those_that_are(checkout):
    shutil.copytree(ROOT / "programs", checkout.root / "checkout" / "programs")
    said = checkout("prepare", "brain", code=2)
    assert said.startswith("assay: usage: setup/prepare for ARGUMENT...")
    assert "| browser | cassandra documents hbase levitated mr-mpi redis spark tez" in said


@pytest.mark.parametrize("service", sorted(folder.name for folder in (ROOT / "programs").iterdir()))
def test_each_services_programs_say_what_they_are_and_how_large(service):
    about = subprocess.check_output([ROOT / "programs" / service / "prepare", "--about"], text=True)
    assert re.fullmatch(r"\S+ \d[\w.-]* .*\(\d+ [MG]B\)\n", about)


def test_a_report_needs_python_alone_and_is_prepared_once(checkout):
    for name in ("java", "javac", "mvn", "cargo", "apt-get"):
        checkout.stub(name, "exit 1\n")
    said = checkout("prepare", "for", "report", "runs/mine", JAVA_HOME="/nowhere")
    assert "prepared the Python environment" in said
    calls = [call for call in checkout.calls() if call.startswith("python3 -m ")]
    pip = "-m pip install --quiet --disable-pip-version-check --no-input"
    assert calls == [
        "python3 -m venv --without-pip .assay/venv",
        "python3 -m zipfile -e somewhere somewhere",
        f"python3 {pip} --no-compile -r requirements-read.txt",
    ]
    assert checkout("prepare", "for", "compare", "runs/mine", "runs/other") == ""
    assert checkout.calls() == []


def test_the_entry_keeps_the_path_of_the_user_s_own_kinds(checkout):
    entry = checkout.root / "checkout" / "assay"
    shutil.copy(ROOT / "assay", entry)
    checkout.stub("python3", PYTHON.replace("cp_stub", f"ln -s {checkout.bin}/python3") + 'echo "path: $PYTHONPATH"\n')
    folders = f"{checkout.root}/checkout/src:{checkout.root}/checkout/extras"
    assert f"path: {folders}:/my/kinds\n" in checkout("../assay", "schema", PYTHONPATH="/my/kinds")


def test_compiled_modules_have_a_place_of_their_own_where_none_may_be_written_beside_the_sources(checkout):
    shutil.copy(ROOT / "assay", checkout.root / "checkout" / "assay")
    told = 'echo "$PYTHONPYCACHEPREFIX, ${PYTHONDONTWRITEBYTECODE-written}"\n'
    checkout.stub("python3", PYTHON.replace("cp_stub", f"ln -s {checkout.bin}/python3") + told)
    asked = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": ""}
    assert f"{checkout.root}/checkout/.assay/bytecode, written\n" in checkout("../assay", "schema", **asked)


@pytest.mark.slow
def test_a_command_that_waits_for_another_s_set_up_says_so(checkout):
    (checkout.root / "checkout" / ".assay").mkdir()
    with (checkout.root / "checkout" / ".assay" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        release = threading.Timer(0.5, fcntl.flock, (lock, fcntl.LOCK_UN))
        release.start()
        assert "assay: waiting for another assay to finish set-up\n" in checkout("prepare", "for", "schema")
        release.join()


def test_what_is_missing_for_a_run_is_said_in_one_sentence_with_how_to_get_it(checkout):
    said = checkout("prepare", "for", "run", "experiment.yaml", code=2, JAVA_HOME="/nowhere")
    assert said == (
        "assay: JAVA_HOME is /nowhere: only that JDK is looked at\n"
        "assay: missing: a working openjdk-17-jdk-headless maven. Install Python 3.11 or newer with venv, a JDK of version 17 "
        "to 21, and Maven (Debian, Ubuntu: sudo apt-get install openjdk-17-jdk-headless maven), then start again.\n"
    )


def test_jobs_are_built_while_libraries_are_installed(checkout, tmp_path):
    """They are not there before Maven has begun."""
    (checkout.bin / "sleep").symlink_to(shutil.which("sleep"))
    building = tmp_path / "building"
    waiting = f"for _ in {{1..100}}; do [[ ! -e {building} ]] || exit 0; sleep 0.1; done; exit 1"
    install = f"[[ $* != *requirements.txt ]] || {{ {waiting}; }}\n"
    checkout.stub("python3", PYTHON.replace("cp_stub", f"ln -s {checkout.bin}/python3") + install)
    checkout.stub("mvn", f"touch {building}\n")
    java = tmp_path / "java"
    (java / "bin").mkdir(parents=True)
    (java / "bin" / "javac").write_text("#!/bin/sh\necho javac 17.0.1\n")
    (java / "bin" / "javac").chmod(0o755)
    said = checkout("prepare", "for", "cluster", "up", JAVA_HOME=str(java), HADOOP_HOME="/somewhere")
    assert "prepared the jobs" in said
    assert "prepared the other Python libraries" in said


@pytest.mark.slow
def test_libraries_are_added_to_an_environment_that_is_there_and_come_again_when_it_is_made_anew(checkout):
    prepare = checkout.root / "checkout" / ".assay"
    checkout("prepare", "for", "report")
    for part in ("tools", "emulator"):
        (prepare / f"{part}.stamp").touch()
    program = prepare / "emulator" / "release" / "assay-emulator"
    program.parent.mkdir(parents=True)
    program.touch()
    program.chmod(0o755)
    checkout.calls()
    assert "prepared the other Python libraries" in checkout("prepare", "for", "media", "list")
    assert checkout.calls()[-1].endswith("-r requirements.txt")
    assert checkout("prepare", "for", "media", "list") == ""
    os.utime(checkout.root / "checkout" / "requirements-read.txt", (4e9, 4e9))
    said = checkout("prepare", "for", "media", "list")
    assert [line.partition(" ...")[0] for line in said.splitlines() if "..." in line] == [
        "assay: preparing the Python environment",
        "assay: preparing the other Python libraries",
    ]


def test_an_environment_whose_python_is_gone_is_made_anew(checkout):
    checkout("prepare", "for", "report")
    python = checkout.root / "checkout" / ".assay" / "venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/usr/bin/no-such-python")
    assert "prepared the Python environment" in checkout("prepare", "for", "report")


def test_checks_that_need_a_missing_rust_are_named_at_the_end_and_fail_where_all_must_run(checkout):
    tools = checkout.root / "checkout" / ".assay" / "venv" / "bin"
    tools.mkdir(parents=True)
    for name in ("ruff", "mypy", "lint-imports"):
        checkout.stub(name)
        (tools / name).symlink_to(checkout.bin / name)
    for name, code in (("prepare", 0), ("cargo", 127)):
        (checkout.root / "checkout" / "setup" / name).write_text(f"#!/bin/sh\nexit {code}\n")
    *_, fmt, clippy, oldest = checkout("check", "lint").splitlines()
    assert fmt == "setup/check: NOT CHECKED: cargo fmt: there is no Rust here"
    assert clippy == "setup/check: NOT CHECKED: cargo clippy: there is no Rust here"
    assert oldest.startswith("setup/check: NOT CHECKED: building with Rust 1.")
    assert checkout.calls()[-1].startswith("lint-imports")
    said = checkout("check", "lint", code=1, ASSAY_TESTS_MUST_RUN="1")
    assert said == "setup/check: ASSAY_TESTS_MUST_RUN is set, and yet: cargo fmt: there is no Rust here\n"


def test_the_kerberos_library_is_installed_when_asked_for_and_comes_again_with_a_new_environment(checkout):
    for name in ("krb5-config", "gcc"):
        checkout.stub(name)
    assert "prepared the Kerberos library" in checkout("prepare", "kerberos")
    assert checkout.calls()[-1].endswith("-r requirements-kerberos.txt")
    assert checkout("prepare", "kerberos") == ""
    os.utime(checkout.root / "checkout" / "requirements-read.txt", (4e9, 4e9))
    said = checkout("prepare", "kerberos")
    assert [line.partition(" ...")[0] for line in said.splitlines() if "..." in line] == [
        "assay: preparing the Python environment",
        "assay: preparing the other Python libraries",
        "assay: preparing the Kerberos library",
    ]


def test_the_emulator_is_built_of_the_pinned_crates_with_the_address_that_cargo_knows(checkout):
    checkout.stub("cargo", LOCKED)
    checkout("cargo", "build", "--release")
    assert checkout.calls()[-2:] == ["cargo generate-lockfile --quiet", "cargo build --locked --release"]
    folder = checkout.root / "checkout" / "emulator"
    lock = tomllib.loads((folder / "Cargo.lock").read_text())
    crates = [crate for crate in lock["package"] if "checksum" in crate]
    assert {crate.pop("source") for crate in crates} == {"registry+somewhere"}
    assert lock == tomllib.loads((folder / "crates.lock").read_text())
    checkout("cargo", "test")
    assert checkout.calls()[-1] == "cargo test --locked"
    assert not [call for call in checkout.calls() if "generate-lockfile" in call]


def test_what_was_compiled_by_another_wrapper_is_compiled_anew(checkout):
    checkout.stub("cargo", LOCKED)
    old = checkout.root / "checkout" / ".assay" / "emulator" / "release" / ".fingerprint" / "crate"
    old.mkdir(parents=True)
    checkout("cargo", "build", "--release")
    assert not old.exists()
    old.mkdir(parents=True)
    checkout("cargo", "build", "--release")
    assert old.exists()


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("rustc"), reason="no Rust here")
def test_equal_sources_in_two_folders_give_the_same_program(tmp_path):
    programs = []
    for folder in (tmp_path / "one", tmp_path / "the" / "other"):
        crate = folder / "crates" / "example-1.0.0"
        crate.mkdir(parents=True)
        (crate / "main.rs").write_text('fn main() {\n    std::env::args().nth(9).expect("panics name this file");\n}\n')
        subprocess.run(
            [ROOT / "setup" / "rustc", "rustc", crate / "main.rs", "--out-dir", folder], check=True,
            env={**os.environ, "CARGO_MANIFEST_DIR": str(crate), "CARGO_TARGET_DIR": str(folder)},
        )  # fmt: skip
        programs.append((folder / "main").read_bytes())
    assert b"crates/example-1.0.0/main.rs" in programs[0]
    assert programs[0] == programs[1]


def test_what_cargo_changed_can_be_pinned(checkout):
    checkout.stub("cargo", LOCKED)
    folder = checkout.root / "checkout" / "emulator"
    checkout("cargo", "build")
    changed = (folder / "Cargo.lock").read_text().replace('name = "libc"\nversion = "', 'name = "libc"\nversion = "9.')
    (folder / "Cargo.lock").write_text(changed)
    checkout("cargo", "--pin")
    pinned = (folder / "crates.lock").read_text()
    assert pinned.startswith("# The crates that")
    assert 'version = "9.' in pinned
    assert "source" not in tomllib.loads(pinned)["package"][3]
    checkout("cargo", "build")
    assert (folder / "Cargo.lock").read_text() == changed


def test_crates_are_pinned_with_checksums_and_without_addresses():
    text = (ROOT / "emulator" / "crates.lock").read_text()
    assert "://" not in text
    packages = {one["name"]: one for one in tomllib.loads(text)["package"]}
    own = {"assay-emulator", "assay-model"}
    assert all("checksum" in packages[name] for name in packages.keys() - own)
    for member in ("fs", "model"):
        manifest = tomllib.loads((ROOT / "emulator" / member / "Cargo.toml").read_text())
        wanted = {**manifest["dependencies"], **manifest.get("dev-dependencies", {})}
        for name, wish in wanted.items():
            version = wish if isinstance(wish, str) else wish.get("version")
            assert version is None or packages[name]["version"] == version.removeprefix("=")
