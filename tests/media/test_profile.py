"""Proves that profiles are read, that every mistake is told with its place, and that the emulator's bounds hold."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.media.emulated.emulator import Emulator
from assay.media.emulated.profile import find_profile, profile_names, read_profile
from assay.model.drive_profile import varied_name, way_of
from assay.model.errors import BadInputError
from tests.builders import an_installation

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "emulator" / "profiles"
INSTALLATION = an_installation(ROOT, ROOT / ".assay")
EMULATOR = Emulator(INSTALLATION)
needs_emulator = pytest.mark.skipif(EMULATOR.missing() is not None, reason=str(EMULATOR.missing()))

GOOD = """\
# A drive of one's own.
name: mine
kind: hdd
title: My drive
figures:
  capacity_bytes: 1000000000
  seek_average_ms: {value: 8.9, basis: data-sheet, source: its data sheet}
"""


def written(folder, text):
    (folder / "mine.yaml").write_text(text)
    return folder / "mine.yaml"


def test_plain_numbers_and_figures_with_a_source(tmp_path):
    profile = read_profile(written(tmp_path, GOOD))
    assert (profile.name, profile.kind, profile.title) == ("mine", "hdd", "My drive")
    assert profile.values == {"capacity_bytes": 1e9, "seek_average_ms": 8.9}
    assert profile.figures["seek_average_ms"].source == "its data sheet"
    assert profile.figures["capacity_bytes"].basis == "not stated"
    assert profile.where("seek_average_ms").endswith("mine.yaml, line 7")
    assert profile.where("rotation_rpm").endswith("mine.yaml, line 5")


def test_figures_are_published_measured_or_assumed(tmp_path):
    """A drive says how many of its figures nothing but an assumption stands behind."""
    bases = {"data-sheet": "published", "review": "published", "calibration": "measured", "assumption": "assumed"}
    for basis, evidence in bases.items():
        profile = read_profile(written(tmp_path, GOOD.replace("basis: data-sheet", f"basis: {basis}")))
        assert profile.figures["seek_average_ms"].evidence == evidence
        assert profile.figures["capacity_bytes"].evidence == "assumed"
        assert profile.assumed == (2 if evidence == "assumed" else 1)


def test_a_changed_figure_changes_the_digest_and_a_source_does_not(tmp_path):
    first = read_profile(written(tmp_path, GOOD)).digest
    assert read_profile(written(tmp_path, GOOD.replace("its data sheet", "elsewhere"))).digest == first
    assert read_profile(written(tmp_path, GOOD.replace("8.9", "9.0"))).digest != first


def test_a_slowdown_is_handed_on_and_changes_the_digest(tmp_path):
    profile = read_profile(written(tmp_path, GOOD))
    slower = profile.model_copy(update={"slowdown": 8})
    assert "slowdown" not in json.loads(profile.for_emulator)
    assert json.loads(slower.for_emulator)["slowdown"] == 8
    assert slower.digest != profile.digest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("kind: hdd\n", ""), "'kind' is missing"),
        (("title:", "titel:"), r"mine.yaml, line 4: unknown key 'titel'; did you mean 'title'\?"),
        (("basis: data-sheet", "basis: hearsay"), r"line 7: figures.seek_average_ms.basis is 'hearsay', and must be"),
        (("source:", "sauce:"), r"line 7: unknown key 'sauce'; did you mean 'source'\?"),
        (("value: 8.9", "value: fast"), "line 7: figures.seek_average_ms.value is 'fast'"),
        (("1000000000", "true"), "line 6: figures.capacity_bytes.value is true, and must be a number"),
        (("1000000000", ".inf"), "line 6: capacity_bytes is inf, and must be a finite number"),
        (("value: 8.9, ", ""), "line 7: 'figures.seek_average_ms.value' is missing"),
        (("name: mine", "name: ../mine"), "line 2: name is '../mine'"),
        (("name: mine", "name: [mine"), "line 3: not readable as YAML"),
        ((GOOD, "- mine"), "must be a mapping"),
        (
            ("figures:", "expected: {sequential_raed_mb_s: 9}\nfigures:"),
            r"line 5: nothing is .* did you mean 'sequential_read",
        ),
        (("figures:", "figures: none\nexpected:"), "line 5: figures is 'none'"),
        (("figures:", "slowdown: 2\nfigures:"), "line 5: slowdown is of an experiment's medium"),
    ],
)
def test_mistakes_in_the_form(tmp_path, change, message):
    with pytest.raises(BadInputError, match=message):
        read_profile(written(tmp_path, GOOD.replace(*change)))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("samsung-840", "did you mean 'samsung-840-evo-120gb'?"),
        ("samsung", "did you mean 'samsung-840-evo-120gb', 'samsung-870-evo-250gb' or 'samsung-980-250gb'?"),
        ("samsung-860-250gb", "did you mean 'samsung-"),
    ],
)
def test_the_beginning_of_a_name_names_the_profiles_that_have_it(name, nearest):
    with pytest.raises(BadInputError) as refused:
        find_profile(name, SHIPPED)
    assert nearest in str(refused.value)


def test_an_unknown_profile_and_the_nearest():
    with pytest.raises(BadInputError, match=r"no drive profile 'wd10ezx'; did you mean 'wd10ezex'\?"):
        find_profile("wd10ezx", SHIPPED)
    with pytest.raises(BadInputError, match=r"absent.yaml can't be read: there is no such file"):
        find_profile("absent.yaml", SHIPPED)


@pytest.mark.parametrize("name", profile_names(SHIPPED))
@needs_emulator
def test_shipped_profiles_are_possible(name):
    EMULATOR.check(find_profile(name, SHIPPED))


def bounded_figures():
    specs = () if EMULATOR.missing() else EMULATOR.figures()["hdd"]
    return st.sampled_from(specs) if specs else st.nothing()


@pytest.mark.slow
@needs_emulator
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_impossible_value_is_told_with_figure_value_bounds_and_line(tmp_path, data):
    spec = data.draw(bounded_figures())
    # Well outside: the emulator's JSON reader may be off by the last bit.
    below = st.floats(min_value=-1e300, max_value=spec.least - 0.001 * max(1, abs(spec.least)))
    value = data.draw(below | st.floats(min_value=spec.most * 1.001, max_value=1e300))
    text = (SHIPPED / "wd10ezex.yaml").read_text()
    lines = [line for line in text.splitlines() if not line.strip().startswith(f"{spec.name}:")]
    lines.insert(lines.index("figures:") + 1, f"  {spec.name}: {{value: {value!r}}}")
    file = written(tmp_path, "\n".join(lines))
    with pytest.raises(BadInputError) as raised:
        EMULATOR.check(read_profile(file))
    said = str(raised.value)
    assert f"{file}, line {lines.index('figures:') + 2}: {spec.name}" in said
    assert "write a value from" in said


@needs_emulator
def test_a_misspelt_a_missing_and_an_unknown_kind(tmp_path):
    text = (SHIPPED / "wd10ezex.yaml").read_text()
    with pytest.raises(BadInputError, match=r"no figure 'rotation_rmp'; did you mean 'rotation_rpm'\?") as raised:
        EMULATOR.check(read_profile(written(tmp_path, text.replace("rotation_rpm", "rotation_rmp"))))
    assert "rotation_rpm (turns of the platters a minute) is missing" in str(raised.value)
    with pytest.raises(BadInputError, match="kind is 'tape', which is unknown"):
        EMULATOR.check(read_profile(written(tmp_path, text.replace("kind: hdd", "kind: tape"))))


VARIED = """\
name: mine
kind: hdd
title: My drive
figures:
  capacity_bytes: 1000000000
  seek_average_ms: 10
  seek_full_stroke_ms: {value: 20, basis: data-sheet}
  outer_rate_mb_s: 100
  queue_depth: 32
  read_watts: 7
"""


def test_only_assumed_times_and_rates_are_varied(tmp_path):
    """Sizes, counts and power are no speeds; published figures are none of the assumptions."""
    profile = read_profile(written(tmp_path, VARIED))
    slower, faster = profile.varied("slower"), profile.varied("faster")
    changed = {name for name, value in profile.values.items() if slower.values[name] != value}
    assert changed == {"seek_average_ms", "outer_rate_mb_s"}
    assert (slower.values["seek_average_ms"], slower.values["outer_rate_mb_s"]) == pytest.approx((12.5, 80))
    assert (faster.values["seek_average_ms"], faster.values["outer_rate_mb_s"]) == pytest.approx((8, 125))
    assert slower.title == "My drive, assumed figures slower"
    assert len({profile.digest, slower.digest, faster.digest}) == 3
    assert profile.speed_is_assumed
    assert not find_profile("null", SHIPPED).speed_is_assumed


def plausible_times_and_rates():
    """Of shipped profiles: profile, figure, and the range that its source calls plausible."""
    for name in profile_names(SHIPPED):
        profile = find_profile(name, SHIPPED)
        slower = profile.varied("slower").values
        for figure, stated in profile.figures.items():
            plausible = re.search(r"([\d,.]+) to ([\d,.]+) are plausible", stated.source)
            if plausible and slower[figure] != stated.value:
                yield profile, figure, *(float(bound.replace(",", "")) for bound in plausible.groups())


def test_the_variation_covers_the_range_that_a_source_calls_plausible():
    checked = list(plausible_times_and_rates())
    assert len(checked) >= 8
    for profile, figure, low, high in checked:
        varied = sorted(profile.varied(way).values[figure] for way in ("slower", "faster"))
        assert varied[0] <= low < high <= varied[1], f"{profile.name}, {figure}: {low} to {high}"


@pytest.mark.parametrize("name", profile_names(SHIPPED))
def test_no_figure_rests_on_memory(name):
    """Where no public source has a value, its line says what the assumption rests on."""
    profile = find_profile(name, SHIPPED)
    for figure, stated in {**profile.figures, **profile.expected}.items():
        assert stated.source, figure
        assert "from memory" not in stated.source, figure


@pytest.mark.parametrize(
    ("visit", "segment", "visits"),
    [("1048576", "4194304", (262144, 2097152)), ("1048576", "1572864", (262144, 1572864)),
     ("{value: 1048576, basis: calibration}", "4194304", (1048576, 1048576))],
)  # fmt: skip
def test_visits_to_streams_are_varied_by_what_is_not_known_of_them_within_a_segment(tmp_path, visit, segment, visits):
    text = f"{VARIED}  stream_visit_bytes: {visit}\n  read_segment_bytes: {segment}\n"
    profile = read_profile(written(tmp_path, text))
    assert tuple(profile.varied(way).values["stream_visit_bytes"] for way in ("slower", "faster")) == visits
    assert profile.varied("slower").values["read_segment_bytes"] == int(segment)


@needs_emulator
@pytest.mark.parametrize("way", ["slower", "faster"])
@pytest.mark.parametrize("name", profile_names(SHIPPED))
def test_shipped_drives_stay_possible_when_what_is_assumed_of_them_is_varied(name, way):
    EMULATOR.check(find_profile(name, SHIPPED).varied(way))


def test_a_medium_names_the_variation_after_its_profile():
    assert way_of(varied_name("wd10ezex", "slower")) == ("wd10ezex", "slower")
    for name in ("wd10ezex", "/a:b/mine.yaml", "mine.yaml:quick", ":slower"):
        assert way_of(name) == (name, "")


def test_a_user_of_a_shared_drive_has_a_part_of_its_rates_at_the_same_latencies():
    whole = find_profile("samsung-870-evo-250gb", SHIPPED)
    part = whole.shared(4)
    assert part.title.startswith("1/4 of ")
    for name, value in whole.values.items():
        outside = name.endswith(("_mb_s", "_per_s")) and name != "channel_mb_s"
        divided = outside or name in {"buffer_bytes", "slc_cache_bytes", "slc_cache_dynamic_bytes"}
        assert part.values[name] == pytest.approx(value / 4 if divided else value), name
    assert part.expected_values["sequential_read_mb_s"] == whole.expected_values["sequential_read_mb_s"] / 4
    assert part.expected_values["random_read_4k_iops_depth1"] == whole.expected_values["random_read_4k_iops_depth1"]
    with pytest.raises(
        ValueError, match="a hard disk with several users is slower in all that it does; say `slowdown`"
    ):
        find_profile("wd10ezex", SHIPPED).shared(2)


@needs_emulator
@pytest.mark.parametrize(
    "name", [name for name in profile_names(SHIPPED) if read_profile(SHIPPED / f"{name}.yaml").kind != "hdd"]
)
def test_a_twelfth_of_a_shipped_drive_is_possible(name):
    EMULATOR.check(find_profile(name, SHIPPED).shared(12))
