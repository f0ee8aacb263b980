"""Proves that the files of the studies are those that the committed data give now."""

import pytest
from docs.make_studies import FINDINGS, ROOT, Place, compared_at, documents, kept_overview

pytestmark = pytest.mark.slow


def test_files_are_up_to_date():
    """Else run `docs/make_results.py`, and read what changed."""
    for file, text in documents().items():
        assert file.read_text(encoding="utf-8") == text, file.relative_to(ROOT)


def test_findings_rest_on_comparisons_that_are_there():
    assert all(compared_at(place).measured_ratio for places in FINDINGS for place in places)
    with pytest.raises(ValueError, match="names 0 comparisons"):
        compared_at(Place("Table 6", "triples, map", "no ratio"))


def test_the_findings_say_what_their_comparisons_show():
    shown = [[compared_at(place) for place in places] for places in FINDINGS]
    drives, shuffles, halved, customs, lengthened, _, first, segments, quarters = shown
    assert all(compared.high < 1 for compared in (*drives, *shuffles, *halved, *customs, *quarters))
    assert all(compared.alike for compared in shuffles[:3]), "about as much as in the thesis"
    assert shuffles[3].low > shuffles[3].published_ratio, "a little less"
    assert all(compared.high < compared.published_ratio for compared in shuffles[4:]), "gains more than there"
    assert all(compared.high < 0.75 for compared in halved), "nearly halves"
    assert customs[0].measured_ratio < customs[1].measured_ratio, "on the hard disk more than on the SSD"
    assert all(compared.low < 1 and compared.high < compared.published_ratio for compared in lengthened)
    assert all(compared.high < compared.published_ratio for compared in (first[0], first[3])), "more"
    assert first[1].alike, "the map as much"
    assert first[2].high < first[2].published_ratio, "the shuffle a little more"
    assert first[4].low < 1 < first[4].high, "customs is not shown to help"
    assert segments[0].low > 1, "does not shorten the merge"
    ratios = [compared.measured_ratio for compared in quarters]
    assert ratios == sorted(ratios, reverse=True), "with each quarter"
    assert all(compared.high < compared.published_ratio for compared in quarters), "more than in the hybrid study"


def test_no_comparison_of_the_triads_job_shows_a_difference():
    triads = [compared for compared in kept_overview().comparisons if "triads" in compared.place.split(", ")]
    assert triads
    assert not any(compared.measured_direction for compared in triads)
