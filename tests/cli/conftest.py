"""A folder in which `assay run-job` finds a jar and an input."""

import zipfile

import pytest

from assay.media import memory


@pytest.fixture(scope="session")
def parts(tmp_path_factory):
    """Ten files of 10 MB, which no test changes."""
    folder = tmp_path_factory.mktemp("parts")
    for number in range(10):
        (folder / f"part-{number}").write_text("0123456789abcde\n" * 625_000)
    return [*folder.iterdir()]


@pytest.fixture
def home(tmp_path, parts, monkeypatch):
    """A folder to work in, with a jar that names its class and an input of ten files of 10 MB; memory is ample."""
    monkeypatch.setattr(memory, "available_memory_bytes", lambda: 64 << 30)
    monkeypatch.chdir(tmp_path)
    for name in ("HADOOP_HOME", "HADOOP_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with zipfile.ZipFile(tmp_path / "my job.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: My\n")
        jar.writestr("My.class", "")
    (tmp_path / "in").mkdir()
    for part in parts:
        (tmp_path / "in" / part.name).hardlink_to(part)
    return tmp_path
