//! Every profile that ships does what it says it does: each expected figure holds in virtual time.

mod support;
#[path = "support/judge.rs"]
mod verdicts;

use support::{Figure, profiles};

#[test]
fn every_profile_meets_its_expected_figures() {
    let mut missed = Vec::new();
    for file in profiles() {
        for verdict in verdicts::judge(&file) {
            if !verdict.holds() {
                let (expected, modelled) = (verdict.expected, verdict.modelled);
                missed.push(format!("{} {}: {expected} expected, {modelled:.0} modelled", file.name, verdict.figure));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_figure_of_a_profile_has_a_basis_and_a_source() {
    for file in profiles() {
        for (name, figure) in file.figures.iter().chain(&file.expected) {
            let Figure::Sourced { basis, source, .. } = figure else { panic!("{} {name}: no source", file.name) };
            let known = ["data-sheet", "review", "assumption", "calibration"].contains(&basis.as_str());
            assert!(known && !source.is_empty(), "{} {name}: {basis}, {source}", file.name);
        }
    }
}
