"""Proves that the zero-delay baseline joins each combination once, under its reserved name, and mirrored orders."""

import pytest

from assay.model.errors import BadInputError
from assay.model.trial import ZERO_DELAY
from tests.plan.test_make import plan_of

DRIVES = """\
experiment: demo
workloads: [triangles]
datasets: {make: brightkite}
media:
  hdd: wd10ezex
  ssd: nvme
"""
ONCE = "order: interleaved\nrepetitions: 1\n"
BASELINE = DRIVES + "zero_delay_baseline: true\n"


def placements(plan):
    return [trial.placement.name for trial in plan.trials]


def test_each_combination_gets_one_baseline(tmp_path):
    plan = plan_of(tmp_path, BASELINE + "settings: [defaults, customs]\norder: interleaved\nrepetitions: 2\n")
    assert len(plan.trials) == 2 * 2 * 3
    marked = [trial for trial in plan.trials if trial.zero_delay]
    assert {(one.settings.name, one.repetition) for one in marked} == {
        (settings, repetition) for settings in ("defaults", "customs") for repetition in (1, 2)
    }
    for one in marked:
        (medium,) = one.media
        assert (one.placement.name, medium.name, medium.profile) == (ZERO_DELAY, ZERO_DELAY, "null")
        assert one.placement.media == (ZERO_DELAY,)


def test_the_baseline_lies_where_the_other_drives_lie(tmp_path):
    text = BASELINE.replace("wd10ezex", "{profile: wd10ezex, path: /dev/shm, file_system: xfs}")
    (medium,) = next(trial for trial in plan_of(tmp_path, text).trials if trial.zero_delay).media
    assert (str(medium.path), medium.file_system) == ("/dev/shm", "xfs")


def test_without_it_a_plan_is_what_it_was(tmp_path):
    plan = plan_of(tmp_path, f"{DRIVES}{ONCE}zero_delay_baseline: false\n")
    assert sorted(placements(plan)) == ["hdd", "ssd"]
    assert not any(trial.zero_delay for trial in plan.trials)
    assert (plan.worth, plan.placements) == (0.1, ("hdd", "ssd"))


def test_the_baseline_is_no_level_that_zip_or_exclude_must_count(tmp_path):
    plan = plan_of(tmp_path, BASELINE + ONCE + "memory: [2GiB, 4GiB]\nzip: [placement, memory]\n")
    assert sorted((one.placement.name, one.factors["memory"]) for one in plan.trials) == [
        ("hdd", "2GiB"), ("ssd", "4GiB"), (ZERO_DELAY, "2GiB"), (ZERO_DELAY, "4GiB"),
    ]  # fmt: skip


def test_a_combination_can_do_without_its_baseline(tmp_path):
    text = BASELINE + ONCE + "settings: [defaults, customs]\nexclude: [{settings: customs, placement: zero-delay}]\n"
    plan = plan_of(tmp_path, text)
    assert len(plan.trials) == 5
    assert [trial.settings.name for trial in plan.trials if trial.zero_delay] == ["defaults"]
    with pytest.raises(BadInputError, match="placement has no level 'zero-delay'"):
        plan_of(tmp_path, text.replace("zero_delay_baseline: true", "zero_delay_baseline: false"))


def test_the_first_placement_of_the_file_is_what_others_are_compared_with(tmp_path):
    text = BASELINE + "placement: [ssd, {input: hdd, intermediate: ssd, output: hdd}, hdd]\n"
    assert plan_of(tmp_path, text).placements == ("ssd", "input-hdd.intermediate-ssd.output-hdd", "hdd")


def test_a_mirrored_repetition_goes_there_and_back_around_the_baseline(tmp_path):
    plan = plan_of(tmp_path, BASELINE + "order: mirrored\nrepetitions: 2\n")
    assert placements(plan) == [
        "hdd", "ssd", ZERO_DELAY, "ssd", "hdd",
        "ssd", "hdd", ZERO_DELAY, "hdd", "ssd",
    ]  # fmt: skip
    assert [trial.repetition for trial in plan.trials] == [1] * 5 + [2] * 5
    assert len({trial.id for trial in plan.trials}) == 10


def test_mirrored_without_a_baseline_and_with_other_factors(tmp_path):
    plan = plan_of(
        tmp_path,
        DRIVES + "zero_delay_baseline: false\nrepetitions: 1\norder: mirrored\nsettings: [defaults, customs]\n",
    )
    assert placements(plan) == ["hdd", "ssd", "ssd", "hdd"] * 2
    assert [trial.settings.name for trial in plan.trials] in (
        ["defaults"] * 4 + ["customs"] * 4, ["customs"] * 4 + ["defaults"] * 4,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "share"), [("10%", 0.1), ("0%", 0.0), ("90%", 0.9), ("2.5 %", 0.025)]
)  # fmt: skip
def test_a_threshold_is_a_percentage(tmp_path, text, share):
    assert plan_of(tmp_path, f"{DRIVES}worth: {text}\n").worth == pytest.approx(share)


@pytest.mark.parametrize(
    "text", ["10", "0.1", "91%", "-1%", "ten %", "100%", ".nan", "1e1%", "10%; rm", "true", "", "[10%]"]
)
def test_what_is_no_percentage_from_0_to_90_is_refused(tmp_path, text):
    with pytest.raises(
        BadInputError,
        match=r"demo.yaml, line 7: worth (is .*percentage between 0 and 90|is empty|is nan, and must be a finite number)",
    ):
        plan_of(tmp_path, f"{DRIVES}worth: {text}\n")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("ssd: nvme", "ssd: directory", "line 7: zero_delay_baseline needs emulated drives, and the medium 'ssd' is a directory"),
        ("ssd: nvme", "zero-delay: nvme", "line 4: media: the name 'zero-delay' is reserved for the baseline"),
        ("ssd: nvme", "ssd: nvme\nplacement: [{name: zero-delay, input: ssd, intermediate: ssd, output: ssd}]", "line 7: placement: the name 'zero-delay' is reserved"),
        ("media:\n  hdd: wd10ezex\n  ssd: nvme\n", "cluster: {conf_dir: .}\n", "line 5: zero_delay_baseline is not possible on an existing cluster: its data stay on its own disks"),
        ("baseline: true", "baseline: maybe", "line 7: zero_delay_baseline is 'maybe', and must be true or false"),
        ("baseline: true", "baseline: true\norder: palindrome", "line 8: order is 'palindrome', and must be 'interleaved' or 'mirrored'"),
    ],
)  # fmt: skip
def test_impossible_baselines_are_refused_with_the_reason(tmp_path, before, after, words):
    assert before in BASELINE
    (tmp_path / "core-site.xml").touch()
    with pytest.raises(BadInputError, match=words) as caught:
        plan_of(tmp_path, BASELINE.replace(before, after))
    assert "\n" not in str(caught.value)


def test_by_default_emulated_drives_get_what_an_answer_needs(tmp_path):
    plan = plan_of(tmp_path, DRIVES)
    hdd_first = ["hdd", "ssd", ZERO_DELAY, "ssd", "hdd"]
    assert placements(plan) == [*hdd_first, "ssd", "hdd", ZERO_DELAY, "hdd", "ssd"]
    assert {trial.repetition for trial in plan.trials} == {1, 2}


def test_what_the_file_says_stays_and_other_media_get_none_of_it(tmp_path):
    assert placements(plan_of(tmp_path, f"{DRIVES}zero_delay_baseline: false\nrepetitions: 1\n")) == [
        "hdd", "ssd", "ssd", "hdd",
    ]  # fmt: skip
    real = DRIVES.replace("hdd: wd10ezex", "hdd: directory").replace("ssd: nvme", "ssd: memory")
    assert sorted(placements(plan_of(tmp_path, real))) == ["hdd", "ssd"]


def test_what_a_fault_costs_is_asked_without_a_baseline(tmp_path):
    plan = plan_of(
        tmp_path, f"{DRIVES}replication: 2\ncluster: {{nodes: 3}}\nfault: [none, {{kill: node, on: 2, at: map 50%}}]\n"
    )
    assert not any(trial.zero_delay for trial in plan.trials)
    assert {trial.repetition for trial in plan.trials} == {1, 2}
