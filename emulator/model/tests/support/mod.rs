//! Profiles from their YAML files, and workloads in virtual time.

// Each test and example takes what it needs of this.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::{Completion, Device, Kind, Nanos, Profile, Request};
use serde::Deserialize;

pub const SECOND: Nanos = 1_000_000_000;
pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;

/// A figure as a profile writes it: a plain number, or with its basis and source.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Figure {
    Plain(f64),
    Sourced { value: f64, basis: String, source: String },
}

impl Figure {
    pub fn value(&self) -> f64 {
        match self {
            Figure::Plain(value) | Figure::Sourced { value, .. } => *value,
        }
    }
}

#[derive(Deserialize)]
pub struct ProfileFile {
    pub name: String,
    pub kind: String,
    pub title: String,
    pub figures: BTreeMap<String, Figure>,
    pub expected: BTreeMap<String, Figure>,
}

impl ProfileFile {
    pub fn profile(&self) -> Profile {
        let figures = self.figures.iter().map(|(name, figure)| (name.clone(), figure.value())).collect();
        Profile { name: self.name.clone(), kind: self.kind.clone(), figures, slowdown: 1 }
    }

    pub fn capacity(&self) -> u64 {
        self.figures["capacity_bytes"].value() as u64
    }
}

/// Every profile that ships, by name.
pub fn profiles() -> Vec<ProfileFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../profiles");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        serde_norway::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.iter().filter(|path| path.extension().is_some_and(|end| end == "yaml")).map(read).collect()
}

pub fn profile_file(name: &str) -> ProfileFile {
    profiles().into_iter().find(|file| file.name == name).unwrap()
}

/// One thread of a workload: the next request's kind, offset and bytes, with `depth` of them in flight.
pub struct Job<'a> {
    pub depth: usize,
    pub next: Box<dyn FnMut() -> (Kind, u64, u64) + 'a>,
}

/// A stream of adjoining requests from `start` on.
pub fn sequential<'a>(kind: Kind, start: u64, bytes: u64, depth: usize) -> Job<'a> {
    let mut offset = start;
    let next = move || {
        offset += bytes;
        (kind, offset - bytes, bytes)
    };
    Job { depth, next: Box::new(next) }
}

/// Requests at places scattered over `span`, aligned to their size.
pub fn random<'a>(kind: Kind, span: u64, bytes: u64, depth: usize, seed: u64) -> Job<'a> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let high = (state >> 32) ^ (state >> 5 & 0xffff_0000);
        (kind, ((high as u128 * u128::from(span / bytes)) >> 32) as u64 * bytes, bytes)
    };
    Job { depth, next: Box::new(next) }
}

/// A device with its clock.
pub struct Bench {
    pub device: Box<dyn Device>,
    pub now: Nanos,
    next_id: u64,
}

/// What a workload moved in its measured time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved {
    pub requests: u64,
    pub bytes: u64,
    pub seconds: f64,
}

impl Moved {
    pub fn mb_s(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.seconds
    }

    pub fn per_second(&self) -> f64 {
        self.requests as f64 / self.seconds
    }
}

impl Bench {
    pub fn new(profile: &Profile) -> Self {
        Bench { device: assay_model::build(profile, 1).unwrap(), now: 0, next_id: 0 }
    }

    /// Moves on to the next event, at most to `to`; gives the completions.
    pub fn step(&mut self, to: Nanos) -> Vec<Completion> {
        let mut done = Vec::new();
        self.now = self.device.next_event().unwrap_or(to).clamp(self.now, to.max(self.now));
        self.device.advance(self.now, &mut done);
        done
    }

    /// Waits until nothing is under way, then lets the drive come to rest.
    pub fn settle(&mut self) {
        let mut done = Vec::new();
        self.now += 3600 * SECOND;
        self.device.advance(self.now, &mut done);
        self.device.settle(self.now);
    }

    /// Runs the jobs in a closed loop for `warm` and then `measured`; calls `each` for every completion.
    pub fn run_with(
        &mut self,
        jobs: &mut [Job],
        warm: Nanos,
        measured: Nanos,
        mut each: impl FnMut(Nanos, u64),
    ) -> Moved {
        let (from, to) = (self.now + warm, self.now + warm + measured);
        let mut flying: BTreeMap<u64, (usize, u64)> = BTreeMap::new();
        let mut moved = Moved { seconds: measured as f64 / 1e9, ..Moved::default() };
        let mut due: Vec<usize> = jobs.iter().enumerate().flat_map(|(job, at)| vec![job; at.depth]).collect();
        while self.now < to {
            for job in due.drain(..) {
                let (kind, offset, bytes) = (jobs[job].next)();
                self.next_id += 1;
                flying.insert(self.next_id, (job, bytes));
                self.device.submit(self.now, Request { id: self.next_id, kind, offset, bytes });
            }
            for completion in self.step(to) {
                // What an earlier workload left under way is not counted.
                let Some((job, bytes)) = flying.remove(&completion.id) else { continue };
                due.push(job);
                each(completion.at, bytes);
                if completion.at >= from && completion.at < to {
                    moved.requests += 1;
                    moved.bytes += bytes;
                }
            }
        }
        moved
    }

    pub fn run(&mut self, jobs: &mut [Job], warm: Nanos, measured: Nanos) -> Moved {
        self.run_with(jobs, warm, measured, |_, _| ())
    }
}
