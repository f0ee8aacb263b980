"""Proves that an input may be staged by another engine than the one whose jobs are measured."""

import pytest

from assay.model.engine import EngineKind, Launch
from assay.model.progress import Silent
from assay.model.registry import ENGINES, STORES
from assay.model.trial import StoreSpec
from assay.trial import run_trial
from assay_extras.testing.fake_hadoop import FakeEngine, FakePlacer, FakeStore
from assay_extras.testing.fakes import FakeWorkload, Script, fake_setup
from tests.builders import a_trial
from tests.toys import plugged_in


class Brought(FakeWorkload):
    """Its input is made by a job."""

    def stage(self, store, engine, progress):
        return engine.run(Launch(command="bring", input="", output=f"{self.input_path}/edges.tsv"), progress)


@pytest.fixture
def lived():
    """The result of a trial on an engine, and the commands that it ran."""
    with plugged_in():
        ran, script = [], Script()

        class Thinker(FakeEngine):
            def run(self, launch, progress):
                ran.append(launch.command)
                return super().run(launch, progress)

        def live(staged_by):
            trial = a_trial().model_copy(update={"engine": "thinker", "store": StoreSpec(kind="head")})
            store, placer = FakeStore(script), FakePlacer(script, trial)
            memory = STORES["hdfs"]._replace(services=(), open=lambda _: store, placer=lambda *_: placer)
            STORES.add("head", memory)
            for name, engine in (("thinker", Thinker), ("porter", FakeEngine)):
                opened = EngineKind(open=lambda context, engine=engine: engine(script, trial, context.store))
                ENGINES.add(name, opened._replace(staged_by=staged_by if name == "thinker" else ""))
            setup = fake_setup(script, trial, nodes=2, registered=True)
            result = run_trial(trial, setup._replace(workload=lambda: Brought(script, trial.workload)), Silent())
            assert result.record.error is None
            return result, list(ran)

        yield live


def test_the_engine_of_the_jobs_stages_by_itself_unless_its_kind_names_another(lived):
    result, commands = lived(staged_by="")
    assert commands == ["bring", "answer"]
    assert [job.name for job in result.record.staging_jobs] == ["bring"]
    assert len(result.attempts) == 2


def test_another_engine_stages_and_its_tasks_are_in_no_table_of_the_jobs_engine(lived):
    result, commands = lived(staged_by="porter")
    assert commands == ["answer"]
    assert [job.name for job in result.record.staging_jobs] == ["bring"]
    assert [job.name for job in result.record.jobs] == ["answer"]
    assert len(result.attempts) == 1
