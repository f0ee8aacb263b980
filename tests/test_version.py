"""Proves that a version says its source: it changes with any file of it, and with nothing else; so does what trials run."""

import ast
import re

import pytest

import assay
from assay import version
from assay.host.machine import machine_facts

ROOT = version.PACKAGE


FILES = {
    "trial.py": "from assay.stats.doubts import (\n    LEAST,  # of them\n    doubted,\n)\n",
    "stats/doubts.py": "if TYPE_CHECKING:\n    from assay.model import record\n",
    "stats/verdicts.py": "from assay.report.page import words\n",
    "model/record.py": "",
    "model/names.txt": "",
    "engine/__init__.py": "",
    "engine/quick.py": "from assay.model.registry import ENGINES\n\n\ndef read():\n    import assay.engine.log\n\n\nENGINES.add(1)\n",
    "engine/log.py": "",
    "engine/past/jobs.py": "from assay.engine.log import read\n",
    "cli/run.py": "from assay.trial import run_trial\n",
    "report/page.py": "from assay.engine import quick\nSECTIONS.add(1)\n",
    "report/page.html.j2": "",
    "profiles/drive.yaml": "",
}
PLUG_INS = {
    "redfish/__init__.py": "PROBES.add_late(1)\nimport assay_extras.redfish.power, assay.cli.run\nCOMMANDS.add(2)\n",
    "redfish/power.py": "",
    "studies/__init__.py": "SECTIONS.add(1)\nfrom assay_extras.studies import claims\n",
    "studies/claims.py": "",
}
MEASURING = {
    "trial.py", "stats/doubts.py", "model/record.py", "model/names.txt", "engine/__init__.py", "engine/quick.py", "engine/log.py",
    "redfish/__init__.py", "redfish/power.py",
}  # fmt: skip


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A small package with plug-ins; digests are those of them, and read anew whenever they are asked for."""
    package = tmp_path / "src" / "assay"
    for name, text in FILES.items():
        write(package / name, text)
    for name, text in PLUG_INS.items():
        write(tmp_path / "extras" / "assay_extras" / name, text)
    monkeypatch.setattr(version, "PACKAGE", package)
    monkeypatch.setattr(version, "version", version.version.__wrapped__)
    monkeypatch.setattr(version, "measuring_code_sha256", version.measuring_code_sha256.__wrapped__)
    return package


def both():
    return version.version(), version.measuring_code_sha256()


def test_the_version_is_one_of_python_packages_and_is_in_the_facts():
    assert re.fullmatch(r"\d+\.\d+\.\d+\+[0-9a-f]{12}", assay.__version__)
    assert machine_facts()["assay"] == assay.__version__
    with pytest.raises(AttributeError, match="no attribute 'versoin'"):
        _ = assay.versoin


@pytest.mark.parametrize("name", [name for name in (*FILES, *PLUG_INS) if name != "profiles/drive.yaml"])
def test_a_file_changes_the_version_and_the_measuring_code_s_digest_where_trials_reach_it(copy, name):
    before = both()
    with ((copy if name in FILES else copy.parents[1] / "extras" / "assay_extras") / name).open("a") as file:
        file.write("\n# other")
    assert [now != then for now, then in zip(both(), before, strict=True)] == [True, name in MEASURING]


def sources():
    """All modules, by name, as trees."""
    folders = (ROOT, *version.plugins())
    files = {file: file.relative_to(folder.parent).as_posix() for folder in folders for file in folder.rglob("*.py")}
    return {version._module(name): file for file, name in files.items()}


@pytest.mark.slow
def test_imports_and_kinds_of_all_modules_are_seen():
    """Those that Python's own parser sees."""
    modules = sources()
    reached, kinds = version._reached(modules), set()
    for name, file in modules.items():
        nodes = [*ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
        imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        of_modules = [
            (node.module, alias.name) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
        ]
        imported |= {f"{module}.{name}" for module, name in of_modules}
        assert {path for path in imported if "." in path} <= version.imports(file.read_text(encoding="utf-8"))
        registries = {name for module, name in of_modules if module == "assay.model.registry"} - version.AFTER_TRIALS
        calls = [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]
        if {f"{registry}.{add}" for registry in registries for add in ("add", "add_late")} & {*calls}:
            kinds.add(name)
    assert len(kinds) > 40
    assert kinds <= reached


@pytest.mark.slow
def test_no_trial_reaches_what_judges_reports_or_ranks():
    reached = version._reached(sources())
    unreached = ("assay.cli", "assay.report", "assay.run", "assay.triage", "assay.engine.past", "assay_extras.studies")
    assert not [name for name in reached if name.startswith(unreached)]
    assert reached >= {"assay.trial", *version.BEGINNINGS, "assay.engine.spark_log", "assay.stats.signature"}


def test_a_file_that_came_went_or_was_renamed_changes_the_version(copy):
    seen = [version.version()]
    (copy / "new.py").write_text("")
    seen.append(version.version())
    (copy / "new.py").rename(copy / "newer.py")
    seen.append(version.version())
    assert len(set(seen)) == 3
    (copy / "newer.py").unlink()
    assert version.version() == seen[0]


def test_what_is_compiled_left_by_an_editor_or_a_profile_changes_nothing(copy):
    before = both()
    (copy / "engine" / "__pycache__").mkdir()
    (copy / "engine" / "__pycache__" / "quick.py").write_text("x")
    (copy / ".trial.py").write_text("x")
    (copy / "trial.py~").write_text("x")
    (copy / "profiles" / "drive.yaml").write_text("x")
    assert both() == before


def test_all_kinds_of_source_files_are_known():
    files = [file for place in (ROOT, *version.plugins()) for file in place.rglob("*") if file.is_file()]
    assert {file.suffix for file in files if "__pycache__" not in file.parts} == version.SUFFIXES
