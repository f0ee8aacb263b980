//! The figures of every kind of device: names, meanings, units and bounds.

use serde::Serialize;

use crate::hdd;
use crate::limited;
use crate::profile::{Checked, FigureError};
use crate::ssd;

/// One figure of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FigureSpec {
    /// The name in a profile; the unit comes last.
    pub name: &'static str,
    /// What it is, in a few words.
    pub meaning: &'static str,
    /// The unit in words.
    pub unit: &'static str,
    /// The least possible value.
    pub least: f64,
    /// The greatest possible value.
    pub most: f64,
    /// The value taken when a profile leaves it out; `None` when a profile must give it.
    pub default: Option<f64>,
}

impl FigureSpec {
    /// Whether `value` lies within the bounds; a value that is not a number does not.
    pub(crate) fn allows(&self, value: f64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

/// The figures of one kind, and the rule by which they must agree.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KindFigures {
    /// The kind's name in a profile.
    pub kind: &'static str,
    /// Its figures.
    pub figures: &'static [FigureSpec],
    #[serde(skip)]
    pub(crate) agree: fn(&Checked) -> Vec<FigureError>,
}

pub(crate) const fn required(
    name: &'static str,
    meaning: &'static str,
    unit: &'static str,
    least: f64,
    most: f64,
) -> FigureSpec {
    FigureSpec { name, meaning, unit, least, most, default: None }
}

pub(crate) const fn optional(
    name: &'static str,
    meaning: &'static str,
    unit: &'static str,
    least: f64,
    most: f64,
    default: f64,
) -> FigureSpec {
    FigureSpec { name, meaning, unit, least, most, default: Some(default) }
}

pub(crate) const MIB: f64 = 1048576.0;
pub(crate) const CAPACITY: FigureSpec = required("capacity_bytes", "size of the device", "bytes", 64.0 * MIB, 1e15);

const NULL: &[FigureSpec] = &[FigureSpec { default: Some(68_719_476_736.0), ..CAPACITY }];

static KINDS: [KindFigures; 4] = [
    KindFigures { kind: "null", figures: NULL, agree: |_| Vec::new() },
    KindFigures { kind: "hdd", figures: hdd::figures::FIGURES, agree: hdd::figures::agree },
    KindFigures { kind: "ssd", figures: ssd::figures::FIGURES, agree: ssd::figures::agree },
    KindFigures { kind: "limited", figures: limited::FIGURES, agree: limited::agree },
];

/// Every kind of device with its figures.
pub fn figures() -> &'static [KindFigures] {
    &KINDS
}
