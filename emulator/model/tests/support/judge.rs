//! What each expected figure of a profile means as a workload, run in virtual time.

use assay_model::{Kind, Nanos};

use crate::support::{Bench, Figure, Job, KIB, MIB, ProfileFile, SECOND, random, sequential};

/// One expected figure beside what the model does.
pub struct Verdict {
    pub figure: String,
    pub expected: f64,
    pub modelled: f64,
    pub bound: f64,
}

impl Verdict {
    /// The error as a share of what is expected.
    pub fn error(&self) -> f64 {
        self.modelled / self.expected - 1.0
    }

    pub fn holds(&self) -> bool {
        self.error().abs() <= self.bound
    }
}

/// Runs every expected figure of a profile.
pub fn judge(file: &ProfileFile) -> Vec<Verdict> {
    let verdict = |(figure, expected): (&String, &Figure)| {
        let (modelled, bound) = measure(file, figure);
        Verdict { figure: figure.clone(), expected: expected.value(), modelled, bound }
    };
    file.expected.iter().map(verdict).collect()
}

/// The modelled value of an expected figure, and how far it may be off.
fn measure(file: &ProfileFile, figure: &str) -> (f64, f64) {
    let mut bench = Bench::new(&file.profile());
    let disk = file.kind == "hdd";
    let times = |disk_times: (u64, u64), ssd_times: (Nanos, Nanos)| {
        if disk { (disk_times.0 * SECOND, disk_times.1 * SECOND) } else { ssd_times }
    };
    let mut run = |mut job: Vec<Job>, (warm, measured): (Nanos, Nanos)| bench.run(&mut job, warm, measured);
    let short = (SECOND / 10, SECOND);
    let at_random = |kind, depth| vec![random(kind, file.capacity(), 4 * KIB, depth, 7)];
    match figure {
        "sequential_read_mb_s" => (run(vec![sequential(Kind::Read, 0, MIB, 8)], times((1, 8), short)).mb_s(), 0.03),
        "sequential_write_mb_s" => (run(vec![sequential(Kind::Write, 0, MIB, 8)], times((3, 8), short)).mb_s(), 0.03),
        "random_read_4k_iops_depth1" => (run(at_random(Kind::Read, 1), times((1, 60), short)).per_second(), 0.07),
        "random_read_4k_iops_depth32" => (run(at_random(Kind::Read, 32), times((2, 60), short)).per_second(), 0.10),
        "random_write_4k_iops_depth1" => (run(at_random(Kind::Write, 1), times((5, 60), short)).per_second(), 0.07),
        "random_write_4k_iops_depth32" => (run(at_random(Kind::Write, 32), times((5, 60), short)).per_second(), 0.10),
        "write_cache_knee_bytes" => (knee(&mut bench, file).0, 0.05),
        "sequential_write_beyond_cache_mb_s" => (knee(&mut bench, file).1, 0.03),
        name => {
            let count = name.strip_prefix("streams_").and_then(|rest| rest.strip_suffix("_read_mb_s"));
            let count: u64 = count.and_then(|count| count.parse().ok()).expect("a figure that the judge knows");
            (streams(file, count, times((1, 5), short)), 0.15)
        }
    }
}

/// `count` readers of neighbouring files, each with two read-aheads of 128 KiB under way as the kernel does;
/// the mean over files of several sizes, because the platter's turn favours some distances.
fn streams(file: &ProfileFile, count: u64, (warm, measured): (Nanos, Nanos)) -> f64 {
    let apart: Vec<u64> = (8..16).map(|share| share * 201 * MIB + share * 52 * KIB).collect();
    let rate = |apart: &u64| {
        let mut jobs: Vec<Job> =
            (0..count).map(|stream| sequential(Kind::Read, stream * apart, 128 * KIB, 2)).collect();
        Bench::new(&file.profile()).run(&mut jobs, warm, measured).mb_s()
    };
    apart.iter().map(rate).sum::<f64>() / apart.len() as f64
}

/// Writes on until the rate has fallen: how many bytes came before that, and the rate after it.
fn knee(bench: &mut Bench, file: &ProfileFile) -> (f64, f64) {
    let window = SECOND / 20;
    let expected = file.expected["write_cache_knee_bytes"].value();
    let fast = file.expected["sequential_write_mb_s"].value() * 1e6;
    let slow = file.expected["sequential_write_beyond_cache_mb_s"].value() * 1e6;
    let measured = (expected / fast * 1.2 * 1e9) as Nanos + 20 * SECOND;
    let mut windows = vec![0u64; (measured / window) as usize + 1];
    let mut jobs = [sequential(Kind::Write, 0, MIB, 8)];
    bench.run_with(&mut jobs, 0, measured, |at, bytes| windows[(at / window) as usize] += bytes);
    windows.pop();
    let rates: Vec<f64> = windows.iter().map(|bytes| *bytes as f64 / (window as f64 / 1e9)).collect();
    let falls = rates.iter().position(|rate| *rate < (fast + slow) / 2.0).unwrap_or(rates.len());
    let before: u64 = windows[..falls].iter().sum();
    let after = &rates[(falls + 20).min(rates.len())..];
    (before as f64, after.iter().sum::<f64>() / after.len().max(1) as f64 / 1e6)
}
