"""Proves that agreement with a study is scored beside guesses that need no run, and by what independent code computes."""

import random
from math import log
from pathlib import Path

import pytest
from scipy import stats

from assay_extras.studies.comparison import SCALE_DECIDES
from assay_extras.studies.kept import read_kept
from assay_extras.studies.overview import overview
from assay_extras.studies.published import experiments, statements
from assay_extras.studies.score import Judgeable, cohens_kappa, scored
from assay_extras.studies.score_view import headline, score_tables, short_headline
from assay_extras.studies.values import StudyPoint, StudyTable, difference

ROOT = Path(__file__).parents[3]
STUDIES = ("thesis", "hybrid", "hpc", "storage")


def one(published, measured, field="medium", ratios=(None, None), chance=0.01):
    return Judgeable(
        field=field, published_direction=published, measured_direction=measured, published_ratio=ratios[0],
        measured_ratio=ratios[1], chance=chance, own_chance=chance, sign=measured,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_kappa_and_its_error_are_those_of_another_implementation(seed):
    from statsmodels.stats import inter_rater

    chance = random.Random(seed)
    counts = [[chance.randint(0, 40) for _ in range(3)] for _ in range(3)]
    kappa, error = cohens_kappa(counts)
    other = inter_rater.cohens_kappa(counts)
    assert kappa == pytest.approx(other.kappa)
    assert error == pytest.approx(other.std_kappa)


def test_a_guess_that_is_always_the_same_agrees_no_better_than_chance():
    for counts in ([[57, 0, 0], [54, 0, 0], [5, 0, 0]], [[0, 57, 0], [0, 54, 0], [0, 5, 0]]):
        assert cohens_kappa(counts) == (0.0, None)


def test_runs_that_agree_often_may_be_beaten_by_a_constant_guess():
    """Nine of ten agree, and the guess is right in all ten: the runs say nothing of directions."""
    score = scored([*(one(-1, -1) for _ in range(9)), one(-1, 1)], [])
    runs, second_faster, no_effect = score.forecasts
    assert (runs.agree, second_faster.agree, no_effect.agree) == (9, 10, 0)
    assert (runs.decided_agree, second_faster.decided_agree, score.decided) == (9, 10, 10)
    assert runs.kappa == 0.0


def test_ties_are_a_class_of_their_own():
    score = scored([one(-1, -1), one(0, -1), one(0, 0), one(1, 0), one(-1, 0)], [])
    assert score.forecasts[0].counts == ((1, 1, 0), (1, 1, 0), (0, 1, 0))
    assert [guess.agree for guess in score.forecasts] == [2, 2, 2]
    assert (score.directions, score.ties, score.decided) == (3, 2, 1)
    assert scored([], []) is None


def test_ratios_are_held_against_no_difference():
    published, measured = (0.5, 0.8, 0.9, 1.2), (0.25, 0.8, 0.8, 0.9)
    both = list(zip(published, measured, strict=True))
    every = [one(-1, -1, "medium", ratios) for ratios in both] + [one(-1, -1, "settings", (0.5, 0.5))]
    drives = next(error for error in scored(every, every).errors if error.kind == "drives")
    settings = next(error for error in scored(every, every).errors if error.kind == "settings")
    assert drives.comparisons == 4
    assert drives.factor == pytest.approx(((0.9 / 0.8) * (1.2 / 0.9)) ** 0.5), "of 2, 1, 1.125 and 1.333"
    assert drives.null_factor == pytest.approx((1.25 * 1.2) ** 0.5), "of 2, 1.25, 1.111 and 1.2"
    assert drives.spearman == pytest.approx(stats.spearmanr(published, measured).statistic)
    assert (settings.factor, settings.null_factor, settings.spearman) == (1.0, 2.0, None)


@pytest.mark.slow
def test_corrections_are_those_of_another_implementation():
    from statsmodels.stats.multitest import multipletests

    chance = random.Random(3)
    chances = [chance.random() ** 6 for _ in range(30)]
    tested = [one(-1, -1 if value < 0.05 else 0, chance=value).model_copy(update={"sign": -1}) for value in chances]
    of_rule = {found.rule: found for found in scored(tested, []).corrections}
    assert of_rule["each by itself"].decided == sum(value < 0.05 for value in chances)
    for rule, method in (("Benjamini-Hochberg", "fdr_bh"), ("Holm", "holm")):
        assert of_rule[rule].decided == sum(multipletests(chances, 0.05, method)[0])
    assert of_rule["Holm"].decided < of_rule["Benjamini-Hochberg"].decided < of_rule["each by itself"].decided


def test_a_difference_has_the_chance_of_students_t_and_the_spread_of_its_pairs():
    first, second = {1: 10.0, 2: 11.0, 3: 12.0}, {1: 8.0, 2: 5.0, 3: 40.0}
    found = difference(first, second)
    logs = [log(second[at] / first[at]) for at in first]
    assert found.chance == found.own_chance == pytest.approx(stats.ttest_1samp(logs, 0).pvalue)
    assert found.ratios == pytest.approx((5 / 11, 40 / 12))
    assert "3 pairs from 0.45 to 3.33" in found.words
    assert "from" not in difference(first, {1: 8.0, 2: 9.0, 3: 9.5}).words


def test_a_label_names_what_was_measured():
    point = StudyPoint("triangles", "closing", "customs", "YouTube", "hdd", "merge")
    names = {"YouTube": "generated at 0.006 of YouTube's size"}
    assert StudyTable({}, names).label(point, "medium") == (
        "triangles, closing, customs, generated at 0.006 of YouTube's size, merge"
    )
    assert StudyTable({}).label(point, "medium") == "triangles, closing, customs, YouTube, merge"


@pytest.mark.slow
def test_every_experiment_is_covered_or_said_not_to_have_run():
    files = {file.stem.removesuffix("-scaled") for file in (ROOT / "experiments" / "studies").glob("*-scaled.yaml")}
    assert {name for study in STUDIES for name in experiments(study)} == files
    found = overview(read_kept(ROOT / "docs" / "results"))
    for coverage in found.coverage:
        assert set(coverage.run) | set(coverage.not_run) == set(experiments(coverage.study))
        assert coverage.statements == len(statements(coverage.study))
        assert coverage.judged + coverage.never <= coverage.statements


def test_the_committed_runs_count_nothing_that_follows_from_the_set_up():
    found = overview(read_kept(ROOT / "docs" / "results"))
    storage = [one for one in found.comparisons if one.experiment.startswith("storage")]
    given = [one for one in storage if one.agreement == "follows from the set-up"]
    assert given
    assert not any(one.tested for one in given)
    # Every store writes its output; what differs by more than that is read, or takes time.
    assert not [one.place for one in storage if one.tested and "disk write" in one.place]
    assert "S-C02" not in {one.id for one in found.statements}


def test_no_table_calls_a_generated_graph_by_the_name_of_the_studys():
    found = overview(read_kept(ROOT / "docs" / "results"))
    assert not [one.place for one in found.comparisons if ", YouTube," in one.place or ", Orkut," in one.place]
    assert any("generated at 0.006 of YouTube's size" in one.place for one in found.comparisons)
    assert any("0.53 GB for 50 GB" in one.place for one in found.comparisons)


@pytest.mark.slow
def test_a_pooled_statement_shows_its_places_and_the_spread_of_its_pairs():
    found = overview(read_kept(ROOT / "docs" / "results"))
    (pooled,) = [one for one in found.statements if one.id == "S-C10"]
    assert pooled.places == {"yes": 0, "no": 2, "unclear": 0}
    assert pooled.ratios[1] / pooled.ratios[0] > 3
    scaled = {one.id: one.scale for one in found.statements if one.scale}
    assert scaled.keys() == SCALE_DECIDES["thesis"].keys() | SCALE_DECIDES["storage"].keys()


@pytest.mark.slow
def test_the_headline_has_the_guesses_beside_the_count():
    found = overview(read_kept(ROOT / "docs" / "results"))
    words, runs = headline(found), found.score.forecasts
    assert f"{runs[0].decided_agree} of these agree, and the first guess is right in {runs[1].decided_agree}" in words
    titles = [shown.title for shown in score_tables(found)]
    assert titles[0] == "Published and measured classes"
    assert [row[0] for row in score_tables(found)[-1].rows] == [*STUDIES, "all", "*not run*"]


@pytest.mark.slow
def test_the_short_headline_says_which_guess_would_have_been_right_more_often():
    found = overview(read_kept(ROOT / "docs" / "results"))
    runs, guess, _ = found.score.forecasts
    assert guess.decided_agree > runs.decided_agree
    assert f"right more often ({guess.decided_agree} of {found.score.decided})" in short_headline(found)
