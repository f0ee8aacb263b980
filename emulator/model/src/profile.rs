//! A device's profile and the one place that judges it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::figures::{FigureSpec, KindFigures, figures};

const SLOWDOWNS: RangeInclusive<u64> = 1..=100;

/// A device described by its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The profile's name, for reports.
    pub name: String,
    /// Which model: `null`, `hdd`, `ssd` or `limited`.
    pub kind: String,
    /// Values by figure name; [`figures`] lists the names of every kind.
    #[serde(default)]
    pub figures: BTreeMap<String, f64>,
    /// How many times as long all that it does takes; energy too, as its power stays the same.
    #[serde(default = "Profile::as_it_is")]
    pub slowdown: u64,
}

/// One thing wrong with a profile; a program can act on the fields, a person can read the message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureError {
    /// The figure's name, or `kind`.
    pub figure: String,
    /// What the profile gives, where it gives a number.
    pub value: Option<f64>,
    /// The least possible value.
    pub least: Option<f64>,
    /// The greatest possible value.
    pub most: Option<f64>,
    /// The figure's unit.
    pub unit: Option<String>,
    /// What is wrong and how to mend it, in one sentence.
    pub message: String,
}

/// All that is wrong with a profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileError {
    /// At least one.
    pub errors: Vec<FigureError>,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<&str> = self.errors.iter().map(|error| error.message.as_str()).collect();
        out.write_str(&messages.join("\n"))
    }
}

impl std::error::Error for ProfileError {}

/// Figures that have passed the check: every figure of the kind is there, within its bounds.
#[derive(Clone, Debug)]
pub(crate) struct Checked(BTreeMap<&'static str, (f64, &'static FigureSpec)>);

impl Checked {
    /// The figure's value.
    ///
    /// # Panics
    /// When the kind has no such figure, which is a mistake in this crate.
    pub fn get(&self, name: &str) -> f64 {
        self.figure(name).0
    }

    fn figure(&self, name: &str) -> (f64, &'static FigureSpec) {
        *self.0.get(name).unwrap_or_else(|| panic!("the kind has no figure {name}"))
    }

    /// The error of a figure that is less than the figure `limit`, and why it must not be.
    pub fn at_least(&self, name: &str, limit: &str, why: &str) -> Option<FigureError> {
        let ((value, spec), least) = (self.figure(name), self.get(limit));
        (value < least).then(|| contradiction(name, value, least, spec.most, spec.unit, why))
    }

    /// The error of a figure that is greater than the figure `limit`, and why it must not be.
    pub fn at_most(&self, name: &str, limit: &str, why: &str) -> Option<FigureError> {
        let ((value, spec), most) = (self.figure(name), self.get(limit));
        (value > most).then(|| contradiction(name, value, spec.least, most, spec.unit, why))
    }

    /// A figure in bytes.
    pub fn bytes(&self, name: &str) -> u64 {
        self.get(name) as u64
    }

    /// A figure in milliseconds, as nanoseconds.
    pub fn ms(&self, name: &str) -> f64 {
        self.get(name) * 1e6
    }

    /// A figure in microseconds, as nanoseconds.
    pub fn us(&self, name: &str) -> f64 {
        self.get(name) * 1e3
    }

    /// A figure in MB/s (10^6 bytes), as bytes per nanosecond.
    pub fn rate(&self, name: &str) -> f64 {
        self.get(name) * 1e-3
    }
}

impl Profile {
    fn as_it_is() -> u64 {
        1
    }

    /// Checks kind, names, bounds and how the figures go together; returns every error at once.
    pub(crate) fn check(&self) -> Result<Checked, ProfileError> {
        let Some(kind) = figures().iter().find(|kind| kind.kind == self.kind) else {
            return Err(ProfileError { errors: vec![unknown_kind(&self.kind)] });
        };
        let mut errors: Vec<FigureError> = self.figures.keys().filter_map(|name| unknown_figure(kind, name)).collect();
        let mut checked = BTreeMap::new();
        for spec in kind.figures {
            match self.figures.get(spec.name).copied().or(spec.default) {
                Some(value) if spec.allows(value) => {
                    checked.insert(spec.name, (value, spec));
                }
                Some(value) => errors.push(out_of_bounds(spec, value)),
                None => errors.push(missing(spec)),
            }
        }
        let checked = Checked(checked);
        if errors.is_empty() {
            errors = (kind.agree)(&checked);
        }
        if !SLOWDOWNS.contains(&self.slowdown) {
            let (least, most) = (*SLOWDOWNS.start() as f64, *SLOWDOWNS.end() as f64);
            let why = "a drive can't be faster than it is, nor slower without end";
            errors.push(contradiction("slowdown", self.slowdown as f64, least, most, "times", why));
        }
        if errors.is_empty() { Ok(checked) } else { Err(ProfileError { errors }) }
    }

    /// Whether the drive takes no command while a flush is under way: ATA's FLUSH CACHE is no queued command (ATA8-ACS),
    /// and the model of hard disks is one of ATA's. An SSD is behind ATA where both directions share its link, which they do
    /// neither behind NVMe nor SAS; these take commands meanwhile, and so does a volume that is known by its limits. A
    /// calibrated `link_duplex` may lie between 1 and 2.
    #[must_use]
    pub fn flush_alone(&self) -> bool {
        match self.kind.as_str() {
            "hdd" => true,
            "ssd" => self.figures.get("link_duplex").is_none_or(|links| *links < 1.5),
            _ => false,
        }
    }

    /// Says whether [`crate::build`] would accept the profile, without building the device.
    pub fn validate(&self) -> Result<(), ProfileError> {
        self.check().map(|_| ())
    }
}

fn unknown_kind(kind: &str) -> FigureError {
    let kinds: Vec<&str> = figures().iter().map(|kind| kind.kind).collect();
    let message = format!("kind is '{kind}', which is unknown: write one of {}", kinds.join(", "));
    FigureError { figure: "kind".into(), value: None, least: None, most: None, unit: None, message }
}

fn unknown_figure(kind: &KindFigures, name: &str) -> Option<FigureError> {
    if kind.figures.iter().any(|spec| spec.name == name) {
        return None;
    }
    let known: Vec<&str> = kind.figures.iter().map(|spec| spec.name).collect();
    let message = format!("{name} is not a figure of kind {}: it has {}", kind.kind, known.join(", "));
    Some(FigureError { figure: name.into(), value: None, least: None, most: None, unit: None, message })
}

fn bounded(spec: &FigureSpec, value: Option<f64>, message: String) -> FigureError {
    FigureError {
        figure: spec.name.into(),
        value,
        least: Some(spec.least),
        most: Some(spec.most),
        unit: Some(spec.unit.into()),
        message,
    }
}

fn out_of_bounds(spec: &FigureSpec, value: f64) -> FigureError {
    let FigureSpec { name, meaning, unit, least, most, .. } = spec;
    let message = format!("{name} ({meaning}) is {value}: write a value from {least} to {most} {unit}");
    bounded(spec, Some(value), message)
}

fn missing(spec: &FigureSpec) -> FigureError {
    let FigureSpec { name, meaning, unit, least, most, .. } = spec;
    let message = format!("{name} ({meaning}) is missing: write a value from {least} to {most} {unit}");
    bounded(spec, None, message)
}

/// The error of a figure that is within its own bounds but contradicts another.
pub(crate) fn contradiction(name: &str, value: f64, least: f64, most: f64, unit: &str, why: &str) -> FigureError {
    let message = format!("{name} is {value} {unit}, but {why}: write a value from {least} to {most} {unit}");
    FigureError {
        figure: name.into(),
        value: Some(value),
        least: Some(least),
        most: Some(most),
        unit: Some(unit.into()),
        message,
    }
}
