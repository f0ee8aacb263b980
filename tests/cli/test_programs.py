"""Proves that what a plan's services bring is fetched by the command that needs it, named with its size first."""

import io

import pytest
from click.testing import CliRunner
from rich.console import Console

from assay.cli import cli
from assay.cli.programs import fetch_programs
from assay.model.cluster import ExistingSpec
from assay.model.engine import EngineKind
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.registry import ENGINES, SERVICES
from assay.model.service import Programs, Service
from tests.builders import a_trial
from tests.toys import plugged_in

PREPARE = """\
#!/bin/bash
[[ $(<parts/$1.stamp) == made ]] 2>/dev/null && exit 0
echo "$1" >>calls
echo 'assay: preparing Brain 1.5 (3 MB) ...'
{}
mkdir -p parts; echo made >parts/$1.stamp
"""
LANDS = "mkdir -p parts/brain/lib; touch parts/brain/lib/brain-1.5.jar"


@pytest.fixture
def installation(tmp_path, monkeypatch):
    """A checkout whose engine `thinker` needs the service `brain`; `calls` are those of its set-up."""
    monkeypatch.chdir(tmp_path)
    with plugged_in():
        SERVICES.add("brain", Service("brain", programs=Programs("brain-*.jar")))
        ENGINES.add("thinker", EngineKind(open=None, services=("brain",)))
        yield Installation(root=tmp_path, parts=tmp_path / "parts", jobs_jar=tmp_path, cache=tmp_path, state=tmp_path)


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def said(installation, prepare, **trial):
    """What is said while the programs of a plan with one trial are fetched by such a set-up."""
    script(installation.root / "programs" / "brain" / "prepare", "#!/bin/bash\necho 'Brain 1.5 (3 MB)'\n")
    script(installation.root / "setup" / "prepare", PREPARE.format(prepare))
    text = io.StringIO()
    planned = a_trial().model_copy(update={"engine": "thinker", **trial})
    fetch_programs([planned, planned], installation, Console(file=text, width=200))
    return text.getvalue()


def test_what_is_missing_is_fetched_once_and_named_with_its_size_first(installation):
    assert said(installation, LANDS) == "assay: preparing Brain 1.5 (3 MB) ...\n"
    assert (installation.root / "calls").read_text() == "brain\n"
    assert said(installation, LANDS) == ""
    assert (installation.root / "calls").read_text() == "brain\n"


def test_what_was_taken_away_is_fetched_again(installation):
    said(installation, LANDS)
    (installation.root / "parts" / "brain" / "lib" / "brain-1.5.jar").unlink()
    assert "preparing Brain" in said(installation, LANDS)
    assert (installation.root / "parts" / "brain" / "lib" / "brain-1.5.jar").exists()


def test_jars_for_jobs_are_fetched_for_the_user_s_cluster_too(installation):
    SERVICES.add("nerve", Service("nerve", programs=Programs("brain-*.jar"), job_jars=("lib/*.jar",)))
    ENGINES.add("feeler", EngineKind(open=None, services=("nerve",)))
    script(installation.root / "programs" / "nerve" / "prepare", "#!/bin/bash\necho 'Nerve'\n")
    lands = LANDS.replace("brain/", "nerve/")
    assert "preparing" in said(installation, lands, engine="feeler", cluster=ExistingSpec(conf_dir=installation.root))


def test_a_run_fetches_before_it_checks_anything(monkeypatch):
    def no_network(*_):
        raise BadInputError("no network")

    monkeypatch.setattr("assay.cli.run.fetch_programs", no_network)
    done = CliRunner().invoke(cli, ["run", "quickstart", "--dry-run"])
    assert "no network" in str(done.exception)


def test_a_plan_that_needs_none_fetches_none(installation):
    assert said(installation, LANDS, engine="mapreduce") == ""
    assert said(installation, LANDS, cluster=ExistingSpec(conf_dir=installation.root)) == ""
    assert not (installation.root / "calls").exists()


def test_what_can_t_be_fetched_is_refused_with_the_reason_and_what_works_without(installation):
    fails = (
        "printf 'preparing\\n\\e[0m[ERROR] central: Name or service not known -> [Help 1]\\n[ERROR] Help\\n'; exit 2"
    )
    with pytest.raises(BadInputError) as caught:
        said(installation, fails)
    assert str(caught.value) == (
        "Brain 1.5 (3 MB), which brain needs, could not be fetched: central: Name or service not known; look whether "
        "this machine has a network and start again; engine: mapreduce or engine: tez or engine: spark or engine: mapreduce-levitated works without"
    )


def test_of_a_long_reason_the_end_is_told_which_names_the_cause(installation):
    with pytest.raises(BadInputError, match=r"could not be fetched: \.\.\. x+: no such host; look whether"):
        said(installation, f"echo '[ERROR] {'x' * 400}: no such host'; exit 2")
