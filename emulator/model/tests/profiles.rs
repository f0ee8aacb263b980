//! A bad profile is refused with every reason at once, in words and for programs.

mod support;

use assay_model::{FigureError, Profile, build, figures};
use support::{profile_file, profiles};

fn errors(profile: &Profile) -> Vec<FigureError> {
    build(profile, 1).err().expect("a bad profile").errors
}

#[test]
fn every_profile_that_ships_is_accepted() {
    assert!(profiles().len() >= 14);
    for file in profiles() {
        file.profile().validate().unwrap_or_else(|error| panic!("{}: {error}", file.name));
    }
}

#[test]
fn unknown_missing_and_impossible_figures_are_named_together() {
    let mut profile = profile_file("wd10ezex").profile();
    profile.figures.remove("rotation_rpm");
    profile.figures.insert("seek_average_ms".into(), -3.0);
    profile.figures.insert("colour".into(), 1.0);
    profile.figures.insert("idle_watts".into(), f64::NAN);
    let errors = errors(&profile);
    let named: Vec<&str> = errors.iter().map(|error| error.figure.as_str()).collect();
    assert_eq!(named, ["colour", "rotation_rpm", "seek_average_ms", "idle_watts"]);
    let seek = &errors[2];
    assert_eq!((seek.value, seek.least, seek.most), (Some(-3.0), Some(0.1), Some(50.0)));
    assert!(seek.message.contains("from 0.1 to 50 milliseconds"), "{}", seek.message);
}

#[test]
fn figures_that_contradict_each_other_are_refused() {
    let refused = |name: &str, figure: &str, value: f64| {
        let mut profile = profile_file(name).profile();
        profile.figures.insert(figure.into(), value);
        errors(&profile)[0].figure.clone()
    };
    assert_eq!(refused("wd10ezex", "inner_rate_mb_s", 500.0), "inner_rate_mb_s");
    assert_eq!(refused("wd10ezex", "seek_average_ms", 20.9), "seek_average_ms");
    assert_eq!(refused("wd10ezex", "stream_visit_bytes", 4e6), "stream_visit_bytes");
    assert_eq!(refused("samsung-840-evo-120gb", "slc_write_rate_mb_s", 100.0), "slc_write_rate_mb_s");
    assert_eq!(refused("samsung-840-evo-120gb", "read_watts", 0.01), "read_watts");
}

#[test]
fn a_contradiction_names_the_bounds_within_which_the_figures_agree() {
    let contradicted = |name: &str, figure: &str, value: f64, other: &str| {
        let mut profile = profile_file(name).profile();
        profile.figures.insert(figure.into(), value);
        (errors(&profile).remove(0), profile.figures[other])
    };
    let (error, idle) = contradicted("samsung-840-evo-120gb", "write_watts", 0.01, "idle_watts");
    assert_eq!((error.value, error.least, error.most), (Some(0.01), Some(idle), Some(100.0)));
    let message = format!(
        "write_watts is 0.01 watts, but writing takes no less power than idle_watts: \
         write a value from {idle} to 100 watts"
    );
    assert_eq!(error.message, message);
    let (error, outer) = contradicted("wd10ezex", "inner_rate_mb_s", 500.0, "outer_rate_mb_s");
    assert_eq!((error.value, error.least, error.most), (Some(500.0), Some(1.0), Some(outer)));
}

#[test]
fn an_unknown_kind_is_refused() {
    let profile = Profile { name: "x".into(), kind: "tape".into(), figures: Default::default(), slowdown: 1 };
    assert!(errors(&profile)[0].message.contains("null, hdd, ssd, limited"));
}

#[test]
fn an_impossible_slowdown_is_refused() {
    for slowdown in [0, 101] {
        let profile = Profile { slowdown, ..profile_file("wd10ezex").profile() };
        assert_eq!(errors(&profile)[0].figure, "slowdown");
    }
}

#[test]
fn every_figure_says_its_unit_and_has_sense_in_its_bounds() {
    for kind in figures() {
        for spec in kind.figures {
            assert!(spec.least < spec.most, "{}", spec.name);
            assert!(spec.default.is_none_or(|value| (spec.least..=spec.most).contains(&value)), "{}", spec.name);
            assert!(!spec.unit.is_empty() && !spec.meaning.is_empty());
        }
    }
}

#[test]
fn only_drives_behind_ata_keep_commands_waiting_for_a_flush() {
    let alone: Vec<String> =
        profiles().into_iter().filter(|file| file.profile().flush_alone()).map(|file| file.name).collect();
    for name in ["wd10ezex", "seagate-exos-x18-16tb", "samsung-870-evo-250gb", "kingston-dc600m-960gb"] {
        assert!(alone.iter().any(|one| one == name), "{name} is behind SATA");
    }
    for name in ["micron-7450-pro-1920gb", "samsung-980-250gb", "cloud-volume-3000-iops", "null"] {
        assert!(!alone.iter().any(|one| one == name), "{name} takes commands meanwhile");
    }
    let mut half = profile_file("samsung-980-250gb").profile();
    half.figures.insert("link_duplex".into(), 1.08);
    assert!(half.flush_alone(), "as calibration finds both directions of a shared link");
}
