//! Prints every profile's expected figures beside what the model does in virtual time, and the model's cost.

#[path = "../tests/support/mod.rs"]
mod support;
#[path = "../tests/support/judge.rs"]
mod verdicts;

use std::time::Instant;

use assay_model::Kind;
use support::{Bench, KIB, MIB, SECOND, random, sequential};

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for file in support::profiles().iter().filter(|file| file.name.contains(&wanted)) {
        println!("{} ({})", file.name, file.title);
        for verdict in verdicts::judge(file) {
            let mark = if verdict.holds() { "" } else { "  OUT OF BOUNDS" };
            println!(
                "  {:36} expected {:>14.0}  model {:>14.0}  {:>+6.1} %{mark}",
                verdict.figure,
                verdict.expected,
                verdict.modelled,
                verdict.error() * 100.0
            );
        }
        for (name, job) in [
            ("random 4 KiB reads", random(Kind::Read, file.capacity(), 4 * KIB, 32, 3)),
            ("random 4 KiB writes", random(Kind::Write, file.capacity(), 4 * KIB, 32, 3)),
            ("sequential 1 MiB reads", sequential(Kind::Read, 0, MIB, 32)),
        ] {
            let seconds = if file.kind == "hdd" { 200 } else { 1 };
            let (mut bench, from) = (Bench::new(&file.profile()), Instant::now());
            if file.kind != "null" {
                let moved = bench.run(&mut [job], 0, seconds * SECOND);
                let cost = from.elapsed().as_secs_f64() / moved.requests.max(1) as f64;
                println!("  cost of {name} at depth 32: {:.2} us each", cost * 1e6);
            }
        }
    }
}
